/** The double on the Chat Completions wire, asked by OpenAI's own client; and servers that lack something. */
import type OpenAI from 'openai';
import { AuthenticationError } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { all, openaiOn, thrownBy } from './double/clients.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import type { Answer, Script } from './double/script.ts';

let double: Double;
afterEach(() => double.close());

const opened = async (script: Script): Promise<OpenAI> => openaiOn((double = await openDouble(script)));
const answering = (answer: Answer): Promise<OpenAI> => opened({ rules: [{ answer }] });

const asking = (content: string) => ({ model: 'qwen3', messages: [{ role: 'user' as const, content }] });
const schema = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
};
const READ = { type: 'function' as const, function: { name: 'read_file', parameters: schema } };
const READS: Answer = {
  calls: [
    { tool: 'read_file', input: { path: 'src/a.ts' } },
    { tool: 'read_file', input: { path: 'b' } },
  ],
};

const choices = (chunks: readonly OpenAI.ChatCompletionChunk[]) =>
  chunks.map((chunk) => chunk.choices.map(({ delta, finish_reason }) => ({ ...delta, finish_reason })));

describe('the double on the Chat Completions wire', () => {
  it('streams a text, and usage last when it was asked for', async () => {
    const client = await answering({ text: 'Nothing is wrong here.' });
    const chunks = await all(
      await client.chat.completions.create({
        ...asking('Hello?'),
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    expect(choices(chunks)).toEqual([
      [{ role: 'assistant', content: '', refusal: null, finish_reason: null }],
      [{ content: 'Nothing is w', finish_reason: null }],
      [{ content: 'rong here.', finish_reason: null }],
      [{ finish_reason: 'stop' }],
      [],
    ]);
    expect(chunks.map(({ usage }) => usage)).toEqual([
      null,
      null,
      null,
      null,
      {
        prompt_tokens: 9,
        completion_tokens: 6,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    ]);
  });

  it('reports no usage in a stream that was not asked for it', async () => {
    const client = await answering({ text: 'Hi.' });
    const chunks = await all(await client.chat.completions.create({ ...asking('Hello?'), stream: true }));
    expect(chunks.map((chunk) => 'usage' in chunk)).toEqual([false, false, false]);
  });

  it('streams two calls by index, their arguments in pieces', async () => {
    const client = await answering({ reasoning: 'Two files.', ...READS });
    const chunks = await all(await client.chat.completions.create({ ...asking('Read.'), tools: [READ], stream: true }));
    const call = (index: number, text: string) => [
      { tool_calls: [{ index, function: { arguments: text } }], finish_reason: null },
    ];
    const start = (index: number) => ({
      index,
      id: `call_00000000000000000000000${10 + index}`,
      type: 'function',
      function: { name: 'read_file', arguments: '' },
    });
    expect(choices(chunks)).toEqual([
      [{ role: 'assistant', content: null, refusal: null, finish_reason: null }],
      [{ reasoning_content: 'Two files.', finish_reason: null }],
      [{ tool_calls: [start(0)], finish_reason: null }],
      call(0, '{"path":"src'),
      call(0, '/a.ts"}'),
      [{ tool_calls: [start(1)], finish_reason: null }],
      call(1, '{"path":"b"}'),
      [{ finish_reason: 'tool_calls' }],
    ]);
  });

  it('gives the same whole', async () => {
    const client = await answering({ text: 'Both.', ...READS });
    const { choices, usage } = await client.chat.completions.create({ ...asking('Read.'), tools: [READ] });
    const call = (id: number, path: string) => ({
      id: `call_00000000000000000000000${id}`,
      type: 'function',
      function: { name: 'read_file', arguments: JSON.stringify({ path }) },
    });
    expect(choices).toEqual([
      {
        index: 0,
        finish_reason: 'tool_calls',
        logprobs: null,
        message: {
          role: 'assistant',
          content: 'Both.',
          refusal: null,
          annotations: [],
          tool_calls: [call(10, 'src/a.ts'), call(11, 'b')],
        },
      },
    ]);
    expect(usage?.completion_tokens).toBe(2 + 3 + 5 + 3 + 3);
  });

  it('stops at the limit, refuses in words, and filters in silence', async () => {
    const client = await opened({
      rules: [
        { when: { last: 'long' }, answer: { text: 'Twelve chars and more.' } },
        { when: { last: 'harm' }, answer: { text: "I can't.", stop: 'refused' } },
        { answer: { stop: 'refused' } },
      ],
    });
    const ask = async (words: string) => {
      const { choices } = await client.chat.completions.create({ ...asking(words), max_completion_tokens: 3 });
      return choices.map(({ finish_reason, message }) => [finish_reason, message.content, message.refusal]);
    };
    expect(await ask('long')).toEqual([['length', 'Twelve chars', null]]);
    expect(await ask('harm')).toEqual([['stop', null, "I can't."]]);
    expect(await ask('other')).toEqual([['content_filter', null, '']]);
  });

  it('lists its models', async () => {
    const client = await opened({ rules: [], models: ['qwen3'] });
    expect(await all(client.models.list())).toEqual([{ id: 'qwen3', object: 'model', created: 0, owned_by: 'double' }]);
    expect(await thrownBy(() => client.chat.completions.create({ ...asking('Hi'), model: 'gpt-none' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});

const CALL = { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{}' } };
const USER = { role: 'user', content: 'Go' };

describe('what the double refuses on the Chat Completions wire', () => {
  const cases: readonly (readonly [what: string, change: object, message: string])[] = [
    ['no messages', { messages: [] }, "[] is too short - 'messages'"],
    [
      'options of a stream without one',
      { stream_options: { include_usage: true } },
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    ],
    [
      'the old limit with a reasoning model',
      { model: 'gpt-5', max_tokens: 5 },
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ],
    [
      'parallel calls without tools',
      { parallel_tool_calls: true },
      "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
    ],
    [
      'an empty list of tools',
      { tools: [] },
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ],
    [
      'a name that is none',
      { tools: [{ type: 'function', function: { name: 'read.file' } }] },
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ],
    [
      'a call without a result',
      { messages: [USER, { role: 'assistant', tool_calls: [CALL] }, USER] },
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1 (messages[1])",
    ],
    [
      'a result without a call',
      { messages: [USER, { role: 'tool', tool_call_id: 'call_1', content: 'x' }] },
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ],
    [
      'an open object in strict mode',
      {
        tools: [
          { type: 'function', function: { name: 'f', strict: true, parameters: { type: 'object', properties: {} } } },
        ],
      },
      "Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    ],
    [
      'an optional field in strict mode',
      {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'plan',
            strict: true,
            schema: { ...schema, properties: { ...schema.properties, why: { type: 'string' } } },
          },
        },
      },
      "Invalid schema for response_format 'plan': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'why'.",
    ],
  ];

  it.each(cases)('is %s', async (_what, change, message) => {
    const client = await answering({ text: 'Hi.' });
    const error = await thrownBy(() => client.post('/chat/completions', { body: { ...asking('Hello?'), ...change } }));
    expect(error).toMatchObject({
      status: 400,
      error: { message, type: 'invalid_request_error', param: null, code: null },
    });
  });

  it('is a wrong key, shown with stars in it', async () => {
    await answering({ text: 'Hi.' });
    const error = await thrownBy(() => openaiOn(double, 'sk-wrong-key').chat.completions.create(asking('Hello?')));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({
      code: 'invalid_api_key',
      message: '401 Incorrect API key provided: sk-w********-key.',
    });
  });
});

describe('a server that lacks something', () => {
  const lacking = (lack: NonNullable<Script['lacks']>[number]): Promise<OpenAI> =>
    opened({ rules: [{ answer: { text: 'Both.', ...READS } }], lacks: [lack] });

  it('says that a model does not support tools', async () => {
    const client = await lacking('tools');
    expect(await thrownBy(() => client.chat.completions.create({ ...asking('Read.'), tools: [READ] }))).toMatchObject({
      status: 400,
      message: '400 registry.ollama.ai/library/qwen3 does not support tools',
    });
  });

  it('makes only the first of parallel calls', async () => {
    const client = await lacking('parallel tools');
    const { choices } = await client.chat.completions.create({ ...asking('Read.'), tools: [READ] });
    expect(choices[0]?.message.tool_calls?.length).toBe(1);
  });

  it('reports no usage, even when it is asked for', async () => {
    const client = await lacking('usage');
    const request = { ...asking('Hi'), stream: true as const, stream_options: { include_usage: true } };
    expect((await all(await client.chat.completions.create(request))).some((chunk) => chunk.usage)).toBe(false);
    expect('usage' in (await client.chat.completions.create(asking('Hi')))).toBe(false);
    expect(double.bill().answered.calls).toBe(2);
  });

  it('has no Responses', async () => {
    const client = await lacking('responses');
    expect(await thrownBy(() => client.responses.create({ model: 'qwen3', input: 'Hi' }))).toMatchObject({
      status: 404,
    });
  });

  it('knows no schemas and no options of streams', async () => {
    const client = await opened({ rules: [{ answer: { text: '{}' } }], lacks: ['schema', 'streaming options'] });
    const format = { type: 'json_schema' as const, json_schema: { name: 'plan', schema } };
    expect(
      await thrownBy(() => client.chat.completions.create({ ...asking('Hi'), response_format: format })),
    ).toMatchObject({
      status: 400,
      message: '400 This response_format type is unavailable now',
    });
    const options = { stream: true as const, stream_options: { include_usage: true } };
    expect(await thrownBy(() => client.chat.completions.create({ ...asking('Hi'), ...options }))).toMatchObject({
      status: 422,
    });
  });

  it('has its own field of reasoning, and sends calls whole with one index', async () => {
    const client = await opened({
      rules: [{ answer: { reasoning: 'Two files.', ...READS } }],
      quirks: ['reasoning field', 'whole calls'],
    });
    const chunks = await all(await client.chat.completions.create({ ...asking('Read.'), tools: [READ], stream: true }));
    const call = (id: number, path: string) => ({
      index: 0,
      id: `call_00000000000000000000000${id}`,
      type: 'function',
      function: { name: 'read_file', arguments: JSON.stringify({ path }) },
    });
    expect(choices(chunks).slice(1, -1)).toEqual([
      [{ reasoning: 'Two files.', finish_reason: null }],
      [{ tool_calls: [call(10, 'src/a.ts')], finish_reason: null }],
      [{ tool_calls: [call(11, 'b')], finish_reason: null }],
    ]);
  });

  it('asks for no key', async () => {
    await opened({ rules: [{ answer: { text: 'Hi.' } }], keyless: true });
    const { choices } = await openaiOn(double, 'none').chat.completions.create(asking('Hello?'));
    expect(choices[0]?.message.content).toBe('Hi.');
  });
});
