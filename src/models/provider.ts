/**
 * The interface of a provider of models, and what all providers share (sizes, tool call ids). The router in open.ts combines
 * several into a port.
 */
import { CallId, type CallId as Call } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import type { ModelFault, ModelPort, ModelRequest } from '../ports/model.ts';

/** A source of models: its options in display order, and a call as `ModelPort` specifies. */
export interface Provider {
  /** For messages and `mimir models`: `offline`, `scripted`, `anthropic`. */
  readonly name: string;
  models(): readonly ModelOption[];
  readonly call: ModelPort['call'];
  readonly count?: ModelPort['count'];
  readonly termsOf?: ModelPort['termsOf'];
}

/** Calls one provider; kept for the whole run. */
export type Caller = Pick<Provider, 'call' | 'count'>;

export const ABORTED: ModelFault = { is: 'aborted', message: 'stopped' };

/** UTF-8 bytes. */
export const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/** FNV-1a over UTF-16 units: 32 bits, from 0 on. */
export function fnv(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** The id of the `index`th tool call (from 0) of a reply; the same if the call is repeated. */
export const toolCallId = (request: ModelRequest, index: number): Call => CallId.parse(`${request.call}.${index + 1}`);
