/** The conversation of one agent in Mimir's own words; providers translate it to their wire and back. */
import type { Usage } from './budget.ts';
import type { CallId, ModelId } from './ids.ts';
import { bytesIn } from './text/text.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A tool call that a model asked for. `input` is whatever it sent, not yet checked. */
export interface ToolCall {
  readonly id: CallId;
  readonly tool: string;
  readonly input: Json;
}

/** The result of a tool call, as the model reads it. `ok: false` is an error result, never the end of an agent. */
export interface ToolResult {
  readonly call: CallId;
  readonly ok: boolean;
  readonly text: string;
}

export type Turn =
  | { readonly by: 'user'; readonly text: string }
  | {
      readonly by: 'model';
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** Data that the provider needs back unchanged (signatures of its reasoning); opaque to the rest of Mimir. */
      readonly opaque?: Json;
    }
  | { readonly by: 'tools'; readonly results: readonly ToolResult[] };

/** Bytes of a turn: its text, and the tools and inputs it names. */
export function bytesOfTurn(turn: Turn): number {
  if (turn.by === 'user') return bytesIn(turn.text);
  if (turn.by === 'tools') return turn.results.reduce((sum, result) => sum + bytesIn(result.text), 0);
  return turn.calls.reduce(
    (sum, call) => sum + bytesIn(call.tool) + bytesIn(JSON.stringify(call.input)),
    bytesIn(turn.text),
  );
}

/** Tokens of `bytes` of text, by the usual rule of four bytes per token, rounded up. */
export const tokensIn = (bytes: number): number => Math.ceil(bytes / 4);

/** `tool use`: calls follow. `output limit`: cut off; its calls are never executed. */
export type StopReason = 'end' | 'tool use' | 'output limit' | 'refused';

export interface ModelReply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly stopReason: StopReason;
  readonly usage: Usage;
  /** US dollars, where the provider tells the cost itself instead of tokens that have a price. */
  readonly cost?: number;
  /** The provider reported no usage: `usage` is an estimate. */
  readonly estimated?: boolean;
  /** The model does not support the requested effort, so it was called without one. */
  readonly withoutEffort?: true;
  /** The model that answered, canonical. */
  readonly model: ModelId;
  readonly opaque?: Json;
}

export interface Todo {
  readonly description: string;
  readonly status: 'pending' | 'active' | 'completed';
}
