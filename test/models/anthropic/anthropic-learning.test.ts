/** What a server of Anthropic's language refuses is left out from then on, each thing once. Refusals in the makers' own words. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { AgentId, CallId, ModelId } from '../../../src/domain/ids.ts';
import type { Turn } from '../../../src/domain/turn.ts';
import { anthropicCaller } from '../../../src/models/anthropic/adapter.ts';
import { type Fields, isFields, listAt, textAt } from '../../../src/models/http/json.ts';
import type { ModelRequest } from '../../../src/ports/model.ts';
import { holding } from '../../support/like.ts';
import { fakeWorld } from '../../support/world.ts';
import { ask, LIVE, onDouble, setupFor } from '../anthropic-parts.ts';
import { openServer, refuse } from '../openai-setup.ts';

const FORMAT = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
} as const;

const SAID = [
  { type: 'message_start', message: { model: 'claude-opus-5-5', usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];

function say(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(SAID.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

const error = (message: string): object => ({ type: 'error', error: { type: 'invalid_request_error', message } });

/** The bodies that a server heard that refuses by `wrong`; and how each call ended. */
async function calls(
  wrong: (body: Fields) => string | null,
  requests: readonly Partial<ModelRequest>[],
): Promise<{ readonly bodies: readonly Fields[]; readonly ends: readonly unknown[] }> {
  const server = await openServer((response, { body }) => {
    const why = wrong(body);
    if (why === null) say(response);
    else refuse(response, 400, error(why));
  });
  try {
    const caller = anthropicCaller(setupFor(server.url), fakeWorld());
    const ends: unknown[] = [];
    for (const request of requests) {
      const came = await caller.call(ask({ model: OPUS, tools: [], ...request }), LIVE, () => undefined);
      ends.push(came.ok ? came.value.text : came.fault.message);
    }
    return { bodies: server.heard.map(({ body }) => body), ends };
  } finally {
    await server.close();
  }
}

const OPUS = ModelId.parse('anthropic/claude-opus-5-5');
const OPUS_4_5 = ModelId.parse('anthropic/claude-opus-4-5-20251101');
const kindsOf = (body: Fields): readonly string[] =>
  ['thinking', 'output_config', 'tool_choice'].filter((name) => name in body);

describe('a server of Anthropic’s language that does not take', () => {
  it('a schema is asked for the reply in words, and from then on at once', async () => {
    const wrong = (body: Fields): string | null =>
      'output_config' in body ? 'output_config.format: Extra inputs are not permitted' : null;
    const { bodies, ends } = await calls(wrong, [{ format: FORMAT }, { format: FORMAT }]);
    expect([ends, bodies.map(kindsOf)]).toEqual([
      ['Yes.', 'Yes.'],
      [['thinking', 'output_config'], ['thinking'], ['thinking']],
    ]);
  });

  it('a schema, nor to force a tool, is asked in words alone', async () => {
    const wrong = (body: Fields): string | null => {
      if ('output_config' in body) return 'Schema is too complex for compilation.';
      return 'tool_choice' in body ? 'tool_choice: type "tool" and "any" are not supported for this model.' : null;
    };
    const { bodies, ends } = await calls(wrong, [{ model: OPUS_4_5, format: FORMAT, maxOutputTokens: 2000 }]);
    expect([ends, bodies.map(kindsOf)]).toEqual([['Yes.'], [['output_config'], ['tool_choice'], []]]);
  });

  it('a word on reasoning is not told any', async () => {
    const wrong = (body: Fields): string | null =>
      'thinking' in body ? 'adaptive thinking is not supported on this model' : null;
    const { bodies } = await calls(wrong, [{}, {}]);
    expect(bodies.map(kindsOf)).toEqual([['thinking'], [], []]);
  });

  it('anything at all is believed', async () => {
    const { bodies, ends } = await calls(() => 'messages: too odd', [{ format: FORMAT }]);
    expect([bodies.length, ends]).toEqual([1, [holding('too odd')]]);
  });
});

