/** The small readers and writers under OpenAI's wires, on all inputs they can meet. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallId } from '../../../src/domain/ids.ts';
import type { Turn } from '../../../src/domain/turn.ts';
import { chatBody, firstTraits, learn, stepsOf, wireId, wireSchema } from '../../../src/models/openai/chat-wire.ts';
import { responsesBody } from '../../../src/models/openai/adapter.ts';
import { eventsIn } from '../../../src/models/http/transport.ts';
import { jsonOf } from '../../../src/models/http/json.ts';
import { splitThinking } from '../../../src/models/openai/chat-reply.ts';
import { READ, requestFor } from '../openai-setup.ts';

/** `text` in pieces, broken at `cuts`. */
const inPieces = <T extends { readonly length: number; slice(from: number, to: number): T }>(
  whole: T,
  cuts: readonly number[],
): T[] => {
  const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, n) => whole.slice(from, places[n] ?? whole.length));
};
const cuts = fc.array(fc.nat(200), { maxLength: 8 });

describe('a stream of events', () => {
  const read = async (pieces: readonly Uint8Array[]): Promise<readonly string[]> => {
    const body = (async function* () {
      yield* pieces;
    })();
    const events: string[] = [];
    for await (const event of eventsIn(body)) events.push(event);
    return events;
  };

  it('reads the same however its bytes come', async () => {
    const event = fc.record({
      text: fc.string({ unit: 'grapheme', maxLength: 10 }),
      comment: fc.boolean(),
      crlf: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 6 }), cuts, async (events, cuts) => {
        const wire = events.map(({ text, comment, crlf }) => {
          const lines = [...(comment ? [': still here', ''] : []), 'event: x', `data: ${JSON.stringify(text)}`, '', ''];
          return lines.join(crlf ? '\r\n' : '\n');
        });
        const bytes = new TextEncoder().encode(wire.join(''));
        expect(await read(inPieces(bytes, cuts))).toEqual(events.map(({ text }) => JSON.stringify(text)));
      }),
    );
  });

  it('takes a last event without its empty line, if it is whole', async () => {
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    expect(await read([bytes('data: {"a":1}\n\ndata: [DONE]')])).toEqual(['{"a":1}', '[DONE]']);
    expect(await read([bytes('data:{"a":1}\n')])).toEqual(['{"a":1}']);
    expect(await read([bytes('data: {"a":1}\n\ndata: {"b"')])).toEqual(['{"a":1}']);
  });
});

describe('thinking at the head of a text', () => {
  const split = (pieces: readonly string[]): { readonly text: string; readonly reasoning: string } => {
    const splitter = splitThinking();
    const told = { text: '', reasoning: '' };
    for (const { is, text } of [...pieces.flatMap((piece) => splitter.take(piece)), ...splitter.end()])
      told[is] += text;
    return told;
  };
  const word = fc.constantFrom('<think>', '</think>', '<', '</', 'think>', ' ', '\n', 'yes', 'no <b>');

  it('is the same however the text is broken', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), cuts, (words, cuts) => {
        const text = words.join('');
        expect(split(inPieces(text, cuts))).toEqual(split([text]));
      }),
    );
  });

  it.each([
    ['<think>a</think>\n\nb', { reasoning: 'a', text: 'b' }],
    ['  \n<think>a</think>b', { reasoning: 'a', text: 'b' }],
    ['<think>never ends', { reasoning: 'never ends', text: '' }],
    ['b <think>a</think>', { reasoning: '', text: 'b <think>a</think>' }],
    ['<think>a</think>b <think>c</think>', { reasoning: 'a', text: 'b <think>c</think>' }],
    ['<thin', { reasoning: '', text: '<thin' }],
    ['<thing>', { reasoning: '', text: '<thing>' }],
  ])('%j', (text, told) => {
    expect(split([text])).toEqual(told);
  });
});

