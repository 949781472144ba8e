/**
 * The words between the analyst's roles and its turn-taking: a role is a generator that says what it does next, asks its
 * tools, is sent what they gave, and returns its answer. Roles know nothing of turns, messages or todos' bookkeeping.
 */
import type { Finding } from '../../domain/agent.ts';
import type { Json } from '../../domain/turn.ts';

/** A tool call that a role wants. */
export interface Ask {
  readonly tool: string;
  readonly input: { readonly [key: string]: Json };
}

/** What an ask gave. A tool that the role doesn't have, or that was denied, is an error result like any other. */
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

/** What a role is sent out with. */
export interface Brief {
  readonly task: string;
  readonly role: string;
  readonly findings: readonly Finding[];
  /** Names of the tools that it has. */
  readonly tools: ReadonlySet<string>;
}

/** One role of the analyst: the list it makes at its start, and its work. Both depend on nothing but the brief. */
export interface Part {
  todos(brief: Brief): readonly string[];
  work(brief: Brief): Work;
}
