/** What the double refuses on Anthropic's wire, in the vendor's words. */
import type Anthropic from '@anthropic-ai/sdk';
import { AuthenticationError } from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { anthropicOn, messageOf, thrownBy } from './double/clients.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import type { Script } from './double/script.ts';
import { signatureOf } from './double/seal.ts';

let double: Double;
afterEach(() => double.close());

const opened = async (script: Script): Promise<Anthropic> => anthropicOn((double = await openDouble(script)));
const answering = (): Promise<Anthropic> => opened({ rules: [{ answer: { text: 'Hi.' } }] });

const HAIKU = 'claude-haiku-4-5';
const asking = (text: string) => ({
  model: HAIKU,
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content: text }],
});
const READ = {
  name: 'read_file',
  description: 'Reads a file.',
  input_schema: { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] },
};

const USE = { type: 'tool_use' as const, id: 'toolu_1', name: 'read_file', input: { path: 'a' } };
const result = (id: string) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'text' });
const user = (...content: Anthropic.ContentBlockParam[]) => ({ role: 'user' as const, content });
const assistant = (...content: Anthropic.ContentBlockParam[]) => ({ role: 'assistant' as const, content });
const text = (words: string, mark = false) => ({
  type: 'text' as const,
  text: words,
  ...(mark ? { cache_control: { type: 'ephemeral' as const } } : {}),
});

describe('what the double refuses on the Messages wire', () => {
  const cases: readonly (readonly [what: string, change: object, message: string])[] = [
    ['no limit', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['a field that nobody knows', { reasoning: {} }, 'reasoning: Extra inputs are not permitted'],
    ['no messages', { messages: [] }, 'messages: at least one message is required'],
    [
      'an empty text',
      { messages: [user(text(' '))] },
      'messages: text content blocks must contain non-whitespace text',
    ],
    [
      'words put into its mouth',
      { messages: [user(text('Say')), assistant(text('I'))] },
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    ],
    [
      'a model that speaks first',
      { messages: [assistant(text('I')), user(text('Go'))] },
      'messages: first message must use the "user" role',
    ],
    [
      'a call without a result',
      { messages: [user(text('Go')), assistant(USE), user(text('And?'))] },
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ],
    [
      'a result after words',
      { messages: [user(text('Go')), assistant(USE), user(text('Here'), result('toolu_1'))] },
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ],
    [
      'a result without a call',
      { messages: [user(result('toolu_9'))] },
      'messages.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    ],
    [
      'calls without tools',
      { tools: [], messages: [user(text('Go')), assistant(USE), user(result('toolu_1'))] },
      'Requests which include `tool_use` or `tool_result` blocks must define tools',
    ],
    [
      'a name that is none',
      { tools: [{ ...READ, name: 'read file' }] },
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    ],
    ['a tool twice', { tools: [READ, READ] }, 'tools: Tool names must be unique.'],
    [
      'a union as input',
      { tools: [{ ...READ, input_schema: { type: 'object', anyOf: [] } }] },
      'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
    ],
    [
      'five cache marks',
      {
        system: [text('a', true), text('b', true)],
        messages: [user(text('c', true), text('d', true), text('e', true))],
      },
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [
      'an open object as format',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    ],
    [
      'a bounded number as format',
      { output_config: { format: { type: 'json_schema', schema: { type: 'integer', minimum: 1 } } } },
      "output_config.format.schema: For 'integer' type, properties minimum are not supported",
    ],
    [
      'more reasoning than reply',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      '`max_tokens` must be greater than `thinking.budget_tokens`.',
    ],
    [
      'a signature that is not its own',
      {
        messages: [
          user(text('Go')),
          assistant({ type: 'thinking', thinking: 'x', signature: 'y' }, text('So')),
          user(text('And?')),
        ],
      },
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
  ];

  it.each(cases)('is %s', async (_what, change, message) => {
    const client = await answering();
    const body = { ...asking('Hello?'), tools: [READ], ...change };
    const error = await thrownBy(() => client.post('/v1/messages', { body }));
    expect(error).toMatchObject({
      status: 400,
      error: {
        type: 'error',
        error: { type: 'invalid_request_error', message },
        request_id: 'req_000000000000000000000001',
      },
    });
    expect(double.bill()).toMatchObject({ refused: 1, answered: { calls: 0 } });
  });

  it('is a wrong key, or none', async () => {
    await answering();
    const error = await thrownBy(() => anthropicOn(double, 'sk-wrong').messages.create(asking('Hello?')));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ type: 'authentication_error', apiMessage: 'invalid x-api-key' });
  });

  it('is a request longer than the window', async () => {
    const client = await opened({ rules: [{ answer: { text: 'Hi.' } }], window: 100 });
    const error = await thrownBy(() => client.messages.create(asking('x'.repeat(1000))));
    expect(error).toMatchObject({ status: 400, apiMessage: 'prompt is too long: 258 tokens > 100 maximum' });
  });

  it('is reasoning that was left out, or changed, before the results of its calls', async () => {
    const client = await opened({
      rules: [
        { when: { turn: 1 }, answer: { reasoning: 'Look.', calls: [{ tool: 'read_file', input: { path: 'a' } }] } },
        { answer: { text: 'Done.' } },
      ],
    });
    const request = { ...asking('Go'), max_tokens: 3000, tools: [READ], thinking: { type: 'adaptive' as const } };
    const first = await client.messages.create(request);
    const goOn = (content: Anthropic.ContentBlockParam[]) =>
      client.messages.create({
        ...request,
        messages: [
          ...request.messages,
          { role: 'assistant', content },
          user(...first.content.flatMap((block) => (block.type === 'tool_use' ? [result(block.id)] : []))),
        ],
      });
    expect(messageOf(await thrownBy(() => goOn(first.content.slice(1))))).toContain(
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    );
    const other = { type: 'thinking' as const, thinking: 'Other.', signature: signatureOf('Other.') };
    expect(messageOf(await thrownBy(() => goOn([other, ...first.content.slice(1)])))).toContain(
      'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
    );
    expect((await goOn(first.content)).content).toEqual([{ type: 'text', text: 'Done.', citations: null }]);
  });
});
