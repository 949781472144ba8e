/** OpenAI's own wire and Chat Completions against the double: what is asked, what comes back, and that prompt caches can work. */
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Turn } from '../../../src/domain/turn.ts';
import { openaiCaller } from '../../../src/models/openai/adapter.ts';
import type { Delta } from '../../../src/ports/model.ts';
import { type Double, openDouble } from '../../support/double/double.ts';
import type { Answer, Script } from '../../support/double/script.ts';
import { fakeWorld } from '../../support/world.ts';
import { at, listAt } from '../../../src/models/http/json.ts';
import { part } from '../../support/like.ts';
import { type Change, ignore, LOCAL, NEVER, READ, requestFor, setupFor } from '../openai-setup.ts';

let double: Double | null = null;
afterEach(async () => {
  await double?.close();
  double = null;
});

const WIRES = [
  ['Responses', {}, 'openai/o3'],
  ['Chat Completions', LOCAL, 'local/qwen3'],
] as const;

async function open(script: Script | Answer, kind: (typeof WIRES)[number][1] = {}) {
  double = await openDouble('rules' in script ? script : { rules: [{ answer: script }] });
  return { double, caller: openaiCaller(setupFor(double.url, kind), fakeWorld()) };
}

const reply = (value: Readonly<Record<string, unknown>>): unknown => ({ ok: true, value: part(value) });

describe.each(WIRES)('a call over %s', (_, kind, model) => {
  it('brings text and reasoning as they stream, and the bill of the server', async () => {
    const { caller, double } = await open({ text: 'It is in src/parse.ts.', reasoning: 'A parser, then.' }, kind);
    const heard = { text: '', reasoning: '', call: '' };
    const came = await caller.call(requestFor({ model }), NEVER, ({ is, text }) => {
      heard[is] += text;
    });
    expect(heard).toEqual({ text: 'It is in src/parse.ts.', reasoning: 'A parser, then.', call: '' });
    expect(came).toEqual(reply({ text: 'It is in src/parse.ts.', calls: [], stopReason: 'end' }));
    expect(came.ok && came.value.model).toBe(model);
    expect(came.ok && came.value.usage).toEqual(double.asked[0]?.outcome.usage);
  });

  it('tells of a call while its arguments stream, and of which tool', async () => {
    const input = { path: 'a.ts', content: 'x'.repeat(400) };
    const { caller } = await open({ calls: [{ tool: 'write_file', input }] }, kind);
    const heard: Delta[] = [];
    await caller.call(requestFor({ model }), NEVER, (delta) => void heard.push(delta));
    expect(new Set(heard.map((delta) => (delta.is === 'call' ? delta.tool : delta.is)))).toEqual(
      new Set(['write_file']),
    );
    expect(JSON.parse(heard.map(({ text }) => text).join(''))).toEqual(input);
  });

  it('brings parallel calls, and each answer goes back to its own', async () => {
    const { caller, double } = await open(
      {
        rules: [
          {
            when: { nth: 1 },
            answer: {
              reasoning: 'Two files.',
              calls: [
                { tool: 'read_file', input: { path: 'a' } },
                { tool: 'read_file', input: { path: 'b' } },
              ],
            },
          },
          { answer: { text: 'done' } },
        ],
      },
      kind,
    );
    const first = await caller.call(requestFor({ model }), NEVER, ignore);
    if (!first.ok) throw new Error(first.fault.message);
    expect(first).toEqual(
      reply({
        stopReason: 'tool use',
        calls: [
          { id: 'call-1.1', tool: 'read_file', input: { path: 'a' } },
          { id: 'call-1.2', tool: 'read_file', input: { path: 'b' } },
        ],
      }),
    );
    const turns: readonly Turn[] = [
      { by: 'user', text: 'find the parser' },
      { by: 'model', ...first.value },
      { by: 'tools', results: first.value.calls.map(({ id }, n) => ({ call: id, ok: n === 0, text: `file ${n}` })) },
    ];
    expect(await caller.call(requestFor({ model, turns, call: 'call-2' }), NEVER, ignore)).toEqual(
      reply({ text: 'done' }),
    );
    expect([double.prefixFaults(), double.asked[1]?.last]).toEqual([[], 'Error: file 1']);
  });

  it('says nothing more of a refusal than its words', async () => {
    const { caller } = await open({ text: 'I will not do that.', stop: 'refused' }, kind);
    expect(await caller.call(requestFor({ model }), NEVER, ignore)).toEqual(
      reply({ text: 'I will not do that.', stopReason: 'refused', calls: [] }),
    );
    await double?.close();
    const filtered = await open({ stop: 'refused' }, kind);
    expect(await filtered.caller.call(requestFor({ model }), NEVER, ignore)).toEqual(
      reply({ text: '', stopReason: 'refused' }),
    );
  });

  it('H08: leaves out the calls of a reply that the output limit cut', async () => {
    const calls = [{ tool: 'read_file', input: { path: 'a' } }];
    const { caller } = await open({ text: 'Now.', calls, stop: 'output limit' }, kind);
    expect(await caller.call(requestFor({ model }), NEVER, ignore)).toEqual(
      reply({ text: 'Now.', stopReason: 'output limit', calls: [] }),
    );
  });

  it('A08: says which model answered', async () => {
    const { caller } = await open({ text: 'x', model: 'gpt-tiny' }, kind);
    const came = await caller.call(requestFor({ model }), NEVER, ignore);
    expect(came.ok && came.value.model).toBe(`${model.split('/')[0]}/gpt-tiny`);
  });

  it('lets a usage that is missing through for the gate to bound; of a server of one’s own it is estimated', async () => {
    const { caller } = await open({ text: 'x', usage: null }, kind);
    const came = await caller.call(requestFor({ model }), NEVER, ignore);
    const own = { input: 102, output: 1, cacheRead: 0, cacheWrite: 0 };
    const makers = { input: -1, output: -1, cacheRead: 0, cacheWrite: 0 };
    expect(came.ok && came.value.usage).toEqual(model.startsWith('local') ? own : makers);
  });

  it('asks for a form by its schema, strict where the schema is closed', async () => {
    const { caller, double } = await open({ text: '{"path":"a"}' }, kind);
    await caller.call(requestFor({ model, tools: [], format: READ.schema }), NEVER, ignore);
    const body = double.asked[0]?.body;
    const format = at(at(body, 'text'), 'format') ?? at(at(body, 'response_format'), 'json_schema');
    const asked: unknown = READ.schema;
    expect([at(format, 'name'), at(format, 'strict'), at(format, 'schema')]).toEqual(['reply', true, asked]);
  });

  it('keeps the wire of a conversation a prefix of the next one, whatever is said in it', async () => {
    const word = fc.string({ maxLength: 12 });
    const call = fc.record({ tool: fc.constant('read_file'), input: fc.dictionary(word, word, { maxKeys: 2 }) });
    const answer: fc.Arbitrary<Answer> = fc.record({
      text: fc.string({ minLength: 1, maxLength: 20 }),
      calls: fc.array(call, { maxLength: 3 }),
      reasoning: word,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 2, maxLength: 5 }), word, async (answers, told) => {
        const rules = answers.map((one, n) => ({ when: { nth: n + 1 }, answer: one }));
        const { caller, double } = await open({ rules }, kind);
        const turns: Turn[] = [{ by: 'user', text: 'begin' }];
        for (const [n] of answers.entries()) {
          const came = await caller.call(requestFor({ model, turns, call: `call-${n + 1}` }), NEVER, ignore);
          if (!came.ok) throw new Error(came.fault.message);
          const { text, opaque, calls } = came.value;
          turns.push({ by: 'model', text, calls, ...(opaque === undefined ? {} : { opaque }) });
          turns.push(
            calls.length === 0
              ? { by: 'user', text: `go on ${told}` }
              : { by: 'tools', results: calls.map(({ id }) => ({ call: id, ok: true, text: told })) },
          );
        }
        const faults = double.prefixFaults();
        const refused = double.asked.filter(({ outcome }) => outcome.is === 'refused');
        await double.close();
        expect([faults, refused.map(({ outcome }) => outcome.problem)]).toEqual([[], []]);
      }),
      { numRuns: 25 },
    );
  });
});

