/** Effort in a run: from role and plan to each request, within the rules, in the log and in the digest. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { planDigest } from '../../src/domain/digest.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import type { Rules } from '../../src/policy/rules.ts';
import { AGENT, FAST, MODELS, ROLES, RULES, type Setting, testRun } from '../support/run.ts';

const S1 = AGENT('ROOT::S1');
const roles = ROLES.map((role) => (role.name === 'oracle' ? { ...role, effort: 'high' as const } : role));
const most = (value: NonNullable<Rules['maxEffort']>['value']): Rules => ({
  ...RULES,
  maxEffort: { value, from: { rule: 'enforcement.maxEffort', layer: 'managed', file: '/etc/p.yml', line: 3 } },
});
const task = (id: string, role: string, more: object = {}): object => ({
  id,
  description: `do ${id}`,
  role,
  model: 'fast',
  ...more,
});

/** A run to its end, and the effort of each call for work. */
async function ran(setting: Setting) {
  const requests: ModelRequest[] = [];
  const run = testRun({ roles, ...setting, record: (request) => void requests.push(request) });
  expect((await run.result).success).toBe(true);
  const work = requests.filter(({ purpose }) => purpose.is === 'work');
  return { run, efforts: work.map(({ agent, effort }) => [agent, effort]) };
}
const planOfTasks = (...tasks: readonly object[]): object => ({ reason: 'test', tasks });

/** What a planner is told, and what its answer may say of a task's effort. */
async function askedOf(setting: Setting): Promise<readonly [told: string, effort: unknown]> {
  const requests: ModelRequest[] = [];
  const run = testRun({ roles, ...setting, record: (request) => void requests.push(request) });
  await run.result;
  const asked = requests.find(({ purpose }) => purpose.is === 'plan');
  const told = asked?.turns.map((turn) => (turn.by === 'user' ? turn.text : '')).join('\n') ?? '';
  return [told, EFFORT_IN.parse(asked?.format).properties.tasks.items.properties.effort];
}
const properties = <T extends z.ZodRawShape>(shape: T): z.ZodObject<{ properties: z.ZodObject<T> }> =>
  z.object({ properties: z.object(shape) });
const EFFORT_IN = properties({ tasks: z.object({ items: properties({ effort: z.unknown() }) }) });
const chosenFrom = (...efforts: readonly string[]): unknown =>
  expect.objectContaining({ anyOf: [{ type: 'string', enum: efforts }, { type: 'null' }] });

describe('effort', () => {
  it('is the role’s, or what the task says, or not named at all', async () => {
    const plan = planOfTasks(task('a', 'oracle'), task('b', 'oracle', { effort: 'low' }), task('c', 'finder'));
    const { run, efforts } = await ran({ plan });
    expect(new Map(efforts.map(([agent, effort]) => [agent, effort]))).toEqual(
      new Map([
        ['ROOT::S1', 'high'],
        ['ROOT::S2', 'low'],
        ['ROOT::S3', undefined],
      ]),
    );
    expect(run.state().plan?.tasks.map(({ effort }) => effort)).toEqual(['high', 'low', undefined]);
    expect(run.state().agents.get(S1)?.effort).toBe('high');
    const started = run.events().find((event) => event.type === 'model.started' && event.agent === S1);
    expect(started).toMatchObject({ effort: 'high' });
  });

  it('is the planner’s to propose for each task, and the plan holds it', async () => {
    const [told, effort] = await askedOf({});
    expect(told).toContain('Model: fast, effort high.');
    expect(effort).toEqual(chosenFrom('low', 'medium', 'high'));
    const { run } = await ran({ plan: planOfTasks(task('a', 'oracle', { effort: 'low' }), task('b', 'finder')) });
    expect(run.state().plan?.tasks.map(({ effort }) => effort)).toEqual(['low', undefined]);
  });

  it('is proposed by no planner beyond what the rules allow, nor where no model takes it', async () => {
    expect((await askedOf({ rules: most('medium') }))[1]).toEqual(chosenFrom('low', 'medium'));
    const [told, effort] = await askedOf({ catalogue: MODELS.map((model) => ({ ...model, effort: false as const })) });
    expect([told.match(/; takes no effort/g)?.length, effort]).toEqual([
      MODELS.length,
      expect.objectContaining({ type: 'null' }),
    ]);
  });

  it('is never more than the rules allow, which the plan says with file and line', async () => {
    const plan = planOfTasks(task('a', 'oracle'), task('b', 'finder', { effort: 'high' }), task('c', 'finder'));
    const { run, efforts } = await ran({ plan, rules: most('medium') });
    expect(new Map(efforts.map(([agent, effort]) => [agent, effort]))).toEqual(
      new Map([
        ['ROOT::S1', 'medium'],
        ['ROOT::S2', 'medium'],
        ['ROOT::S3', undefined],
      ]),
    );
    expect(run.state().choices?.limits.maxEffort).toEqual({
      value: 'medium',
      because: 'enforcement.maxEffort (managed, /etc/p.yml:3)',
    });
  });

  it('is part of the digest, and changes by an edit', async () => {
    const run = testRun({ roles, plan: planOfTasks(task('a', 'oracle')), approval: 'person' });
    const before = await run.until(({ phase }) => phase === 'approving');
    const id = before.plan?.tasks[0]?.id;
    if (before.plan === null || id === undefined) throw new Error('no plan');
    expect(await run.tell({ do: 'edit plan', edit: { is: 'effort', task: id, effort: 'low' } })).not.toContain(
      'refused',
    );
    const low = run.state();
    expect([low.plan?.tasks[0]?.effort, low.planDigest === before.planDigest]).toEqual(['low', false]);
    expect(low.log.at(-1)?.text).toContain('effort is now low');
    const other = before.plan.tasks.map((one) => ({ ...one, effort: 'medium' as const }));
    expect(planDigest({ ...before.plan, tasks: other })).not.toBe(before.planDigest);
    await run.tell({ do: 'edit plan', edit: { is: 'effort', task: id, effort: null } });
    expect(run.state().planDigest).toBe(before.planDigest);
    await run.tell({ do: 'reject plan' });
    await run.result;
  });

  it('that a model does not take is told once on the agent, and fails nothing', async () => {
    const { run } = await ran({
      plan: planOfTasks(task('a', 'oracle'), task('b', 'finder')),
      script: ({ agent, purpose }, n) => {
        if (purpose.is !== 'work' || agent !== S1) return undefined;
        return n === 0
          ? { text: '', calls: [{ tool: 'read', input: { text: 'x' } }], withoutEffort: true }
          : { text: 'done', withoutEffort: true };
      },
    });
    const one = run.state().agents.get(S1);
    expect(one?.withoutEffort).toEqual([FAST]);
    expect(one?.blocks.filter((block) => block.is === 'note')).toEqual([
      {
        is: 'note',
        level: 'warn',
        text: 'scripted/fast takes no setting of effort: it is called without (high was asked for)',
      },
    ]);
  });

  it('is not named to a model that the catalogue knows to take none', async () => {
    const catalogue = MODELS.map((model) => ({ ...model, effort: false as const }));
    const plan = planOfTasks(task('a', 'oracle'), task('b', 'oracle'));
    const { efforts } = await ran({ plan, catalogue });
    expect(efforts.map(([, effort]) => effort)).toEqual([undefined, undefined]);
  });
});
