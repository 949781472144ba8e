/** Takes one turn of the analyst. A part of its work is a generator: it says what it does next, asks its tools, is sent what they gave,
 * and returns its report. Each call runs the generator again from its start against the results that the turns hold, so a resume, a
 * crash or a message in the middle changes nothing. */
import { jsonDigest } from '../domain/digest.ts';
import { plainLine } from '../domain/text/text.ts';
import type { Todo, Turn } from '../domain/turn.ts';
import { captured, sentence } from '../domain/lists.ts';
import { faults } from './evidence.ts';
import type { Ask, Looking, Seen } from './tools.ts';

/** A piece of work that gives a report. */
export type Work = Looking<string>;

/** What an agent is sent out with. */
export interface Brief {
  readonly task: string;
  readonly role: string;
  readonly tools: ReadonlySet<string>;
}

/** One kind of work: the list of steps that is shown, and the work. Both depend on nothing but the brief. */
export interface Part {
  readonly todos: readonly string[];
  work(brief: Brief): Work;
}

/** The next turn: what is said, and the tools that are asked; no asks means that it is the answer. */
export interface NextTurn {
  readonly text: string;
  readonly asks: readonly Ask[];
}

const TODOS = 'update_todos';
/** Calls of one turn, beside the list of todos: an agent may make sixteen. */
const MOST_CALLS = 15;

type Planner = (brief: Brief) => readonly Part[];

/** What the parts say and ask after `turns`. Equal turns, equal answer. Turns of another model are passed over. */
export function nextTurn(partsFor: Planner, brief: Brief, turns: readonly Turn[]): NextTurn {
  const parts = partsFor(brief);
  const todosOf = (some: readonly Part[]): readonly string[] => some.flatMap(({ todos }) => todos);
  const todos = todosOf(parts);
  const queue = parts.map((part, at) => ({ work: part.work(brief), before: todosOf(parts.slice(0, at)).length }));
  const progress: Progress = { queue, reports: [], said: [] };
  const asking = turnsOf(progress, brief.tools, todos);
  let next = asking.next([]).value;
  const later = turns.slice(1);
  for (const [at, turn] of later.entries()) {
    const seen = seenIn(turn, next.asks, later[at + 1]);
    if (turn.by === 'user') hear(turn.text, partsFor, brief, progress, todos.length);
    if (seen !== null) progress.said = [];
    if (seen?.length === 0) progress.reports = [];
    // Without asks it waits for a message.
    if (seen !== null || next.asks.length === 0) next = asking.next(seen ?? []).value;
  }
  const texts = next.asks.length > 0 ? [...progress.said, next.text] : [...progress.reports, ...progress.said];
  return { text: texts.join('\n\n'), asks: next.asks };
}

/** What one role has to do, each work with how many todos come before its own; and what was not said yet. */
interface Progress {
  readonly queue: { readonly work: Work; readonly before: number }[];
  reports: readonly string[];
  said: readonly string[];
}

const SENDER = /^Message from (the person who runs you|agent [^\s(]+)[^\n]*:\n/;

/** A user turn that came after the first one is a task of its own: it is done when the rest is. */
function hear(text: string, partsFor: Planner, brief: Brief, progress: Progress, before: number): void {
  const sender = captured(SENDER, text);
  const task = text.replace(SENDER, '').replaceAll(/^> /gm, '');
  const quote = `"${plainLine(task, 80)}"`;
  const from = sender.startsWith('agent') ? ` from ${sender}` : '';
  const answer = `${sentence(`A message${from} came in: ${quote}`)} I am not a language model: I take it as one more task.`;
  progress.said = [...progress.said, answer];
  const own = { ...brief, task, role: '' };
  for (const part of partsFor(own)) progress.queue.push({ work: answering(quote, part.work(own)), before });
}

function* answering(quote: string, work: Work): Work {
  return `## About the message ${quote}\n\n${yield* work}`;
}

/** What the calls of a model's turn gave. It was ours when it asked what we would have asked; null for any other turn. */
function seenIn(turn: Turn, asks: readonly Ask[], next: Turn | undefined): readonly Seen[] | null {
  const calls = turn.by === 'model' ? turn.calls : [];
  const asked = calls.map(({ tool, input }) => ({ tool, input }));
  if (turn.by !== 'model' || jsonDigest(asks) !== jsonDigest(asked)) return null;
  const results = next?.by === 'tools' ? next.results : [];
  return asks.map((ask, index): Seen => {
    const result = results.find(({ call }) => call === calls[index]?.id);
    return { ask, ok: result?.ok ?? false, text: result?.text ?? 'it was stopped before it gave a result' };
  });
}

type Turns<T> = Generator<NextTurn, T, readonly Seen[]>;
type ListAsk = (todo: number) => readonly Ask[];

function* turnsOf(progress: Progress, tools: ReadonlySet<string>, todos: readonly string[]): Turns<never> {
  let shown = -1;
  /** The call that brings the list of todos up to date, if it isn't: `doing` is the active one, all are done behind the last. */
  const listAsk: ListAsk = (doing) => {
    if (!tools.has(TODOS) || todos.length === 0 || doing === shown) return [];
    shown = doing;
    const list = todos.map((description, index): { description: string; status: Todo['status'] } => ({
      description,
      status: index < doing ? 'completed' : index === doing ? 'active' : 'pending',
    }));
    return [{ tool: TODOS, input: { todos: list } }];
  };
  for (;;) {
    const first = progress.queue.shift();
    const text = 'That is what I set out to look at. I close the list and write it up.';
    if (first === undefined) yield { text, asks: listAsk(todos.length) };
    else {
      const turns = turnsOfWork(first.work, tools, (todo) => listAsk(Math.min(first.before + todo, todos.length)));
      progress.reports = [...progress.reports, yield* turns];
    }
  }
}

/** The turns of one work, with a call for the list of todos where it has changed: they end with its report. */
function* turnsOfWork(work: Work, tools: ReadonlySet<string>, listAsk: ListAsk): Turns<string> {
  const all: Seen[] = [];
  let at = work.next([]);
  while (at.done !== true) {
    const { say, todo, asks } = at.value;
    // A step whose tools are all missing is no turn.
    const available = asks.filter(({ tool }) => tools.has(tool));
    const given: Seen[] = [];
    for (let from = 0; from < available.length; from += MOST_CALLS)
      given.push(...(yield { text: say, asks: [...listAsk(todo), ...available.slice(from, from + MOST_CALLS)] }));
    const seen = asks.map((ask) => {
      const missing = { ask, ok: false, text: `this role has no tool ${ask.tool}` };
      return given.find((one) => one.ask === ask) ?? missing;
    });
    all.push(...seen);
    at = work.next(seen);
  }
  return [at.value, ...faults(all)].join('\n');
}
