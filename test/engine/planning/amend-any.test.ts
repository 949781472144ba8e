import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planDigest } from '../../../src/domain/digest.ts';
import { TaskId } from '../../../src/domain/ids.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { foldAll } from '../../../src/events/fold.ts';
import type { MimirEvent } from '../../../src/events/event.ts';
import type { Command } from '../../../src/ports/controls.ts';
import { brokenBy } from '../../support/invariants.ts';
import { AGENT, calling, planOf, RULES, type TestRun, testRun } from '../../support/run.ts';
import { fault } from '../../support/faulty.ts';

const task = fc.constantFrom(...['a', 'b', 'c', 'd', 'task-4', 'task-5'].map((id) => TaskId.parse(id)));
const needs = fc.uniqueArray(task, { maxLength: 2 });
const edit: fc.Arbitrary<PlanEdit> = fc.oneof(
  fc.record({
    is: fc.constant('add'),
    description: fc.constant('more'),
    role: fc.constant('finder'),
    dependsOn: needs,
  }),
  fc.record({ is: fc.constant('drop'), task }),
  fc.record({ is: fc.constant('model'), task, model: fc.constantFrom('fast', 'slow') }),
  fc.record({ is: fc.constant('role'), task, role: fc.constantFrom('finder', 'reviewer') }),
  fc.record({ is: fc.constant('depends'), task, dependsOn: needs }),
  fc.record({ is: fc.constant('move'), task, by: fc.constantFrom(1, -1) }),
  fc.record({ is: fc.constant('join'), task, other: task }),
  fc.record({
    is: fc.constant('split'),
    task,
    descriptions: fc.constant(['one', 'two']),
    inOrder: fc.boolean(),
  }),
);

/** At each event that is named by its number, the edits that are possible then. */
async function amendAt(run: TestRun, plans: ReadonlyMap<number, readonly PlanEdit[]>): Promise<void> {
  for await (const { seq } of run.controls.events(0)) {
    const edits = plans.get(seq);
    const preview = edits === undefined ? null : await run.controls.previewPlan(edits);
    if (edits === undefined || !preview?.ok) continue;
    const { base, digest } = preview.value;
    await run.controls.submit({ do: 'amend plan', edits, base, digest });
  }
}

/**
 * Agents that began to run before what they needed by then had completed. Only their first begin counts: an agent that
 * has ended and is written to goes on at once, also while one that it needed is at work again.
 */
function tooEarly(events: readonly MimirEvent[]): readonly string[] {
  const begun = new Set<string>();
  return events.flatMap((event, at) => {
    if (event.type !== 'agent.status' || event.status !== 'initializing' || begun.has(event.agent)) return [];
    begun.add(event.agent);
    const { agents } = foldAll(events.slice(0, at));
    const open = (agents.get(event.agent)?.dependsOn ?? []).filter((id) => agents.get(id)?.outcome !== 'completed');
    return open.map((need) => `${event.seq}: ${event.agent} needs ${need}`);
  });
}

/** Tasks without exactly one agent that has ended, of the role and with the needs that the plan says. */
function notAsPlanned(run: TestRun): readonly string[] {
  const { plan, agents } = run.state();
  return (plan?.tasks ?? []).flatMap(({ id, dependsOn, role }) => {
    const [one, ...more] = [...agents.values()].filter(({ taskId }) => taskId === id);
    const known = one?.dependsOn.map((need) => agents.get(need)?.taskId).toSorted();
    const isRight = one?.outcome === 'skipped' || known?.join() === dependsOn.toSorted().join();
    return more.length === 0 && one?.role === role && one.outcome !== null && isRight ? [] : [id];
  });
}

