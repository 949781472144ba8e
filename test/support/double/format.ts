/** The wires side by side: how each reads a request, refuses it, and writes a reply. */
import type { Counted, Read, Wire } from './asked.ts';
import { UNREAD } from './asked.ts';
import { chatFrames, readChat, wantsUsage, wholeChat } from './chat.ts';
import type { Frame, Writing } from './frame.ts';
import { messageFrames, messageReasoned, readMessages, wholeMessage } from './messages.ts';
import { failedResponse, readResponses, responseEvent, responseFrames, wholeResponse } from './responses.ts';
import type { Reply } from './reply.ts';

export interface Format {
  read(body: unknown): Read;
  frames(reply: Reply, counted: Counted, writing: Writing): readonly Frame[];
  whole(reply: Reply, counted: Counted, writing: Writing): unknown;
  /** By what the reasoning of a reply is known again when its calls come back; null where it has none. */
  reasoned(reply: Reply, body: unknown): string | null;
  /** The wire's own error in the midst of a stream; `before`: how many events came already. */
  error(error: { type: string; message: string }, reply: Reply, writing: Writing, before: number): readonly Frame[];
  /** A sign of life in the midst of a stream. */
  readonly alive: string;
  /** How many events at the end of a stream only say that it ends: a fault comes before them. */
  tail(body: unknown): number;
}

export const FORMATS: { readonly [wire in 'messages' | 'chat' | 'responses']: Format } = {
  messages: {
    read: readMessages,
    frames: messageFrames,
    whole: wholeMessage,
    reasoned: messageReasoned,
    error: (error, { id }) => [
      {
        data: `event: error\ndata: ${JSON.stringify({ type: 'error', error, request_id: `req_${id}` })}\n\n`,
        tokens: 0,
      },
    ],
    alive: `event: ping\ndata: ${JSON.stringify({ type: 'ping' })}\n\n`,
    tail: () => 2,
  },
  chat: {
    read: readChat,
    frames: chatFrames,
    whole: wholeChat,
    reasoned: () => null,
    error: ({ type, message }) => [
      { data: `data: ${JSON.stringify({ error: { message, type, param: null, code: null } })}\n\n`, tokens: 0 },
    ],
    alive: ': PROCESSING\n\n',
    tail: (body) => (wantsUsage(body) ? 3 : 2),
  },
  responses: {
    read: readResponses,
    frames: responseFrames,
    whole: wholeResponse,
    reasoned: ({ id, reasoning }) => (reasoning === '' ? null : `rs_${id}`),
    // What fails while it is worked on ends as `response.failed`; what fails around it is a bare `error`.
    error: ({ type, message }, reply, writing, before) =>
      type === 'error'
        ? [responseEvent('error', { code: null, message, param: null, sequence_number: before })]
        : [
            responseEvent('response.failed', {
              response: failedResponse(reply, writing, { code: type, message }),
              sequence_number: before,
            }),
          ],
    alive: ': keep-alive\n\n',
    tail: () => 1,
  },
};

const PATHS: Readonly<Record<string, Wire>> = {
  'POST /v1/messages': 'messages',
  'POST /v1/messages/count_tokens': 'count tokens',
  'POST /v1/chat/completions': 'chat',
  'POST /v1/responses': 'responses',
  'POST /v1/responses/input_tokens': 'count input',
  'GET /v1/models': 'models',
};

export const wireOf = (method: string, path: string): Wire => PATHS[`${method} ${path}`] ?? 'unknown';

/** Reads `body` as `wire` has it. */
export function readAs(wire: Wire, body: unknown): Read {
  if (wire === 'count tokens') return readMessages(body);
  if (wire === 'count input') return readResponses(body);
  return wire === 'models' || wire === 'unknown' ? UNREAD : FORMATS[wire].read(body);
}
