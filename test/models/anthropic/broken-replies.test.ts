/** Replies that call tools but are not what the provider documents: none of their calls is carried out, the call counts as broken. */
import { describe, expect, it } from 'vitest';
import type { ProviderSetup } from '../../../src/domain/models/provider.ts';
import type { Result } from '../../../src/domain/result.ts';
import type { ModelReply } from '../../../src/domain/turn.ts';
import { anthropicCaller } from '../../../src/models/anthropic/adapter.ts';
import { openaiCaller } from '../../../src/models/openai/adapter.ts';
import type { ModelFault } from '../../../src/ports/model.ts';
import { fakeWorld } from '../../support/world.ts';
import { ask, setupFor as anthropicSetup } from '../anthropic-parts.ts';
import { chunk, ignore, LOCAL, NEVER, openServer, requestFor, setupFor, stream, USAGE } from '../openai-setup.ts';

type Came = Result<ModelReply, ModelFault>;

/** How a call ends that is answered with these events. */
async function answeredWith(events: readonly object[], call: (url: string) => Promise<Came>): Promise<Came> {
  const server = await openServer((response) => stream(response, events));
  try {
    return await call(server.url);
  } finally {
    await server.close();
  }
}

const words = (came: Came): string =>
  came.ok
    ? `${came.value.calls.length} calls`
    : `${came.fault.is}: ${came.fault.message.replace(/127[\d.:]+/, 'HOST')}`;

const no = (why: string): string => `malformed: HOST sent an invalid reply: ${why}`;

describe('an answer that is no stream', () => {
  const told = async (type: string, body: string, kind: 'anthropic' | 'chat'): Promise<string> => {
    const server = await openServer((response) => void response.writeHead(200, { 'content-type': type }).end(body));
    try {
      const caller =
        kind === 'anthropic'
          ? anthropicCaller(anthropicSetup(server.url), fakeWorld())
          : openaiCaller(setupFor(server.url, LOCAL), fakeWorld());
      const request = kind === 'anthropic' ? ask() : requestFor({ model: 'local/qwen3' });
      return words(await caller.call(request, NEVER, ignore));
    } finally {
      await server.close();
    }
  };

  it('is told with the words of the server', async () => {
    const page = '<html><title>Sign in</title><body>to the network</body></html>';
    expect(await told('text/html', page, 'anthropic')).toBe(
      'malformed: HOST sent an invalid reply: its type is text/html, not text/event-stream. Is the base URL right? It says: Sign in: to the network',
    );
    expect(await told('text/plain', 'the model is loading', 'chat')).toBe(
      'malformed: HOST sent an invalid reply: its type is text/plain, not text/event-stream. Is the base URL right? It says: the model is loading',
    );
    const error = JSON.stringify({ error: { type: 'rate_limit_error', message: 'slow down' } });
    for (const kind of ['anthropic', 'chat'] as const)
      expect(await told('application/json', error, kind)).toBe('rate limited: HOST rate-limits requests: slow down');
  });
});

describe('a reply of Anthropic', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} };
  const block = (index: number, content_block: object): readonly object[] => [
    { type: 'content_block_start', index, content_block },
    ...('input' in content_block
      ? [{ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '{"path":"a"}' } }]
      : []),
    { type: 'content_block_stop', index },
  ];
  const reply = async (
    blocks: readonly object[],
    input: object = { input_tokens: 9 },
    output: object | null = { output_tokens: 7 },
  ) =>
    words(
      await answeredWith(
        [
          { type: 'message_start', message: { model: 'claude-sonnet-4-6', usage: input } },
          ...blocks,
          { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: output },
          { type: 'message_stop' },
        ],
        (url) => anthropicCaller(anthropicSetup(url), fakeWorld()).call(ask(), NEVER, ignore),
      ),
    );

  it('runs its tools when it is as documented, of one block or several', async () => {
    expect(await reply(block(0, call))).toBe('1 calls');
    expect(
      await reply([
        ...block(0, { type: 'text', text: 'Look.' }),
        ...block(1, call),
        ...block(2, { ...call, id: 'toolu_2' }),
      ]),
    ).toBe('2 calls');
  });

  it('runs none beside a block of an unknown kind', async () => {
    expect(await reply([...block(0, { type: 'server_tool_use', id: 'x' }), ...block(1, call)])).toBe(
      no('it has a block of an unknown kind beside its tool calls'),
    );
  });

  it('runs none whose blocks are out of order: a lower place, before the one before had ended, after the end', async () => {
    const disorder = no('its blocks are out of order');
    expect(await reply([...block(1, { type: 'text', text: 'Look.' }), ...block(0, call)])).toBe(disorder);
    const [begun, ...rest] = block(0, { type: 'text', text: 'Look.' });
    expect(await reply([begun ?? {}, ...block(1, call), ...rest])).toBe(disorder);
    const early = { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } };
    expect(await reply([early, ...block(0, call)])).toBe(disorder);
  });

  it('runs none to which a part of an unknown kind belongs', async () => {
    const [begun, ...rest] = block(0, call);
    const odd = { type: 'content_block_delta', index: 0, delta: { type: 'patch_delta', patch: '[]' } };
    expect(await reply([begun ?? {}, odd, ...rest])).toBe(no('its blocks are out of order'));
  });

  it('runs none that does not say what it used', async () => {
    const silent = no('it has tool calls, but does not report its usage');
    expect(await reply(block(0, call), {})).toBe(silent);
    expect(await reply(block(0, call), { input_tokens: 9 }, null)).toBe(silent);
  });
});

