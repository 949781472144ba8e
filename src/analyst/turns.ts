/**
 * Takes one turn of the analyst. A part of its work is a generator: it says what it does next, asks its tools, is sent what they gave,
 * and returns its report. Each call runs the generator again from its start against the results that the turns hold, so a resume, a
 * crash or a message in the middle changes nothing.
 */
import type { Finding } from '../domain/agents/agent.ts';
import { jsonDigest } from '../domain/digest.ts';
import type { Todo, ToolCall, ToolResult, Turn } from '../domain/turn.ts';
import { behind, claim } from './evidence.ts';
import { hitsOf, search } from './tools.ts';
import type { Ask, Looking, Seen, Step } from './tools.ts';
import { code, escaped, listed, oneLine, stem, termsIn } from './words.ts';

/** A piece of work that gives a report. */
export type Work = Looking<string>;

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
    const next = turns[at + 1];
    if (turn.by === 'user' && at > 0) play.hear(turn.text);
    if (turn.by === 'model') play.took(turn.calls, next?.by === 'tools' ? next.results : []);
  }
  return play.next();
}

/** One role on its way through its turns. Lives for one call of `nextTurn` only. */
class Play {
  private readonly todos: readonly string[];
  private readonly tools: ReadonlySet<string>;
  private readonly work: Work;
  private at: IteratorResult<Step, string>;
  /** The todo that the list shows as active: -1 before there is a list, `todos.length` when all are done. */
  private shown = -1;
  /** The answer was given: a message after it is answered alone. */
  private answered = false;
  private unheard: Heard[] = [];
  private looked: { readonly heard: Heard; readonly seen: readonly Seen[] }[] = [];

  constructor(part: Part, brief: Brief) {
    this.tools = brief.tools;
    this.todos = brief.tools.has(TODOS) ? part.todos : [];
    this.work = part.work(brief);
    this.at = this.work.next([]);
    this.skipEmpty();
  }

  hear(text: string): void {
    this.unheard.push(hear(text, this.tools));
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
    this.advance(seen.slice(this.listAsk().length), asks.length === 0);
  }

  next(): NextTurn {
    const asks = [...this.listAsk(), ...this.unheard.flatMap((heard) => heard.asks)];
    const said = this.unheard.map((heard) => heard.say);
    if (!this.at.done) {
      const { say, asks: own } = this.at.value;
      return { text: [...said, say].join('\n\n'), asks: [...asks, ...this.available(own)] };
    }
    if (asks.length > 0) {
      const closes = this.listAsk().length > 0;
      const closing = closes ? ['That is what I set out to look at. I close the list and write it up.'] : [];
      return { text: [...said, ...closing].join('\n\n'), asks };
    }
    const answers = this.looked.map(({ heard, seen }) => heard.answer(seen));
    return { text: [...(this.answered ? [] : [this.at.value]), ...said, ...answers].join('\n\n'), asks };
  }

  /** Goes on behind a turn that is over: what was `seen` belongs to messages first, then to the work. */
  private advance(seen: readonly Seen[], wasAnswer: boolean): void {
    const rest = [...seen];
    if (wasAnswer) {
      this.answered = true;
      this.looked = [];
    }
    for (const heard of this.unheard) {
      const own = rest.splice(0, heard.asks.length);
      if (own.length > 0) this.looked.push({ heard, seen: own });
    }
    this.unheard = [];
    if (this.todos.length > 0) this.shown = this.doing();
    if (this.at.done) return;
    this.at = this.work.next(this.withMissing(this.at.value.asks, rest));
    this.skipEmpty();
  }

  /** A step whose tools are all missing is no turn: the role hears at once that they are. */
  private skipEmpty(): void {
    while (!this.at.done && this.available(this.at.value.asks).length === 0) {
      this.at = this.work.next(this.withMissing(this.at.value.asks, []));
    }
  }

  private available(asks: readonly Ask[]): readonly Ask[] {
    return asks.filter(({ tool }) => this.tools.has(tool));
  }

  private withMissing(asks: readonly Ask[], seen: readonly Seen[]): readonly Seen[] {
    const rest = [...seen];
    return asks.map((ask) => {
      const given = this.tools.has(ask.tool) ? rest.shift() : undefined;
      return given ?? { ask, ok: false, text: `this role has no tool ${ask.tool}` };
    });
  }

  private doing(): number {
    return this.at.done ? this.todos.length : this.at.value.todo;
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
  const sender = SENDER.exec(text)?.[1] ?? '';
  const isAgent = sender.startsWith('agent');
  const words = isAgent ? text.replace(SENDER, '').replaceAll(/^> /gm, '') : text.replace(SENDER, '');
  const terms = tools.has('search') ? termsIn(words, MOST_TERMS) : [];
  const quote = `"${oneLine(words, 80)}"`;
  const begin = `A message${isAgent ? ` from ${sender}` : ''} came in: ${quote}. I am not a language model and can't follow instructions;`;
  const names = terms.map((term) => code(term.text));
  return {
    say:
      terms.length === 0
        ? `${begin} it names nothing that I could look for.`
        : `${begin} I can look for the words it names: ${listed(names)}.`,
    asks: terms.map(({ is, text: term }, at) =>
      search(escaped(is === 'word' ? stem(term) : term), { anyCase: is === 'word', limit: 40, about: names[at] ?? '' }),
    ),
    answer: (seen) =>
      [`## About the message ${quote}`, '', ...names.flatMap((name, at) => placesText(name, seen[at]))].join('\n'),
  };
}

const placesText = (name: string, seen: Seen | undefined): readonly string[] => [
  `- ${name} ${behind(seen)}`,
  ...hitsOf(seen)
    .slice(0, MOST_PLACES)
    .map((hit) => `  - ${claim(hit)}`),
];
