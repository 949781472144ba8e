import { describe, expect, it } from 'vitest';
import { watchStream } from '../../../src/models/http/transport.ts';
import { fakeWorld } from '../../support/world.ts';

const NEVER = new Promise<never>(() => undefined);
const times = { firstEventMs: 300, idleMs: 80 };

function watched() {
  const world = fakeWorld();
  const outside = new AbortController();
  return { world, outside, watch: watchStream(times, world, outside.signal) };
}

describe('the watch over a streaming call', () => {
  it('J05: ends a call that has no first word in time, and says so', async () => {
    const { world, watch } = watched();
    const call = watch.unlessStopped(NEVER);
    await world.advance(299);
    expect([watch.why(), watch.signal.aborted]).toEqual([null, false]);
    expect(watch.begun()).toBe(false);
    await world.advance(1);
    expect([watch.why(), watch.signal.aborted, await call]).toEqual(['silent', true, { ok: false, fault: 'silent' }]);
    expect(world.sleepers()).toBe(0);
  });

  it('J05: ends a stream that goes silent between two events, never early and an eighth late at most', async () => {
    const { world, watch } = watched();
    await world.advance(250);
    for (let event = 0; event < 20; event += 1) {
      watch.beat();
      watch.said();
      await world.advance(79);
      expect(watch.why()).toBeNull();
    }
    watch.said();
    await world.advance(79);
    expect(watch.why()).toBeNull();
    await world.advance(11);
    expect(watch.why()).toBe('silent');
  });

  it('J05: takes no sign of life for a word, neither before the first nor between two', async () => {
    for (const [said, after] of [
      [false, 300],
      [true, 80],
    ] as const) {
      const { world, watch } = watched();
      if (said) watch.said();
      for (let ping = 0; ping < after / 10 - 1; ping += 1) {
        await world.advance(10);
        watch.beat();
      }
      expect(watch.why()).toBeNull();
      await world.advance(20);
      expect([watch.why(), watch.begun(), world.sleepers()]).toEqual(['silent', said, 0]);
    }
  });

  it('J05: ends a stream in which nothing at all comes for longer than pings take, words or not', async () => {
    const world = fakeWorld();
    const watch = watchStream({ ...times, pingMs: 40 }, world, new AbortController().signal);
    await world.advance(100);
    watch.beat();
    await world.advance(39);
    watch.beat();
    await world.advance(39);
    expect(watch.why()).toBeNull();
    await world.advance(10);
    expect([watch.why(), watch.begun(), world.sleepers()]).toEqual(['silent', false, 0]);
  });

  it('J05: takes words that come now and then between signs of life for a stream that goes on', async () => {
    const { world, watch } = watched();
    for (let ping = 0; ping < 100; ping += 1) {
      watch.beat();
      if (ping % 3 === 0) watch.said();
      await world.advance(20);
    }
    expect(watch.why()).toBeNull();
    watch.end();
  });

  it('gives the call up as soon as it is aborted, though the request never settles', async () => {
    const { world, outside, watch } = watched();
    const call = watch.unlessStopped(NEVER);
    watch.beat();
    outside.abort('enough');
    expect(await call).toEqual({ ok: false, fault: 'aborted' });
    expect([watch.why(), watch.signal.aborted]).toEqual(['aborted', true]);
    await world.advance(1000);
    expect([watch.why(), world.sleepers()]).toEqual(['aborted', 0]);
  });

  it('is stopped from the start when it begins too late', async () => {
    const world = fakeWorld();
    const watch = watchStream(times, world, AbortSignal.abort());
    expect([watch.why(), watch.signal.aborted, world.sleepers()]).toEqual(['aborted', true, 0]);
    expect(await watch.unlessStopped(NEVER)).toEqual({ ok: false, fault: 'aborted' });
  });

  it('gives what the work gives, passes on what it throws, and leaves nothing behind', async () => {
    const { world, outside, watch } = watched();
    expect(await watch.unlessStopped(Promise.resolve(7))).toEqual({ ok: true, value: 7 });
    await expect(watch.unlessStopped(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    watch.beat();
    watch.end();
    await world.advance(10_000);
    outside.abort();
    expect([watch.why(), watch.signal.aborted, world.sleepers()]).toEqual([null, true, 0]);
  });

  it('costs one sleep at a time, however many events come', async () => {
    const { world, watch } = watched();
    for (let event = 0; event < 5000; event += 1) watch.beat();
    await world.advance(40);
    expect(world.sleepers()).toBe(1);
    watch.end();
  });
});
