/** The interface to language models: one implementation per provider behind a router, used by the gate only. Adapters neither retry
 * nor price nor judge: a failure is a value, which the gate and policy interpret. */
import type { Usage } from '../domain/budget.ts';
import type { Finding } from '../domain/agents/agent.ts';
import type { Effort } from '../domain/models/provider.ts';
import type { AgentId, CallId, Millis, ModelId, RoleName } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Result } from '../domain/result.ts';
import type { Json, ModelReply, Turn } from '../domain/turn.ts';

/** The description of a tool for a model. `schema` is the JSON Schema of its input. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/** What a call is for. Language models need only the prompt; this is read by the offline analyst, which is not a language model, and by the ledger. */
export type Purpose =
  | {
      readonly is: 'plan';
      readonly task: string;
      /** What the person added when asking for another plan; empty for the first. */
      readonly hint: string;
      readonly facts: RepositoryFacts;
      readonly roles: readonly RoleName[];
      readonly maxTasks: number;
      readonly split: 'auto' | 'always';
    }
  | { readonly is: 'work'; readonly task: string; readonly role: RoleName; readonly findings: readonly Finding[] }
  | { readonly is: 'merge'; readonly task: string; readonly results: readonly Finding[] }
  /** An agent's conversation is near the context window: asks for a summary to continue with. */
  | { readonly is: 'compact'; readonly task: string }
  /** One text outside a run: a custom agent from a sentence. Never sent to the offline analyst. */
  | { readonly is: 'draft'; readonly task: string };

export interface ModelRequest {
  readonly model: ModelId;
  readonly agent: AgentId;
  /** Names this one call; each repetition has another. */
  readonly call: CallId;
  readonly purpose: Purpose;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly turns: readonly Turn[];
  readonly maxOutputTokens: number;
  /** The reply may not call tools; `tools` are sent as always, so that the prompt cache stays valid. */
  readonly toolChoice?: 'none';
  /** How much the model is to reason; absent: not sent. Models without such a setting ignore it. */
  readonly effort?: Effort;
  /** JSON Schema of the whole reply, if the provider can enforce one. */
  readonly format: Json | null;
}

/** Why a call failed, in the terms on which the engine acts.
 *
 * - `rate limited` (429), `overloaded` (500, 502, 503, 529), `unreachable` (no connection, DNS, TLS), `cut` (the stream broke or ended
 *   early), `silent` (no part of a reply within the provider's time limit): transient; retried.
 * - `malformed`: the response is not a reply (HTML, invalid JSON, an unknown event): retried once.
 * - `unauthorised` (401, 403), `no credit` (402, an exhausted quota): another provider may work, this one will not.
 * - `refused` (400, 404, 413 …): the request itself is at fault; never retried.
 * - `too long`: more than the model's context window; fewer turns may work.
 * - `mismatch`: another model answered than the requested one. */
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
  /** For a person: what happened and what to do. Contains no key and no stack trace. */
  readonly message: string;
  /** The wait that the provider requested, not capped; never negative. */
  readonly retryAfterMs?: number;
  /** Of `silent`: a part of the reply had arrived. */
  readonly begun?: true;
  /** What the call used before it failed: the provider's count, else an upper bound (one token per received byte). Absent when the
   * provider refused it before any work: then nothing is billed. */
  readonly spent?: Usage;
}

/** A piece of text or reasoning as it streams. */
export interface Words {
  readonly is: 'text' | 'reasoning';
  readonly text: string;
}

/** A piece of a reply as it streams: text, reasoning, or arguments of a call. No call is carried out before the reply ends. */
export type Delta = Words | { readonly is: 'call'; readonly tool: string; readonly text: string };

/** The settings of a model's provider, as far as the gate acts on them. */
export interface ProviderTerms {
  /** How long a failing call is retried, in milliseconds. */
  readonly retryFor: Millis;
  readonly answersAs: readonly string[];
  /** The person's own server instead of the vendor's: it may name its models as it likes. */
  readonly own: boolean;
}

export interface ModelPort {
  /** Every known model, available or not; fixed for the run. */
  models(): readonly ModelOption[];
  /** One call, one reply. Resolves for every fault; rejects only for a bug. Aborting `signal` resolves with `aborted` within a second.
   * `onDelta` gets streamed pieces for display; the result never depends on them. */
  call(
    request: ModelRequest,
    signal: AbortSignal,
    onDelta: (delta: Delta) => void,
  ): Promise<Result<ModelReply, ModelFault>>;
  /** Terms of the provider of `model`; null for one without a configured provider, such as the built-in analyst. */
  termsOf?(model: ModelId): ProviderTerms | null;
  /** The input tokens of `request` by the provider's own free count; null if there is none. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<number | null>;
}
