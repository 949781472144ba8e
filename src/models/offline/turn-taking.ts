/**
 * Takes one turn of a role. Stateless: the role's generator is run again from its start against the results that the turns
 * hold, so a resume, a crash or a message in the middle changes nothing. Todos and messages are kept here, not by roles.
 */
import type { Todo, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { hear } from './message.ts';
import type { Heard } from './message.ts';
import type { Ask, Brief, Part, Seen, Step, Work } from './step.ts';

/** The next turn: what is said, and the tools that are asked; no asks means that it is the answer. */
export interface NextTurn {
  readonly text: string;
  readonly asks: readonly Ask[];
}

const TODOS = 'update_todos';

/** What `part` says and asks after `turns`. Equal turns, equal answer. Turns of another model are passed over. */
export function nextTurn(part: Part, brief: Brief, turns: readonly Turn[]): NextTurn {
  const play = new Play(part, brief);
  for (const [at, turn] of turns.entries()) {
    if (turn.by === 'user' && at > 0) play.hear(turn.text);
    if (turn.by === 'model') play.took(turn.calls, resultsAfter(turns, at));
  }
  return play.next();
}

function resultsAfter(turns: readonly Turn[], at: number): readonly ToolResult[] {
  const next = turns[at + 1];
  return next?.by === 'tools' ? next.results : [];
}

/** One role on its way through its turns. Lives for one call of `nextTurn` only. */
class Play {
  private readonly todos: readonly string[];
  private readonly brief: Brief;
  private readonly work: Work;
  private at: IteratorResult<Step, string>;
  /** The todo that the list shows as active: -1 before there is a list, `todos.length` when all are done. */
  private shown = -1;
  /** The answer was given: a message after it is answered alone. */
  private answered = false;
  private unheard: Heard[] = [];
  private looked: { readonly heard: Heard; readonly seen: readonly Seen[] }[] = [];

  constructor(part: Part, brief: Brief) {
    this.brief = brief;
    this.todos = part.todos(brief);
    this.work = part.work(brief);
    this.at = this.work.next([]);
    this.skipEmpty();
  }

  hear(text: string): void {
    this.unheard.push(hear(text, this.brief.tools));
  }

  /** A model's turn that lies in the past. It was ours when it asked what we would have asked. */
  took(calls: readonly ToolCall[], results: readonly ToolResult[]): void {
    const turn = this.next();
    if (!sameCalls(turn.asks, calls)) return;
    const seen = calls.map((call, index): Seen => {
      const ask = turn.asks[index] ?? { tool: call.tool, input: {} };
      const result = results.find((each) => each.call === call.id);
      return { ask, ok: result?.ok ?? false, text: result?.text ?? 'it was stopped before it gave a result' };
    });
    this.advance(turn, seen.slice(this.listAsk().length));
  }

  next(): NextTurn {
    const list = this.listAsk();
    const questions = this.unheard.flatMap((heard) => heard.asks);
    const said = this.unheard.map((heard) => heard.say);
    if (!this.at.done) {
      const { say, asks } = this.at.value;
      return { text: [...said, say].join('\n\n'), asks: [...list, ...questions, ...this.available(asks)] };
    }
    if (list.length + questions.length > 0) {
      const closing = list.length > 0 ? ['That is what I set out to look at. I close the list and write it up.'] : [];
      return { text: [...said, ...closing].join('\n\n'), asks: [...list, ...questions] };
    }
    const answers = this.looked.map(({ heard, seen }) => heard.answer(seen));
    return { text: [...(this.answered ? [] : [this.at.value]), ...said, ...answers].join('\n\n'), asks: [] };
  }

  private advance(turn: NextTurn, seen: readonly Seen[]): void {
    let from = 0;
    if (this.at.done && turn.asks.length === 0) {
      this.answered = true;
      this.looked = [];
    }
    for (const heard of this.unheard) {
      if (heard.asks.length > 0) this.looked.push({ heard, seen: seen.slice(from, from + heard.asks.length) });
      from += heard.asks.length;
    }
    this.unheard = [];
    if (this.hasList()) this.shown = this.doing();
    if (this.at.done) return;
    this.at = this.work.next(this.withMissing(this.at.value.asks, seen.slice(from)));
    this.skipEmpty();
  }

  /** A step whose tools are all missing is no turn: the role hears at once that they are. */
  private skipEmpty(): void {
    while (!this.at.done && this.available(this.at.value.asks).length === 0) {
      this.at = this.work.next(this.withMissing(this.at.value.asks, []));
    }
  }

  private available(asks: readonly Ask[]): readonly Ask[] {
    return asks.filter((ask) => this.brief.tools.has(ask.tool));
  }

  private withMissing(asks: readonly Ask[], seen: readonly Seen[]): readonly Seen[] {
    const rest = [...seen];
    return asks.map((ask) => {
      const given = this.brief.tools.has(ask.tool) ? rest.shift() : undefined;
      return given ?? { ask, ok: false, text: `this role has no tool ${ask.tool}` };
    });
  }

  private hasList(): boolean {
    return this.brief.tools.has(TODOS) && this.todos.length > 0;
  }

  private doing(): number {
    return this.at.done ? this.todos.length : this.at.value.todo;
  }

  /** The call that brings the list up to date, if it isn't. */
  private listAsk(): readonly Ask[] {
    const doing = this.doing();
    if (!this.hasList() || doing === this.shown) return [];
    const todos = this.todos.map((description, index): { description: string; status: Todo['status'] } => ({
      description,
      status: index < doing ? 'completed' : index === doing ? 'active' : 'pending',
    }));
    return [{ tool: TODOS, input: { todos } }];
  }
}

const sameCalls = (asks: readonly Ask[], calls: readonly ToolCall[]): boolean =>
  asks.length === calls.length &&
  asks.every(({ tool, input }, index) => tool === calls[index]?.tool && sameJson(input, calls[index]?.input));

/** Key order is left out: a log may give objects back in another one. */
const sameJson = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
