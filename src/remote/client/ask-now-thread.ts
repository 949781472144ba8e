/** The thread behind ask-now.ts: it asks with a connection of its own, while the screen's thread stands still for the answer. */
import { MessagePort, workerData } from 'node:worker_threads';
import { ControlFault } from '../../ports/control.ts';
import { isRecord } from '../lines.ts';
import { GONE, type Link, openLink } from './connection.ts';

const given: unknown = workerData;
if (!isRecord(given) || !(given['port'] instanceof MessagePort) || !(given['shared'] instanceof SharedArrayBuffer)) {
  throw new Error('this thread is started by ask-now.ts');
}
const { port, shared } = { port: given['port'], shared: given['shared'] };
const answered = new Int32Array(shared);
const link = openLink(String(given['path']), String(given['client']));
// Said to each that asks.
link.catch(() => undefined);

port.on('message', (asked: unknown) => void answer(asked));

async function answer(asked: unknown): Promise<void> {
  if (!isRecord(asked)) return;
  const question = asked['question'];
  const reply = await answerOf(isRecord(question) ? { ...question, ask: String(question['ask']) } : { ask: '' });
  port.postMessage({ n: asked['n'], ...reply }, []);
  Atomics.add(answered, 0, 1);
  Atomics.notify(answered, 0);
}

async function answerOf(question: { readonly ask: string }): Promise<{ value: unknown } | { refused: string }> {
  try {
    const open: Link | null = await link;
    if (open === null) return { refused: GONE };
    const { result } = await open.ask(question);
    return result.ok ? { value: result.value } : { refused: result.fault };
  } catch (error) {
    if (error instanceof ControlFault) return { refused: error.message };
    throw error;
  }
}