describe('a schema on the wire', () => {
  it('is strict where every object is closed and requires all it has', () => {
    expect(wireSchema(READ.schema, true)).toEqual({ schema: READ.schema, strict: true });
    expect(wireSchema(READ.schema, false)).toEqual({ schema: READ.schema, strict: false });
  });

  it('is not strict with an optional property, an open object, or a keyword that strict mode has not, at any depth', () => {
    const closed = (inner: object): object => ({
      type: 'object',
      properties: { list: { type: 'array', items: inner } },
      required: ['list'],
      additionalProperties: false,
    });
    const isStrict = (inner: object): boolean => wireSchema(jsonOf(closed(inner)), true).strict;
    expect(isStrict({ type: 'string' })).toBe(true);
    expect(isStrict({ type: 'object', properties: {}, additionalProperties: false })).toBe(true);
    expect(isStrict({ type: 'object', properties: { a: {} }, required: [], additionalProperties: false })).toBe(false);
    expect(isStrict({ type: 'object', properties: {}, required: [] })).toBe(false);
    expect(isStrict({ oneOf: [{ type: 'string' }] })).toBe(false);
    expect(isStrict({ type: 'string', default: 'x' })).toBe(false);
  });

  it('leaves limits that strict mode does not know to our own check', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { minLength: { type: 'string', minLength: 1, maxLength: 9, pattern: '^a' } },
      required: ['minLength'],
      additionalProperties: false,
    };
    expect(wireSchema(schema, true)).toEqual({
      strict: true,
      schema: {
        type: 'object',
        properties: { minLength: { type: 'string', pattern: '^a' } },
        required: ['minLength'],
        additionalProperties: false,
      },
    });
  });

  it('is an object, whatever a tool gave', () => {
    expect(wireSchema({}, true)).toEqual({ schema: { type: 'object', properties: {} }, strict: false });
  });
});

describe('ids on the wire', () => {
  it('are short, plain, fixed and different for all ids', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 200 }), { maxLength: 30 }), (ids) => {
        const wire = ids.map(wireId);
        expect(wire.every((id) => /^[A-Za-z0-9_-]{1,40}$/.test(id))).toBe(true);
        expect([new Set(wire).size, ids.map(wireId)]).toEqual([ids.length, wire]);
      }),
    );
  });

  it('of another provider are kept where they fit', () => {
    expect(wireId('toolu_01A09q90qw90lq917835lq9')).toBe('toolu_01A09q90qw90lq917835lq9');
    expect(wireId('call-1.1')).toMatch(/^call-1_1_[0-9a-z]{6,14}$/);
  });
});

describe('a conversation', () => {
  const call = { id: CallId.parse('call-1.1'), tool: 'read_file', input: '{"path": a}' };

  it('of another provider comes without what was sealed there', () => {
    const steps = stepsOf(
      [
        { by: 'user', text: 'go' },
        { by: 'model', text: 'I read.', calls: [], opaque: { anthropic: [{ type: 'thinking', signature: 'x' }] } },
      ],
      'openai/o3',
    );
    expect(steps).toEqual([
      { is: 'user', text: 'go' },
      { is: 'model', text: 'I read.', calls: [], answers: [], kept: {} },
      { is: 'user', text: 'Go on.' },
    ]);
  });

  it('answers a call that has no result, and wraps arguments that are no object', () => {
    const [step] = stepsOf([{ by: 'model', text: '', calls: [call] }], 'openai/o3');
    expect(step).toEqual({
      is: 'model',
      text: '',
      calls: [{ id: wireId('call-1.1'), tool: 'read_file', arguments: '{"unreadable_arguments":"{\\"path\\": a}"}' }],
      answers: [{ id: wireId('call-1.1'), text: 'Error: not run' }],
      kept: {},
    });
  });

  it('leaves out what says nothing, and ends with the user or with answers', () => {
    const user = (text: string): Turn => ({ by: 'user', text });
    const said = (text: string): Turn => ({ by: 'model', text, calls: [] });
    const texts = (...turns: Turn[]): readonly string[] =>
      stepsOf(turns, 'local/qwen3').map((step) => `${step.is}: ${step.text}`);
    expect(texts(user('a'), said(' \n'), user(''), user('b'))).toEqual(['user: a', 'user: b']);
    expect(texts(user('a'), said('b'))).toEqual(['user: a', 'model: b', 'user: Go on.']);
    expect([texts(), texts(said(''))]).toEqual([['user: Go on.'], ['user: Go on.']]);
  });

  it('sends back only names that can be a tool’s, whole characters, and answers that say something', () => {
    const id = CallId.parse('call-1');
    const names = ['a'.repeat(64), 'a'.repeat(65), 'a'.repeat(66), 'read file', 'functions.read', 'ü', ''];
    const tools = names.map((tool) => {
      const turns: Turn[] = [{ by: 'model', text: 'x\ud83d', calls: [{ id, tool, input: {} }] }];
      return stepsOf(turns, 'local/qwen3').flatMap((step) => (step.is === 'model' ? step.calls : []))[0]?.tool ?? '';
    });
    expect(tools[0]).toBe(names[0]);
    expect([new Set(tools).size, tools.every((tool) => /^[A-Za-z0-9_-]{1,64}$/.test(tool))]).toEqual([7, true]);
    const input = { 'a\udc00': '\\ud800 \ud800 \ud83d\ude00' };
    const [step] = stepsOf(
      [
        { by: 'model', text: 'x\ud83d', calls: [{ id, tool: 'read_file', input }] },
        { by: 'tools', results: [{ call: id, ok: true, text: ' ' }] },
      ],
      'local/qwen3',
    );
    expect(step).toEqual({
      is: 'model',
      text: 'x\ufffd',
      calls: [{ id: 'call-1', tool: 'read_file', arguments: '{"a\ufffd":"\\\\ud800 \ufffd \ud83d\ude00"}' }],
      answers: [{ id: 'call-1', text: '(no output)' }],
      kept: {},
    });
  });
});

