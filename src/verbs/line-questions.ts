/** Questions in line mode: one at a time, each shown whole, hidden characters visible. An empty answer denies. */
import { createInterface } from 'node:readline/promises';
import type { EventOf } from '../events/by-type.ts';
import type { MimirEvent } from '../events/event.ts';
import type { Command, Controls } from '../ports/controls.ts';
import { visible } from '../tui/text/sanitise.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';

export interface Asker {
  /** A line typed by the person; null at the end of input. */
  ask(prompt: string): Promise<string | null>;
  close(): void;
}

export function openAsker(): Asker {
  const ended = new AbortController();
  return {
    async ask(prompt) {
      const lines = createInterface({ input: process.stdin, output: process.stdout });
      // In raw mode Ctrl-C is a key of the prompt: it means what it means everywhere.
      lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
      try {
        return await Promise.race([lines.question(prompt, { signal: ended.signal }), closed]);
      } catch {
        return null;
      } finally {
        lines.close();
      }
    },
    close: () => ended.abort(),
  };
}

type Asked = EventOf<'approval.requested'>;

/** Puts the questions of agents to the person, oldest first; one that was withdrawn meanwhile is passed over. */
export function answerQuestions(controls: Controls, asker: Asker, io: Io): { hear(event: MimirEvent): void } {
  const waiting: Asked[] = [];
  const answered = new Set<string>();
  let busy = false;
  const next = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    for (let asked = waiting.shift(); asked !== undefined; asked = waiting.shift()) {
      if (answered.has(asked.approval)) continue;
      const command = await put(asked, asker, io);
      const done = await controls.submit(command);
      if (!done.ok) io.complain(`  ${harmless(done.fault.text)}`);
    }
    busy = false;
  };
  return {
    hear(event) {
      if (event.type === 'approval.answered') answered.add(event.approval);
      if (event.type !== 'approval.requested') return;
      waiting.push(event);
      void next();
    },
  };
}

async function put({ agent, approval, request }: Asked, asker: Asker, io: Io): Promise<Command> {
  io.say(`\n${io.paint.bold(`${agent} asks:`)} ${visible(request.title)}`);
  if (request.unsandboxed) io.say(io.paint.red('UNSANDBOXED: it runs with all your rights'));
  for (const line of request.exact.split('\n')) io.say(`  | ${visible(line)}`);
  const typed = ((await asker.ask(promptFor(request))) ?? '').trim();
  return { do: 'answer', approval, ...meaningOf(request, typed) };
}

function promptFor({ action, options }: Asked['request']): string {
  if (action === 'question' || action === 'turn') return 'Your answer: ';
  if (action === 'failure') return `${options.join(' / ')}? `;
  return 'Allow? y once, A always in this session, anything else no: ';
}

/** What was typed, as an answer: permission needs its own letter, anything else is a no with its words. */
function meaningOf(
  { action }: Asked['request'],
  typed: string,
): Pick<Extract<Command, { do: 'answer' }>, 'allow' | 'scope' | 'text'> {
  if (action === 'question' || action === 'turn' || action === 'failure')
    return { allow: true, scope: 'once', text: typed };
  if (typed === 'y') return { allow: true, scope: 'once', text: '' };
  if (typed === 'A') return { allow: true, scope: 'session', text: '' };
  return { allow: false, scope: 'once', text: typed === 'n' ? '' : typed };
}
