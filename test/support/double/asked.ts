/** One request as the double read it, in the same words for every wire. */
import type { Answer } from './script.ts';

export type Wire = 'messages' | 'count tokens' | 'chat' | 'responses' | 'count input' | 'models' | 'unknown';

/** Tokens by class; `input` without those read from the cache or written to it. */
export interface Counted {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What became of a request. `broken`: it began and didn't end, by a fault or because the client left. */
export interface Outcome {
  readonly is: 'waiting' | 'answered' | 'broken' | 'refused';
  readonly status: number;
  /** What the double counted; of a broken one: what it had sent. */
  readonly usage: Counted;
  /** The rule's answer, cut to the limit that was asked for; null where the request never came to one. */
  readonly answer: Answer | null;
  /** What the vendor would say against the request; empty unless refused. */
  readonly problem: string;
}

/** The parts of a request in the order in which vendors cache them; cache marks left out. */
export interface Part {
  readonly of: 'model' | 'tools' | 'system' | 'settings' | 'turn';
  readonly json: string;
  /** A cache breakpoint stands here. */
  readonly marked: boolean;
}

/** What a wire's reader makes of a body. */
export interface Read {
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  /** The first and the last thing that the user's side said, results of tools included. */
  readonly first: string;
  readonly last: string;
  readonly tools: readonly string[];
  /** How many replies of the model are in it already, and one more. */
  readonly turn: number;
  /** Most output tokens; null where no limit was set. */
  readonly limit: number | null;
  readonly parts: readonly Part[];
  /** Ids of the calls in its history, in order. */
  readonly calls: readonly string[];
  /** The key by which the client itself tells conversations apart, where the wire has one; else ''. */
  readonly key: string;
}

export interface Asked extends Read {
  readonly wire: Wire;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly raw: string;
  readonly conversation: string;
  /** From 1, repetitions included. */
  readonly nth: number;
  readonly outcome: Outcome;
}

export const NOTHING: Counted = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
export const UNREAD: Read = {
  model: '',
  stream: false,
  system: '',
  first: '',
  last: '',
  tools: [],
  turn: 1,
  limit: null,
  parts: [],
  calls: [],
  key: '',
};
