/** Provider faults on both of OpenAI's wires: each has its class, its words, and what it cost by then. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Double, KEY, openDouble } from '../../support/double/double.ts';
import type { Answer, WireFault } from '../../support/double/script.ts';
import { NO_USAGE } from '../../../src/domain/budget.ts';
import { until } from '../../support/until.ts';
import { fakeWorld } from '../../support/world.ts';
import { openaiCaller } from '../../../src/models/openai/adapter.ts';
import type { ModelFault } from '../../../src/ports/model.ts';
import { holding, like } from '../../support/like.ts';
import { world as realWorld } from '../../../src/app/process/index.ts';
import { chunk, ignore, LOCAL, NEVER, openServer, refuse, requestFor, setupFor, stream } from '../openai-setup.ts';

let double: Double | null = null;
afterEach(async () => {
  await double?.close();
  double = null;
});

const WIRES = [
  ['Responses', {}, 'openai/gpt-4.1'],
  ['Chat Completions', LOCAL, 'local/qwen3'],
] as const;

const ANSWER: Answer = {
  text: 'I look into it.',
  calls: [{ tool: 'read_file', input: { path: 'src/parse.ts' } }],
};

async function faultOf(
  kind: (typeof WIRES)[number][1],
  model: string,
  fault: WireFault,
): Promise<ModelFault | { readonly is: 'no fault' }> {
  double = await openDouble({ rules: [{ answer: { ...ANSWER, fault } }] });
  const came = await openaiCaller(setupFor(double.url, kind), fakeWorld()).call(requestFor({ model }), NEVER, ignore);
  return came.ok ? { is: 'no fault' } : came.fault;
}

const status = (code: number, more: object = {}): WireFault => ({ is: 'status', status: code, ...more });

describe.each(WIRES)('a fault over %s', (_, kind, model) => {
  it.each([
    ['J01: 429 with retry-after', status(429, { headers: { 'retry-after': '2' } }), 'rate limited', 2000],
    ['J02: 429 with a day', status(429, { headers: { 'retry-after': '86400' } }), 'rate limited', 86_400_000],
    ['J02: 429 with a wait that is none', status(429, { headers: { 'retry-after': '-1' } }), 'rate limited', undefined],
    ['J03: 529', status(529), 'overloaded', undefined],
    ['J03: 503', status(503), 'overloaded', undefined],
    ['J07: 401', status(401), 'unauthorised', undefined],
    ['J07: 403', status(403), 'unauthorised', undefined],
    ['J07: 400', status(400), 'refused', undefined],
    ['J07: 402', status(402), 'no credit', undefined],
    ['a request that is too large', status(413), 'too long', undefined],
  ])('%s is refused before any work, so nothing was spent', async (_, fault, is, retryAfterMs) => {
    const came = await faultOf(kind, model, fault);
    expect(came).toEqual({
      is,
      message: like(/./),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    expect(double?.asked).toHaveLength(1);
  });

  it.each([
    ['J04: a stream cut before the call', { is: 'cut', at: 3 }, 'cut'],
    ['J04: a stream cut in the midst of the call', { is: 'cut', at: 8 }, 'cut'],
    ['J04: a stream cut after the call, just before its end', { is: 'cut', at: 99 }, 'cut'],
    ['J04: a stream that ends early as if it were done', { is: 'cut', at: 6, clean: true }, 'cut'],
    ['J06: HTML with status 200', { is: 'html' }, 'malformed'],
    ['J06: an empty answer', { is: 'empty' }, 'malformed'],
    ['J06: gzip garbage', { is: 'gzip garbage' }, 'malformed'],
    ['J06: a wrong content type', { is: 'wrong type' }, 'malformed'],
    ['J06: an event that is no JSON', { is: 'bad event', at: 3 }, 'malformed'],
    ['J06: an error event', { is: 'error event', at: 3, type: 'server_error', message: 'sorry' }, 'overloaded'],
    [
      'J06: an error event of a limit',
      { is: 'error event', at: 3, type: 'rate_limit_exceeded', message: 'no' },
      'rate limited',
    ],
  ] as const)('%s is a fault with what it may have cost, and nothing is executed', async (_, fault, is) => {
    const came = await faultOf(kind, model, fault);
    expect(came.is).toBe(is);
    const { usage: billed } = double?.asked[0]?.outcome ?? { usage: NO_USAGE };
    const spent = 'spent' in came ? came.spent : undefined;
    expect(spent?.input).toBeGreaterThanOrEqual(billed.input);
    expect(spent?.output).toBeGreaterThanOrEqual(billed.output);
    expect(spent?.output).toBeLessThanOrEqual(4096);
  });

  it('J04: a connection cut before its head is unreachable', async () => {
    expect(await faultOf(kind, model, { is: 'cut', at: 'head' })).toEqual({
      is: 'unreachable',
      message: holding('cannot reach 127.0.0.1'),
    });
  });

  it.each([301, 302, 307, 308] as const)(
    'a redirect (%i) is not followed: no word of the prompt goes elsewhere',
    async (code) => {
      const other = await openServer((response) => stream(response, [chunk({ content: 'got you' }, 'stop')]));
      const came = await faultOf(kind, model, { is: 'redirect', status: code, to: `${other.url}/v1/elsewhere` });
      await other.close();
      expect([came.is, other.heard]).toEqual(['refused', []]);
    },
  );

  it('J07: a key is in no message, though the server repeats it', async () => {
    const server = await openServer((response) =>
      refuse(response, 401, { error: { message: 'Incorrect API key provided: sk-secret-1234567890. Go away.' } }),
    );
    const caller = openaiCaller(setupFor(server.url, { ...kind, key: 'sk-secret-1234567890' }), fakeWorld());
    const came = await caller.call(requestFor({ model }), NEVER, ignore);
    await server.close();
    expect(came.ok ? came : came.fault.is).toBe('unauthorised');
    expect(JSON.stringify(came)).not.toContain('secret');
  });

  it('J05: a stream that goes silent is ended by the idle time', async () => {
    double = await openDouble({ rules: [{ answer: { ...ANSWER, fault: { is: 'silent', at: 6 } } }] });
    const world = fakeWorld();
    const heard = Promise.withResolvers<void>();
    const call = openaiCaller(setupFor(double.url, kind), world).call(requestFor({ model }), NEVER, () =>
      heard.resolve(),
    );
    await heard.promise;
    await until(() => world.sleepers() > 0);
    await world.advance(20_000);
    const came = await call;
    expect(came.ok ? came : [came.fault.is, came.fault.message, came.fault.spent !== undefined]).toEqual([
      'silent',
      holding('sent no more of its answer for 8 s'),
      true,
    ]);
    expect(world.sleepers()).toBe(0);
  });

  it('J05: a stream that only gives signs of life is ended too', async () => {
    double = await openDouble({ rules: [{ answer: { ...ANSWER, fault: { is: 'trickle', at: 6, everyMs: 15 } } }] });
    const setup = setupFor(double.url, { ...kind, firstEventMs: 1000, idleMs: 800 });
    const came = await openaiCaller(setup, realWorld).call(requestFor({ model }), NEVER, ignore);
    expect(came.ok ? came : [came.fault.is, came.fault.spent !== undefined]).toEqual(['silent', true]);
  });

  it('stops within a moment when it is aborted, and says what was spent by then', async () => {
    double = await openDouble({ rules: [{ answer: { ...ANSWER, fault: { is: 'silent', at: 6 } } }] });
    const world = fakeWorld();
    const stop = new AbortController();
    const call = openaiCaller(setupFor(double.url, kind), world).call(requestFor({ model }), stop.signal, () =>
      stop.abort(),
    );
    const came = await call;
    expect(came.ok ? came : [came.fault.is, came.fault.message, came.fault.spent !== undefined]).toEqual([
      'aborted',
      'stopped',
      true,
    ]);
    expect(world.sleepers()).toBe(0);
  });

  it('asks nothing when it was stopped before', async () => {
    double = await openDouble({ rules: [{ answer: ANSWER }] });
    const came = await openaiCaller(setupFor(double.url, kind), fakeWorld()).call(
      requestFor({ model }),
      AbortSignal.abort(),
      ignore,
    );
    expect([came, double.asked]).toEqual([{ ok: false, fault: { is: 'aborted', message: 'stopped' } }, []]);
  });

  it('says that nothing listens where nothing does', async () => {
    const server = await openServer(ignore);
    await server.close();
    const came = await openaiCaller(setupFor(server.url, kind), fakeWorld()).call(requestFor({ model }), NEVER, ignore);
    expect(came.ok ? came : came.fault).toEqual({
      is: 'unreachable',
      message: holding('connection refused'),
    });
  });
});

describe('a server that sends chunks without a word', () => {
  it('J05: does not keep the call by them', async () => {
    const server = await openServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = setInterval(() => {
        if (response.closed) clearInterval(more);
        else response.write(`data: ${JSON.stringify(chunk({ role: 'assistant', content: '' }))}\n\n`);
      }, 10);
    });
    try {
      const setup = setupFor(server.url, { ...LOCAL, firstEventMs: 1000, idleMs: 800 });
      const came = await openaiCaller(setup, realWorld).call(requestFor({ model: 'local/qwen3' }), NEVER, ignore);
      expect(came.ok || came.fault.is).toBe('silent');
    } finally {
      await server.close();
    }
  });
});

describe('the client', () => {
  it('takes nothing from the environment, prints nothing, and sends no key that is not set', async () => {
    const environment = {
      OPENAI_API_KEY: 'sk-environment',
      OPENAI_ADMIN_KEY: 'sk-admin',
      OPENAI_ORG_ID: 'org-environment',
      OPENAI_PROJECT_ID: 'proj-environment',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/',
      OPENAI_LOG: 'debug',
      OPENAI_CUSTOM_HEADERS: 'x-environment: yes',
    };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const printed = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
    const consoles = (['log', 'error', 'warn', 'info', 'debug'] as const).map((name) => vi.spyOn(console, name));
    const server = await openServer((response, _, nth) =>
      stream(response, nth === 0 ? ['{"half'] : [chunk({ content: 'x' }, 'stop')]),
    );
    const caller = openaiCaller(setupFor(server.url, { ...LOCAL, key: null }), fakeWorld());
    await caller.call(requestFor({ model: 'local/qwen3' }), NEVER, ignore);
    await caller.call(requestFor({ model: 'local/qwen3' }), NEVER, ignore);
    await server.close();
    const seen = [...printed, ...consoles].map((spy) => spy.mock.calls.length);
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    expect(seen).toEqual([0, 0, 0, 0, 0, 0, 0]);
    const all = JSON.stringify(server.heard.map(({ headers }) => headers));
    expect(all).not.toMatch(/environment|authorization|admin|openai-/i);
  });

  it('sends the key that is set', async () => {
    double = await openDouble({ rules: [{ answer: { text: 'x' } }] });
    await openaiCaller(setupFor(double.url), fakeWorld()).call(requestFor(), NEVER, ignore);
    expect(double.asked[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  });
});