describe('Responses', () => {
  const bodyOf = async (change: Change = {}): Promise<unknown> => {
    const { caller, double } = await open({ text: 'x' });
    await caller.call(requestFor(change), NEVER, ignore);
    return double.asked.at(-1)?.body;
  };

  it('is asked without anything kept at the server, reasoning sealed and told in summary', async () => {
    expect(await bodyOf()).toEqual({
      model: 'o3',
      instructions: 'You find things.',
      input: [{ role: 'user', content: 'find the parser' }],
      tools: [
        { type: 'function', name: 'read_file', description: 'Reads a file.', parameters: READ.schema, strict: true },
      ],
      parallel_tool_calls: true,
      include: ['reasoning.encrypted_content'],
      reasoning: { summary: 'auto' },
      prompt_cache_key: 'mimir-id-1-ROOT::S1',
      max_output_tokens: 4096,
      store: false,
      stream: true,
      stream_options: { include_obfuscation: false },
    });
  });

  it('is asked for no reasoning of models that have none', async () => {
    const body = await bodyOf({ model: 'openai/gpt-4.1-2025-04-14' });
    expect([at(body, 'include'), at(body, 'reasoning')]).toEqual([undefined, undefined]);
  });

  it('gets the reasoning of its calls back as it was, before them', async () => {
    const { caller, double } = await open({
      rules: [
        { when: { nth: 1 }, answer: { reasoning: 'Hm.', calls: [{ tool: 'read_file', input: { path: 'a' } }] } },
        { answer: { text: 'done' } },
      ],
    });
    const first = await caller.call(requestFor(), NEVER, ignore);
    if (!first.ok) throw new Error(first.fault.message);
    const [call] = first.value.calls;
    if (call === undefined) throw new Error('no call');
    const conversation: readonly Turn[] = [
      { by: 'user', text: 'find the parser' },
      { by: 'model', ...first.value },
      { by: 'tools', results: [{ call: call.id, ok: true, text: 'a file' }] },
    ];
    await caller.call(requestFor({ turns: conversation }), NEVER, ignore);
    const kept = listAt(at(first.value.opaque, 'openai'), 'items');
    const input = listAt(double.asked[1]?.body, 'input');
    expect(kept.map((item) => at(item, 'type'))).toEqual(['reasoning', 'function_call']);
    expect(input.slice(1, 3)).toEqual(kept);
    expect(input[3]).toEqual({ type: 'function_call_output', call_id: at(kept[1], 'call_id'), output: 'a file' });
    // Another model can't read it: it gets words and calls.
    await caller.call(requestFor({ turns: conversation, model: 'openai/gpt-5' }), NEVER, ignore);
    expect(listAt(double.asked[2]?.body, 'input').map((item) => at(item, 'type') ?? at(item, 'role'))).toEqual([
      'user',
      'function_call',
      'function_call_output',
    ]);
  });
});