describe('a closing turn', () => {
  const names = { model: 'm', cacheKey: 'x' };
  it.each([
    ['openai', 'https://api.openai.com/v1'],
    ['openai-compatible', 'http://127.0.0.1:4000/v1'],
  ] as const)(
    'says to %s that no tool may be called, and names the same tools in the same words (D31)',
    (kind, baseUrl) => {
      const traits = firstTraits({ kind, baseUrl }, 'm');
      const [usual, closing] = [requestFor(), { ...requestFor(), toolChoice: 'none' as const }];
      expect([chatBody(closing, traits, names), responsesBody(closing, traits, names)]).toEqual([
        { ...chatBody(usual, traits, names), tool_choice: 'none' },
        { ...responsesBody(usual, traits, names), tool_choice: 'none' },
      ]);
      const without = { ...closing, tools: [] };
      expect([chatBody(without, traits, names), responsesBody(without, traits, names)]).not.toContainEqual(
        expect.objectContaining({ tool_choice: 'none' }),
      );
    },
  );

  it('is only said in words to a server that refuses the parameter', () => {
    const traits = firstTraits({ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:4000/v1' }, 'm');
    const closing = { ...requestFor(), toolChoice: 'none' as const };
    const refusal = { status: 400, text: 'tool_choice is not supported' };
    const learned = learn(traits, refusal, closing, '/chat/completions');
    expect(learned && chatBody(closing, learned, names)).toEqual(chatBody(requestFor(), traits, names));
    expect(learn(traits, refusal, requestFor(), '/chat/completions')).toBe(null);
  });
});

describe('Claude behind OpenRouter', () => {
  const asked = (baseUrl: string, model: string): unknown => {
    const traits = firstTraits({ kind: 'openai-compatible', baseUrl }, model);
    return chatBody(requestFor({ model: `openrouter/${model}` }), traits, { model, cacheKey: 'x' })['cache_control'];
  };

  it('is told to cache the beginning, which no other server is asked for', () => {
    const router = 'https://openrouter.ai/api/v1';
    expect([
      asked(router, 'anthropic/claude-sonnet-5.5'),
      asked(router, 'qwen/qwen3-coder'),
      asked('https://openrouter.ai.example.com/api/v1', 'anthropic/claude-sonnet-5.5'),
      asked('http://127.0.0.1:4000/v1', 'anthropic/claude-sonnet-5.5'),
    ]).toEqual([{ type: 'ephemeral' }, undefined, undefined, undefined]);
  });

  it('is not told any more once it was refused', () => {
    const model = 'anthropic/claude-sonnet-5.5';
    const traits = firstTraits({ kind: 'openai-compatible', baseUrl: 'https://openrouter.ai/api/v1' }, model);
    const refused = { status: 400, text: 'Unrecognized key: "cache_control"' };
    const learned = learn(traits, refused, requestFor(), '/chat/completions');
    expect(learned).toEqual({ ...traits, mark: false });
    expect(learned && learn(learned, refused, requestFor(), '/chat/completions')).toBeNull();
  });
});
