/** What compatible servers were seen to send. Every one of them must come out as the same few words. */
import { describe, expect, it } from 'vitest';
import { holding } from '../../support/like.ts';
import type { Turn } from '../../../src/domain/turn.ts';
import { listAt } from '../../../src/models/http/json.ts';
import { answered, chunk, COUNTED, USAGE } from '../openai-setup.ts';

const call = (fields: object, fn: object): object => ({ ...fields, function: fn });
const END = chunk({}, 'tool_calls', { usage: USAGE });
const usingTools = (calls: readonly object[], kept: object = {}) => ({
  ok: true,
  value: { text: '', calls, stopReason: 'tool use', usage: COUNTED, model: 'local/qwen3', ...kept },
});
const reads = (n: number, path: string) => ({ id: `call-1.${n}`, tool: 'read_file', input: { path } });
const keeps = (...ids: readonly string[]) => ({ opaque: { openai: { model: 'local/qwen3', ids } } });

describe('tool calls of compatible servers', () => {
  it('come in pieces by index, as OpenAI sends them', async () => {
    const { reply } = await answered([
      chunk({ tool_calls: [call({ index: 0, id: 'call_a', type: 'function' }, { name: 'read_file', arguments: '' })] }),
      chunk({ tool_calls: [call({ index: 1, id: 'call_b', type: 'function' }, { name: 'read_file', arguments: '' })] }),
      chunk({ tool_calls: [call({ index: 0 }, { arguments: '{"path":' })] }),
      chunk({ tool_calls: [call({ index: 1 }, { arguments: '{"path":"b"}' })] }),
      chunk({ tool_calls: [call({ index: 0 }, { arguments: '"a"}' })] }),
      END,
    ]);
    expect(reply).toEqual(usingTools([reads(1, 'a'), reads(2, 'b')], keeps('call_a', 'call_b')));
  });

  it.each([
    [
      'whole, all under index 0, as Ollama did',
      [call({ index: 0, id: 'call_a' }, { name: 'read_file', arguments: '{"path":"a"}' })],
      [call({ index: 0, id: 'call_b' }, { name: 'read_file', arguments: '{"path":"b"}' })],
      keeps('call_a', 'call_b'),
    ],
    [
      'without an index',
      [call({ id: 'call_a' }, { name: 'read_file', arguments: '{"path":"a"}' })],
      [call({ id: 'call_b' }, { name: 'read_file', arguments: '{"path":"b"}' })],
      keeps('call_a', 'call_b'),
    ],
    [
      'without an id',
      [call({}, { name: 'read_file', arguments: '{"path":"a"}' })],
      [call({}, { name: 'read_file', arguments: '{"path":"b"}' })],
      {},
    ],
    [
      'under index 0 with empty ids',
      [call({ index: 0, id: '' }, { name: 'read_file', arguments: '{"path":"a"}' })],
      [call({ index: 0, id: '' }, { name: 'read_file', arguments: '{"path":"b"}' })],
      {},
    ],
    [
      'H07: several with the same id',
      [call({ index: 0, id: 'call_0' }, { name: 'read_file', arguments: '{"path":"a"}' })],
      [call({ index: 1, id: 'call_0' }, { name: 'read_file', arguments: '{"path":"b"}' })],
      {},
    ],
    [
      'with arguments as an object',
      [call({ index: 0, id: 'call_a' }, { name: 'read_file', arguments: { path: 'a' } })],
      [call({ index: 1, id: 'call_b' }, { name: 'read_file', arguments: { path: 'b' } })],
      keeps('call_a', 'call_b'),
    ],
  ])('come %s', async (_, first, second, kept) => {
    const expected = usingTools([reads(1, 'a'), reads(2, 'b')], kept);
    expect((await answered([chunk({ tool_calls: first }), chunk({ tool_calls: second }), END])).reply).toEqual(
      expected,
    );
    expect((await answered([chunk({ tool_calls: [...first, ...second] }), END])).reply).toEqual(expected);
  });

  it('may end with `stop`, as Ollama says it', async () => {
    const calls = [call({ index: 0, id: 'call_a' }, { name: 'read_file', arguments: '{"path":"a"}' })];
    const { reply } = await answered([chunk({ tool_calls: calls }), chunk({}, 'stop', { usage: USAGE })]);
    expect(reply).toEqual(usingTools([reads(1, 'a')], keeps('call_a')));
  });

  it('repeat name and id in every piece, and stay one call', async () => {
    const piece = (text: string): object =>
      chunk({ tool_calls: [call({ index: 0, id: 'call_a' }, { name: 'read_file', arguments: text })] });
    expect((await answered([piece('{"path"'), piece(':"a"}'), piece(''), END])).reply).toEqual(
      usingTools([reads(1, 'a')], keeps('call_a')),
    );
  });

  it('H07: stay text where they are no JSON object, for the gate to answer', async () => {
    const calls = [
      call({ index: 0, id: 'call_a' }, { name: 'read_file', arguments: '{"path": a}' }),
      call({ index: 1, id: 'call_b' }, { name: 'read_file', arguments: '{"path":"a","path":"b"}' }),
      call({ index: 2, id: 'call_c' }, { name: 'read_file', arguments: '' }),
    ];
    const { reply } = await answered([chunk({ tool_calls: calls }), END]);
    expect(reply.ok && reply.value.calls.map(({ input }) => input)).toEqual([
      '{"path": a}',
      '{"path":"a","path":"b"}',
      {},
    ]);
  });
});

