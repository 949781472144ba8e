import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import {
  forcedRun,
  type ForcedSetting,
  forcing,
  gatesOf,
  memoryProject,
  reviewers,
  verdict,
  writing,
} from '../../support/forced.ts';
import { always, ended, isReview, judged } from '../../support/forced-idle.ts';
import { say } from '../../support/idle.ts';
import { cutLog, lengthsOf, memoryLog } from '../../support/log.ts';
import { AGENT, planOf, type TestRun } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const QUIETLY = { do: 'hand over', how: 'when quiet' } as const;

let names = 0;
const world = (): ReturnType<typeof fakeWorld> => ({ ...fakeWorld(), name: () => `again-${(names += 1)}` });

/** One task writes, the next one reads; a reviewer takes three turns: two verdicts, of which the last counts, and a word. */
const story = (setting: ForcedSetting): TestRun =>
  forcedRun({
    forced: [forcing(['on-write', 'always'])],
    plan: planOf(['o1'], ['b', 'o1']),
    world: world(),
    ...setting,
    script: ({ agent, purpose, turns }) => {
      if (purpose.is !== 'work') return undefined;
      const said = turns.filter(({ by }) => by === 'model').length;
      if (purpose.role === 'security') return said < 2 ? verdict(said === 1) : { text: 'judged' };
      return agent === S1 && said === 0 ? writing('a.ts', 'x') : { text: `${agent} is done` };
    },
  });

const replies = (run: TestRun): number => run.events().filter(({ type }) => type === 'model.finished').length;

/** A run without a plan whose first reviewer is in its call of a model when the run is handed over; it has ended here. */
async function handedOverWhileJudged(setting: ForcedSetting): Promise<TestRun> {
  const go = Promise.withResolvers<void>();
  const run = always({
    ...setting,
    script: async (request) => {
      if (isReview(request)) await go.promise;
      return undefined;
    },
  });
  await say(run, 'write it');
  await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
  const given = run.tell(QUIETLY);
  go.resolve();
  await given;
  return run;
}

describe('a review that is cut by a hand-over', () => {
  it('goes on where it was, at any event: one agent, each answer paid once (D11, H022)', async () => {
    const lengths: number[] = [];
    const whole = story({ project: memoryProject(), log: lengthsOf(memoryLog(), lengths) });
    await whole.result;
    expect(reviewers(whole)).toHaveLength(1);
    for (const length of lengths.slice(0, -1)) {
      const project = memoryProject();
      const run = story({ project });
      await run.until(({ seq }) => seq >= length);
      await run.controls.submit(QUIETLY);
      await run.result;
      const next = story({ project, log: cutLog(SESSION, run.events()) });
      expect([length, (await next.result).status, reviewers(next).length]).toEqual([length, 'completed', 1]);
      expect([length, replies(next), gatesOf(next)]).toEqual([length, replies(whole), gatesOf(whole)]);
    }
  });

  it('goes on in a run without a plan as well', async () => {
    const project = memoryProject();
    const run = await handedOverWhileJudged({ project });
    const next = always({ project, log: run.log });
    await next.until(judged(1));
    expect(reviewers(next)).toEqual([S1]);
    expect(next.state().agents.get(S1)).toMatchObject({ outcome: 'completed', iterations: 2 });
    await ended(next);
  });
});

describe('a review that was cut while the project changed', () => {
  it('ends without a verdict, and another one sees the whole change: a verdict is of one tree', async () => {
    const project = memoryProject();
    const told: string[] = [];
    const setting: ForcedSetting = {
      project,
      record: ({ purpose, turns }) => {
        const [first] = turns;
        if (purpose.is === 'work' && purpose.role === 'security' && turns.length === 1 && first?.by === 'user')
          told.push(first.text);
      },
    };
    const run = await handedOverWhileJudged({ ...setting, forced: [forcing(['on-write'])] });
    project.write('other.txt', 'by hand');
    const next = always({ ...setting, forced: [forcing(['on-write'])], log: run.log });
    await next.until(({ gates }) => gates.length > 0);
    const { agents } = next.state();
    expect([agents.get(S1)?.outcome, agents.get(S2)?.outcome]).toEqual(['abandoned', 'completed']);
    expect(told.at(-1)).toContain('+words 1');
    expect(told.at(-1)).toContain('+by hand');
    await ended(next);
  });

  it('ends where nobody asks for it again', async () => {
    const never = new Promise<undefined>(() => {});
    const project = memoryProject();
    const run = always({ project, script: (request) => (isReview(request) ? never : undefined) });
    await say(run, 'write it');
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await ended(run);
    const next = always({ project, log: run.log, forced: [] });
    await next.until(({ agents }) => agents.get(S1)?.outcome === 'abandoned');
    await ended(next);
  });
});
