import { describe, expect, it } from 'vitest';
import type { Usage } from '../../../src/domain/budget.ts';
import { CallId, ModelId } from '../../../src/domain/ids.ts';
import type { Turn } from '../../../src/domain/turn.ts';
import { answered, ask, LIVE, onDouble, READ, setupFor, SONNET } from '../anthropic-parts.ts';
import { anthropicCaller } from '../../../src/models/anthropic/adapter.ts';
import { fakeWorld } from '../../support/world.ts';

describe('a reply from Anthropic', () => {
  it('is its text, with what it used and which model answered, and streams as it comes', async () => {
    const { result, deltas } = await answered({ text: 'The parser is in src/parse.ts.' });
    expect(result).toEqual({
      ok: true,
      value: {
        text: 'The parser is in src/parse.ts.',
        calls: [],
        stopReason: 'end',
        usage: { input: 65, output: 8, cacheRead: 0, cacheWrite: 0 },
        model: SONNET,
      },
    });
    expect(deltas.map(({ is }) => is)).toEqual(deltas.map(() => 'text'));
    expect(deltas.map(({ text }) => text).join('')).toBe('The parser is in src/parse.ts.');
    expect(deltas.length).toBeGreaterThan(1);
  });

  it('calls several tools at once, each with the id that it was given', async () => {
    const calls = [
      { tool: 'read_file', input: { path: 'a.ts' }, id: 'toolu_a' },
      { tool: 'read_file', input: { path: 'b "ü" \u2028.ts' }, id: 'toolu_b' },
    ];
    const { result } = await answered({ text: 'I look.', calls });
    expect(result.ok && [result.value.text, result.value.stopReason, result.value.calls]).toEqual([
      'I look.',
      'tool use',
      calls,
    ]);
  });

  it('tells of a call while its arguments stream, and of which tool', async () => {
    const input = { path: 'a.ts', content: 'x'.repeat(400) };
    const { deltas } = await answered({ text: 'I write.', calls: [{ tool: 'write_file', input }] });
    const call = deltas.filter((delta) => delta.is === 'call');
    expect(new Set(call.map(({ tool }) => tool))).toEqual(new Set(['write_file']));
    expect(JSON.parse(call.map(({ text }) => text).join(''))).toEqual(input);
  });

  it('A08: names the model that answered, not the one that was asked', async () => {
    const { result } = await answered({ text: 'Hello.', model: 'claude-opus-4-1-20250805' });
    expect(result.ok && result.value.model).toBe('anthropic/claude-opus-4-1-20250805');
  });

  it('H08: has no calls when the output limit cut it, whatever came of them', async () => {
    const { result } = await answered({ calls: [{ tool: 'read_file', input: {} }], stop: 'output limit' });
    expect(result.ok && [result.value.calls, result.value.stopReason]).toEqual([[], 'output limit']);
  });

  it('passes arguments on as they came when they are no JSON, or say two things at once', async () => {
    const asked = ['{"path": "a', '{"path":"a","path":"b"}', '["a"]', '{"__proto__":{}}', ''];
    const calls = [{ tool: 'read_file', input: {} }];
    const got = await Promise.all(
      asked.map((text) => answered({ calls, fault: { is: 'bad arguments', arguments: text } })),
    );
    expect(got.map(({ result }) => result.ok && result.value.calls.map(({ input }) => input))).toEqual([
      ['{"path": "a'],
      ['{"path":"a","path":"b"}'],
      ['["a"]'],
      ['{"__proto__":{}}'],
      [{}],
    ]);
  });

  it('is refused when the model refuses', async () => {
    const { result } = await answered({ text: 'I will not.', stop: 'refused' });
    expect(result.ok && [result.value.text, result.value.stopReason]).toEqual(['I will not.', 'refused']);
  });

  it('H10: passes usage on that is missing or can not be true, for the gate to bound', async () => {
    const usages = [null, { input_tokens: -1, output_tokens: 1e300 }, { input_tokens: 'many', output_tokens: 2.5 }];
    const got = await Promise.all(usages.map((usage) => answered({ text: 'Hello.', usage })));
    expect(got.map(({ result }) => result.ok && result.value.usage)).toEqual([
      { input: Number.NaN, output: Number.NaN, cacheRead: 0, cacheWrite: 0 },
      { input: -1, output: 1e300, cacheRead: 0, cacheWrite: 0 },
      { input: Number.NaN, output: 2.5, cacheRead: 0, cacheWrite: 0 },
    ]);
  });
});

