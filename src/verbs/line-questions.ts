/**
 * Questions in line mode: one at a time, each shown whole with who asks and what hides in it. Equal ones are one. An empty
 * answer allows nothing, and what was typed before a question was printed doesn't answer it.
 */
import type { EventOf } from '../events/by-type.ts';
import type { MimirEvent } from '../events/event.ts';
import type { RunState } from '../events/state.ts';
import type { Command, Controls } from '../ports/controls.ts';
import { coveredBy } from '../tui/dialogs/inbox-state.ts';
import { formatDuration } from '../tui/format.ts';
import { labelOf } from '../tui/agents.ts';
import { visible } from '../tui/text/sanitise.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import type { Asker } from './line-asker.ts';
import { exactText, roomOf, sayAll } from './line-exact.ts';
import type { Room } from './line-exact.ts';
import { carryRule, ruleCommand } from './line-rules.ts';
import { world } from './world.ts';

export { openAsker } from './line-asker.ts';
export type { Asker } from './line-asker.ts';

type Asked = EventOf<'approval.requested'>;
type Request = Asked['request'];

export interface Answering {
  readonly controls: Controls;
  readonly asker: Asker;
  readonly io: Io;
  /** The run as it is when a question is printed. */
  state(): RunState;
}

/** Puts the questions of agents to the person, oldest first; one that was withdrawn meanwhile is passed over. */
export function answerQuestions(of: Answering): { hear(event: MimirEvent): void } {
  let waiting: readonly Asked[] = [];
  let busy = false;
  const next = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const key = keyOf(first);
      const shown = waiting.filter((one) => keyOf(one) === key);
      const answer = await put(shown, of);
      const all = waiting.filter((one) => shown.includes(one));
      waiting = waiting.filter((one) => !shown.includes(one));
      const given = await submitAll(all, answer, of);
      // The run clears equal ones; that they are answered may come later than the next question.
      if (given && answer.scope === 'session') waiting = waiting.filter((one) => keyOf(one) !== key);
    }
    busy = false;
  };
  return {
    hear(event) {
      if (event.type === 'approval.answered') waiting = waiting.filter(({ approval }) => approval !== event.approval);
      if (event.type !== 'approval.requested') return;
      waiting = [...waiting, event];
      void next();
    },
  };
}

/** Equal where one answer may be for all of them and nothing of what is shown differs. */
const keyOf = ({ approval, request: { action, same, exact, options, unsandboxed } }: Asked): string =>
  same === undefined ? approval : JSON.stringify([action, unsandboxed, same, exact, options]);

type Answer = Pick<Extract<Command, { do: 'answer' }>, 'allow' | 'scope' | 'text'>;

/** A yes for the session is given once: the run clears the equal ones. False where an answer was not taken, or there was none to give. */
async function submitAll(asked: readonly Asked[], answer: Answer, { controls, io }: Answering): Promise<boolean> {
  let given = asked.length > 0;
  for (const { approval } of answer.scope === 'session' ? asked.slice(0, 1) : asked) {
    const done = await controls.submit({ do: 'answer', approval, ...answer });
    if (!done.ok) io.complain(`  ${harmless(done.fault.text)}`);
    given &&= done.ok;
  }
  return given;
}

/** Asks until the answer is one: commands about modes and reviews are carried out in between. */
async function put(asked: readonly Asked[], of: Answering): Promise<Answer> {
  const { asker, io } = of;
  const [first] = asked;
  if (first === undefined) return { allow: false, scope: 'once', text: '' };
  for (;;) {
    const room = roomOf(io);
    const read = await sayAll(questionLines(asked, of.state(), io, room), { asker, io, room });
    if (!read && !SPOKEN.has(first.request.action)) return { allow: false, scope: 'once', text: '' };
    const typed = ((await asker.ask(promptFor(first.request), 'fresh')) ?? '').trim();
    const rule = ruleCommand(typed, of.state());
    if (rule === null) return meaningOf(first.request, typed);
    if (typeof rule === 'string') io.complain(`  ${harmless(rule)}`);
    else await carryRule(rule, { ...of, state: of.state() });
  }
}

/** `ROOT::S4, #4 refactoring: Move rotation …`, the action whole, and how long it is. */
export function questionLines(
  asked: readonly Asked[],
  state: RunState,
  { paint }: Pick<Io, 'paint'>,
  room: Room | null = null,
): readonly string[] {
  const [first] = asked;
  if (first === undefined) return [];
  const { request } = first;
  const many = asked.length > 1 ? `${asked.length} agents ask the same: ` : '';
  const because = request.because === '' ? [] : [paint.dim(`  because ${harmless(request.because)}`)];
  const unboxed = request.unsandboxed ? [paint.red.bold('  UNSANDBOXED: it runs with all your rights')] : [];
  return [
    `\n${paint.bold(many === '' ? visible(request.title) : `${many}${titleOf(request)}`)}`,
    ...asked.map((one) => `  ${whoAsks(one, state)}`),
    ...because,
    ...unboxed,
    ...exactText(request.exact, paint, room),
  ];
}

/** The first line of the action, or its beginning: all of it stands below. */
function titleOf({ exact }: Request): string {
  const line = visible(exact.split('\n')[0] ?? '');
  return line.length > MOST_TITLE ? `${line.slice(0, MOST_TITLE)} ...` : line;
}

const MOST_TITLE = 120;

function whoAsks({ agent, time }: Asked, state: RunState): string {
  const found = state.agents.get(agent);
  const waits = `waits ${formatDuration(world.now() - Date.parse(time))}`;
  if (found === undefined) return `${agent}, ${waits}`;
  const task = harmless(found.task.split('\n')[0] ?? '');
  return `${agent}, ${harmless(labelOf(state, agent))}, role ${harmless(found.role)}, ${waits}: ${task}`;
}

function promptFor(request: Request): string {
  const { action, options } = request;
  if (action === 'question' || action === 'turn') return 'Your answer: ';
  if (action === 'failure') return `${options.map(visible).join(' / ')}? `;
  if (action === 'budget')
    return `${wordsOf(options).join(', ')}, or an amount? Enter is ${wordsOf(options)[0] ?? ''}: `;
  const always = coveredBy(request);
  return always === null
    ? 'Allow? y once, anything else no: '
    : `Allow? y once, A always (${always}), anything else no: `;
}

/** What stands in front of the words of an option: `finish`, `add`. */
const wordsOf = (options: readonly string[]): readonly string[] =>
  options.map((option) => visible(option.split(':')[0] ?? option));

/** What was typed, as an answer: permission needs its own letter, anything else is a no with its words. */
function meaningOf(request: Request, typed: string): Answer {
  if (SPOKEN.has(request.action)) return { allow: true, scope: 'once', text: typed };
  if (typed === 'y') return { allow: true, scope: 'once', text: '' };
  if (typed === 'A' && coveredBy(request) !== null) return { allow: true, scope: 'session', text: '' };
  return { allow: false, scope: 'once', text: typed === 'n' ? '' : typed };
}

const SPOKEN: ReadonlySet<Request['action']> = new Set(['question', 'turn', 'failure', 'budget'] as const);
