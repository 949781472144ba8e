/** The output items of a Responses reply, each with the events that build it up. */
import type { Reply, WireCall } from './reply.ts';
import { at, listAt } from './json.ts';
import { sealed } from './seal.ts';
import { piecesOf, tokensIn } from './tokens.ts';

interface Event {
  readonly type: string;
  readonly tokens?: number;
  readonly fields: object;
}

export interface Item {
  readonly item: object;
  readonly events: readonly Event[];
}

/** Reasoning, then words, then calls. A summary comes when the request asked for one, sealed reasoning likewise. */
export function itemsOf(reply: Reply, body: unknown): readonly Item[] {
  return [
    ...(reply.reasoning === '' ? [] : [reasoningItem(reply, body)]),
    ...(reply.text === '' ? [] : [messageItem(reply)]),
    ...reply.calls.map((call, index) => callItem(reply, call, index)),
  ];
}

function reasoningItem(reply: Reply, body: unknown): Item {
  const id = `rs_${reply.id}`;
  const isSealed = listAt(body, 'include').includes('reasoning.encrypted_content');
  const isTold = Boolean(at(at(body, 'reasoning'), 'summary'));
  const empty = { id, type: 'reasoning', summary: [], ...(isSealed ? { encrypted_content: '' } : {}) };
  const part = { type: 'summary_text', text: reply.reasoning };
  const item = {
    ...empty,
    summary: isTold ? [part] : [],
    ...(isSealed ? { encrypted_content: sealed(reply.reasoning) } : {}),
  };
  const where = { item_id: id, summary_index: 0 };
  const told = [
    { type: 'response.reasoning_summary_part.added', fields: { ...where, part: { ...part, text: '' } } },
    ...piecesOf(reply.reasoning).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      tokens: tokensIn(delta),
      fields: { ...where, delta },
    })),
    { type: 'response.reasoning_summary_text.done', fields: { ...where, text: reply.reasoning } },
    { type: 'response.reasoning_summary_part.done', fields: { ...where, part } },
  ];
  return between(empty, isTold ? told : [], item, isTold ? 0 : reply.reasoningTokens);
}

function messageItem(reply: Reply): Item {
  const id = `msg_${reply.id}`;
  const refused = reply.stop === 'refused';
  const where = { item_id: id, content_index: 0 };
  const logprobs = refused ? {} : { logprobs: [] };
  const partOf = (text: string): object =>
    refused ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations: [], logprobs: [] };
  const name = refused ? 'response.refusal' : 'response.output_text';
  const head = { id, type: 'message', role: 'assistant' };
  const status = reply.stop === 'output limit' && reply.calls.length === 0 ? 'incomplete' : 'completed';
  return between(
    { ...head, status: 'in_progress', content: [] },
    [
      { type: 'response.content_part.added', fields: { ...where, part: partOf('') } },
      ...piecesOf(reply.text).map((delta) => ({
        type: `${name}.delta`,
        tokens: tokensIn(delta),
        fields: { ...where, delta, ...logprobs },
      })),
      {
        type: `${name}.done`,
        fields: { ...where, ...(refused ? { refusal: reply.text } : { text: reply.text }), ...logprobs },
      },
      { type: 'response.content_part.done', fields: { ...where, part: partOf(reply.text) } },
    ],
    { ...head, status, content: [partOf(reply.text)] },
  );
}

function callItem(reply: Reply, call: WireCall, index: number): Item {
  const id = `fc_${reply.id}${index}`;
  const isCut = reply.stop === 'output limit' && index === reply.calls.length - 1;
  const head = { id, type: 'function_call', call_id: call.id, name: call.tool };
  const pieces = piecesOf(call.json).map((delta) => ({
    type: 'response.function_call_arguments.delta',
    tokens: tokensIn(delta),
    fields: { item_id: id, delta },
  }));
  const done = {
    type: 'response.function_call_arguments.done',
    fields: { item_id: id, name: call.tool, arguments: call.json },
  };
  return between(
    { ...head, status: 'in_progress', arguments: '' },
    isCut ? pieces : [...pieces, done],
    { ...head, status: isCut ? 'incomplete' : 'completed', arguments: call.json },
    tokensIn(call.tool),
  );
}

const between = (empty: object, events: readonly Event[], item: object, tokens = 0): Item => ({
  item,
  events: [
    { type: 'response.output_item.added', tokens, fields: { item: empty } },
    ...events,
    { type: 'response.output_item.done', fields: { item } },
  ],
});
