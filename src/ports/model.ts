/**
 * The seam to language models, one implementation per provider behind a router. Used by the gate only.
 *
 * Adapters neither retry nor price nor judge: a failure is a value, and what it means is the gate's and policy's to say.
 */
import type { Finding } from '../domain/agent.ts';
import type { AgentId, CallId, ModelId, RoleName } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan.ts';
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
  | { readonly is: 'merge'; readonly task: string; readonly results: readonly Finding[] };

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
  /** JSON Schema the whole reply should have, where the provider can enforce it. */
  readonly format: Json | null;
}

/** Why a call failed, in the only terms the engine acts on. */
export interface ModelFault {
  readonly is:
    | 'rate limited'
    | 'overloaded'
    | 'unreachable'
    | 'refused'
    | 'unauthorised'
    | 'malformed'
    | 'too long'
    | 'aborted';
  readonly message: string;
  /** What the provider asked to wait, if it did. */
  readonly retryAfterMs?: number;
}

export interface ModelPort {
  /** Every known model, usable or not; fixed for the run. */
  models(): readonly ModelOption[];
  /**
   * One call, one reply. Resolves for every fault; rejects only for a bug. Aborting `signal` resolves with `aborted`
   * within a second. `onText` gets text as it streams: passing ticks, never part of the result's meaning.
   */
  call(
    request: ModelRequest,
    signal: AbortSignal,
    onText: (delta: string) => void,
  ): Promise<Result<ModelReply, ModelFault>>;
}
