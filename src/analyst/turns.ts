/**
 * Takes one turn of the analyst. A part of its work is a generator: it says what it does next, asks its tools, is sent what they gave,
 * and returns its report. Each call runs the generator again from its start against the results that the turns hold, so a resume, a
 * crash or a message in the middle changes nothing.
 */
import type { Finding } from '../domain/agent.ts';
import type { Json, Todo, ToolCall, ToolResult, Turn } from '../domain/turn.ts';
import { behind, claim, hitsOf, search } from './tools.ts';
import { code, escaped, listed, oneLine, stem, termsIn } from './words.ts';

/** A tool call that a part wants. */
export interface Ask {
  readonly tool: string;
  readonly input: { readonly [key: string]: Json };
}

/** What a call gave. A tool that the role doesn't have, or that was denied, is an error result like any other. */
export interface Seen {
  readonly ask: Ask;
  readonly ok: boolean;
  readonly text: string;
}

/** One turn: a sentence for the person who watches, the todo it belongs to (an index), and the calls. */
export interface Step {
  readonly say: string;
  readonly todo: number;
  readonly asks: readonly Ask[];
}

export type Work = Generator<Step, string, readonly Seen[]>;
/** A piece of work that gives something other than a report. */
export type Looking<T> = Generator<Step, T, readonly Seen[]>;

/** What an agent is sent out with. */
export interface Brief {
  readonly task: string;
  readonly role: string;
  readonly findings: readonly Finding[];
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
    this.todos = part.todos;
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

/** A message that came in the middle of the work. */
interface Heard {
  readonly say: string;
  readonly asks: readonly Ask[];
  /** The part of the answer that belongs to the message, from what its searches gave. */
  answer(seen: readonly Seen[]): string;
}

const SENDER = /^Message from (the person who runs you|agent [^\s(]+)[^\n]*:\n/;
const MOST_TERMS = 3;
const MOST_PLACES = 5;

/** Takes note of a user turn that came after the first one: it can't be followed, only its words can be looked for. */
function hear(text: string, tools: ReadonlySet<string>): Heard {
  const sender = SENDER.exec(text)?.[1];
  const own = sender === undefined ? text : text.replace(SENDER, '');
  const words = sender?.startsWith('agent') === true ? own.replaceAll(/^> /gm, '') : own;
  const terms = tools.has('search') ? termsIn(words, MOST_TERMS) : [];
  const from = sender?.startsWith('agent') === true ? `A message from ${sender} came in` : 'A message came in';
  const begin = `${from}: "${oneLine(words, 80)}". I am not a language model and can't follow instructions;`;
  if (terms.length === 0)
    return { say: `${begin} it names nothing that I could look for.`, asks: [], answer: () => '' };
  const asks = terms.map(({ is, text: term }) =>
    search(escaped(is === 'word' ? stem(term) : term), { anyCase: is === 'word', limit: 40, about: code(term) }),
  );
  return {
    say: `${begin} I can look for the words it names: ${listed(terms.map(({ text: term }) => code(term)))}.`,
    asks,
    answer: (seen) =>
      [
        `## About the message "${oneLine(words, 80)}"`,
        '',
        ...terms.flatMap(({ text: term }, index) => placesText(term, seen[index])),
      ].join('\n'),
  };
}

const placesText = (term: string, seen: Seen | undefined): readonly string[] => [
  `- ${code(term)} ${behind(seen)}`,
  ...hitsOf(seen)
    .slice(0, MOST_PLACES)
    .map((hit) => `  - ${claim(hit)}`),
];
