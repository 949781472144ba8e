/** The double on OpenAI's Responses wire, asked by OpenAI's own client. */
import type OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { all, openaiOn, thrownBy } from './double/clients.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import type { Answer, Script } from './double/script.ts';
import { sealed } from './double/seal.ts';

let double: Double;
afterEach(() => double.close());

const opened = async (script: Script): Promise<OpenAI> => openaiOn((double = await openDouble(script)));
const answering = (answer: Answer): Promise<OpenAI> => opened({ rules: [{ answer }] });

const schema = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
};
const READ = { type: 'function' as const, name: 'read_file', parameters: schema, strict: true };
const ID = '000000000000000000000001';

/** What an event says beside the response that it repeats. */
const short = (events: readonly OpenAI.Responses.ResponseStreamEvent[]) =>
  events.map((event) => ('response' in event ? [event.sequence_number, event.type, event.response.status] : event));

describe('the double on the Responses wire', () => {
  it('streams a text with every event in the documented order', async () => {
    const client = await answering({ text: 'Nothing is wrong here.' });
    const events = await all(await client.responses.create({ model: 'gpt-5', input: 'Hello?', stream: true }));
    const where = { item_id: `msg_${ID}`, output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: 'Nothing is wrong here.', annotations: [], logprobs: [] };
    const item = { id: `msg_${ID}`, type: 'message', role: 'assistant' };
    expect(short(events)).toEqual([
      [0, 'response.created', 'in_progress'],
      [1, 'response.in_progress', 'in_progress'],
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', sequence_number: 3, ...where, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', sequence_number: 4, ...where, delta: 'Nothing is w', logprobs: [] },
      { type: 'response.output_text.delta', sequence_number: 5, ...where, delta: 'rong here.', logprobs: [] },
      { type: 'response.output_text.done', sequence_number: 6, ...where, text: part.text, logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 7, ...where, part },
      {
        type: 'response.output_item.done',
        sequence_number: 8,
        output_index: 0,
        item: { ...item, status: 'completed', content: [part] },
      },
      [9, 'response.completed', 'completed'],
    ]);
    const last = events.at(-1);
    expect(last?.type === 'response.completed' && last.response.usage).toEqual({
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    });
  });

  it('streams reasoning and two calls, and gives the same whole', async () => {
    const client = await answering({
      reasoning: 'Two files.',
      calls: [
        { tool: 'read_file', input: { path: 'src/a.ts' } },
        { tool: 'read_file', input: { path: 'b' } },
      ],
    });
    const request = {
      model: 'gpt-5',
      input: 'Read.',
      tools: [READ],
      store: false,
      include: ['reasoning.encrypted_content' as const],
      reasoning: { summary: 'auto' as const },
    };
    const events = await all(await client.responses.create({ ...request, stream: true }));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const call = (id: string, index: number, path: string) => ({
      id: `fc_${id}${index}`,
      type: 'function_call',
      call_id: `call_${id}${index}`,
      name: 'read_file',
      status: 'completed',
      arguments: JSON.stringify({ path }),
    });
    const output = (id: string) => [
      {
        id: `rs_${id}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Two files.' }],
        encrypted_content: sealed('Two files.'),
      },
      call(id, 0, 'src/a.ts'),
      call(id, 1, 'b'),
    ];
    const last = events.at(-1);
    expect(last?.type === 'response.completed' && last.response.output).toEqual(output(ID));
    expect((await client.responses.create(request)).output).toEqual(output(ID.replace(/1$/, '2')));
  });

  it('is incomplete at the limit, and its last call with it', async () => {
    const client = await answering({
      calls: [{ tool: 'read_file', input: { path: 'src/a/very/deep/folder/with/a/file/in/it.ts' } }],
    });
    const request = { model: 'gpt-5', input: 'Read.', tools: [READ], max_output_tokens: 16 };
    const response = await client.responses.create(request);
    expect([response.status, response.incomplete_details, response.usage?.output_tokens]).toEqual([
      'incomplete',
      { reason: 'max_output_tokens' },
      16,
    ]);
    expect(response.output).toMatchObject([
      { status: 'incomplete', arguments: '{"path":"src/a/very/deep/folder/with/a/file/in/it.ts' },
    ]);
    const events = await all(await client.responses.create({ ...request, stream: true }));
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['response.output_item.done', 'response.incomplete']);
    expect(events.some(({ type }) => type === 'response.function_call_arguments.done')).toBe(false);
  });

  it('refuses in a part of its own', async () => {
    const client = await answering({ text: "I can't.", stop: 'refused' });
    const events = await all(await client.responses.create({ model: 'gpt-5', input: 'Harm.', stream: true }));
    expect(events.map(({ type }) => type).slice(3, -2)).toEqual([
      'response.content_part.added',
      'response.refusal.delta',
      'response.refusal.done',
      'response.content_part.done',
    ]);
    const { output } = await client.responses.create({ model: 'gpt-5', input: 'Harm.' });
    expect(output).toMatchObject([{ type: 'message', content: [{ type: 'refusal', refusal: "I can't." }] }]);
  });

  it('counts tokens as it bills them', async () => {
    const client = await answering({ text: 'Hi.' });
    const request = { model: 'gpt-5', instructions: 'Be brief.', input: 'Count me.', tools: [READ] };
    const counted = await client.responses.inputTokens.count(request);
    const { usage } = await client.responses.create(request);
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: usage?.input_tokens });
  });

  it('is filtered when it refuses without a word', async () => {
    const client = await answering({ stop: 'refused' });
    const response = await client.responses.create({ model: 'gpt-5', input: 'Harm.' });
    expect([response.status, response.incomplete_details]).toEqual(['incomplete', { reason: 'content_filter' }]);
  });
});

const USER = { role: 'user', content: 'Go' };
const CALL = { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{}' };
const OUTPUT = { type: 'function_call_output', call_id: 'call_1', output: 'x' };

describe('what the double refuses on the Responses wire', () => {
  const cases: readonly (readonly [what: string, change: object, message: string])[] = [
    ['a call without an output', { input: [USER, CALL] }, 'No tool output found for function call call_1.'],
    [
      'an output without a call',
      { input: [USER, OUTPUT] },
      'No tool call found for function call output with call_id call_1.',
    ],
    [
      'reasoning that nothing follows',
      { input: [USER, { type: 'reasoning', id: 'rs_1', summary: [] }, USER] },
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
    [
      'reasoning that nobody kept',
      { store: false, input: [USER, { type: 'reasoning', id: 'rs_1', summary: [] }, CALL, OUTPUT] },
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    ],
    [
      'an id of another kind',
      { input: [USER, { ...CALL, id: 'call_1' }, OUTPUT] },
      "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
    ],
    ['a field of the other wire', { messages: [] }, "Unknown parameter: 'messages'."],
    [
      'a limit that is too low',
      { max_output_tokens: 15 },
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
    ],
    [
      'words of the user in the mouth of the model',
      { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] },
      "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ],
    [
      'a name that is none',
      { tools: [{ ...READ, name: 'read file' }] },
      "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ],
    [
      'a default in strict mode',
      { tools: [{ ...READ, parameters: { ...schema, properties: { path: { type: 'string', default: '.' } } } }] },
      "Invalid schema for function 'read_file': In context=('properties', 'path'), 'default' is not permitted.",
    ],
    [
      'an open object deep in a format',
      {
        text: {
          format: {
            type: 'json_schema',
            name: 'plan',
            strict: true,
            schema: { ...schema, properties: { path: { type: 'array', items: { type: 'object', properties: {} } } } },
          },
        },
      },
      "Invalid schema for response_format 'plan': In context=('properties', 'path', 'items'), 'additionalProperties' is required to be supplied and to be false.",
    ],
  ];

  it.each(cases)('is %s', async (_what, change, message) => {
    const client = await answering({ text: 'Hi.' });
    const body = { model: 'gpt-5', input: 'Hello?', ...change };
    expect(await thrownBy(() => client.post('/responses', { body }))).toMatchObject({
      status: 400,
      error: { message, type: 'invalid_request_error', param: null, code: null },
    });
  });

  it.each([0, 20, 60])('is sealed reasoning that was changed at %i', async (at) => {
    const client = await answering({ text: 'Hi.' });
    const seal = sealed('So it must be there.');
    const changed = seal.slice(0, at) + (seal[at] === 'A' ? 'B' : 'A') + seal.slice(at + 1);
    const input = [USER, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: changed }, CALL, OUTPUT];
    const body = { model: 'gpt-5', store: false, input };
    expect(await thrownBy(() => client.post('/responses', { body }))).toMatchObject({
      status: 400,
      code: 'invalid_encrypted_content',
    });
  });

  it('is a call that comes back without its reasoning', async () => {
    const client = await opened({
      rules: [
        { when: { turn: 1 }, answer: { reasoning: 'Look.', calls: [{ tool: 'read_file', input: { path: 'a' } }] } },
        { answer: { text: 'Done.' } },
      ],
    });
    const request = { model: 'gpt-5', store: false, include: ['reasoning.encrypted_content' as const], tools: [READ] };
    const question: OpenAI.Responses.ResponseInputItem = { role: 'user', content: 'Go' };
    const { output } = await client.responses.create({ ...request, input: [question] });
    const result = (item: OpenAI.Responses.ResponseOutputItem): OpenAI.Responses.ResponseInputItem[] =>
      item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output: 'text' }] : [];
    const back = output.flatMap((item): OpenAI.Responses.ResponseInputItem[] =>
      item.type === 'reasoning' || item.type === 'function_call' ? [item] : [],
    );
    const results = output.flatMap(result);
    expect(
      await thrownBy(() => client.responses.create({ ...request, input: [question, ...back.slice(1), ...results] })),
    ).toMatchObject({
      status: 400,
      message: `400 Item 'fc_${ID}0' of type 'function_call' was provided without its required 'reasoning' item: 'rs_${ID}'.`,
    });
    const done = await client.responses.create({ ...request, input: [question, ...back, ...results] });
    expect(done.output_text).toBe('Done.');
  });

  it('is a request longer than the window', async () => {
    const client = await opened({ rules: [{ answer: { text: 'Hi.' } }], window: 100 });
    const error = await thrownBy(() => client.responses.create({ model: 'gpt-5', input: 'x'.repeat(1000) }));
    expect(error).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'input' });
  });
});