describe('the end of a reply', () => {
  const whole = [call({ index: 0, id: 'call_a' }, { name: 'read_file', arguments: '{"path":"a"}' })];

  it.each([
    ['J04: is missing, and so are its calls', [chunk({ tool_calls: whole })], false, 'cut'],
    ['J04: is missing in the midst of words', [chunk({ content: 'I will' })], false, 'cut'],
    ['J06: has a reason that nobody knows', [chunk({ content: 'x' }), chunk({}, 'tired')], true, 'malformed'],
    ['J06: promises a call that did not come', [chunk({}, 'tool_calls')], true, 'malformed'],
    ['J06: comes without a word or a reason', [], true, 'malformed'],
    [
      'J04: is said by [DONE] only, but a call is not whole',
      [chunk({ tool_calls: [call({ index: 0, id: 'a' }, { name: 'read_file', arguments: '{"pa' })] })],
      true,
      'cut',
    ],
    [
      'J04: is said by [DONE] only, and arguments never came',
      [chunk({ tool_calls: [call({ index: 0, id: 'a' }, { name: 'read_file' })] })],
      true,
      'cut',
    ],
  ])('%s', async (_, chunks, done, is) => {
    const { reply } = await answered(chunks, { done });
    expect(reply.ok ? reply.value : reply.fault.is).toBe(is);
  });

  it('may be said by [DONE] only, where all is whole', async () => {
    const { reply } = await answered([chunk({ tool_calls: whole }, null, { usage: USAGE })]);
    expect(reply).toEqual(usingTools([reads(1, 'a')], keeps('call_a')));
  });

  it('may be said by its reason only', async () => {
    const { reply } = await answered([chunk({ content: 'yes' }), chunk({}, 'stop', { usage: USAGE })], { done: false });
    expect(reply.ok && [reply.value.text, reply.value.stopReason]).toEqual(['yes', 'end']);
  });

  it('H08: at the output limit leaves no call, whole or not', async () => {
    const { reply } = await answered([
      chunk({ content: 'now', tool_calls: whole }),
      chunk({}, 'length', { usage: USAGE }),
    ]);
    expect(reply).toEqual({
      ok: true,
      value: { text: 'now', calls: [], stopReason: 'output limit', usage: COUNTED, model: 'local/qwen3' },
    });
  });

  it('J06: is an error that comes in the midst, its status in text as LiteLLM sends it', async () => {
    const error = { message: 'litellm.RateLimitError: slow down', type: null, param: null, code: '429' };
    const { reply } = await answered([chunk({ content: 'a' }), { error }]);
    expect(reply.ok ? reply.value : reply.fault.is).toBe('rate limited');
  });

  it('J06: is an error that comes in the midst, as OpenRouter sends it', async () => {
    const broke = { ...chunk({ content: '' }, 'error'), error: { code: 429, message: 'slow down, provider' } };
    const { reply } = await answered([chunk({ content: 'a' }), broke]);
    expect(reply.ok ? reply.value : [reply.fault.is, reply.fault.message, reply.fault.spent !== undefined]).toEqual([
      'rate limited',
      holding('slow down, provider'),
      true,
    ]);
  });
});

describe('what compatible servers are sent', () => {
  it('never has two messages of the user in a row, nor one without a word', async () => {
    const turns: readonly Turn[] = [
      { by: 'user', text: 'go' },
      { by: 'user', text: 'Summary' },
      { by: 'model', text: '', calls: [] },
      { by: 'user', text: 'on' },
    ];
    const { heard } = await answered([chunk({ content: 'x' }, 'stop')], { turns });
    expect(listAt(heard[0]?.body, 'messages')).toEqual([
      { role: 'system', content: 'You find things.' },
      { role: 'user', content: 'go\n\nSummary\n\non' },
    ]);
  });
});

