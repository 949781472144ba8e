/** Clients that read slowly, or not at all. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MimirEvent } from '../../src/events/event.ts';
import { ROOT } from '../../src/domain/ids.ts';
import { ok } from '../../src/domain/result.ts';
import { FINDER, FINISHED, message, said } from '../support/control-run.ts';
import { HELLO, pathOf, raw, reached, served } from '../support/knocking.ts';
import { settled } from '../support/fake-run.ts';
import { until } from '../support/until.ts';
import { fakeWorld } from '../support/world.ts';

const LONG = 'x'.repeat(100_000);
const FOLLOW = '{"id":1,"ask":"follow","after":0}\n';

describe('a client that does not read', () => {
  it('holds nobody up, costs no memory, and gets every event when it reads', async () => {
    const world = fakeWorld();
    const { run, where } = await served(undefined, world);
    const client = await raw(pathOf(where));
    client.socket.pause();
    client.socket.write(HELLO + FOLLOW);
    await until(() => run.watched().events === 1);
    for (let at = 0; at < 200; at += 1) run.record(said(`${at} ${LONG}`));
    // Twenty megabytes are there, the socket took what it takes, and then its source is let go of. (The other one looks after the socket.)
    await until(() => world.sleepers() === 2);
    await world.advance(5000);
    await until(() => run.watched().events === 0);
    const screen = await reached(where);
    expect(await screen.controls.submit(message('still there?'))).toEqual(ok({ text: 'done: message' }));
    run.record(FINISHED);
    client.socket.resume();
    const [, ...heard] = await hearing(client, 202);
    expect(heard).toEqual([...run.stored.map((event) => ({ id: 1, event })), { id: 1, value: null }]);
  });

  it('is asked nothing more until it has read what it asked for', async () => {
    const { run, where } = await served();
    for (let at = 0; at < 20; at += 1) run.record(said(LONG));
    const client = await raw(pathOf(where));
    client.socket.pause();
    const asks = Array.from({ length: 50 }, (_, at) => `{"id":${at + 1},"ask":"events","agent":null,"after":0}\n`);
    const poke = '{"id":100,"ask":"poke"}\n';
    client.socket.write(`${HELLO}${asks.join('')}${poke}`);
    await (await reached(where)).family();
    await settled();
    expect(run.pokes()).toBe(0);
    client.socket.resume();
    await until(() => run.pokes() === 1);
  });

  it('hears the end of what streamed past: the rest is in the events', async () => {
    const { run, where } = await served();
    const client = await raw(pathOf(where));
    client.socket.pause();
    client.socket.write(`${HELLO}{"id":1,"ask":"ticks","on":true}\n`);
    await until(() => run.watched().ticks === 1);
    for (let at = 0; at < 400; at += 1) {
      run.tick({ agent: FINDER, is: 'text', delta: 'x'.repeat(10_000) });
      run.tick({ agent: ROOT, is: 'output', delta: 'y'.repeat(100) });
      if (at % 50 === 0) await settled();
    }
    client.socket.resume();
    const heard: unknown[] = [];
    // Once it reads again, what streams then comes.
    const again = setInterval(() => run.tick({ agent: FINDER, is: 'text', delta: 'the end' }), 5);
    onTestFinished(() => clearInterval(again));
    while (!JSON.stringify(heard.at(-1) ?? '').includes('the end')) heard.push(await client.next());
    expect(JSON.stringify(heard).length).toBeLessThan(1_000_000);
  });

  it('who reads slowly, not never, is given all in order', async () => {
    const { run, where } = await served();
    const screen = await reached(where);
    for (let at = 0; at < 300; at += 1) run.record(said(`${at} ${'z'.repeat(20_000)}`));
    run.record(FINISHED);
    const seen: MimirEvent[] = [];
    for await (const event of screen.controls.events(0)) {
      seen.push(event);
      if (event.seq % 50 === 0) await settled();
    }
    expect(seen).toEqual(run.stored);
  });
});

async function hearing(client: Awaited<ReturnType<typeof raw>>, count: number): Promise<readonly unknown[]> {
  const heard: unknown[] = [];
  while (heard.length <= count) heard.push(await client.next());
  return heard;
}
