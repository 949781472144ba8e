import { describe, expect, it } from 'vitest';
import { fakeWorld } from './world.ts';

describe('a world that stands still', () => {
  it('moves both clocks by what it is told, and no further', async () => {
    const world = fakeWorld({ start: 1000 });
    await world.advance(250);
    expect([world.now(), world.elapsed(), world.now()]).toEqual([1250, 250, 1250]);
  });

  it('wakes sleepers in the order of their times, each at its own', async () => {
    const world = fakeWorld();
    const woken: [string, number][] = [];
    const sleeper = async (name: string, ms: number): Promise<void> => {
      await world.sleep(ms);
      woken.push([name, world.elapsed()]);
    };
    const all = [sleeper('late', 300), sleeper('early', 100), sleeper('never now', 500)];
    expect([world.sleepers(), world.nextWake()]).toEqual([3, 100]);
    await world.advance(400);
    expect(woken).toEqual([
      ['early', 100],
      ['late', 300],
    ]);
    await world.advance(100);
    await Promise.all(all);
    expect([world.sleepers(), world.nextWake()]).toEqual([0, null]);
  });

  it('lets one that was woken sleep again within the same advance', async () => {
    const world = fakeWorld();
    let beats = 0;
    const heart = async (): Promise<void> => {
      for (; beats < 10; beats += 1) await world.sleep(100);
    };
    const beating = heart();
    await world.advance(550);
    expect(beats).toBe(5);
    await world.advance(1000);
    await beating;
  });

  it('wakes whoever is aborted', async () => {
    const world = fakeWorld();
    const stop = new AbortController();
    const sleeping = world.sleep(100, stop.signal);
    stop.abort();
    await sleeping;
    await world.sleep(100, AbortSignal.abort());
    expect(world.sleepers()).toBe(0);
  });

  it('counts names', () => {
    const world = fakeWorld();
    expect([world.name(6), world.name(6)]).toEqual(['id-1', 'id-2']);
  });
});