describe('reasoning of compatible servers', () => {
  it.each(['reasoning_content', 'reasoning'])('is told from the field %s', async (field) => {
    const { reply, deltas } = await answered([
      chunk({ [field]: 'Hm, ' }),
      chunk({ [field]: 'yes.' }),
      chunk({ content: 'Yes.' }),
      chunk({}, 'stop', { usage: USAGE }),
    ]);
    expect(deltas).toEqual(['reasoning: Hm, ', 'reasoning: yes.', 'text: Yes.']);
    expect(reply.ok && reply.value.text).toBe('Yes.');
  });

  it('is told once where a server sends it under both names', async () => {
    const { deltas } = await answered([
      chunk({ reasoning: 'Hm', reasoning_content: 'Hm' }),
      chunk({ content: 'x' }, 'stop'),
    ]);
    expect(deltas).toEqual(['reasoning: Hm', 'text: x']);
  });

  it('is taken out of the text between <think> marks, wherever they break', async () => {
    const { reply, deltas } = await answered([
      ...['<thi', 'nk>\nHm, <', 'b> </thi', 'nk>\n\nYes', '.'].map((content) => chunk({ content })),
      chunk({}, 'stop'),
    ]);
    expect(deltas.join('|')).toBe('reasoning: \nHm, |reasoning: <b> |text: Yes|text: .');
    expect(reply.ok && reply.value.text).toBe('Yes.');
  });
});

describe('what a router wants back', () => {
  const detail = (fields: object): object => chunk({ reasoning_details: [{ format: 'v1', ...fields }] });
  const signed = call(
    { index: 0, id: 'call_a', extra_content: { google: { thought_signature: 'sig' } } },
    { name: 'read_file', arguments: '{"path":"a"}' },
  );

  it('is kept with the calls, and goes back to the same model as it came', async () => {
    const { reply } = await answered([
      detail({ type: 'reasoning.text', index: 0, text: 'Hm, ' }),
      detail({ type: 'reasoning.text', index: 0, text: 'yes.', signature: null }),
      detail({ type: 'reasoning.text', index: 0, signature: 'sealed' }),
      detail({ type: 'reasoning.encrypted', index: 1, data: 'abc' }),
      chunk({ tool_calls: [signed] }),
      END,
    ]);
    if (!reply.ok) throw new Error(reply.fault.message);
    const turns: readonly Turn[] = [
      { by: 'user', text: 'go' },
      { by: 'model', ...reply.value },
      { by: 'tools', results: reply.value.calls.map(({ id }) => ({ call: id, ok: true, text: 'a file' })) },
    ];
    const sent = async (model: string): Promise<unknown> => {
      const { heard } = await answered([chunk({ content: 'x' }, 'stop')], { turns, model });
      return listAt(heard[0]?.body, 'messages')[2];
    };
    const plain = { id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } };
    expect(await sent('local/qwen3')).toEqual({
      role: 'assistant',
      content: null,
      reasoning_details: [
        { format: 'v1', type: 'reasoning.text', index: 0, text: 'Hm, yes.', signature: 'sealed' },
        { format: 'v1', type: 'reasoning.encrypted', index: 1, data: 'abc' },
      ],
      tool_calls: [{ ...plain, extra_content: { google: { thought_signature: 'sig' } } }],
    });
    expect(await sent('local/other')).toEqual({ role: 'assistant', content: null, tool_calls: [plain] });
  });
});

describe('the name of a model', () => {
  it('goes on the wire as what follows the first slash, and comes back whole', async () => {
    const { reply, heard } = await answered([{ ...chunk({ content: 'x' }, 'stop'), model: 'qwen/qwen3-coder' }], {
      model: 'local/qwen/qwen3-coder',
    });
    expect([heard[0]?.body['model'], reply.ok && reply.value.model]).toEqual([
      'qwen/qwen3-coder',
      'local/qwen/qwen3-coder',
    ]);
  });

  it.each(['', 'with a space'])('is the one that was asked where a server says %j', async (model) => {
    const { reply } = await answered([{ ...chunk({ content: 'x' }, 'stop'), model }]);
    expect(reply.ok && reply.value.model).toBe('local/qwen3');
  });
});

describe('usage of compatible servers', () => {
  const usageOf = async (usage: object | null) => {
    const { reply } = await answered([chunk({ content: 'x' }, 'stop', usage === null ? {} : { usage })]);
    return reply.ok ? reply.value.usage : reply.fault;
  };

  it('that is missing or no number is estimated: a token for four bytes', async () => {
    const estimate = { input: 102, output: 1, cacheRead: 0, cacheWrite: 0 };
    expect([await usageOf(null), await usageOf({ prompt_tokens: 'many' })]).toEqual([estimate, estimate]);
  });

  it('tells cached input apart, in either spelling', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 1 } };
    expect(await usageOf({ ...USAGE, ...details })).toEqual({ input: 3, output: 5, cacheRead: 8, cacheWrite: 1 });
    expect(await usageOf({ ...USAGE, prompt_cache_hit_tokens: 10 })).toEqual({
      input: 2,
      output: 5,
      cacheRead: 10,
      cacheWrite: 0,
    });
  });

  it('counts reasoning that only the total knows of', async () => {
    expect(await usageOf({ ...USAGE, total_tokens: 40 })).toEqual({
      input: 12,
      output: 28,
      cacheRead: 0,
      cacheWrite: 0,
    });
  });
});