describe('a conversation with Anthropic', () => {
  const request = { system: 'You find things. '.repeat(400) };
  const path = { path: 'src/parse.ts' };

  it('is read from the cache but for what is new, and its reasoning comes back unchanged', async () => {
    const rules = [1, 2, 3, 4].map((nth) => ({
      when: { nth },
      answer:
        nth === 4
          ? { text: 'Found.', reasoning: 'That is it.' }
          : {
              text: `Look ${nth}.`,
              reasoning: `Step ${nth}: where is it?`,
              calls: [{ tool: 'read_file', input: path }],
            },
    }));
    await onDouble({ rules, cache: { minimum: 16, writes: true } }, async ({ double, call }) => {
      const turns: Turn[] = [{ by: 'user', text: 'Find the parser. '.repeat(40) }];
      const usages: Usage[] = [];
      for (let step = 0; step < 4; step += 1) {
        const { result, deltas } = await call({ ...request, turns });
        if (!result.ok) throw new Error(result.fault.message);
        expect(deltas.some(({ is }) => is === 'reasoning')).toBe(true);
        usages.push(result.value.usage);
        turns.push({ by: 'model', ...result.value });
        const results = result.value.calls.map(({ id }) => ({
          call: id,
          ok: true,
          text: 'a line of code\n'.repeat(50),
        }));
        if (results.length > 0) turns.push({ by: 'tools', results });
        if (step === 1) turns.push({ by: 'user', text: 'Hurry up.' });
      }
      expect(double.prefixFaults()).toEqual([]);
      expect(double.asked.map(({ outcome }) => outcome.is)).toEqual(['answered', 'answered', 'answered', 'answered']);
      const [first, ...others] = usages;
      expect(first?.cacheRead).toBe(0);
      others.forEach((usage, index) => {
        const before = usages[index];
        expect(usage.cacheRead).toBe((before?.cacheRead ?? 0) + (before?.cacheWrite ?? 0));
        expect(usage.input).toBeLessThan(50);
      });
      const marks = double.asked.map(({ raw }) => raw.split('"cache_control"').length - 1);
      expect(marks).toEqual([3, 4, 4, 4]);
      const { answered: billed } = double.bill();
      expect([billed.input, billed.output, billed.cacheRead, billed.cacheWrite]).toEqual(
        (['input', 'output', 'cacheRead', 'cacheWrite'] as const).map((of) =>
          usages.reduce((sum, usage) => sum + usage[of], 0),
        ),
      );
    });
  });

  it('goes on with another model without the reasoning of the first one, and with results that are errors', async () => {
    const first = { reasoning: 'Hm.', calls: [{ tool: 'read_file', input: path, id: 'toolu_1' }] };
    const rules = [{ when: { nth: 1 }, answer: first }, { answer: { text: 'Done.' } }];
    await onDouble({ rules }, async ({ double, call }) => {
      const { result } = await call();
      if (!result.ok) throw new Error(result.fault.message);
      const turns: Turn[] = [
        { by: 'user', text: 'find the parser' },
        { by: 'model', ...result.value },
        { by: 'tools', results: [{ call: CallId.parse('toolu_1'), ok: false, text: '' }] },
      ];
      await call({ turns, model: ModelId.parse('anthropic/claude-haiku-4-5-20251001') });
      const body: unknown = JSON.parse(double.asked[1]?.raw ?? '{}');
      expect(body).toMatchObject({
        messages: [
          { role: 'user' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read_file', input: path }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '(no output)', is_error: true }],
          },
        ],
      });
      expect(double.asked[1]?.outcome.is).toBe('answered');
    });
  });
});

describe('a reply that must have a form', () => {
  const format = {
    type: 'object',
    properties: { title: { type: 'string', minLength: 3 }, steps: { type: 'array', items: { type: 'string' } } },
    required: ['title', 'steps'],
  };
  const json = '{"title":"Do it","steps":["a"]}';

  it('is JSON text by a schema where the model takes one', async () => {
    await onDouble({ rules: [{ answer: { text: json } }] }, async ({ double, call }) => {
      const { result } = await call({ format, tools: [] });
      expect(result.ok && [result.value.text, result.value.stopReason]).toEqual([json, 'end']);
      expect(double.asked[0]?.body).toMatchObject({
        output_config: {
          format: {
            type: 'json_schema',
            schema: {
              additionalProperties: false,
              properties: { title: { type: 'string', description: '{minLength: 3}' } },
            },
          },
        },
      });
    });
  });

  it('is the input of a tool that must be called where it takes none', async () => {
    const answer = { calls: [{ tool: 'give_reply', input: { title: 'Do it', steps: ['a'] } }] };
    await onDouble({ rules: [{ answer }] }, async ({ double, call }) => {
      const model = ModelId.parse('anthropic/claude-opus-4-1-20250805');
      const { result, deltas } = await call({ format, model });
      expect(result.ok && [result.value.text, result.value.calls, result.value.stopReason]).toEqual([json, [], 'end']);
      expect(deltas.map(({ text }) => text).join('')).toBe(json);
      expect(double.asked[0]?.body).toMatchObject({
        tools: [{ name: READ.name }, { name: 'give_reply', input_schema: format }],
        tool_choice: { type: 'tool', name: 'give_reply' },
      });
      expect(double.asked[0]?.body).not.toHaveProperty('thinking');
    });
  });
});

describe('how long a request is', () => {
  it('is asked of the provider, and not known when that fails', async () => {
    await onDouble({ rules: [{ answer: { text: 'Hello.' } }] }, async ({ count, call }) => {
      const counted = await count();
      const { result } = await call();
      expect(result.ok && result.value.usage.input).toBe(counted);
    });
    expect(await onDouble({ rules: [] }, ({ count }) => count(), { setup: { key: 'wrong-key' } })).toBeNull();
    const nowhere = anthropicCaller(setupFor('http://127.0.0.1:9'), fakeWorld());
    expect(await nowhere.count?.(ask(), LIVE)).toBeNull();
    expect(await nowhere.count?.(ask(), AbortSignal.abort())).toBeNull();
  });
});
