/** The double on Anthropic's wire, asked by Anthropic's own client. */
import type Anthropic from '@anthropic-ai/sdk';
import { NotFoundError } from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { all, anthropicOn, thrownBy } from './double/clients.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import type { Answer, Script } from './double/script.ts';
import { signatureOf } from './double/seal.ts';

let double: Double;
afterEach(() => double.close());

const opened = async (script: Script): Promise<Anthropic> => anthropicOn((double = await openDouble(script)));
const answering = (answer: Answer): Promise<Anthropic> => opened({ rules: [{ answer }] });

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

const START_USAGE = {
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  inference_geo: 'not_available',
  speed: null,
};

describe('the double on the Messages wire', () => {
  it('streams a text with every event in the documented order', async () => {
    const client = await answering({ text: 'Nothing is wrong here.' });
    const events = await all(await client.messages.create({ ...asking('Hello?'), stream: true }));
    expect(events).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_000000000000000000000001',
          type: 'message',
          role: 'assistant',
          model: HAIKU,
          container: null,
          diagnostics: null,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: { ...START_USAGE, input_tokens: 9, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Nothing is w' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'rong here.' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
        usage: {
          input_tokens: 9,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 6,
          output_tokens_details: { thinking_tokens: 0 },
          server_tool_use: null,
        },
      },
      { type: 'message_stop' },
    ]);
  });

  it('sends a ping, which the client keeps to itself', async () => {
    await answering({ text: 'Hi.' });
    const response = await fetch(`${double.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...asking('Hello?'), stream: true }),
    });
    const names = [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  });

  it('streams reasoning with its signature, then two calls with their input in pieces', async () => {
    const client = await answering({
      reasoning: 'Two files.',
      calls: [
        { tool: 'read_file', input: { path: 'src/a.ts' } },
        { tool: 'read_file', input: { path: 'b' }, id: 'toolu_mine' },
      ],
    });
    const stream = client.messages.stream({ ...asking('Read both.'), tools: [READ] });
    const pieces: string[] = [];
    stream.on('streamEvent', (event) => {
      if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') {
        pieces.push(event.delta.partial_json);
      }
    });
    const message = await stream.finalMessage();
    expect(pieces).toEqual(['', '{"path":"src', '/a.ts"}', '', '{"path":"b"}']);
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'Two files.', signature: signatureOf('Two files.') },
      {
        type: 'tool_use',
        id: 'toolu_0000000000000000000000010',
        name: 'read_file',
        caller: { type: 'direct' },
        input: { path: 'src/a.ts' },
      },
      { type: 'tool_use', id: 'toolu_mine', name: 'read_file', caller: { type: 'direct' }, input: { path: 'b' } },
    ]);
    expect([message.stop_reason, message.usage.output_tokens]).toEqual(['tool_use', 3 + 3 + 5 + 3 + 3]);
  });

  it('gives the same whole as streamed', async () => {
    const client = await answering({
      reasoning: 'Hm.',
      text: 'Here.',
      calls: [{ tool: 'read_file', input: { path: 'a' } }],
    });
    const request = { ...asking('Read.'), tools: [READ] };
    const streamed = await client.messages.stream(request).finalMessage();
    const whole = await client.messages.create(request);
    expect(whole.content).toEqual(
      streamed.content.map((block) =>
        block.type === 'tool_use' ? { ...block, id: block.id.replace(/10$/, '20') } : block,
      ),
    );
    expect(whole.usage.output_tokens).toBe(streamed.usage.output_tokens);
  });

  it('tells no reasoning when the request wants it omitted, and bills it all the same', async () => {
    const client = await answering({ reasoning: 'Twelve chars', text: 'Yes.' });
    const message = await client.messages
      .stream({ ...asking('Well?'), thinking: { type: 'adaptive', display: 'omitted' } })
      .finalMessage();
    expect(message.content).toEqual([
      { type: 'thinking', thinking: '', signature: signatureOf('') },
      { type: 'text', text: 'Yes.', citations: null },
    ]);
    expect(message.usage.output_tokens).toBe(4);
  });

  it('cuts a reply at max_tokens, in the midst of a call where that is where it ends', async () => {
    const client = await answering({
      text: 'Twelve chars',
      calls: [{ tool: 'read_file', input: { path: 'src/a/b/c.ts' } }],
    });
    const request = { ...asking('Read.'), tools: [READ], max_tokens: 9 };
    const events = await all(await client.messages.create({ ...request, stream: true }));
    const json = events.map((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'input_json_delta' ? event.delta.partial_json : '',
    );
    expect(json.join('')).toBe('{"path":"src');
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
      delta: { stop_reason: 'max_tokens' },
      usage: { output_tokens: 9 },
    });
  });

  it('refuses as a model does', async () => {
    const client = await answering({ text: "I can't help with that.", stop: 'refused' });
    const message = await client.messages.create(asking('Do harm.'));
    expect([message.stop_reason, message.stop_details]).toEqual([
      'refusal',
      { type: 'refusal', category: null, explanation: null },
    ]);
  });

  it('reports what a script wants reported, or nothing, and bills its own count', async () => {
    const client = await opened({
      rules: [
        { when: { turn: 1, last: 'lie' }, answer: { text: 'Hi.', usage: { input_tokens: -5, output_tokens: 1e15 } } },
        { answer: { text: 'Hi.', usage: null } },
      ],
    });
    expect((await client.messages.create(asking('lie'))).usage).toEqual({ input_tokens: -5, output_tokens: 1e15 });
    expect('usage' in (await client.messages.create(asking('say nothing')))).toBe(false);
    expect(double.bill().answered).toEqual({ calls: 2, input: 20, output: 2, cacheRead: 0, cacheWrite: 0 });
  });

  it('answers in the name of another model when it is told to (A08)', async () => {
    const client = await answering({ text: 'Hi.', model: 'claude-opus-5' });
    expect((await client.messages.create(asking('Who?'))).model).toBe('claude-opus-5');
  });

  it('counts tokens as it bills them, at no cost', async () => {
    const client = await answering({ text: 'Hi.' });
    const request = { model: HAIKU, system: 'Be brief.', tools: [READ], messages: asking('Count me.').messages };
    const { input_tokens } = await client.messages.countTokens(request);
    expect(double.bill().answered.calls).toBe(0);
    const message = await client.messages.create({ ...request, max_tokens: 100 });
    expect(message.usage.input_tokens).toBe(input_tokens);
  });

  it('lists its models', async () => {
    const client = await opened({ rules: [], models: ['claude-haiku-4-5', 'claude-opus-5'] });
    const found = await all(client.models.list());
    expect(found.map(({ id }) => id)).toEqual(['claude-haiku-4-5', 'claude-opus-5']);
    const error = await thrownBy(() => client.messages.create({ ...asking('Hi'), model: 'claude-none' }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ type: 'not_found_error', apiMessage: 'model: claude-none' });
  });
});
