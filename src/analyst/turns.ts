/**
 * Takes one turn of the analyst. A part of its work is a generator: it says what it does next, asks its tools, is sent what they gave,
 * and returns its report. Each call runs the generator again from its start against the results that the turns hold, so a resume, a
 * crash or a message in the middle changes nothing.
 */
import { jsonDigest } from '../domain/digest.ts';
import { plainLine } from '../domain/text/text.ts';
import type { Todo, ToolCall, ToolResult, Turn } from '../domain/turn.ts';
import { faults } from './evidence.ts';
import type { Ask, Looking, Seen, Step } from './tools.ts';

/** A piece of work that gives a report. */
export type Work = Looking<string>;

/** What an agent is sent out with. */
export interface Brief {
  readonly task: string;
  readonly role: string;
  /** Names of the tools that it has. */
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

/** The parts that do a task, one after the other. */
type Planner = (brief: Brief) => readonly Part[];

/** What the parts say and ask after `turns`. Equal turns, equal answer. Turns of another model are passed over. */
export function nextTurn(partsFor: Planner, brief: Brief, turns: readonly Turn[]): NextTurn {
  const play = new Play(partsFor, brief);
  for (const [at, turn] of turns.entries()) {
    const next = turns[at + 1];
    if (turn.by === 'user' && at > 0) play.hear(turn.text);
    if (turn.by === 'model') play.took(turn.calls, next?.by === 'tools' ? next.results : []);
  }
  return play.next();
}

/** Work that is to be done, and how many todos come before its own. */
interface Queued {
  readonly work: Work;
  readonly before: number;
}

/** One role on its way through its turns. Lives for one call of `nextTurn` only. */
class Play {
  private readonly todos: readonly string[];
  private readonly queue: Queued[] = [];
  /** The step that is under way; undefined when there is nothing left to do. */
  private step: Step | undefined;
  /** What the tools gave so far to the step that is under way: one with many calls takes several turns. */
  private answered: readonly Seen[] = [];
  /** The todo that the list shows as active: -1 before there is a list, `todos.length` when all are done. */
  private shown = -1;
  /** What was seen by the first of the queue. */
  private seen: readonly Seen[] = [];
  /** Answers to messages, and reports, that were not given yet. */
  private said: string[] = [];
  private reports: string[] = [];
  private readonly partsFor: Planner;
  private readonly brief: Brief;

  constructor(partsFor: Planner, brief: Brief) {
    this.partsFor = partsFor;
    this.brief = brief;
    const parts = partsFor(brief);
    let before = 0;
    for (const part of parts) {
      this.queue.push({ work: part.work(brief), before });
      before += part.todos.length;
    }
    this.todos = brief.tools.has(TODOS) ? parts.flatMap((part) => part.todos) : [];
    this.goOn([]);
  }

  /** A user turn that came after the first one is a task of its own: it is done when the rest is. */
  hear(text: string): void {
    const sender = SENDER.exec(text)?.[1] ?? '';
    const task = text.replace(SENDER, '').replaceAll(/^> /gm, '');
    const quote = `"${plainLine(task, 80)}"`;
    const from = sender.startsWith('agent') ? ` from ${sender}` : '';
    this.said.push(`A message${from} came in: ${quote}. I am not a language model: I take it as one more task.`);
    const brief = { ...this.brief, task, role: '' };
    for (const part of this.partsFor(brief))
      this.queue.push({ work: answering(quote, part.work(brief)), before: this.todos.length });
    if (this.step === undefined) this.goOn([]);
  }

  /** A model's turn that lies in the past. It was ours when it asked what we would have asked. */
  took(calls: readonly ToolCall[], results: readonly ToolResult[]): void {
    const { asks } = this.next();
    const plain = calls.map(({ tool, input }) => ({ tool, input }));
    if (jsonDigest(asks) !== jsonDigest(plain)) return;
    const seen = asks.map((ask, index): Seen => {
      const result = results.find(({ call }) => call === calls[index]?.id);
      return { ask, ok: result?.ok ?? false, text: result?.text ?? 'it was stopped before it gave a result' };
    });
    this.said = [];
    if (asks.length === 0) this.reports = [];
    if (this.todos.length > 0) this.shown = this.doing();
    this.answered = [...this.answered, ...seen];
    if (this.step !== undefined && this.pending().length === 0) this.goOn(this.seenBy(this.step.asks, this.answered));
  }

  next(): NextTurn {
    const asks = [...this.listAsk(), ...this.pending().slice(0, MOST_CALLS)];
    const say = this.step?.say ?? 'That is what I set out to look at. I close the list and write it up.';
    const texts = asks.length > 0 ? [...this.said, say] : [...this.reports, ...this.said];
    return { text: texts.join('\n\n'), asks };
  }

  /** Goes on with what was seen until a tool is to be asked. A step whose tools are all missing is no turn. */
  private goOn(seen: readonly Seen[]): void {
    let given = seen;
    this.answered = [];
    for (let first = this.queue[0]; first !== undefined; first = this.queue[0]) {
      this.seen = [...this.seen, ...given];
      const at = first.work.next(given);
      if (at.done === true) {
        this.reports.push([at.value, ...faults(this.seen)].join('\n'));
        this.queue.shift();
        this.seen = [];
        given = [];
      } else {
        this.step = { ...at.value, todo: at.value.todo + first.before };
        if (this.available(at.value.asks).length > 0) return;
        given = this.seenBy(at.value.asks, []);
      }
    }
    this.step = undefined;
  }

  /** The calls of the step under way that were not made yet. */
  private pending(): readonly Ask[] {
    return this.available(this.step?.asks ?? []).filter((ask) => !this.answered.some((one) => one.ask === ask));
  }

  private available(asks: readonly Ask[]): readonly Ask[] {
    return asks.filter(({ tool }) => this.brief.tools.has(tool));
  }

  /** What each of `asks` gave; a tool that the role doesn't have gives a failure. */
  private seenBy(asks: readonly Ask[], seen: readonly Seen[]): readonly Seen[] {
    return asks.map((ask) => {
      const missing = { ask, ok: false, text: `this role has no tool ${ask.tool}` };
      return seen.find((one) => one.ask === ask) ?? missing;
    });
  }

  private doing(): number {
    return Math.min(this.step?.todo ?? Infinity, this.todos.length);
  }

  /** The call that brings the list up to date, if it isn't. */
  private listAsk(): readonly Ask[] {
    const doing = this.doing();
    if (this.todos.length === 0 || doing === this.shown) return [];
    const todos = this.todos.map((description, index): { description: string; status: Todo['status'] } => ({
      description,
      status: index < doing ? 'completed' : index === doing ? 'active' : 'pending',
    }));
    return [{ tool: TODOS, input: { todos } }];
  }
}

const SENDER = /^Message from (the person who runs you|agent [^\s(]+)[^\n]*:\n/;

function* answering(quote: string, work: Work): Work {
  return `## About the message ${quote}\n\n${yield* work}`;
}
