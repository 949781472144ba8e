/** The interface of a provider of models, and what all providers share (sizes, tool call ids). The router in open.ts combines several into a port. */
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

/** The part of a canonical id after the first slash, which goes on the wire; it may contain more slashes. */
export const wireName = (model: string): string => model.slice(model.indexOf('/') + 1);

/** `text` as an id or a name that servers accept, at most `most` characters; always the same for the same text. A model may call a tool by an
 * invalid name, and ids of one server may be invalid for another. */
export function wireWord(text: string, most: number): string {
  if (text.length <= most && /^[A-Za-z0-9_-]+$/.test(text)) return text;
  const beginning = text.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, Math.min(40, most - 15));
  // 64 bits tell words apart that look alike without their invalid characters.
  return `${beginning}_${[0x811c9dc5, 0x2f0b4a77].map((seed) => fnv(text, seed).toString(36)).join('')}`;
}

/** FNV-1a over UTF-16 units: 32 bits, from 0 on. */
function fnv(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** The id of the `index`th tool call (from 0) of a reply; the same if the call is repeated. */
export const toolCallId = (request: ModelRequest, index: number): Call => CallId.parse(`${request.call}.${index + 1}`);
