/**
 * What one provider of models is, the words that all of them share (sizes, tool call ids, stopping), and nothing about
 * any one of them. The router in open.ts makes a port of several.
 */
import { CallId, type CallId as Call } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { fail, type Result } from '../domain/result.ts';
import type { Turn } from '../domain/turn.ts';
import type { ModelFault, ModelPort, ModelRequest } from '../ports/model.ts';

/** A source of models: its options in the order they should be shown, and a call as `ModelPort` promises it. */
export interface Provider {
  /** For messages and `mimir models`: `offline`, `scripted`, `anthropic`. */
  readonly name: string;
  models(): readonly ModelOption[];
  readonly call: ModelPort['call'];
  readonly count?: ModelPort['count'];
  readonly termsOf?: ModelPort['termsOf'];
}

/** What reaches one provider over its own wire: loaded when it is first needed, since client libraries are slow to load. */
export type Caller = Pick<Provider, 'call' | 'count'>;

export const ABORTED: ModelFault = { is: 'aborted', message: 'stopped' };

/** UTF-8 bytes. */
export const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Tokens that `bytes` of text make, by the usual rule of four bytes a token, rounded up. */
export const tokensIn = (bytes: number): number => Math.ceil(bytes / 4);

/** Bytes of what a turn says: its text, and the tools and inputs it names. */
export function bytesOfTurn(turn: Turn): number {
  if (turn.by === 'user') return bytesOf(turn.text);
  if (turn.by === 'tools') return turn.results.reduce((sum, result) => sum + bytesOf(result.text), 0);
  return turn.calls.reduce(
    (sum, call) => sum + bytesOf(call.tool) + bytesOf(JSON.stringify(call.input)),
    bytesOf(turn.text),
  );
}

/** The id of the `index`th tool call (from 0) of a reply: the same when the call is repeated. */
export const toolCallId = (request: ModelRequest, index: number): Call => CallId.parse(`${request.call}.${index + 1}`);

/** `work` as soon as it is there, or the fault `aborted` as soon as `signal` says so. What loses is left to itself. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<Result<T, ModelFault>> {
  if (signal.aborted) return fail(ABORTED);
  const stop = Promise.withResolvers<Result<T, ModelFault>>();
  const onAbort = (): void => stop.resolve(fail(ABORTED));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work.then((value) => ({ ok: true as const, value })), stop.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
