/**
 * The seam to language models, one implementation per provider behind a router. Used by the gate only.
 *
 * Adapters neither retry nor price nor judge: a failure is a value, and what it means is the gate's and policy's to say.
 */
import type { Usage } from '../domain/budget.ts';
import type { Finding } from '../domain/agents/agent.ts';
import type { Effort } from '../domain/models/effort.ts';
import type { AgentId, CallId, Millis, ModelId, RoleName } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Result } from '../domain/result.ts';
import type { Json, ModelReply, Turn } from '../domain/turn.ts';

/** What a model is told about a tool. `schema` is JSON Schema of its input. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/**
 * What a call is for, beside its words. Language models need only the words; the offline analyst, which is none, and
 * the ledger read this.
 */
export type Purpose =
  | {
      readonly is: 'plan';
      readonly task: string;
      readonly facts: RepositoryFacts;
      readonly roles: readonly RoleName[];
      readonly maxTasks: number;
      readonly split: 'auto' | 'always' | 'never';
    }
  | { readonly is: 'work'; readonly task: string; readonly role: RoleName; readonly findings: readonly Finding[] }
  | { readonly is: 'merge'; readonly task: string; readonly results: readonly Finding[] }
  /** The conversation of an agent comes near the window: it is asked for a summary to go on with. */
  | { readonly is: 'compact'; readonly task: string }
  /** One text outside of a run: a custom agent from a sentence. The offline analyst is never asked for one. */
  | { readonly is: 'draft'; readonly task: string };

export interface ModelRequest {
  readonly model: ModelId;
  readonly agent: AgentId;
  /** The same for a repetition after a crash: providers that support it never bill it twice. */
  readonly call: CallId;
  readonly purpose: Purpose;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly turns: readonly Turn[];
  readonly maxOutputTokens: number;
  /** No tool may be called in the reply; `tools` are told as always, so that histories and prompt caches stay good. */
  readonly toolChoice?: 'none';
  /** How much the model is to think; absent: nothing is said. A model that takes no such setting is called without. */
  readonly effort?: Effort;
  /** JSON Schema the whole reply should have, where the provider can enforce it. */
  readonly format: Json | null;
}

/**
 * Why a call failed, in the only terms the engine acts on.
 *
 * - `rate limited` (429), `overloaded` (500, 502, 503, 529), `unreachable` (no connection, DNS, TLS), `cut` (the stream ended early or broke),
 *   `silent` (nothing of a reply within the time that the provider has for it): may pass; tried again.
 * - `malformed`: what came can't be read as a reply (HTML, no JSON, an event that isn't one): tried again, once.
 * - `unauthorised` (401, 403), `no credit` (402, a quota that is used up): another provider may do, the same one won't.
 * - `refused` (400, 404, 413 …): the request itself is at fault; nothing is tried again.
 * - `too long`: more than the model's window; fewer turns may do.
 * - `mismatch`: another model answered than the one that was asked.
 */
export interface ModelFault {
  readonly is:
    | 'rate limited'
    | 'overloaded'
    | 'unreachable'
    | 'cut'
    | 'silent'
    | 'refused'
    | 'unauthorised'
    | 'no credit'
    | 'malformed'
    | 'too long'
    | 'mismatch'
    | 'aborted';
  /** For a person: what happened and what to do about it. Holds no key and no stack trace. */
  readonly message: string;
  /** What the provider asked to wait, if it did: whatever it said, not yet capped; never negative. */
  readonly retryAfterMs?: number;
  /** Of `silent`: something of the reply had come. Missing: nothing had. */
  readonly begun?: true;
  /**
   * What the call used up before it failed: as the provider counted where it did, else an upper bound (one token for each byte received).
   * Missing when the provider refused it before any work began: then nothing is billed.
   */
  readonly spent?: Usage;
}

/** A piece of what is said or thought, as it streams. */
export interface Words {
  readonly is: 'text' | 'reasoning';
  readonly text: string;
}

/** A piece of a reply as it streams: words, or arguments of a call that is being written. Nothing of a call is carried out before the end. */
export type Delta = Words | { readonly is: 'call'; readonly tool: string; readonly text: string };

/** What was set up for the provider of a model, as far as the gate acts on it. */
export interface ProviderTerms {
  /** Milliseconds for which a failing call is tried again. */
  readonly retryFor: Millis;
  /** Other models' names as they come over the wire, under which this model may answer. */
  readonly answersAs: readonly string[];
  /** A server of the person's own, not the maker's: what it calls its models is its own affair. */
  readonly own: boolean;
}

export interface ModelPort {
  /** Every known model, usable or not; fixed for the run. */
  models(): readonly ModelOption[];
  /**
   * One call, one reply. Resolves for every fault; rejects only for a bug. Aborting `signal` resolves with `aborted`
   * within a second. `onDelta` gets what streams: passing ticks, never part of the result's meaning.
   */
  call(
    request: ModelRequest,
    signal: AbortSignal,
    onDelta: (delta: Delta) => void,
  ): Promise<Result<ModelReply, ModelFault>>;
  /** Terms of the provider that serves `model`; null for one that nobody set up, such as the built-in analyst. */
  termsOf?(model: ModelId): ProviderTerms | null;
  /** Tokens that `request` would put in, by the provider's own count and at no cost; null where it has none or can't be asked. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<number | null>;
}