describe('a reply over Responses', () => {
  const call = (id: string): object => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'read_file',
    arguments: '{"path":"a"}',
  });
  const added = (output_index: number, item: object): object => ({
    type: 'response.output_item.added',
    output_index,
    item,
  });
  const done = (output_index: number, item: object): object => ({
    type: 'response.output_item.done',
    output_index,
    item,
  });
  const completed = (
    output: readonly object[],
    usage: object | null = { input_tokens: 9, output_tokens: 5 },
  ): object => ({
    type: 'response.completed',
    response: { model: 'o3', status: 'completed', output, ...(usage === null ? {} : { usage }) },
  });
  const reply = async (...events: readonly object[]): Promise<string> =>
    words(
      await answeredWith(events, (url) => openaiCaller(setupFor(url), fakeWorld()).call(requestFor(), NEVER, ignore)),
    );

  it('runs its tools when it is as documented', async () => {
    const [a, b] = [call('a'), call('b')];
    expect(await reply(added(0, a), done(0, a), added(1, b), done(1, b), completed([a, b]))).toBe('2 calls');
  });

  it('runs none beside an item of an unknown kind, out of order, or without what it used', async () => {
    const [a, b] = [call('a'), call('b')];
    expect(await reply(completed([{ type: 'shell_call', id: 'x' }, a]))).toBe(
      no('it has an item of an unknown kind beside its tool calls'),
    );
    expect(await reply(added(1, b), done(1, b), added(0, a), done(0, a), completed([a, b]))).toBe(
      no('its items are out of order'),
    );
    expect(await reply(done(0, a), done(1, b), completed([b, a]))).toBe(no('its items are out of order'));
    expect(await reply(completed([a], null))).toBe(no('it has tool calls, but does not report its usage'));
  });
});

describe('a reply over Chat Completions', () => {
  const piece = (index: number, more: object = {}): object => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name: 'read_file', arguments: '{"path":"a"}' },
    ...more,
  });
  const reply = async (setup: Partial<ProviderSetup>, ...chunks: readonly object[]): Promise<Came> =>
    answeredWith([...chunks, chunk({}, 'tool_calls')], (url) =>
      openaiCaller(setupFor(url, { ...LOCAL, ...setup }), fakeWorld()).call(
        requestFor({ model: 'local/qwen3' }),
        NEVER,
        ignore,
      ),
    );
  const usage = chunk({}, null, { usage: USAGE });

  it('runs none of an unknown kind, nor calls that begin out of order', async () => {
    expect(words(await reply({}, chunk({ tool_calls: [piece(0)] }), usage))).toBe('1 calls');
    expect(words(await reply({}, chunk({ tool_calls: [piece(0, { type: 'custom' })] }), usage))).toBe(
      no('it calls a tool of an unknown kind'),
    );
    expect(words(await reply({}, chunk({ tool_calls: [piece(1), piece(0)] }), usage))).toBe(
      no('its tool calls are out of order'),
    );
  });

  it('of a server of one’s own has its usage estimated where the server leaves it out or reports 0', async () => {
    const used = async (...more: readonly object[]): Promise<unknown> => {
      const came = await reply({}, chunk({ tool_calls: [piece(0)] }), ...more);
      return came.ok ? [came.value.usage, came.value.estimated] : came.fault;
    };
    const none = { prompt_tokens: 0, completion_tokens: 0 };
    const estimate = { input: 102, output: 15, cacheRead: 0, cacheWrite: 0 };
    const [left, zero] = [await used(), await used(chunk({}, null, { usage: none }))];
    expect([left, zero]).toEqual([
      [estimate, true],
      [estimate, true],
    ]);
    expect(left).toEqual(zero);
    expect(await used(chunk({}, null, { usage: { ...USAGE, completion_tokens: 0, total_tokens: 12 } }))).toEqual([
      { ...estimate, input: 12 },
      true,
    ]);
    expect(await used(usage)).toEqual([{ input: 12, output: 5, cacheRead: 0, cacheWrite: 0 }, undefined]);
  });
});
