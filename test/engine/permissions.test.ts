import { describe, expect, it } from 'vitest';
import { TaskId } from '../../src/domain/ids.ts';
import type { PlanEdit } from '../../src/domain/plan/plan-edit.ts';
import { builtIn } from '../../src/policy/rules.ts';
import { AGENT, calling, draftOf, planOf, RULES, says, testRun } from '../support/run.ts';
import { eventsOf } from '../support/run-looks.ts';
import { scriptedModel } from '../support/scripted.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const writes = says({ [S1]: [calling('write a')], [S2]: [calling('write b')] });
const ALLOW: PlanEdit = { is: 'permissions', task: null, permissions: { edits: 'allow' } };
const typed = { rule: '--allow edits', layer: 'command line', file: null, line: null } as const;
const configured = { value: 'allow', from: builtIn('permissions.edits: allow') } as const;

describe('a plan that allows edits', () => {
  it('lets its agents write without a question, from the approval on', async () => {
    const acts: string[] = [];
    const run = testRun({ plan: planOf(['o1'], ['o2']), acts, approval: 'person', script: writes });
    const { planDigest: before } = await run.until(({ phase }) => phase === 'approving');
    expect(await run.tell({ do: 'edit plan', edit: ALLOW })).toBe('all tasks: edits are allowed');
    const { planDigest } = run.state();
    expect(await run.refused({ do: 'approve plan', digest: before })).toMatch(/^refused: the plan has changed/);
    await run.tell({ do: 'approve plan', digest: planDigest });
    expect((await run.result).success).toBe(true);
    expect([acts.toSorted(), eventsOf(run, 'approval.requested')]).toEqual([['write a', 'write b'], []]);
  });

  it('is asked about each act without one, and the log names an act that was denied', async () => {
    const run = testRun({ plan: planOf(['o1'], ['o2']), script: writes });
    for (const allow of [true, false]) {
      const { approvals } = await run.until((state) => state.approvals.length === (allow ? 2 : 1));
      await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow, scope: 'once' });
    }
    await run.result;
    const begun = run.events().flatMap((event) => (event.type === 'tool.started' ? [event.label] : []));
    const ended = run.events().flatMap((event) => (event.type === 'tool.finished' ? [event.ok] : []));
    expect([begun.toSorted(), ended.length, ended.filter((ok) => ok).length]).toEqual([['write a', 'write b'], 2, 1]);
  });

  it('of one task covers that task alone', async () => {
    const plan = { ...draftOf(planOf(['o1'], ['o2'])) };
    const tasks = plan.tasks.map((task, at) =>
      at === 0 ? { ...task, permissions: { edits: 'allow' as const } } : task,
    );
    const acts: string[] = [];
    const run = testRun({ acts, file: { draft: { ...plan, tasks }, from: 'plan.yml' }, script: writes });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    expect(approvals.map(({ agent }) => agent)).toEqual([S2]);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
    await run.result;
    expect(acts).toEqual(['write a']);
  });

  it('starts from the configuration, from --allow before a file, and never from a planner', async () => {
    const allowed = { ...draftOf(planOf(['o1'])), permissions: { edits: 'allow' as const } };
    const asks = { ...draftOf(planOf(['o1'])), permissions: { edits: 'ask' as const } };
    const file = (draft: typeof asks | typeof allowed): { draft: typeof draft; from: string } => ({
      draft,
      from: 'plan.yml',
    });
    const rules = { ...RULES, permissions: { edits: configured } };
    const proposed = async (setting: Parameters<typeof testRun>[0]): Promise<unknown> => {
      const run = testRun({ approval: 'nobody', ...setting });
      await run.result;
      return run.state().plan?.permissions ?? 'asks';
    };
    expect([
      await proposed({ plan: planOf(['o1']) }),
      await proposed({ plan: allowed }),
      await proposed({ plan: planOf(['o1']), rules }),
      await proposed({ file: file(allowed) }),
      await proposed({ file: file(asks), rules }),
      await proposed({
        file: file(asks),
        rules: { ...RULES, permissions: { edits: { value: 'allow', from: typed } } },
      }),
    ]).toEqual(['asks', 'asks', { edits: 'allow' }, { edits: 'allow' }, 'asks', { edits: 'allow' }]);
  });

  it('is refused where a rule holds edits at ask, in a file as well', async () => {
    const rules = { ...RULES, permissionsHeld: { edits: builtIn('enforcement.permissions.edits: ask') } };
    const draft = { ...draftOf(planOf(['o1'])), permissions: { edits: 'allow' as const } };
    const { error } = await testRun({ rules, file: { draft, from: 'plan.yml' } }).result;
    expect(error).toBe('plan.yml: edits cannot be allowed: enforcement.permissions.edits: ask (default)');
    const run = testRun({ rules, plan: planOf(['o1']), approval: 'person' });
    await run.until(({ phase }) => phase === 'approving');
    expect(await run.refused({ do: 'edit plan', edit: ALLOW })).toBe(
      'refused: edits cannot be allowed: enforcement.permissions.edits: ask (default)',
    );
    run.stop('enough');
    await run.result;
  });

  it('can be made so while it runs, of a task that has begun as well: open questions are answered by it', async () => {
    const acts: string[] = [];
    const run = testRun({ plan: planOf(['o1'], ['o2', 'o1']), acts, script: writes });
    await run.until((state) => state.approvals.length === 1);
    const one: PlanEdit = { is: 'permissions', task: TaskId.parse('o1'), permissions: { edits: 'allow' } };
    const preview = await run.controls.previewPlan([one]);
    if (!preview.ok) throw new Error(preview.fault);
    const { base, digest, changes } = preview.value;
    expect(changes.map(({ text }) => text)).toEqual(['#1 oracle: edits run without approval']);
    expect(await run.tell({ do: 'amend plan', edits: [one], base, digest })).toBe('plan changed: 1 changed');
    const { approvals } = await run.until((state) => state.approvals[0]?.agent === S2);
    const answers = run.events().flatMap((one) => (one.type === 'approval.answered' ? [[one.answer, one.by]] : []));
    expect(answers).toEqual([['allowed', 'the changed plan']]);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    expect((await run.result).success).toBe(true);
    expect(acts).toEqual(['write a', 'write b']);
  });

  it('says with the plan what nobody will be there to answer', async () => {
    const proposed = async (setting: Parameters<typeof testRun>[0]): Promise<unknown> => {
      const run = testRun({ plan: planOf(['o1'], ['a']), person: false, ...setting });
      await run.result;
      return run.events().flatMap((one) => (one.type === 'plan.proposed' ? [one.unattended] : []))[0];
    };
    const tools = { ...draftOf(planOf(['o1'])), permissions: { edits: 'allow' as const } };
    expect([
      await proposed({}),
      await proposed({ person: true, rules: { ...RULES, permissions: { edits: configured } } }),
      await proposed({ mode: 'yolo' }),
      await proposed({ catalogue: [scriptedModel('offline/analyst')], offlineOnly: true }),
      await proposed({ file: { draft: tools, from: 'plan.yml' } }),
    ]).toEqual([{ edits: ['o1'], commands: [] }, undefined, undefined, undefined, undefined]);
  });
});
