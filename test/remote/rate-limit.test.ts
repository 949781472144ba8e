/** What an agent that never stops asking may take of the process that carries its run. */
import { describe, expect, it } from 'vitest';
import { openPace } from '../../src/remote/client-connection.ts';
import { ok } from '../../src/domain/result.ts';
import { FINDER, knockedRun } from '../support/control-run.ts';
import { agentSocketOf, HELLO, raw, reached, served } from '../support/knocking.ts';
import { until } from '../support/until.ts';
import { fakeWorld } from '../support/world.ts';

const EVENTS = (id: number): object => ({ id, ask: 'events', agent: null, after: 0 });

/** So many questions of `each` milliseconds, as fast as they may come; how long they take in all. */
async function asked(questions: number, each: number): Promise<number> {
  const world = fakeWorld();
  const pace = openPace(world);
  let done = 0;
  const all = Promise.all(
    Array.from({ length: questions }, async () => {
      await pace.turn();
      await world.advance(each);
      pace.spent(each);
      done += 1;
    }),
  );
  while (done < questions) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const next = world.nextWake();
    if (next !== null) await world.advance(next);
  }
  await all;
  return world.elapsed();
}

describe('the questions of one agent', () => {
  it('are answered at once while they are few: two hundred spawns wait for nothing', async () => {
    expect(await asked(200, 2)).toBe(400);
  });

  it('take a fifth of the time at most when they never end', async () => {
    const took = await asked(500, 20);
    // Ten seconds of work: one and a half of them at once, the rest in five times its time.
    expect(took).toBeGreaterThan(42_000);
    expect(took).toBeLessThan(48_000);
  });

  it('E08: keep one list of events in memory at a time, however many are asked for and not read', async () => {
    const knocked = knockedRun();
    const long = 'x'.repeat(10_000);
    for (let n = 0; n < 200; n += 1) knocked.record({ type: 'agent.told', agent: FINDER, text: long, messages: [] });
    let read = 0;
    const events: typeof knocked.given.events = (asker) => {
      if (asker !== null) read += 1;
      return ok(knocked.stored);
    };
    const { where, control } = await served({ ...knocked, given: { ...knocked.given, events } });
    const door = await agentSocketOf(control);
    const questions = Array.from({ length: 20 }, (_, id) => `${JSON.stringify(EVENTS(id))}\n`).join('');
    const clients = await Promise.all(Array.from({ length: 8 }, () => raw(door)));
    for (const { socket } of clients) socket.pause().write(`${HELLO}${questions}`);
    const person = await reached(where);
    for (let turn = 0; turn < 200 || read === 0; turn += 1) await person.poke();
    expect(read).toBe(1);
    // Whoever goes, or reads, makes room for the next one.
    const [first] = clients;
    first?.socket.destroy();
    for (const { socket } of clients) socket.resume();
    await until(() => read > 7 * 20);
  });

  it('E08: are written into the log at a bounded rate, refused or not', async () => {
    const knocked = knockedRun();
    const { control } = await served(knocked);
    const client = await raw(await agentSocketOf(control));
    const kill = { ask: 'submit', command: { do: 'kill', agent: 'ROOT::S9' } };
    const began = performance.now();
    client.socket.write(
      HELLO + Array.from({ length: 360 }, (_, id) => `${JSON.stringify({ id, ...kill })}\n`).join(''),
    );
    await until(() => knocked.submitted.length === 360);
    // Some three hundred at once, then forty a second.
    expect(performance.now() - began).toBeGreaterThan(1000);
  });

  it('E08: hold up nobody else: between two answers to the person there are a few of them', async () => {
    const knocked = knockedRun();
    let answered = 0;
    const family: typeof knocked.given.family = (asker) => {
      if (asker !== null) {
        answered += 1;
        for (const end = performance.now() + 5; performance.now() < end; );
      }
      return knocked.given.family(asker);
    };
    const { where, control } = await served({ ...knocked, given: { ...knocked.given, family } });
    const door = await agentSocketOf(control);
    const questions = Array.from({ length: 100 }, (_, id) => `${JSON.stringify({ id, ask: 'family' })}\n`).join('');
    for (let client = 0; client < 8; client += 1) (await raw(door)).socket.write(`${HELLO}${questions}`);
    const person = await reached(where);
    const between: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const before = answered;
      await person.poke();
      between.push(answered - before);
    }
    expect(Math.max(...between)).toBeLessThan(8);
    expect(answered).toBeLessThan(800);
  });
});
