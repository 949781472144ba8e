/** A connection to a run's socket from the other side: hello, questions, answers. Knows no shapes: a thread uses it as well. */
import { connect, type Socket } from 'node:net';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import { ControlFault } from '../../ports/control.ts';
import { PROTOCOL, readServerHello, refusal, type ServerHello } from '../handshake.ts';
import { isRecord, lineOf, LONGEST_ANSWER, LONGEST_REQUEST, readLine } from '../lines.ts';
import { linesOf } from '../stream.ts';

/** Milliseconds for a hello, and for an answer that takes no time. */
const HELLO_WITHIN = 5000;
const ANSWER_WITHIN = 30_000;

export const GONE = 'the process that carried the run has ended';

/** What an answer is made of. */
export interface Answer {
  readonly result: Result<unknown, string>;
  /** Those that were asked for. */
  readonly events: readonly MimirEvent[];
}

export interface Link {
  readonly hello: ServerHello;
  /** Rejects with `ControlFault` when the other side is gone, or when it takes too long over what is no command. */
  ask(question: { readonly ask: string }): Promise<Answer>;
  /** With words, when the other side is gone; never after `close`. */
  readonly gone: Promise<string>;
  close(): void;
}

/** Someone who said hello. */
export interface Greeted {
  readonly socket: Socket;
  readonly lines: AsyncGenerator<string | null>;
  readonly hello: ServerHello;
}

/** Null: nobody is there. Throws `ControlFault` when somebody is who does not answer as Mimir does. */
export async function greet(path: string, client: string): Promise<Greeted | null> {
  const socket = await knock(path);
  if (socket === null) return null;
  const lines = linesOf(socket, LONGEST_ANSWER);
  socket.write(lineOf({ mimir: 'control', protocol: PROTOCOL, client }));
  const late = AbortSignal.timeout(HELLO_WITHIN);
  const hangUp = (): void => void socket.destroy();
  late.addEventListener('abort', hangUp);
  const first = await lines.next();
  late.removeEventListener('abort', hangUp);
  // It ended while we knocked.
  if (first.done === true && !late.aborted) return null;
  const hello = first.done === true ? SILENT : readServerHello(readLine(first.value ?? ''));
  if (typeof hello !== 'string') return { socket, lines, hello };
  socket.destroy();
  throw new ControlFault(`${path}: ${hello}`);
}

const SILENT = 'whoever listens there does not answer: is that process stopped?';

/** Null: nobody is there. `onTick` gets what streams past, if that is asked for. */
export async function openLink(
  path: string,
  client: string,
  onTick: (tick: unknown) => void = () => undefined,
): Promise<Link | null> {
  const greeted = await greet(path, client);
  if (greeted === null) return null;
  const { socket, lines, hello } = greeted;
  const open = new Map<number, Waiting>();
  const gone = Promise.withResolvers<string>();
  let [count, ended, closed]: [number, string | null, boolean] = [0, null, false];
  void read(lines, open, onTick).then((words) => {
    ended = words;
    socket.destroy();
    for (const { reject } of open.values()) reject(new ControlFault(words));
    open.clear();
    if (!closed) gone.resolve(words);
  });
  return {
    hello,
    gone: gone.promise,
    ask(question) {
      if (ended !== null) return Promise.reject(new ControlFault(ended));
      const id = (count += 1);
      const line = lineOf({ id, ...question });
      if (Buffer.byteLength(line) > LONGEST_REQUEST) return Promise.resolve({ result: fail(TOO_LONG), events: [] });
      const answer = new Promise<Answer>((resolve, reject) => open.set(id, { resolve, reject, events: [] }));
      socket.write(line);
      return question.ask === 'submit' ? answer : inTime(answer, () => open.delete(id));
    },
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

const TOO_LONG = `this is too long to be asked of a run: ${LONGEST_REQUEST / 1024 / 1024} MiB at most`;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (fault: ControlFault) => void;
  readonly events: MimirEvent[];
}

/** Said of a line that is not what a run sends. */
export const STRANGE_LINE = 'what came from the run makes no sense';

/** Answers to those who wait, until there are no more; resolves with why. */
async function read(
  lines: AsyncGenerator<string | null>,
  open: Map<number, Waiting>,
  onTick: (tick: unknown) => void,
): Promise<string> {
  for await (const line of lines) {
    const said = line === null ? null : readLine(line);
    if (said === null) return STRANGE_LINE;
    const bye = refusal(said);
    if (bye !== null) return bye;
    if ('tick' in said) onTick(said['tick']);
    const id = said['id'];
    const waiting = typeof id === 'number' ? open.get(id) : undefined;
    if (typeof id !== 'number' || waiting === undefined) continue;
    if (isEvent(said['event'])) waiting.events.push(said['event']);
    else {
      open.delete(id);
      waiting.resolve({ result: resultOf(said), events: waiting.events });
    }
  }
  return GONE;
}

/** What an answer's line says. */
export const resultOf = (said: Readonly<Record<string, unknown>>): Result<unknown, string> =>
  typeof said['refused'] === 'string' ? fail(said['refused']) : ok(said['value']);

/** The hello said that this is Mimir and of which version, so the type says what it is. */
export const isEvent = (value: unknown): value is MimirEvent =>
  isRecord(value) && typeof value['type'] === 'string' && typeof value['seq'] === 'number';

function inTime(answer: Promise<Answer>, late: () => void): Promise<Answer> {
  const bound = AbortSignal.timeout(ANSWER_WITHIN);
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      late();
      reject(new ControlFault('the process that carries the run does not answer: is it stopped?'));
    };
    bound.addEventListener('abort', giveUp);
    answer.then(resolve, reject).finally(() => bound.removeEventListener('abort', giveUp));
  });
}

function knock(path: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      // What goes wrong from now on ends its lines.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', (error) => {
      const nobody = 'code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED');
      if (nobody) resolve(null);
      else reject(new ControlFault(`${path} can't be reached: ${error.message}`));
    });
  });
}
