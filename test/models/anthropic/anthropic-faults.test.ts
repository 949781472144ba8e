import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ModelId } from '../../../src/domain/ids.ts';
import type { ModelFault } from '../../../src/ports/model.ts';
import { anthropicCaller } from '../../../src/models/anthropic/adapter.ts';
import { world } from '../../../src/app/process/index.ts';
import type { Answer, WireFault } from '../../support/double/script.ts';
import { KEY, openDouble } from '../../support/double/double.ts';
import { until } from '../../support/until.ts';
import { fakeWorld } from '../../support/world.ts';
import { ask, faultOf, LIVE, onDouble, setupFor } from '../anthropic-parts.ts';

const TALK: Answer = {
  text: 'I look at it. '.repeat(8),
  reasoning: 'Where might it be?',
  calls: [{ tool: 'read_file', input: { path: 'src/a.ts' } }],
};
const CALLS: Answer = { text: 'Now.', calls: [{ tool: 'read_file', input: { path: 'src/parse.ts' } }] };
/** The port is another one each time. */
const words = ({ message }: ModelFault): string => message.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');

describe('a fault on the way to Anthropic', () => {
  it.each([
    [{ is: 'status', status: 429, headers: { 'retry-after': '2' } }, 'rate limited'],
    [{ is: 'status', status: 529 }, 'overloaded'],
    [{ is: 'status', status: 503 }, 'overloaded'],
    [{ is: 'status', status: 500, body: '<html>oh</html>' }, 'overloaded'],
    [{ is: 'status', status: 401 }, 'unauthorised'],
    [{ is: 'status', status: 403 }, 'unauthorised'],
    [{ is: 'status', status: 400 }, 'refused'],
    [{ is: 'status', status: 404 }, 'refused'],
    [{ is: 'status', status: 413 }, 'too long'],
    [{ is: 'cut', at: 'head' }, 'unreachable'],
    [{ is: 'cut', at: 0 }, 'cut'],
    [{ is: 'html' }, 'malformed'],
    [{ is: 'empty' }, 'malformed'],
    [{ is: 'gzip garbage' }, 'malformed'],
    [{ is: 'wrong type' }, 'malformed'],
    [{ is: 'redirect', status: 307, to: 'http://127.0.0.1:9/' }, 'refused'],
    [{ is: 'redirect', status: 301, to: '/elsewhere' }, 'refused'],
  ] satisfies [WireFault, ModelFault['is']][])(
    'J01 J03 J06 J07: %j is %s, and nothing was spent',
    async (fault, is) => {
      const got = await faultOf(fault, TALK);
      expect([got.is, got.spent]).toEqual([is, undefined]);
      expect(got.retryAfterMs).toBe(is === 'rate limited' ? 2000 : undefined);
    },
  );

  it('J07: gives advice without the key, also when the provider repeats it', async () => {
    const body = JSON.stringify({
      error: { type: 'authentication_error', message: `no such key: ${KEY} (test…-key)` },
    });
    expect(words(await faultOf({ is: 'status', status: 401, body }, TALK))).toBe(
      'HOST rejected the API key: no such key: [key] (test…-key). Check ANTHROPIC_API_KEY',
    );
    expect(words(await faultOf({ is: 'cut', at: 'head' }))).toBe('cannot reach HOST: the connection broke');
  });

  it('J06: an error event in the stream is what it says, with what was spent', async () => {
    const fault = { is: 'error event', at: 6, type: 'overloaded_error', message: 'Overloaded' } as const;
    const got = await faultOf(fault, { text: TALK.text ?? '' });
    expect([got.is, words(got)]).toEqual(['overloaded', 'HOST returned a server error: Overloaded']);
    expect(got.spent?.input).toBe(65);
  });

  it('J06: an event that is no JSON, or none that can be, is no reply', async () => {
    const got = await faultOf({ is: 'bad event', at: 4 }, TALK);
    expect([got.is, words(got)]).toEqual(['malformed', 'HOST sent an invalid reply: an event is not JSON']);
  });

  it('J04: a stream that is cut anywhere is no reply, and no less was spent than the double bills', async () => {
    const at = fc.integer({ min: 0, max: 12 });
    await fc.assert(
      fc.asyncProperty(at, fc.boolean(), fc.constantFrom(TALK, CALLS), async (at, clean, answer) => {
        await onDouble({ rules: [{ answer: { ...answer, fault: { is: 'cut', at, clean } } }] }, async (line) => {
          const { result } = await line.call();
          expect(result.ok).toBe(false);
          if (result.ok) return;
          expect(['cut', 'malformed']).toContain(result.fault.is);
          const { broken } = line.double.bill();
          expect(result.fault.spent?.input ?? 0).toBe(broken.input);
          expect(result.fault.spent?.output ?? 0).toBeGreaterThanOrEqual(broken.output);
        });
      }),
      { numRuns: 40 },
    );
  });

  it('J05: goes silent before the first event, or in the midst of the stream, and is given up', async () => {
    const before = await faultOf({ is: 'silent', at: 'head' }, TALK, { firstEventMs: 60 });
    const amid = await faultOf({ is: 'silent', at: 5 }, { text: TALK.text ?? '' }, { idleMs: 60 });
    // Nobody said how much was read before the silence: every byte that was sent may have been.
    expect(before.spent?.input).toBeGreaterThan(65);
    expect([before.is, before.spent?.output, amid.is, amid.spent?.input]).toEqual(['silent', 0, 'silent', 65]);
  });

  it('J05: gives up a stream that only pings', async () => {
    const fault = await faultOf(
      { is: 'trickle', at: 5, everyMs: 15 },
      { text: TALK.text ?? '' },
      { firstEventMs: 1000, idleMs: 800 },
    );
    expect([fault.is, fault.spent?.input]).toEqual(['silent', 65]);
  });

  it('says that nobody is there', async () => {
    const double = await openDouble({ rules: [] });
    await double.close();
    const result = await anthropicCaller(setupFor(double.url), fakeWorld()).call(ask(), LIVE, () => undefined);
    expect(result.ok || [result.fault.is, words(result.fault)]).toEqual([
      'unreachable',
      'cannot reach HOST: connection refused. Check that the server runs and that its address is right',
    ]);
  });
});

