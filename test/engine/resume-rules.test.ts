/** A run that is resumed under other rules: all is admitted anew, and what is forbidden stands still with words. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budget.ts';
import { type BudgetRule, builtIn, type Rules } from '../../src/policy/rules.ts';
import { AGENT, calling, planOf, ROLES, RULES, type Setting, type TestRun, testRun } from '../support/run.ts';
import { entry, written } from '../policy/some-rules.ts';

const ROOT = AGENT('ROOT');
const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const from = written('the new rule', 7);
const PLACE = '(user, ~/config.yml:7)';

/** Two tasks for a finder and an oracle, stopped while both wait for their first answers; `before` is done first. */
async function stopped(setting: Setting = {}, before?: (run: TestRun) => Promise<unknown>): Promise<TestRun> {
  const never = new Promise<undefined>(() => {});
  const run = testRun({
    plan: planOf(['a'], ['o1']),
    mode: 'yolo',
    script: ({ purpose }) => (purpose.is === 'work' ? never : undefined),
    ...setting,
  });
  await run.until(({ agents }) => [S1, S2].every((id) => agents.get(id)?.open.length === 1));
  await before?.(run);
  run.stop('later');
  await run.result;
  return run;
}

const again = (first: TestRun, setting: Setting): TestRun => testRun({ log: first.log, person: false, ...setting });
const outcomes = (run: TestRun): unknown =>
  [S1, S2].map((id) => {
    const { outcome, error } = run.state().agents.get(id) ?? {};
    return [outcome, error];
  });

describe('K06: a run that is resumed after the rules were tightened', () => {
  it('ends the agent whose model is forbidden, with the rule; no other model takes its place', async () => {
    const first = await stopped();
    const rules = { ...RULES, deniedModels: [entry('scripted/fast', from)] };
    const run = again(first, { rules });
    expect((await run.result).success).toBe(false);
    expect(outcomes(run)).toEqual([
      ['failed', `model scripted/fast is not allowed: the new rule ${PLACE}`],
      ['failed', `model scripted/fast is not allowed: the new rule ${PLACE}`],
    ]);
    expect(run.events().filter(({ type }) => type === 'model.fallback')).toEqual([]);
  });

  it('does not begin an agent whose role is disabled; the others go on', async () => {
    const first = await stopped();
    const run = again(first, { rules: { ...RULES, disabledRoles: [{ role: 'oracle', from }] } });
    expect((await run.result).success).toBe(false);
    expect(outcomes(run)).toEqual([
      ['completed', null],
      ['failed', `Role 'oracle' is disabled: the new rule ${PLACE}`],
    ]);
    expect(run.events().findLast(({ type }) => type === 'policy.decided')).toMatchObject({ agent: S2, line: 7 });
  });

  it('stops with words where a role of its plan is gone', async () => {
    const first = await stopped();
    const run = again(first, { roles: ROLES.filter(({ name }) => name !== 'oracle') });
    expect(await run.result).toMatchObject({
      status: 'stopped',
      errorIs: 'denied',
      error: 'its plan uses the role oracle, which no longer exists',
    });
  });

  it('goes on in the strictest mode, and says so; one that was typed holds within the rules', async () => {
    const modes = async (setting: Setting): Promise<unknown> => {
      const run = again(await stopped(), { person: true, ...setting });
      await run.result;
      return run.events().flatMap((event) => (event.type === 'session.mode' ? [event.mode] : []));
    };
    const maxMode = { value: 'confirm', from } as const;
    expect(await modes({})).toEqual([]);
    expect(await modes({ rules: { ...RULES, maxMode } })).toEqual(['confirm']);
    expect(await modes({ chosenMode: 'confirm' })).toEqual(['confirm']);
    expect(await modes({ chosenMode: 'yolo', rules: { ...RULES, maxMode } })).toEqual(['confirm']);
  });

  it('keeps the mode that a person chose meanwhile, and pins; human stands still where nobody can answer', async () => {
    const first = await stopped({ mode: 'confirm' }, async (run) => {
      await run.tell({ do: 'pin mode', agent: S2, mode: 'human' });
      await run.tell({ do: 'set mode', mode: 'human' });
    });
    const run = again(first, {});
    expect(await run.result).toMatchObject({ status: 'stopped', errorIs: 'denied' });
    expect(run.state().mode).toBe('human');
    expect(run.state().agents.get(S2)?.pin).toBe('human');
    const confirm = again(run, { chosenMode: 'confirm' });
    await confirm.result;
    expect([S1, S2].map((id) => confirm.state().agents.get(id)?.outcome)).toEqual(['completed', 'failed']);
    expect(confirm.state().agents.get(S2)?.error).toContain('nobody can be asked here');
  });

  it('denies a tool that is forbidden by now; the agent hears of the rule', async () => {
    const first = await stopped();
    const acts: string[] = [];
    const run = again(first, {
      acts,
      mode: 'yolo',
      rules: { ...RULES, sandboxRequired: { value: true, from } },
      script: ({ agent, purpose }, n) =>
        agent === S2 && purpose.is === 'work' && n === 0 ? calling('bash ls') : undefined,
    });
    expect((await run.result).success).toBe(true);
    expect(acts).toEqual([]);
    expect(run.events().find(({ type }) => type === 'tool.finished')).toMatchObject({ agent: S2, ok: false });
  });
});

describe('what a person gave a run', () => {
  const ruled = (value: Budget, layer: 'user' | 'command line' | 'default'): BudgetRule => {
    const by = layer === 'default' ? builtIn('budgets.run') : { ...from, layer };
    return { value, from: by, each: { maxTokens: by, maxCost: by } };
  };
  const resumedWith = async (runBudget: BudgetRule, more: Partial<Rules> = {}): Promise<Budget> => {
    const rules = { ...RULES, runBudget: ruled({ maxTokens: 100_000 }, 'default') };
    const first = await stopped({ rules, runBudget: { maxTokens: 100_000 } }, (run) =>
      run.tell({ do: 'set budget', agent: ROOT, budget: { maxTokens: 300_000 } }),
    );
    const run = again(first, { rules: { ...RULES, ...more, runBudget }, runBudget: runBudget.value });
    await run.result;
    return run.state().budget;
  };

  it('is kept when it is resumed, within the rules of now; what is typed then is the newer word', async () => {
    expect(await resumedWith(ruled({ maxTokens: 100_000, maxCost: 9 }, 'default'))).toEqual({
      maxTokens: 300_000,
      maxCost: 9,
    });
    expect(await resumedWith(ruled({ maxTokens: 200_000 }, 'user'))).toEqual({ maxTokens: 200_000 });
    expect(await resumedWith(ruled({ maxTokens: 150_000 }, 'command line'))).toEqual({ maxTokens: 150_000 });
  });
});
