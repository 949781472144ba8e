import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSlots } from '../../../src/engine/agents/slots.ts';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('slots', () => {
  it('go to those who wait in their order; a newcomer is never quicker (O06)', async () => {
    const slots = openSlots(1);
    const { signal } = new AbortController();
    const order: string[] = [];
    const give = await slots.take(signal);
    const waiting = ['first', 'second'].map(async (name) => {
      const back = await slots.take(signal);
      order.push(name);
      back();
    });
    give();
    const late = slots.take(signal).then((back) => {
      order.push('late');
      back();
    });
    await Promise.all([...waiting, late]);
    expect(order).toEqual(['first', 'second', 'late']);
  });

  it('are not taken by what was stopped before, and leave no listener behind', async () => {
    const slots = openSlots(1);
    const { signal } = new AbortController();
    const stopped = AbortSignal.abort();
    await slots.take(stopped);
    const give = await Promise.race([slots.take(signal), settled().then(() => null)]);
    expect(give).not.toBeNull();
    expect(await Promise.race([slots.take(stopped).then(() => 'at once'), settled()])).toBe('at once');
    const next = slots.take(signal);
    give?.();
    await next;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('are never lost nor doubled, whoever leaves the queue or gives back twice', async () => {
    const step = fc.constantFrom('take', 'leave', 'give', 'give twice');
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 40 }),
      async (count, steps) => {
        const slots = openSlots(count);
        const holders: (() => void)[] = [];
        const queue: AbortController[] = [];
        let most = 0;
        for (const what of steps) {
          if (what === 'take') {
            const control = new AbortController();
            queue.push(control);
            void slots.take(control.signal).then((back) => {
              queue.splice(queue.indexOf(control), 1);
              if (!control.signal.aborted) holders.push(back);
              return holders;
            });
          }
          if (what === 'leave') queue.at(-1)?.abort();
          if (what.startsWith('give')) {
            const back = holders.shift();
            back?.();
            if (what === 'give twice') back?.();
          }
          await settled();
          most = Math.max(most, holders.length);
        }
        expect(most).toBeLessThanOrEqual(count);
        // Nobody waits while a slot is free.
        expect(queue.length === 0 || holders.length === count).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });
});
