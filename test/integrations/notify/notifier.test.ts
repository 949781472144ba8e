/** What a webhook and ntfy receive of a run. */
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Notice, openNotifier, type Target } from '../../../src/integrations/index.ts';
import { isWithin, signatureOf } from '../../../src/integrations/notify/notifier.ts';
import type { World } from '../../../src/ports/world.ts';
import { until } from '../../support/until.ts';

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Service {
  readonly url: string;
  readonly received: Received[];
}

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that answers with these statuses, the last one again and again. */
async function service(...statuses: readonly (number | ((body: string) => number))[]): Promise<Service> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const status = statuses[received.length] ?? statuses.at(-1) ?? 200;
      response.writeHead(typeof status === 'number' ? status : status(body), { location: '/elsewhere' }).end();
      received.push({ path: request.url ?? '', headers: request.headers, body });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closers.push(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}`, received };
}

/** A world whose waits end at once, but not the one for the last deliveries. */
const world: World = {
  now: () => new Date(2026, 10, 27, 12, 0).getTime(),
  elapsed: () => 0,
  name: () => '',
  sleep: (_, signal) => (signal === undefined ? new Promise<void>(() => undefined) : Promise.resolve()),
};

const notice = (is: Notice['is'], text: string): Notice => ({
  is,
  session: 's1',
  project: 'ledger',
  agent: ['main', 'code'],
  role: 'code',
  text,
  cost: 0.5,
  time: '2026-11-27T12:00:00.000Z',
});

const OF = { project: 'ledger', answer: () => Promise.resolve('') };

async function sent(target: Target, notices: readonly Notice[], quietHours?: string): Promise<readonly string[]> {
  const problems: string[] = [];
  const failed = (text: string): number => problems.push(text);
  const notifier = openNotifier({ ...OF, targets: [target], world, quietHours, failed });
  for (const one of notices) notifier.notify(one);
  await notifier.close();
  return problems;
}

const ASKS = notice('asks', 'code asks: may I run npm test?');
const ENDED = notice('ended', 'the run is done with 2 agents');

describe('a webhook', () => {
  it('gets what happened within two seconds in one request, signed with its key', async () => {
    const { url, received } = await service(200);
    expect(await sent({ is: 'webhook', url: `${url}/hook`, secret: 'k3y' }, [ASKS, ENDED])).toEqual([]);
    const [only, ...others] = received;
    expect([others, only?.path, JSON.parse(only?.body ?? '')]).toEqual([[], '/hook', { notices: [ASKS, ENDED] }]);
    expect(only?.headers['x-mimir-signature']).toBe(`sha256=${signatureOf(only?.body ?? '', 'k3y')}`);
  });

  it('gets only the events that were chosen, and nothing in quiet hours', async () => {
    const { url, received } = await service(200);
    const target: Target = { is: 'webhook', url: `${url}/`, secret: null, events: ['ended'] };
    await sent(target, [ASKS]);
    await sent({ is: 'webhook', url: `${url}/`, secret: null }, [ASKS], '11:00-13:00');
    expect(received).toEqual([]);
    await sent(target, [ASKS, ENDED]);
    expect(received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([{ notices: [ENDED] }]);
    expect(received[0]?.headers['x-mimir-signature']).toBeUndefined();
  });

  it('is tried again while it is overloaded, and never after it has refused', async () => {
    const busy = await service(503, 429, 200);
    expect(await sent({ is: 'webhook', url: `${busy.url}/`, secret: null }, [ASKS])).toEqual([]);
    expect(busy.received.length).toBe(3);
    const refusing = await service(404);
    expect(await sent({ is: 'webhook', url: `${refusing.url}/`, secret: null }, [ASKS])).toEqual([
      'the webhook notification was not delivered: status 404',
    ]);
    expect(refusing.received.length).toBe(1);
  });

  it('is tried again until it is there, after an hour as well; what happens meanwhile comes with it, and it is said once', async () => {
    const { url, received } = await service((body) => (body.includes(ENDED.text) ? 200 : 503));
    const problems: string[] = [];
    const target: Target = { is: 'webhook', url: `${url}/`, secret: null };
    const notifier = openNotifier({ ...OF, targets: [target], world, failed: (text) => problems.push(text) });
    notifier.notify(ASKS);
    await until(() => received.length >= 70);
    notifier.notify(ENDED);
    await notifier.close();
    expect(JSON.parse(received.at(-1)?.body ?? '')).toEqual({ notices: [ASKS, ENDED] });
    expect(problems).toEqual(['webhook cannot be reached, and is tried again until the run ends: status 503']);
  });

  it('does not get what was answered while it could not be reached', async () => {
    const { url, received } = await service((body) => (body.includes(ENDED.text) ? 200 : 503));
    const target: Target = { is: 'webhook', url: `${url}/`, secret: null };
    const notifier = openNotifier({ ...OF, targets: [target], world, failed: () => undefined });
    notifier.notify(ASKS);
    await until(() => received.length >= 1);
    notifier.withdraw(({ is }) => is === 'asks');
    notifier.notify(ENDED);
    await notifier.close();
    expect(JSON.parse(received.at(-1)?.body ?? '')).toEqual({ notices: [ENDED] });
  });

  it('is sent nowhere else by a redirect', async () => {
    const moved = await service(302);
    expect(await sent({ is: 'webhook', url: `${moved.url}/`, secret: null }, [ASKS])).toEqual([
      'the webhook notification was not delivered: status 302',
    ]);
    expect(moved.received.map(({ path }) => path)).toEqual(['/']);
  });
});

describe('ntfy', () => {
  it('gets the texts below the name of the project, urgent where someone is asked', async () => {
    const { url, received } = await service(200);
    const target: Target = { is: 'ntfy', url: `${url}/my-topic`, secret: 'tk_1' };
    await sent(target, [ASKS, ENDED]);
    await sent(target, [ENDED]);
    expect(received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { topic: 'my-topic', title: 'Mimir: ledger', message: `${ASKS.text}\n${ENDED.text}`, priority: 4 },
      { topic: 'my-topic', title: 'Mimir: ledger', message: ENDED.text, priority: 3 },
    ]);
    expect([received[0]?.path, received[0]?.headers['authorization']]).toEqual(['/', 'Bearer tk_1']);
  });
});

it.each([
  ['22:00-07:00', 23, true],
  ['22:00-07:00', 6, true],
  ['22:00-07:00', 7, false],
  ['09:00-17:00', 12, true],
  ['09:00-17:00', 17, false],
])('the hours %s at %d o’clock: %s', (hours, hour, expected) => {
  expect(isWithin(hours, new Date(2026, 10, 27, hour, 0))).toBe(expected);
});
