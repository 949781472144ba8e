import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallId, ModelId } from '../../../src/domain/ids.ts';
import type { Json, Turn } from '../../../src/domain/turn.ts';
import { lengthOf, packed, unpacked, wireId } from '../../../src/models/anthropic/turns.ts';
import { allowedSchema, askedOf, traitsOf } from '../../../src/models/anthropic/wire.ts';
import { plannerForm } from '../../../src/domain/plan/check-plan.ts';
import { jsonSchemaOf } from '../../../src/engine/gate/model/context-budget.ts';
import { ask, SONNET } from '../anthropic-parts.ts';

const OPUS = ModelId.parse('anthropic/claude-opus-4-1-20250805');
const messagesOf = (turns: readonly Turn[]): unknown =>
  JSON.parse(JSON.stringify(askedOf(ask({ turns })).body.messages), (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  );
const call = (id: string, input: Json = { path: 'a' }) => ({ id: CallId.parse(id), tool: 'read_file', input });

describe('a conversation on the wire', () => {
  it('answers every call in the next message, and merges what a person said with it', () => {
    const turns: Turn[] = [
      { by: 'user', text: 'one' },
      { by: 'user', text: 'two' },
      { by: 'model', text: 'I look.', calls: [call('a'), call('b.2'), call('c', 'no json')] },
      {
        by: 'tools',
        results: [
          { call: CallId.parse('b.2'), ok: true, text: 'found' },
          { call: CallId.parse('a'), ok: false, text: ' ' },
          { call: CallId.parse('stray'), ok: true, text: 'to nothing' },
        ],
      },
      { by: 'user', text: 'three' },
      { by: 'user', text: '\n' },
    ];
    const b = wireId('b.2');
    expect(messagesOf(turns)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'read_file', input: { path: 'a' } },
          { type: 'tool_use', id: b, name: 'read_file', input: { path: 'a' } },
          { type: 'tool_use', id: 'c', name: 'read_file', input: { arguments: 'no json' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '(no output)', is_error: true },
          { type: 'tool_result', tool_use_id: b, content: 'found' },
          { type: 'tool_result', tool_use_id: 'c', content: 'There is no result: this was not run.', is_error: true },
          { type: 'text', text: 'three' },
        ],
      },
    ]);
  });

  it('begins and ends with the user, though nobody said anything', () => {
    const goOn = { role: 'user', content: [{ type: 'text', text: 'Go on.' }] };
    const said: Turn = { by: 'model', text: 'Hello.', calls: [] };
    expect(messagesOf([])).toEqual([goOn]);
    expect(messagesOf([said])).toEqual([
      goOn,
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
      goOn,
    ]);
    expect(
      messagesOf([
        { by: 'user', text: '' },
        { by: 'model', text: ' ', calls: [] },
      ]),
    ).toEqual([goOn]);
  });

  it('keeps ids that the provider gave, and gives others names that it takes, always the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), fc.string(), (id, other) => {
        expect(wireId(id)).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
        expect(wireId(wireId(id))).toBe(wireId(id));
        if (id !== other && other !== '') expect(wireId(id)).not.toBe(wireId(other));
      }),
    );
    expect(wireId('toolu_01D7FLrfh4GYq7yT1ULFeyMV')).toBe('toolu_01D7FLrfh4GYq7yT1ULFeyMV');
  });

  it('mends half characters, which would make the whole request unreadable', () => {
    const half = '\ud83d';
    const input = { [half]: [half, { deep: `${half} \u{1f600}` }, 1], plain: String.raw`\ud83d` };
    const turns: Turn[] = [
      { by: 'user', text: half },
      { by: 'model', text: half, calls: [call('a', input)] },
      { by: 'tools', results: [{ call: CallId.parse('a'), ok: true, text: half }] },
    ];
    const sent = JSON.stringify(messagesOf(turns));
    expect(sent).not.toMatch(/(?<!\\)\\ud[89a-f]/);
    expect(sent).toContain(
      JSON.stringify({ '\ufffd': ['\ufffd', { deep: '\ufffd \u{1f600}' }, 1], plain: String.raw`\ud83d` }),
    );
  });

  it('names the tools that were called, where none may be called any more', () => {
    const turns: Turn[] = [
      { by: 'user', text: 'one' },
      { by: 'model', text: '', calls: [call('a')] },
      { by: 'tools', results: [{ call: CallId.parse('a'), ok: true, text: 'x' }] },
    ];
    const { body } = askedOf(ask({ turns, tools: [] }));
    expect([body.tools?.map((tool) => 'name' in tool && tool.name), body.tool_choice]).toEqual([
      ['read_file'],
      { type: 'none' },
    ]);
    expect(askedOf(ask({ tools: [] })).body).not.toHaveProperty('tools');
  });

  it('says in a closing turn that no tool may be called, and names the same tools in the same words (D31)', () => {
    const usual = askedOf(ask({})).body;
    const { tool_choice: choice, ...closing } = askedOf({ ...ask({}), toolChoice: 'none' }).body;
    expect([choice, closing]).toEqual([{ type: 'none' }, usual]);
  });
});