const hasThinking = (body: Fields): readonly boolean[] =>
  listAt(body, 'messages').map((message) =>
    listAt(message, 'content').some((block) => isFields(block) && block['type'] === 'thinking'),
  );

describe('reasoning that is not taken back', () => {
  const call = (id: string): Turn[] => [
    {
      by: 'model',
      text: '',
      calls: [{ id: CallId.parse(id), tool: 'read_file', input: { path: 'a' } }],
      opaque: {
        anthropic: {
          model: OPUS,
          before: id === 'a' ? 3 : 5,
          parts: [{ type: 'thinking', thinking: '', signature: id }, { type: 'call' }],
        },
      },
    },
    { by: 'tools', results: [{ call: CallId.parse(id), ok: true, text: '' }] },
  ];
  const turns: readonly Turn[] = [{ by: 'user', text: 'go' }, ...call('a')];

  it('is left out with all before it, and what comes later goes back again', async () => {
    const wrong = (body: Fields): string | null =>
      JSON.stringify(body).includes('"signature":"a"')
        ? 'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.'
        : null;
    const later: readonly Turn[] = [...turns, ...call('b')];
    const other = AgentId.parse('ROOT::S2');
    const { bodies, ends } = await calls(wrong, [{ turns }, { turns: later }, { turns: later, agent: other }]);
    expect([ends, bodies.map(hasThinking)]).toEqual([
      ['Yes.', 'Yes.', 'Yes.'],
      [
        [false, true, false],
        [false, false, false],
        [false, false, false, true, false],
        [false, true, false, true, false],
        [false, false, false, false, false],
      ],
    ]);
  });
});

describe('two replies in a row', () => {
  it('keep between them what the second was asked with, which its reasoning is bound to', async () => {
    const said = (text: string): Turn => ({ by: 'model', text, calls: [] });
    const turns: readonly Turn[] = [{ by: 'user', text: 'a' }, said('b'), said('c')];
    const { bodies } = await calls(() => null, [{ turns }]);
    const texts = listAt(bodies[0], 'messages').map((message) =>
      listAt(message, 'content').map((one) => textAt(one, 'text')),
    );
    expect(texts).toEqual([['a'], ['b'], ['Go on.'], ['c'], ['Go on.']]);
  });
});

describe('the address of a server of Anthropic’s language', () => {
  it.each(['', '/', '/v1', '/v1/', '/v1/messages'])('may end in %j', async (end) => {
    const text = await onDouble({ rules: [{ answer: { text: 'Yes.' } }] }, async ({ double }) => {
      const caller = anthropicCaller(setupFor(`${double.url}${end}`), fakeWorld());
      const came = await caller.call(ask(), LIVE, () => undefined);
      return came.ok ? came.value.text : came.fault.message;
    });
    expect(text).toBe('Yes.');
  });

  it('may have a path before it', async () => {
    const { url, close, heard } = await openServer(say);
    try {
      await anthropicCaller(setupFor(`${url}/proxy/v1`), fakeWorld()).call(ask(), LIVE, () => undefined);
      expect(heard.map(({ path }) => path)).toEqual(['/proxy/v1/messages']);
    } finally {
      await close();
    }
  });
});

describe('what a server makes up', () => {
  it('is told without the key, wherever it stands', async () => {
    const key = 'sk-ant-0123456789abcdef';
    const server = await openServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = SAID.map((event) =>
        event.type === 'message_delta' ? { ...event, delta: { stop_reason: `oh ${key}` } } : event,
      );
      response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    });
    try {
      const came = await anthropicCaller(setupFor(server.url, { key }), fakeWorld()).call(ask(), LIVE, () => undefined);
      expect(came.ok || [came.fault.is, came.fault.message.includes('0123456')]).toEqual(['malformed', false]);
    } finally {
      await server.close();
    }
  });
});
