/** The latch that holds calls back while a run is handed over. */
import { describe, expect, it } from 'vitest';
import { openDrainLatch } from '../../../src/engine/gate/drain-latch.ts';
import { settled } from '../../support/schedule-by-hand.ts';

const never = new AbortController().signal;

/** Whether a promise is resolved, after everything that is due has run. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await settled();
  return done;
}

describe('a drain latch', () => {
  it('lets calls begin until it is closed, and again when it is opened', async () => {
    const latch = openDrainLatch();
    expect(latch.wait(never)).toBeNull();
    latch.close();
    const waiting = latch.wait(never);
    if (waiting === null) throw new Error('a closed latch holds calls back');
    expect(await isDone(waiting)).toBe(false);
    latch.open();
    expect(await isDone(waiting)).toBe(true);
    expect(latch.wait(never)).toBeNull();
  });

  it('holds back nobody who was stopped, before or while it waits', async () => {
    const latch = openDrainLatch();
    latch.close();
    expect(latch.wait(AbortSignal.abort())).toBeNull();
    const stop = new AbortController();
    const waiting = latch.wait(stop.signal);
    if (waiting === null) throw new Error('a closed latch holds calls back');
    stop.abort();
    expect(await isDone(waiting)).toBe(true);
  });

  it('is quiet when no call is in flight any more, and lists those that are', async () => {
    const latch = openDrainLatch();
    const [end, endOther] = [latch.begin('bash'), latch.begin('bash')];
    latch.close();
    const quiet = latch.quiet();
    expect([latch.running(), await isDone(quiet)]).toEqual([['bash', 'bash'], false]);
    end();
    expect([latch.running(), await isDone(quiet)]).toEqual([['bash'], false]);
    endOther();
    expect([latch.running(), await isDone(quiet)]).toEqual([[], true]);
  });

  it('is waited for no longer when it was opened again', async () => {
    const latch = openDrainLatch();
    latch.begin('bash');
    latch.close();
    latch.close();
    const quiet = latch.quiet();
    expect(await isDone(quiet)).toBe(false);
    latch.open();
    expect(await isDone(quiet)).toBe(true);
    expect(await isDone(latch.quiet())).toBe(true);
  });

  it('counts a call that directly follows another as in flight', async () => {
    const latch = openDrainLatch();
    const end = latch.begin('a plan');
    latch.close();
    const quiet = latch.quiet();
    await settled();
    end();
    for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
    const endNext = latch.begin('its report');
    expect(await isDone(quiet)).toBe(false);
    endNext();
    expect(await isDone(quiet)).toBe(true);
  });
});
