/** What a person was shown of a changed plan is what holds: no more, no less, and nobody else's. */
import { describe, expect, it } from 'vitest';
import { TaskId } from '../../../src/domain/ids.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { openRedactor } from '../../../src/domain/text/redact.ts';
import type { Rules } from '../../../src/policy/rules.ts';
import { ok } from '../../../src/domain/result.ts';
import type { PlanPreview } from '../../../src/ports/controls.ts';
import { AGENT, calling, FAST, planOf, RULES, type Setting, SLOW, type TestRun, testRun } from '../../support/run.ts';
import { forcedRun, forcing, verdict, writing } from '../../support/forced.ts';
import { held, inSecondTurn } from '../../support/run-looks.ts';

const S1 = AGENT('ROOT::S1');
const task = (id: string): TaskId => TaskId.parse(id);
const add = (description: string, role = 'finder', ...needs: readonly string[]): PlanEdit => ({
  is: 'add',
  description,
  role,
  dependsOn: needs.map(task),
});

async function shown(run: TestRun, ...edits: readonly PlanEdit[]): Promise<PlanPreview> {
  const preview = await run.controls.previewPlan(edits);
  if (!preview.ok) throw new Error(preview.fault);
  return preview.value;
}

async function amend(run: TestRun, ...edits: readonly PlanEdit[]): Promise<PlanPreview> {
  const preview = await shown(run, ...edits);
  await run.tell({ do: 'amend plan', edits, base: preview.base, digest: preview.digest });
  return preview;
}

/** `a` in its second turn, `b` waits for it. */
async function begun(setting: Setting = {}): Promise<ReturnType<typeof held>> {
  const both = held({ plan: planOf(['a'], ['b', 'a']), ...setting });
  await inSecondTurn(both.run);
  return both;
}

describe('a task that is added to a running plan', () => {
  it('never takes the id, and so the agent, of one that was dropped; only undo brings that back', async () => {
    const { run, go } = await begun();
    const { plan: former } = await amend(run, add('first', 'finder', 'a'));
    await amend(run, { is: 'drop', task: task('task-3') });
    // Of several edits at once each hears of it.
    const { plan } = await amend(run, add('second', 'finder', 'a'), add('third', 'finder', 'a'), {
      is: 'drop',
      task: task('task-5'),
    });
    expect(plan.tasks.map(({ id }) => id)).toEqual(['a', 'b', 'task-4']);
    const ends = (): unknown =>
      [...run.state().agents.values()].slice(3).map(({ id, task: text, outcome }) => [id, text, outcome]);
    expect(ends()).toEqual([
      ['ROOT::S3', 'first', 'skipped'],
      ['ROOT::S4', 'second', null],
    ]);
    const { plan: parts } = await amend(run, {
      is: 'split',
      task: task('task-4'),
      descriptions: ['one', 'two'],
      inOrder: false,
    });
    expect(parts.tasks.map(({ id }) => id)).toEqual(['a', 'b', 'task-4', 'task-5']);
    await amend(run, { is: 'replace', plan: former });
    expect(ends()).toEqual([
      ['ROOT::S3', 'first', null],
      ['ROOT::S4', 'one', 'skipped'],
      ['ROOT::S5', 'two', 'skipped'],
    ]);
    go.resolve();
    expect((await run.result).success).toBe(true);
  });

  it('is shown without its secrets, as it will be recorded and run: the digest is of that', async () => {
    const key = 'sk-test-0123456789abcdefghijkl';
    const { run, go } = await begun({ redactor: openRedactor([key]) });
    const preview = await amend(run, add(`call it with ${key}`));
    expect(JSON.stringify(preview)).not.toContain(key);
    expect([run.state().approvedDigest, run.state().planDigest]).toEqual([preview.digest, preview.digest]);
    expect(run.state().plan).toEqual(preview.plan);
    go.resolve();
    expect((await run.result).success).toBe(true);
    expect(run.state().agents.get(AGENT('ROOT::S3'))?.outcome).toBe('completed');
  });

  it('gets the model that its role has by the rules of now, not the one that the plan was made with', async () => {
    let now: Rules = RULES;
    const { run, go } = await begun({ policyWatcher: { now: () => ok(now) } });
    now = { ...RULES, deniedModels: [{ written: 'fast', pattern: FAST, from: RULES.maxMode.from }] };
    const { plan } = await shown(run, add('more'));
    expect(plan.tasks.map(({ id, model }) => [id, model.used])).toEqual([
      ['a', FAST],
      ['b', SLOW],
      ['task-3', SLOW],
    ]);
    go.resolve();
    await run.result;
  });
});