/** A conversation as it grows: replies with reasoning and calls, results, and what people say in between. */
const words = fc.string({ unit: 'grapheme', maxLength: 20 });
const inputsOf = fc.oneof(
  fc.string(),
  fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.constant(null))),
);
const replies = fc.record({
  text: words,
  thinking: fc.option(words),
  inputs: fc.array(inputsOf, { maxLength: 4 }),
  results: fc.array(fc.tuple(fc.boolean(), words), { minLength: 4, maxLength: 4 }),
  said: fc.array(words, { maxLength: 2 }),
});

describe('a conversation that grows', () => {
  it('begins with the bytes of the former request: only marks move, and there are four at most', () => {
    fc.assert(
      fc.property(words, fc.array(replies, { minLength: 1, maxLength: 6 }), (task, steps) => {
        const turns: Turn[] = [{ by: 'user', text: task }];
        let former = asked(turns);
        steps.forEach(({ text, thinking, inputs, results, said }, step) => {
          const calls = inputs.map((input, at) => call(`call.${step}.${at}`, input));
          const opaque = packed(SONNET, turns, [
            ...(thinking === null ? [] : [{ type: 'thinking' as const, thinking, signature: 'sealed' }]),
            ...(text === '' ? [] : [{ type: 'text' as const, length: text.length }]),
            ...calls.map(() => ({ type: 'call' as const })),
          ]);
          turns.push({ by: 'model', text, calls, ...(opaque === undefined ? {} : { opaque }) });
          if (calls.length > 0)
            turns.push({
              by: 'tools',
              results: calls.map(({ id }, at) => ({
                call: id,
                ok: results[at]?.[0] ?? true,
                text: results[at]?.[1] ?? '',
              })),
            });
          turns.push(...said.map((text): Turn => ({ by: 'user', text })));
          const next = asked(turns);
          expect(next.marks).toBeLessThanOrEqual(4);
          expect(next.head).toBe(former.head);
          expect(next.blocks.slice(0, former.blocks.length)).toEqual(former.blocks);
          former = next;
        });
      }),
      { numRuns: 80 },
    );
  });

  it('needs no reasoning where it may not send it: of another model, or after another history', () => {
    const before: Turn[] = [{ by: 'user', text: 'find it' }];
    const opaque = packed(SONNET, before, [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', length: 3 },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', length: 4 },
    ]);
    const turn = { by: 'model', text: 'one\n\nfour', calls: [], opaque: opaque ?? null } as const;
    expect(unpacked(SONNET, lengthOf(before), turn)).toHaveLength(4);
    expect(
      [
        unpacked(OPUS, lengthOf(before), turn),
        unpacked(SONNET, lengthOf([{ by: 'user', text: 'a summary' }]), turn),
        unpacked(SONNET, lengthOf(before), { ...turn, text: 'one' }),
        unpacked(SONNET, lengthOf(before), { ...turn, opaque: { openai: [] } }),
        unpacked(SONNET, lengthOf(before), { ...turn, opaque: 'odd' }),
      ].map((parts) => parts === null),
    ).toEqual([true, true, true, true, true]);
    expect(messagesOf([...before, turn])).toMatchObject([
      {},
      { content: [{ type: 'thinking' }, { text: 'one' }, { type: 'redacted_thinking' }, { text: 'four' }] },
      {},
    ]);
  });
});

/** The parts that a cache compares, without their marks. What asks to go on, where nobody said anything, is none of them. */
function asked(turns: readonly Turn[]): { head: string; blocks: readonly string[]; marks: number } {
  const { messages, ...head } = askedOf(ask({ turns })).body;
  const plain = (value: unknown): string =>
    JSON.stringify(value, (key, one: unknown) => (key === 'cache_control' ? undefined : one));
  const all = messages.flatMap(({ role, content }) =>
    typeof content === 'string' ? [] : content.map((block) => `${role} ${plain(block)}`),
  );
  return {
    head: plain(head),
    blocks: all.at(-1) === GO_ON ? all.slice(0, -1) : all,
    marks: JSON.stringify({ messages, head }).split('"cache_control"').length - 1,
  };
}

