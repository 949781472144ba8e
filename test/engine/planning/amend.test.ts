import { describe, expect, it } from 'vitest';
import { TaskId } from '../../../src/domain/ids.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import type { PlanPreview } from '../../../src/ports/controls.ts';
import { AGENT, FAST, planOf, RULES, type Setting, SLOW, type TestRun, testRun } from '../../support/run.ts';
import { eventsOf, held, inSecondTurn } from '../../support/run-looks.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const S3 = AGENT('ROOT::S3');
const S4 = AGENT('ROOT::S4');
const task = (id: string): TaskId => TaskId.parse(id);
const add = (role: string, ...needs: readonly string[]): PlanEdit => ({
  is: 'add',
  description: `more ${role}`,
  role,
  dependsOn: needs.map(task),
});

const outcomes = (run: TestRun): unknown =>
  Object.fromEntries([...run.state().agents.values()].slice(1).map(({ id, outcome }) => [id, outcome]));
const children = (run: TestRun): unknown => run.state().agents.get(AGENT('ROOT'))?.children;

/** What the person is shown; fails where it is refused. */
async function shown(run: TestRun, ...edits: readonly PlanEdit[]): Promise<PlanPreview> {
  const preview = await run.controls.previewPlan(edits);
  if (!preview.ok) throw new Error(preview.fault);
  return preview.value;
}

const refusal = async (run: TestRun, ...edits: readonly PlanEdit[]): Promise<string> => {
  const preview = await run.controls.previewPlan(edits);
  return preview.ok ? 'not refused' : preview.fault;
};

/** Previews and amends, as a screen does. */
async function amend(run: TestRun, ...edits: readonly PlanEdit[]): Promise<string> {
  const { base, digest } = await shown(run, ...edits);
  return run.tell({ do: 'amend plan', edits, base, digest });
}

/** `a` in its second turn; `b` needs it, `c` has ended, `d` needs `b`. */
async function begun(setting: Setting = {}): Promise<ReturnType<typeof held>> {
  const both = held({ plan: planOf(['a'], ['b', 'a'], ['c'], ['d', 'b']), ...setting });
  await inSecondTurn(both.run);
  await both.run.until(({ agents }) => agents.get(S3)?.outcome === 'completed');
  return both;
}

describe('a preview of an amended plan', () => {
  it('shows each change in words and changes nothing', async () => {
    const { run, go } = await begun();
    const before = run.events().length;
    const edits: readonly PlanEdit[] = [
      { is: 'model', task: task('b'), model: 'slow' },
      { is: 'drop', task: task('d') },
      add('reviewer', 'a', 'c'),
      { is: 'depends', task: task('b'), dependsOn: [task('a'), task('c')] },
    ];
    const { changes, plan, base, digest } = await shown(run, ...edits);
    expect(changes).toEqual([
      { is: 'changed', task: 'b', text: '#2 finder: model fast -> slow, also depends on #3 finder' },
      {
        is: 'added',
        task: 'task-4',
        text: '#4 reviewer: added on fast, depends on #1 finder, #3 finder: more reviewer',
      },
      { is: 'dropped', task: 'd', text: '#4 finder: dropped' },
    ]);
    expect(plan.tasks.map(({ id }) => id)).toEqual(['a', 'c', 'b', 'task-4']);
    expect(base).toBe(run.state().approvedDigest);
    expect(digest).not.toBe(base);
    expect(await shown(run, ...edits)).toEqual({ plan, base, digest, changes });
    expect(run.events().length).toBe(before);
    go.resolve();
    await run.result;
  });

  it.each<readonly [string, PlanEdit, string]>([
    ['a description', { is: 'describe', task: task('a'), description: 'x' }, '#1 finder has started'],
    ['a model', { is: 'model', task: task('a'), model: 'slow' }, '#1 finder has started'],
    ['a need', { is: 'depends', task: task('a'), dependsOn: [task('c')] }, '#1 finder has started'],
    ['a limit', { is: 'budget', task: task('a'), budget: { maxTokens: 5000 } }, '#1 finder has started'],
    ['a whole task', { is: 'drop', task: task('a') }, '#1 finder has started'],
    ['its end', { is: 'drop', task: task('c') }, '#3 finder has ended'],
    ['parts', { is: 'split', task: task('a'), descriptions: ['x', 'y'], inOrder: true }, '#1 finder has started'],
    ['another to it', { is: 'join', task: task('a'), other: task('d') }, '#1 finder has started'],
    ['it to another', { is: 'join', task: task('d'), other: task('c') }, '#3 finder has ended'],
  ])('refuses %s of what has begun', async (_, edit, who) => {
    const { run, go } = await begun();
    expect(await refusal(run, edit)).toBe(`${who}: only tasks that have not started can be changed`);
    go.resolve();
    await run.result;
  });

  it('lets the order be another one, and says so', async () => {
    const { run, go } = await begun();
    const { changes } = await shown(run, { is: 'move', task: task('b'), by: 1 });
    expect(changes.map(({ text }) => text)).toEqual([
      '#3 finder: moved to position 2',
      '#2 finder: moved to position 3',
    ]);
    go.resolve();
    await run.result;
  });

  it('is refused before the approval, after the end, and while the run is being stopped', async () => {
    const open = testRun({ approval: 'person' });
    await open.until(({ phase }) => phase === 'approving');
    expect(await refusal(open, add('finder'))).toBe('no plan is approved yet: edit the proposed plan');
    open.stop('enough');
    await open.result;
    const { run } = await begun();
    run.stop('enough');
    expect(await refusal(run, add('finder'))).toBe('the run is being stopped: resume it to change its plan');
    await run.result;
    expect(await refusal(run, add('finder'))).toBe('the run has ended: its plan is done');
  });

  it('is refused while the report is being written', async () => {
    const writing = Promise.withResolvers<void>();
    const run = testRun({
      plan: planOf(['a'], ['b']),
      script: async ({ purpose }) => {
        if (purpose.is === 'merge') await writing.promise;
        return undefined;
      },
    });
    await run.until(({ phase }) => phase === 'merging');
    expect(await refusal(run, add('finder'))).toBe(
      'all its tasks have ended and the report is being written: the plan can no longer be changed',
    );
    writing.resolve();
    await run.result;
  });

  it('holds the limits of the rules: tasks of a plan, agents of a run, denied models and roles', async () => {
    const { run, go } = await begun({
      rules: {
        ...RULES,
        maxTasksPerPlan: { ...RULES.maxTasksPerPlan, value: 5 },
        maxAgentsPerRun: { ...RULES.maxAgentsPerRun, value: 4 },
        modelFallback: { ...RULES.modelFallback, value: 'deny' },
        deniedModels: [{ written: 'slow', pattern: SLOW, from: RULES.maxMode.from }],
      },
    });
    expect(await refusal(run, add('finder'), add('finder'))).toBe('the plan has 6 tasks; at most 5 are allowed');
    expect(await refusal(run, add('finder'))).toMatch(
      /^the run has 4 agents already, and at most 4 are allowed: the test/,
    );
    expect(await refusal(run, { is: 'model', task: task('b'), model: 'slow' })).toMatch(
      /slow cannot be used by finder/,
    );
    expect(await refusal(run, { is: 'role', task: task('b'), role: 'explore' })).toMatch(/explore/);
    expect(await refusal(run, { is: 'depends', task: task('b'), dependsOn: [task('d')] })).toMatch(/Circular/);
    go.resolve();
    await run.result;
  });
});

