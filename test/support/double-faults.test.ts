/** Every fault of the double (group J of the attack catalogue) as the vendors' own clients see it, and what it bills. */
import { EventEmitter, once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { anthropicOn, messageOf, openaiOn } from './double/clients.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import { at } from './double/json.ts';
import type { WireFault } from './double/script.ts';
import { until } from './until.ts';

let double: Double;
afterEach(() => double.close());

type Wire = 'messages' | 'chat' | 'responses';
const WIRES: readonly Wire[] = ['messages', 'chat', 'responses'];

/** Says when a test has its double. */
const opened = new EventEmitter();

/** Streams one reply of a text and a call, broken by `fault`. `onEvent` is called at each event. */
async function stream(wire: Wire, fault: WireFault, signal: AbortSignal, onEvent: () => void): Promise<void> {
  double = await openDouble(() => ({
    text: 'Twelve chars, and then some more words.',
    calls: [{ tool: 'read_file', input: { path: 'a' } }],
    fault,
  }));
  opened.emit('double');
  const messages = [{ role: 'user' as const, content: 'Go' }];
  const ask = {
    messages: () =>
      anthropicOn(double).messages.create({ model: 'm', max_tokens: 100, messages, stream: true }, { signal }),
    chat: () => openaiOn(double).chat.completions.create({ model: 'm', messages, stream: true }, { signal }),
    responses: () => openaiOn(double).responses.create({ model: 'm', input: 'Go', stream: true }, { signal }),
  }[wire];
  for await (const _event of await ask()) onEvent();
}

/** How many events came, and what was thrown: nothing (`whole`), an error of the client with its status, or another's message. */
async function seen(wire: Wire, fault: WireFault): Promise<readonly [events: number, thrown: string]> {
  let events = 0;
  try {
    await stream(wire, fault, new AbortController().signal, () => void (events += 1));
    return [events, 'whole'];
  } catch (error) {
    const status = at(error, 'status');
    const name = error instanceof Error ? error.constructor.name : '';
    return [events, typeof status === 'number' ? `${name} ${status}` : `${name}: ${messageOf(error)}`];
  }
}

const seenOnAll = async (fault: WireFault) => {
  const all: (readonly [number, string])[] = [];
  for (const wire of WIRES) {
    all.push(await seen(wire, fault));
    if (wire !== 'responses') await double.close();
  }
  return all;
};

const NONE = { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

describe('a fault of the double', () => {
  const statuses = [
    [400, 'BadRequestError', 'BadRequestError'],
    [401, 'AuthenticationError', 'AuthenticationError'],
    [402, 'PaymentRequiredError', 'APIError'],
    [403, 'PermissionDeniedError', 'PermissionDeniedError'],
    [404, 'NotFoundError', 'NotFoundError'],
    [429, 'RateLimitError', 'RateLimitError'],
    [500, 'InternalServerError', 'InternalServerError'],
    [503, 'ServiceUnavailableError', 'InternalServerError'],
    [529, 'OverloadedError', 'InternalServerError'],
  ] as const;

  it.each(statuses)(
    'is a status %i, with its body, and bills nothing (J01, J03, J07)',
    async (status, anthropic, openai) => {
      expect(await seenOnAll({ is: 'status', status })).toEqual([
        [0, `${anthropic} ${status}`],
        [0, `${openai} ${status}`],
        [0, `${openai} ${status}`],
      ]);
      expect(double.bill()).toEqual({ answered: NONE, byModel: {}, broken: NONE, refused: 1, waiting: 0 });
    },
  );

  it.each(['2', '86400', '-1', 'abc', 'Wed, 21 Oct 2015 07:28:00 GMT'])(
    'says any retry-after, %s too (J02)',
    async (after) => {
      double = await openDouble(() => ({ fault: { is: 'status', status: 429, headers: { 'retry-after': after } } }));
      const response = await fetch(`${double.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'Go' }] }),
      });
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, after]);
    },
  );

  it('cuts before the head (J04)', async () => {
    const lost = [0, 'APIConnectionError: Connection error.'];
    expect(await seenOnAll({ is: 'cut', at: 'head' })).toEqual([lost, lost, lost]);
    expect(double.bill().broken).toEqual({ ...NONE, calls: 1 });
  });

  it('cuts in the midst, and bills what it had sent (J04)', async () => {
    const cut = 'TypeError: terminated';
    // The client keeps the ping to itself.
    expect(await seenOnAll({ is: 'cut', at: 5 })).toEqual([
      [4, cut],
      [5, cut],
      [5, cut],
    ]);
    expect(double.bill().broken).toEqual({ ...NONE, calls: 1, input: 8, output: 3 });
  });

  it('ends cleanly before its time, at the latest before it says that it ends (J04)', async () => {
    expect(await seenOnAll({ is: 'cut', at: 3, clean: true })).toEqual([
      [2, 'whole'],
      [3, 'whole'],
      [3, 'whole'],
    ]);
    await double.close();
    expect(await seenOnAll({ is: 'cut', at: 1000, clean: true })).toEqual([
      [11, 'whole'],
      [7, 'whole'],
      [15, 'whole'],
    ]);
    expect(double.bill()).toMatchObject({ answered: NONE, broken: { calls: 1 } });
  });

  it.each(WIRES)('falls silent after some events, until the client leaves: %s (J05)', async (wire) => {
    const gone = new AbortController();
    let events = 0;
    // Aborting ends a stream without an error.
    await stream(wire, { is: 'silent', at: 3 }, gone.signal, () => {
      events += 1;
      if (events === (wire === 'messages' ? 2 : 3)) gone.abort();
    });
    await until(() => double.bill().waiting === 0);
    expect(double.bill().broken.calls).toBe(1);
  });

  it.each(WIRES)('falls silent before the head: %s (J05)', async (wire) => {
    const gone = new AbortController();
    const asking = stream(wire, { is: 'silent', at: 'head' }, gone.signal, () => undefined).catch(messageOf);
    await once(opened, 'double');
    await until(() => double.asked.length === 1);
    gone.abort();
    expect(await asking).toBe('Request was aborted.');
    await until(() => double.bill().waiting === 0);
    expect(double.bill().broken).toEqual({ ...NONE, calls: 1 });
  });

  it('only shows that it lives', async () => {
    double = await openDouble(() => ({ text: 'Hi.', fault: { is: 'trickle', at: 1, everyMs: 1 } }));
    const gone = new AbortController();
    const response = await fetch(`${double.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Go' }], stream: true }),
      signal: gone.signal,
    });
    let text = '';
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString();
      if (text.split('event: ping').length > 3) break;
    }
    gone.abort();
    expect(text.replaceAll('event: ping\ndata: {"type":"ping"}\n\n', '')).toMatch(/^event: message_start\n.*\n\n$/);
  });

  it('reports an error in the midst of a stream (J06)', async () => {
    const overloaded = { is: 'error event', at: 3, type: 'overloaded_error', message: 'Overloaded' } as const;
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(await seenOnAll(overloaded)).toEqual([
      [2, `APIError: ${JSON.stringify({ ...body, request_id: 'req_000000000000000000000001' })}`],
      [3, 'APIError: Overloaded'],
      // `response.failed` is an event like any other to the client.
      [4, 'whole'],
    ]);
    await double.close();
    expect(await seen('responses', { ...overloaded, type: 'error' })).toEqual([3, 'APIError: Overloaded']);
  });

  it('sends an event that is no JSON (J06)', async () => {
    expect(await seenOnAll({ is: 'bad event', at: 3 })).toEqual([
      [2, 'SyntaxError: Unterminated string in JSON at position 20 (line 1 column 21)'],
      [3, 'SyntaxError: Error reading response: malformed server-sent event JSON.'],
      [3, 'SyntaxError: Error reading response: malformed server-sent event JSON.'],
    ]);
    expect(double.bill()).toMatchObject({ answered: NONE, broken: { calls: 1 } });
  });

  it('sends something else: a page, nothing, what claims to be packed, a type that is not a stream (J06)', async () => {
    const nothing = [0, 'whole'];
    expect(await seenOnAll({ is: 'html' })).toEqual([nothing, nothing, nothing]);
    await double.close();
    expect(await seenOnAll({ is: 'empty' })).toEqual([nothing, nothing, nothing]);
    await double.close();
    const garbled = [0, 'TypeError: terminated'];
    expect(await seenOnAll({ is: 'gzip garbage' })).toEqual([garbled, garbled, garbled]);
    await double.close();
    expect((await seenOnAll({ is: 'wrong type' })).map(([, thrown]) => thrown)).toEqual(['whole', 'whole', 'whole']);
    expect(double.bill()).toMatchObject({ answered: NONE, broken: { calls: 1 } });
  });

  it('makes a call whose arguments are no JSON, in a reply that is whole', async () => {
    double = await openDouble(() => ({
      calls: [{ tool: 'read_file', input: {} }],
      fault: { is: 'bad arguments', arguments: '{"path": ' },
    }));
    const { choices } = await openaiOn(double).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'Go' }],
    });
    expect(choices).toMatchObject([
      { finish_reason: 'tool_calls', message: { tool_calls: [{ function: { arguments: '{"path": ' } }] } },
    ]);
    expect(double.bill().answered.calls).toBe(1);
  });

  it('sends the client elsewhere', async () => {
    const elsewhere = await openDouble({ rules: [] });
    expect(await seen('chat', { is: 'redirect', status: 307, to: `${elsewhere.url}/other` })).toEqual([
      0,
      'NotFoundError 404',
    ]);
    expect(elsewhere.asked.map(({ path }) => path)).toEqual(['/other']);
    await elsewhere.close();
  });
});