const GO_ON = 'user {"type":"text","text":"Go on."}';

describe('what Claude models take', () => {
  it.each([
    ['claude-haiku-4-5-20251001', 'own', true, true, false],
    ['claude-sonnet-4-5-20250929', 'budget', true, true, false],
    ['claude-opus-4-5-20251101', 'budget', true, true, true],
    ['claude-opus-4-1-20250805', 'budget', false, true, false],
    ['claude-sonnet-4-20250514', 'budget', false, true, false],
    ['claude-sonnet-4-6', 'adaptive', true, true, true],
    ['claude-opus-4-8', 'adaptive, shown', true, true, true],
    ['claude-opus-5', 'adaptive, shown', true, true, true],
    ['claude-sonnet-5-5', 'adaptive, shown', true, false, true],
    ['claude-haiku-5-5', 'adaptive, shown', true, false, true],
    ['claude-opus-9', 'own', true, false, true],
    ['my-own-model', 'own', false, true, true],
    ['claude-3-5-sonnet-20241022', 'own', false, true, true],
  ])('%s', (id, thinking, schema, forced, effort) => {
    expect(traitsOf(id)).toEqual({ thinking, schema, forced, effort });
  });

  it('reasons within what the reply may hold, and never beside a forced call', () => {
    const thinking = (change: Parameters<typeof ask>[0]): unknown =>
      askedOf(ask({ model: OPUS, ...change })).body.thinking;
    const called: Turn[] = [
      { by: 'user', text: 'go' },
      { by: 'model', text: '', calls: [call('a')] },
      { by: 'tools', results: [{ call: CallId.parse('a'), ok: true, text: 'x' }] },
    ];
    expect([
      thinking({ maxOutputTokens: 16_384 }),
      thinking({ maxOutputTokens: 8191 }),
      thinking({ maxOutputTokens: 16_384, format: { type: 'object', properties: {} } }),
      thinking({ maxOutputTokens: 16_384, turns: called }),
      thinking({ model: ModelId.parse('anthropic/claude-opus-5-5'), maxOutputTokens: 256 }),
    ]).toEqual([
      { type: 'enabled', budget_tokens: 4096 },
      undefined,
      undefined,
      undefined,
      { type: 'adaptive', display: 'summarized' },
    ]);
  });
});

describe('a schema for structured output', () => {
  it('keeps what may be said, says the rest in words, and closes objects', () => {
    expect(
      allowedSchema({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          id: { type: 'string', description: 'A name.', pattern: '^[a-z]+$', maxLength: 64 },
          when: { type: 'string', format: 'date-time' },
          cost: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] },
          needs: { type: 'array', items: { $ref: '#/$defs/Need' }, minItems: 2, default: [] },
        },
        required: ['id'],
        $defs: { Need: { oneOf: [{ const: 'a' }, { enum: ['b', 'c'] }] } },
      }),
    ).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string', description: 'A name.\n\n{pattern: "^[a-z]+$", maxLength: 64}' },
        when: { type: 'string', format: 'date-time' },
        cost: { anyOf: [{ type: 'number', description: '{minimum: 0}' }, { type: 'null' }] },
        needs: { type: 'array', items: { $ref: '#/$defs/Need' }, description: '{minItems: 2}' },
      },
      required: ['id'],
      $defs: { Need: { anyOf: [{ const: 'a' }, { enum: ['b', 'c'] }] } },
      additionalProperties: false,
    });
  });

  it('can say what a plan is, in which no planner can name what the rules add', () => {
    const form = allowedSchema(jsonSchemaOf(plannerForm(['finder', 'code'], ['haiku-4.5'])));
    expect(form).toMatchObject({ required: ['reason', 'tasks'], additionalProperties: false });
    expect(JSON.stringify(form)).not.toContain('forced');
  });

  it.each([
    [{ type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'number' } }],
    [{ type: 'object', properties: { any: {} } }],
    [{ type: 'object' }],
    [{}],
    ['odd'],
  ] satisfies [Json][])('is none for %#: %.60j', (schema) => {
    expect(allowedSchema(schema)).toBeNull();
  });
});
