import { describe, expect, it } from 'vitest';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { SessionId, TaskId } from '../../../src/domain/ids.ts';
import { cutLog, lengthsOf, memoryLog } from '../../support/log.ts';
import { AGENT, calling, planOf, type Setting, SLOW, type TestRun, testRun } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
const task = (id: string): TaskId => TaskId.parse(id);
const EDITS: readonly (readonly PlanEdit[])[] = [
  [
    { is: 'model', task: task('b'), model: 'slow' },
    { is: 'drop', task: task('c') },
    { is: 'add', description: 'look at a again', role: 'reviewer', dependsOn: [task('a')] },
  ],
  [{ is: 'add', description: 'and at b', role: 'reviewer', dependsOn: [task('b')] }],
];

const story = (acts: string[]): Setting => ({
  plan: planOf(['a'], ['b', 'a'], ['c', 'b']),
  acts,
  script: ({ agent, purpose }, n) =>
    agent === S1 && purpose.is === 'work' && n < 2 ? calling(`read ${n}`) : undefined,
});

/** Each amendment that is not in the log yet is made as soon as it can be, one at a time. */
async function amendAll(run: TestRun): Promise<void> {
  const made = (): number => run.events().filter(({ type }) => type === 'plan.amended').length;
  for await (const _ of run.controls.events(run.state().seq)) {
    const edits = EDITS[made()];
    const preview = edits === undefined ? null : await run.controls.previewPlan(edits);
    if (edits === undefined || !preview?.ok) continue;
    const { base, digest } = preview.value;
    await run.controls.submit({ do: 'amend plan', edits, base, digest });
  }
}

const whatBecame = (run: TestRun): unknown => {
  const { agents, plan, finished, unknown } = run.state();
  return {
    tasks: plan?.tasks.map(({ id, role, model, dependsOn }) => [id, role, model.used, dependsOn]),
    agents: [...agents.values()].map(({ id, taskId, name, role, outcome, error, dependsOn, model }) => ({
      id,
      taskId,
      name,
      role,
      outcome,
      error,
      dependsOn,
      model: model.used,
    })),
    children: agents.get(AGENT('ROOT'))?.children,
    finished: [finished?.status, finished?.summary],
    unknown,
  };
};

async function whole(lengths: number[] = []): Promise<TestRun> {
  const run = testRun({ ...story([]), log: lengthsOf(memoryLog(), lengths) });
  await Promise.all([amendAll(run), run.result]);
  return run;
}

describe('a run whose plan was amended, cut off at any event', () => {
  it('is resumed to the same agents with the same ids, the same plan and the same report (D11, D15)', async () => {
    const lengths: number[] = [];
    const unbroken = await whole(lengths);
    const events = unbroken.events();
    const expected = whatBecame(unbroken);
    expect(expected).toMatchObject({
      tasks: [
        ['a', 'finder', 'scripted/fast', []],
        ['b', 'finder', SLOW, ['a']],
        ['task-3', 'reviewer', 'scripted/fast', ['a']],
        ['task-4', 'reviewer', 'scripted/fast', ['b']],
      ],
      children: ['ROOT::S1', 'ROOT::S2', 'ROOT::S3', 'ROOT::S4', 'ROOT::S5'],
      finished: ['completed', 'merged'],
      unknown: 0,
    });
    // An amendment and what follows from it are appended together; a log that lost a part of it is mended all the same.
    const amended = events.flatMap((event, at) => (event.type === 'plan.amended' ? [at + 1, at + 2] : []));
    expect(amended.length).toBe(4);
    for (const length of [...lengths.slice(0, -1), ...amended]) {
      const log = cutLog(SESSION, events.slice(0, length));
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const run = testRun({ ...story([]), log, world: { ...fakeWorld(), name } });
      await Promise.all([amendAll(run), run.result]);
      const at = `cut after ${length}: ${events[length - 1]?.type}`;
      expect([at, whatBecame(run)]).toEqual([at, expected]);
      const made = run.events().flatMap((event) => (event.type === 'agent.created' ? [event.agent] : []));
      expect([at, made.length]).toEqual([at, new Set(made).size]);
      const approved = run.events().findLast(({ type }) => type === 'plan.amended');
      expect([at, approved?.type === 'plan.amended' && approved.digest]).toEqual([at, run.state().approvedDigest]);
    }
  });

  it('keeps what was taken out for good when it is resumed after it had failed', async () => {
    const run = await whole();
    const log = cutLog(
      SESSION,
      run.events().filter(({ type }) => type !== 'session.finished'),
    );
    const again = testRun({ ...story([]), log });
    await again.result;
    expect(whatBecame(again)).toEqual(whatBecame(run));
  });
});