describe('an amended plan', () => {
  it('runs what came, in place of what went; ids stay with their tasks', async () => {
    const { run, go } = await begun();
    const edits: readonly PlanEdit[] = [
      {
        is: 'form',
        task: task('b'),
        description: 'do more',
        role: 'oracle',
        model: 'slow',
        budget: { maxTokens: 90_000 },
        dependsOn: [task('a')],
      },
      { is: 'drop', task: task('d') },
      add('finder', 'c'),
    ];
    expect(await amend(run, ...edits)).toBe('plan changed: 1 added, 1 changed, 1 dropped');
    const S5 = AGENT('ROOT::S5');
    await run.until(({ agents }) => agents.get(S5)?.outcome === 'completed');
    expect(run.state().agents.get(S2)).toMatchObject({
      role: 'oracle',
      name: 'oracle',
      task: 'do more',
      model: { used: SLOW },
      budget: { maxTokens: 90_000 },
      status: 'pending',
      outcome: null,
    });
    expect(run.state().agents.get(S4)).toMatchObject({ outcome: 'skipped', error: 'taken out of the plan' });
    expect(run.state().agents.get(S5)).toMatchObject({ taskId: 'task-4', name: 'finder 5', dependsOn: [S3] });
    expect(children(run)).toEqual([S1, S2, S3, S4, S5]);
    expect(run.state().planDigest).toBe(run.state().approvedDigest);
    go.resolve();
    expect((await run.result).success).toBe(true);
    expect(outcomes(run)).toEqual({
      [S1]: 'completed',
      [S2]: 'completed',
      [S3]: 'completed',
      [S4]: 'skipped',
      [S5]: 'completed',
    });
    expect(
      run
        .state()
        .agents.get(S2)
        ?.byModel.map(({ model }) => model),
    ).toEqual([SLOW]);
    expect(run.state().unknown).toBe(0);
  });

  it('is refused when it is not the one that was shown', async () => {
    const { run, go } = await begun();
    const { base, digest } = await shown(run, add('finder'));
    const other = { do: 'amend plan', edits: [add('reviewer')], base, digest } as const;
    expect(await run.refused(other)).toBe('refused: the plan has changed meanwhile: look at it again');
    expect(await run.tell({ ...other, edits: [add('finder')] })).toBe('plan changed: 1 added');
    expect(await run.refused({ ...other, edits: [add('finder')] })).toBe(
      'refused: the plan has changed meanwhile: look at it again',
    );
    const now = run.state().approvedDigest ?? '';
    expect(await run.refused({ do: 'amend plan', edits: [], base: now, digest: now })).toBe('refused: no change');
    go.resolve();
    await run.result;
  });

  it('in two steps brings back under its id what was taken out, and never gives an id twice', async () => {
    const { run, go } = await begun();
    const whole = run.state().plan;
    if (whole === null) throw new Error('no plan');
    await amend(run, { is: 'drop', task: task('d') });
    await amend(run, add('reviewer', 'b'));
    const S5 = AGENT('ROOT::S5');
    expect(run.state().agents.get(S5)).toMatchObject({ role: 'reviewer', taskId: 'task-4' });
    await amend(run, { is: 'replace', plan: whole });
    expect(run.state().agents.get(S4)).toMatchObject({ status: 'pending', outcome: null, error: null, taskId: 'd' });
    expect(run.state().agents.get(S5)?.outcome).toBe('skipped');
    expect(children(run)).toEqual([S1, S2, S3, S4, S5]);
    go.resolve();
    await run.result;
    expect(run.state().agents.get(S4)?.outcome).toBe('completed');
  });

  it('splits and joins what waits', async () => {
    const { run, go } = await begun();
    await amend(run, { is: 'split', task: task('b'), descriptions: ['one', 'two', 'three'], inOrder: true });
    expect(run.state().plan?.tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['a', []],
      ['b', ['a']],
      ['task-5', ['b']],
      ['task-6', ['task-5']],
      ['c', []],
      ['d', ['task-6']],
    ]);
    await amend(run, { is: 'join', task: task('task-5'), other: task('task-6') });
    go.resolve();
    await run.result;
    expect(outcomes(run)).toEqual({
      [S1]: 'completed',
      [S2]: 'completed',
      [S3]: 'completed',
      [S4]: 'completed',
      'ROOT::S5': 'completed',
      'ROOT::S6': 'skipped',
    });
  });

  it('asks anew where another waits for what failed, and lets a need be taken away instead', async () => {
    const run = testRun({
      plan: planOf(['a'], ['b', 'a'], ['c']),
      script: ({ agent }) => (agent === S1 ? { fault: { is: 'refused', message: 'no' } } : undefined),
    });
    await run.until(({ approvals }) => approvals.length === 1);
    await amend(run, add('reviewer', 'a'));
    const { approvals } = await run.until((state) => state.approvals[0]?.request.title.includes('reviewer') === true);
    expect(approvals.map(({ request }) => request.title)).toEqual([
      'finder 1 did not complete; finder 2, reviewer need it',
    ]);
    await amend(run, { is: 'depends', task: task('b'), dependsOn: [] }, { is: 'drop', task: task('task-4') });
    await run.result;
    expect(outcomes(run)).toEqual({ [S1]: 'failed', [S2]: 'completed', [S3]: 'completed', [S4]: 'skipped' });
    expect(run.state().approvals).toEqual([]);
  });

  it('keeps a limit that a person set since, where the plan says nothing new of it', async () => {
    const { run, go } = await begun();
    await run.tell({ do: 'set budget', agent: S2, budget: { maxTokens: 77_000 } });
    await amend(run, { is: 'describe', task: task('b'), description: 'other' });
    expect(run.state().agents.get(S2)).toMatchObject({ task: 'other', budget: { maxTokens: 77_000 } });
    await amend(run, { is: 'budget', task: task('b'), budget: { maxTokens: 66_000 } });
    expect(run.state().agents.get(S2)?.budget.maxTokens).toBe(66_000);
    go.resolve();
    await run.result;
  });

  it('leaves what was left out as it is, whatever becomes of its needs', async () => {
    const { run, go } = await begun();
    await run.tell({ do: 'skip', agent: S4 });
    expect(await refusal(run, { is: 'describe', task: task('d'), description: 'x' })).toBe(
      '#4 finder has ended: only tasks that have not started can be changed',
    );
    expect(await amend(run, { is: 'drop', task: task('b') })).toBe('plan changed: 1 changed, 1 dropped');
    go.resolve();
    await run.result;
    expect(outcomes(run)).toEqual({ [S1]: 'completed', [S2]: 'skipped', [S3]: 'completed', [S4]: 'skipped' });
    expect(eventsOf(run, 'agent.changed', S4)).toEqual([]);
  });

  it('takes one more when all others have ended, as long as the run asks what to do', async () => {
    const run = testRun({
      plan: planOf(['a'], ['b', 'a']),
      script: ({ agent }) => (agent === S1 ? { fault: { is: 'refused', message: 'no' } } : undefined),
    });
    await run.until(({ approvals }) => approvals.length === 1);
    await amend(run, add('reviewer'));
    await run.until(({ agents }) => agents.get(S3)?.outcome === 'completed');
    await run.tell({ do: 'skip', agent: S2 });
    await run.result;
    expect(outcomes(run)).toEqual({ [S1]: 'failed', [S2]: 'skipped', [S3]: 'completed' });
    expect(run.state().agents.get(S3)?.model.used).toBe(FAST);
  });
});
