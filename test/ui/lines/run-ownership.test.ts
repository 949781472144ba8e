/** Line mode and the process of a run: gone before the end of the run, or behind it. */
import { describe, expect, it } from 'vitest';
import { fail } from '../../../src/domain/result.ts';
import { foldAll } from '../../../src/events/fold.ts';
import type { RunState } from '../../../src/events/state.ts';
import { LineCarrying } from '../../../src/ui/lines/run-ownership.ts';
import { fakeRun } from '../../support/fake-run.ts';
import { finished, midRun } from '../../support/recorded-run.ts';

const AT_WORK = foldAll(midRun().events);
const ENDED = foldAll(finished().events);

/** A process that is gone while events of its run are still to be read; what stands in them then. */
async function goneBefore(last: RunState): Promise<{ readonly said: readonly string[]; readonly lost: boolean }> {
  const said: string[] = [];
  let state = AT_WORK;
  const carrying = new LineCarrying({
    detach: () => Promise.resolve(fail({ text: 'not here' })),
    state: () => state,
    say: (...lines) => void said.push(...lines),
    refuse: (line) => void said.push(line),
    ask: () => Promise.resolve(null),
    leave: () => {},
  });
  const begun = await fakeRun().lobby.start('task');
  if (!begun.ok) throw new Error('not begun');
  const [process, events] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  carrying.follow({ ...begun.value, lost: process.promise }, events.promise);
  process.resolve('its process has ended');
  await process.promise;
  expect(said).toEqual([]);
  state = last;
  events.resolve();
  await new Promise((resolve) => void setImmediate(resolve));
  return { said, lost: carrying.isLost };
}

describe('a run of another process', () => {
  it('was not lost when its end was only still to be read', async () => {
    expect(await goneBefore(ENDED)).toEqual({ said: [], lost: false });
  });

  it('was lost when it never told of its end', async () => {
    expect(await goneBefore(AT_WORK)).toEqual({
      said: [
        'The run stands still: its process has ended',
        'Nothing that it recorded is lost. here goes on with it in this process, quit leaves.',
      ],
      lost: true,
    });
  });
});