describe('any amendments of a run', () => {
  it('leave what runs the plan that was approved: ids with their tasks, needs before those that need them', async () => {
    let amended = 0;
    const property = fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 10, max: 60 }), fc.array(edit, { minLength: 1, maxLength: 3 })), {
        maxLength: 5,
      }),
      fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 2 }),
      async (changes, failing) => {
        const run = testRun({
          plan: planOf(['a'], ['b', 'a'], ['c'], ['d', 'b', 'c']),
          person: false,
          rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 2 } },
          script: ({ agent, purpose }, n) => {
            if (purpose.is !== 'work') return undefined;
            if (failing.some((number) => agent === `ROOT::S${number}`)) return fault('refused');
            return n === 0 ? calling('read x') : undefined;
          },
        });
        await Promise.all([amendAt(run, new Map(changes)), run.result]);
        amended += run.events().filter(({ type }) => type === 'plan.amended').length;
        const { plan, approvedDigest, finished } = run.state();
        expect(plan === null ? null : planDigest(plan)).toBe(approvedDigest);
        expect(finished?.status).toMatch(/^(completed|failed)$/);
        expect(notAsPlanned(run)).toEqual([]);
        const owners = run.events().flatMap((event) => (event.type === 'agent.created' ? [event.agent] : []));
        expect(new Set(owners).size).toBe(owners.length);
        expect(tooEarly(run.events())).toEqual([]);
        expect(brokenBy(run.events())).toEqual([]);
      },
    );
    await fc.assert(property, { numRuns: 100 });
    // Most that chance makes up is refused; some must not be.
    expect(amended).toBeGreaterThan(4);
  });
});

const agent = fc.integer({ min: 1, max: 7 }).map((number) => AGENT(`ROOT::S${number}`));
/** What a person may say to a run beside a change of its plan. */
const said: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constantFrom('interrupt', 'resume', 'kill', 'retry', 'skip'), agent }),
  fc.record({ do: fc.constant('set model'), agent, model: fc.constantFrom('fast', 'slow', 'none') }),
  fc.record({ do: fc.constant('set budget'), agent, budget: fc.constant({ maxTokens: 500_000 }) }),
  fc.record({
    do: fc.constant('message'),
    to: agent,
    text: fc.constant('hello'),
    delivery: fc.constantFrom('sequential', 'important', 'urgent'),
  }),
);
const order = fc.oneof(said, fc.array(edit, { minLength: 1, maxLength: 3 }));
type Order = Command | readonly PlanEdit[];

/** At each event that is named by its number, all of its orders without a pause between them; who was interrupted goes on. */
async function orderAt(run: TestRun, orders: ReadonlyMap<number, readonly Order[]>): Promise<void> {
  const { controls } = run;
  const given = async (one: Order): Promise<unknown> => {
    if ('do' in one) return controls.submit(one);
    const preview = await controls.previewPlan(one);
    if (!preview.ok) return null;
    const { base, digest } = preview.value;
    return controls.submit({ do: 'amend plan', edits: one, base, digest });
  };
  for await (const { seq } of controls.events(0)) {
    await Promise.all((orders.get(seq) ?? []).map(given));
    for (const { id, status } of run.state().agents.values())
      if (status === 'interrupted') await controls.submit({ do: 'resume', agent: id });
  }
}

describe('any commands in one breath', () => {
  it('end in a whole run of the plan that was approved last', async () => {
    const batches = fc.tuple(fc.integer({ min: 8, max: 60 }), fc.array(order, { minLength: 1, maxLength: 6 }));
    const property = fc.asyncProperty(fc.array(batches, { maxLength: 5 }), async (orders) => {
      const run = testRun({
        plan: planOf(['a'], ['b', 'a'], ['c'], ['d', 'b', 'c']),
        person: false,
        rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 2 } },
        script: ({ purpose }, n) => (purpose.is === 'work' && n === 0 ? calling('read x') : undefined),
      });
      await Promise.all([orderAt(run, new Map(orders)), run.result]);
      const { plan, approvedDigest, finished, unknown } = run.state();
      expect([plan === null ? null : planDigest(plan), unknown]).toEqual([approvedDigest, 0]);
      expect(finished?.status).toMatch(/^(completed|failed)$/);
      expect([notAsPlanned(run), tooEarly(run.events()), brokenBy(run.events())]).toEqual([[], [], []]);
    });
    await fc.assert(property, { numRuns: 60 });
  });
});
