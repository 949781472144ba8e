/** What screens say of a command that has made a child (protocol: text): the child, as of a call of Task, and nothing of the command. */
import { describe, expect, it } from 'vitest';
import { foldAll } from '../../../../src/events/fold.ts';
import { operationsInFlight } from '../../../../src/app/views/agent-counts.ts';
import { childOf } from '../../../../src/events/queries.ts';
import { AGENT } from '../../../support/run.ts';
import { ends, runs, saying, spawns, wordRun } from '../../../support/words.ts';

const S1 = AGENT('ROOT::S1');
const CHILD = AGENT('ROOT::S1::S1');

describe('a command that waits for its child', () => {
  it('is known as the call that made it, and is nothing that a hand-over waits for', async () => {
    const run = wordRun({
      script: saying({ [S1]: [spawns('Look into src', 'Ada'), ends('done')], [CHILD]: [runs('ls'), ends('found it')] }),
    });
    await run.result;
    const events = run.events();
    const seen: string[][] = [];
    for (const length of events.keys()) {
      const state = foldAll(events.slice(0, length));
      const parent = state.agents.get(S1);
      const open = parent?.blocks.find((block) => block.is === 'tool' && block.ok === null);
      if (parent === undefined || open?.is !== 'tool') continue;
      const child = childOf(open.call, parent, state);
      if (child !== undefined)
        seen.push([child.name, ...operationsInFlight(state).flatMap(({ who, what }) => (who === 'Ada' ? [] : [what]))]);
    }
    expect(seen.length).toBeGreaterThan(5);
    expect(new Set(seen.map((one) => one.join()))).toEqual(new Set(['Ada']));
  });
});