describe('a call that is stopped', () => {
  it('resolves at once with what it had spent, and hangs up', async () => {
    const rules = [{ answer: { text: TALK.text ?? '', fault: { is: 'silent', at: 6 } as const } }];
    await onDouble({ rules }, async ({ double, call }) => {
      const stop = new AbortController();
      const { promise: heard, resolve } = Promise.withResolvers<void>();
      const calling = call({}, stop.signal, resolve);
      await heard;
      const began = world.elapsed();
      stop.abort('enough');
      const { result } = await calling;
      expect(world.elapsed() - began).toBeLessThan(10_000);
      expect(result).toMatchObject({ ok: false, fault: { is: 'aborted', message: 'stopped', spent: { input: 65 } } });
      await until(() => double.bill().waiting === 0);
    });
  });

  it('is never sent when it was stopped before', async () => {
    await onDouble({ rules: [] }, async ({ double, call }) => {
      const { result } = await call({}, AbortSignal.abort());
      expect([result, double.asked.length]).toEqual([{ ok: false, fault: { is: 'aborted', message: 'stopped' } }, 0]);
    });
  });
});

describe('the client', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it('takes nothing from the environment, and prints nothing', async () => {
    const printed = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation(() => undefined),
    );
    vi.stubEnv('ANTHROPIC_API_KEY', 'of-the-environment');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'of-the-environment');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9');
    vi.stubEnv('ANTHROPIC_LOG', 'debug');
    vi.stubEnv(
      'ANTHROPIC_CUSTOM_HEADERS',
      'x-api-key: theirs\nauthorization: Bearer theirs\nx-odd: of-the-environment',
    );
    await onDouble({ rules: [{ answer: TALK }] }, async ({ double, call }) => {
      const { result } = await call();
      expect(result.ok).toBe(true);
      const headers = JSON.stringify(double.asked[0]?.headers);
      expect(headers).toContain(`"authorization":"Bearer ${KEY}"`);
      expect(headers).not.toMatch(/environment|theirs|x-api-key/);
    });
    await faultOf({ is: 'bad event', at: 3 }, TALK);
    await onDouble({ rules: [{ answer: TALK }] }, async ({ call }) => {
      const { result } = await call({ model: OLD });
      expect(result.ok).toBe(true);
    });
    expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
  });

  it('sends no key where there is none', async () => {
    const seen = await listening((_, response) => void response.writeHead(404).end(), { key: null });
    expect(seen.headers.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  it('uses a connection again', async () => {
    const { connections, headers } = await listening((_, response) => void write(response).end(), { calls: 8 });
    expect(headers).toHaveLength(8);
    // Not one: the next call may begin before the connection is free again.
    expect(connections).toBeLessThan(4);
  });

  it('does not wait for a connection that stays open after the end', async () => {
    const { took } = await listening((_, response) => void write(response));
    expect(took).toBeLessThan(15_000);
  });
});

function write(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of WHOLE) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return response;
}

/** An old one. */
const OLD = ModelId.parse('anthropic/claude-sonnet-4-5-20250929');
const WHOLE = [
  { type: 'message_start', message: { model: 'claude-sonnet-4-6', usage: { input_tokens: 3, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
] as const;

/** Calls of a server, one after the other, that answers as `answer` does. */
async function listening(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { calls = 1, ...change }: Parameters<typeof setupFor>[1] & { readonly calls?: number } = {},
): Promise<{ headers: IncomingMessage['headers'][]; took: number; connections: number }> {
  let connections = 0;
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers);
    request.resume().on('end', () => answer(request, response));
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const caller = anthropicCaller(setupFor(`http://127.0.0.1:${port}`, change), world);
  const began = world.elapsed();
  for (let call = 0; call < calls; call += 1) await caller.call(ask(), LIVE, () => undefined);
  const took = world.elapsed() - began;
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
  return { headers, took, connections };
}
