/** Many spawns at once: by the verb where nothing runs yet, and by clients of a run in a process of its own, of which some are killed. */
import { describe, expect, it } from 'vitest';
import { eventsIn } from '../support/cut-spawns.ts';
import { jsonLines } from '../support/cli.ts';
import { openFamily } from '../support/shell-family.ts';

const ROOM = 'childAgents: { maxPerParent: 256 }\nlimits: { maxAgentsPerRun: 256 }\n';

describe('spawned at once', () => {
  it('by 20 processes of `mimir spawn` where nothing runs, all are children of one run, which the first one starts (D33, S158)', async () => {
    const family = await openFamily({}, { config: ROOM });
    const { home, env } = family;
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => home.run(['spawn', 'finder', `look ${n}`, '--json'], { env })),
    );
    expect(all.filter(({ code }) => code !== 0)).toEqual([]);
    const sessions = await home.run(['sessions']);
    expect(sessions.out.trim().split('\n')).toEqual([expect.stringContaining('running')]);
    const made = eventsIn({ stateDir: home.state, project: home.project }).flatMap((event) =>
      event.type === 'agent.created' && event.parent === 'ROOT' ? [event.task] : [],
    );
    expect(made.toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => `look ${n}`).toSorted());
    const ids = all.map(({ out }) => jsonLines(out)[0]?.['agent']);
    expect(new Set(ids).size).toBe(20);
    await home.run(['kill', 'ROOT']);
  });
});
