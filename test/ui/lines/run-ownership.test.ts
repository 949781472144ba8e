/** Line mode and the process of a run: gone before the end of the run, or after it. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import type { MimirEvent } from '../../../src/events/event.ts';
import { LineRun } from '../../../src/ui/lines/run.ts';
import { fakeRun } from '../../support/fake-run.ts';
import { finished, midRun } from '../../support/recorded-run.ts';

/** The losses that are reported when a process is gone while events of its run are still to be read. */
async function lossesOf(events: readonly MimirEvent[]): Promise<readonly string[]> {
  const begun = await fakeRun().projectService.start('task');
  if (!begun.ok) throw new Error('not begun');
  const [process, rest] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const print = { say: () => {}, paint: new Chalk({ level: 0 }), now: () => 0, verbosity: () => 'quiet' as const };
  const losses: string[] = [];
  async function* late(): AsyncGenerator<MimirEvent> {
    await rest.promise;
    yield* events;
  }
  const controls = { ...begun.value, lost: process.promise, events: late };
  const run = new LineRun(controls, print, { lost: (why) => void losses.push(why) });
  process.resolve('its process has ended');
  await process.promise;
  expect(losses).toEqual([]);
  rest.resolve();
  await run.ended;
  await new Promise((resolve) => void setImmediate(resolve));
  return losses;
}

describe('a run of another process', () => {
  it('was not lost when its end was only still to be read', async () => {
    expect(await lossesOf(finished().events)).toEqual([]);
  });

  it('was lost when it never told of its end', async () => {
    expect(await lossesOf(midRun().events)).toEqual(['its process has ended']);
  });
});
