/**
 * What the provider double answers: plain JSON, so that a script can be handed to a double in another process. The double
 * itself (double.ts) speaks the real wire formats and counts what it would bill.
 */

import { isFields } from './json.ts';

/** One reply, in no provider's terms: the double puts it on whichever wire it was asked on. */
export interface Answer {
  readonly text?: string;
  /** Streamed before the text, in the wire's own form; with a signature or encrypted content to be sent back. */
  readonly reasoning?: string;
  /** An id that is said must be the only one of its name: by the ids the double knows whose results come back. */
  readonly calls?: readonly { readonly tool: string; readonly input: unknown; readonly id?: string }[];
  /** By what it holds unless said: `calls` -> tool use, else end. */
  readonly stop?: 'end' | 'tool use' | 'output limit' | 'refused';
  /** Answers in the name of another model. */
  readonly model?: string;
  /** Reported instead of what the double counted; null: none is reported. Fields as on the wire, so that they can be absurd. */
  readonly usage?: { readonly [field: string]: unknown } | null;
  readonly fault?: WireFault;
  /** Milliseconds before the response's head. The script's own unless said. */
  readonly latencyMs?: number;
  /** Tokens a second of the stream; all at once unless said. */
  readonly rate?: number;
}

/** Every fault of a provider, and those that others were seen to have. `at`: how many stream events come before it. */
export type WireFault =
  | {
      readonly is: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The connection ends: before the head (`at: 'head'`), or in the stream. `clean` ends it as if it were done. */
  | { readonly is: 'cut'; readonly at: 'head' | number; readonly clean?: boolean }
  /** Nothing more comes; the connection stays. */
  | { readonly is: 'silent'; readonly at: 'head' | number }
  /** Nothing more comes but signs of life (pings, or comments where the wire has none), one in so many milliseconds. */
  | { readonly is: 'trickle'; readonly at: number; readonly everyMs: number }
  /** The wire's own error event in the stream: `overloaded_error`, `server_error` … */
  | { readonly is: 'error event'; readonly at: number; readonly type: string; readonly message: string }
  /** An event whose data is no JSON. */
  | { readonly is: 'bad event'; readonly at: number }
  /** A tool call whose arguments are no JSON, complete and with the stop reason of a tool use. */
  | { readonly is: 'bad arguments'; readonly arguments: string }
  /** A whole answer that is something else. */
  | { readonly is: 'html' | 'empty' | 'gzip garbage' | 'wrong type' }
  /** To another host or path. */
  | { readonly is: 'redirect'; readonly status: 301 | 302 | 307 | 308; readonly to: string };

/** A rule of a script: the first whose conditions all hold answers. */
export interface Rule {
  readonly when?: {
    /** Regular expressions over the system prompt, the first and the last user text (tool results included). */
    readonly system?: string;
    readonly first?: string;
    readonly last?: string;
    readonly model?: string;
    /** The nth request of its conversation, from 1. */
    readonly nth?: number;
    /** The reply's place in its conversation, from 1: one more than the replies in the request. Repetitions don't move it. */
    readonly turn?: number;
    /** Only this many times over all conversations. */
    readonly times?: number;
  };
  readonly answer: Answer;
}

export interface Script {
  readonly rules: readonly Rule[];
  readonly latencyMs?: number;
  readonly rate?: number;
  /** This share of requests, chosen by a fixed sequence, gets one of these faults before its answer would begin or in its midst. */
  readonly chaos?: { readonly share: number; readonly faults: readonly WireFault[]; readonly seed: number };
  /** What a server of this kind lacks: it then answers as such servers do. */
  readonly lacks?: readonly (
    | 'tools'
    | 'parallel tools'
    | 'usage'
    | 'responses'
    | 'schema'
    | 'streaming options'
    | 'effort'
  )[];
  /** Prompt caching: the least prefix in tokens (1024 unless said), and whether servers that cache by themselves count writes. */
  readonly cache?: { readonly minimum?: number; readonly writes?: boolean };
  /** The models there are; any other is answered 404. Every one is there unless this is said. */
  readonly models?: readonly string[];
  /** Tokens of input above which a request is too long. */
  readonly window?: number;
  /** What servers of Chat Completions do their own way: reasoning streams as `reasoning`; a call comes whole, every one with index 0. */
  readonly quirks?: readonly ('reasoning field' | 'whole calls')[];
  /** Any key will do, and none, as with servers on one's own machine. */
  readonly keyless?: boolean;
  /** Bodies of older requests are let go: for runs of hours. The last two of each conversation stay. */
  readonly forgets?: boolean;
}

/** Is `value`, read from a file, a script? Its rules are taken at their word. */
export const isScript = (value: unknown): value is Script => isFields(value) && Array.isArray(value['rules']);