describe('a step back to a plan as a screen has it', () => {
  it('leaves what has begun as it was written: tabs and joiners that no screen keeps are no change', async () => {
    const written = 'do\ta, می‌خواهم';
    const { run, go } = await begun({
      plan: {
        reason: '',
        tasks: [
          { id: 'a', description: written, role: 'finder' },
          { id: 'b', description: 'b', role: 'finder', dependsOn: ['a'] },
        ],
      },
    });
    const whole = run.state().plan;
    if (whole === null) throw new Error('no plan');
    await amend(run, { is: 'describe', task: task('b'), description: 'other' });
    const seen = whole.tasks.map((one) => ({
      ...one,
      description: one.description.replace('\t', '  ').replace('\u200c', ''),
    }));
    const { plan } = await amend(run, { is: 'replace', plan: { ...whole, tasks: seen } });
    expect(plan.tasks.map(({ description }) => description)).toEqual([written, 'b']);
    const otherwise = { ...whole, tasks: seen.map((one) => ({ ...one, description: `${one.description}!` })) };
    expect(await run.controls.previewPlan([{ is: 'replace', plan: otherwise }])).toMatchObject({ ok: false });
    go.resolve();
    await run.result;
  });
});

describe('models of what if, after a rule came up against one of them', () => {
  it('are not taken: the difference says what is used instead, and which rule it is', async () => {
    let now: Rules = RULES;
    const { run, go } = await begun({ policyWatcher: { now: () => ok(now) } });
    const from = { rule: 'deniedModels: [slow]', layer: 'managed', file: '/etc/mimir/policy.yml', line: 3 } as const;
    now = { ...RULES, deniedModels: [{ written: 'slow', pattern: SLOW, from }] };
    const edit: PlanEdit = { is: 'models', models: [{ task: task('b'), model: 'slow' }] };
    const { plan, changes } = await shown(run, edit);
    expect(plan.tasks[1]?.model.used).toBe(FAST);
    expect(changes.map(({ text }) => text)).toEqual([
      '#2 finder: model requested as slow, still fast (not allowed: deniedModels: [slow] (managed, /etc/mimir/policy.yml:3))',
    ]);
    go.resolve();
    await run.result;
  });
});

describe('an amended plan whose rules ask for less than those it was made with', () => {
  it('keeps the reviews that were approved with it, and has what is new reviewed as well', async () => {
    const go = Promise.withResolvers<void>();
    let now: Rules = { ...RULES, forcedAgents: [forcing(['on-write', 'always'])] };
    const run = forcedRun({
      plan: planOf(['a'], ['b']),
      policyWatcher: { now: () => ok(now) },
      script: async (request, n) => {
        if (request.purpose.is !== 'work') return undefined;
        if (request.agent === S1) await go.promise;
        if (request.purpose.role === 'security') return n === 0 ? verdict(true) : { text: 'done' };
        return n === 0 && request.purpose.role === 'oracle' ? writing('a.ts', 'x') : undefined;
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    for (const forcedAgents of [[], [forcing(['manual'], { onFailure: 'warn' })]]) {
      now = { ...RULES, forcedAgents };
      expect((await shown(run, add('changes a file', 'oracle'))).plan.forced).toMatchObject([
        { role: 'security', onFailure: 'block', after: ['task-3'], runs: 2 },
      ]);
    }
    await amend(run, add('changes a file', 'oracle'));
    go.resolve();
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(run.state().gates.map(({ agent, trigger, open }) => [agent, trigger, open])).toEqual([
      ['ROOT::S3', 'on-write', true],
      ['ROOT', 'always', true],
    ]);
  });
});

describe('who waits for a failure in an amended plan', () => {
  it('is told the number that the screens give the agent, whoever came between', async () => {
    const gate = Promise.withResolvers<void>();
    const run = testRun({
      mode: 'yolo',
      plan: { reason: '', tasks: [{ id: 'a', description: 'a', role: 'oracle', maySpawn: true }] },
      script: async ({ agent, purpose }, n) => {
        if (purpose.is !== 'work') return undefined;
        if (agent === AGENT('ROOT::S2')) return { fault: { is: 'refused', message: 'no' } };
        if (agent !== S1) return { text: 'done' };
        if (n === 0) return { text: '', calls: [{ tool: 'Task', input: CHILD }] };
        if (n === 1) return calling('read x');
        await gate.promise;
        return { text: 'done' };
      },
    });
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S1::S1'))?.outcome === 'completed');
    await amend(run, add('fails'), add('waits', 'finder', 'task-2'));
    const state = await run.until(({ agents }) => agents.get(AGENT('ROOT::S3'))?.reason.startsWith('blocked') === true);
    expect(state.agents.get(AGENT('ROOT::S3'))?.reason).toBe('blocked by #2 finder');
    gate.resolve();
    for (const { id } of state.approvals)
      await run.tell({ do: 'answer', approval: id, allow: true, scope: 'once', text: 'skip' });
    await run.result;
  });
});

const CHILD = { description: 'looks', prompt: 'look', subagent_type: 'explore' };
