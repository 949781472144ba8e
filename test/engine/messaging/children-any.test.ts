import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import type { Command } from '../../../src/ports/controls.ts';
import { isFinal } from '../../../src/events/queries.ts';
import { brokenByChildren } from '../../support/children-promises.ts';
import { ask, LEADER, rulesWith, wishOf } from '../../support/children.ts';
import { brokenBy } from '../../support/invariants.ts';
import { cutLog, lengthsOf, memoryLog } from '../../support/log.ts';
import { calling, ROLES, RULES, type Setting, type TestRun, testRun } from '../../support/run.ts';

type Doing = 'spawn' | 'child' | 'message' | 'kill' | 'complete' | 'interrupt';

const act = fc.record({
  do: fc.constantFrom<Doing>(
    ...([
      'spawn',
      'child',
      'child',
      'child',
      'message',
      'message',
      'message',
      'kill',
      'complete',
      'interrupt',
    ] as const),
  ),
  whom: fc.nat({ max: 40 }),
  wait: fc.constantFrom(null, 0),
  delivery: fc.constantFrom('sequential' as const, 'important' as const, 'urgent' as const),
});
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** The act as a command of a person, or of the agent that it is about. */
function commandOf(one: Act, agent: AgentId): readonly [Command, AgentId?] {
  const wish = wishOf('look', { wait: one.wait, role: one.whom % 3 === 0 ? 'leader' : 'explore' });
  switch (one.do) {
    case 'spawn':
      return [{ do: 'spawn', parent: agent, wish }];
    case 'child':
      return [{ do: 'spawn', parent: agent, wish }, agent];
    case 'message':
      return [{ do: 'message', to: agent, text: 'more', delivery: one.delivery }];
    case 'complete':
      return [{ do: 'complete', agent, status: 'completed', message: 'enough' }, agent];
    default:
      return [{ do: one.do, agent }];
  }
}

async function act30(run: TestRun, acts: readonly Act[], turn: () => Promise<unknown>): Promise<void> {
  await run.until(({ agents }) =>
    [...agents.values()].some(({ taskId, iterations }) => taskId !== null && iterations > 0),
  );
  for (const one of acts) {
    await turn();
    const all = [...run.state().agents.values()].filter(({ role }) => one.do !== 'child' || role === 'leader');
    const agent = all[one.whom % all.length]?.id;
    // Whoever asks may wait for slots and answers: nobody waits for it here.
    if (agent !== undefined) void ask(run, ...commandOf(one, agent));
  }
  for (;;) {
    await turn();
    const { agents, finished } = run.state();
    if (finished !== null) return;
    for (const one of agents.values())
      if (one.status === 'interrupted' && !isFinal(one)) void ask(run, { do: 'resume', agent: one.id });
    if (![...agents.values()].some((one) => one.status === 'interrupted' && !isFinal(one))) return;
  }
}

describe('children, however spawns, ends, messages and kills interleave', () => {
  it('are none lost, none told of twice or not at all; slots hold, and the run ends, also when it is cut off anywhere and resumed (S130 to S132, S151, S158)', async () => {
    const seen = { children: 0, revived: 0, adopted: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(act, { minLength: 10, maxLength: 30 }),
        fc.constantFrom('adopt' as const, 'kill' as const, 'keep' as const),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(),
        async (scheduler, acts, orphans, slots, cut) => {
          const turn = (): Promise<unknown> => scheduler.schedule(Promise.resolve());
          const lengths: number[] = [];
          const setting: Setting = {
            plan: {
              reason: '',
              tasks: ['a', 'b'].map((id) => ({ id, description: id, role: 'leader', maySpawn: true })),
            },
            mode: 'yolo',
            person: false,
            roles: [...ROLES, LEADER],
            rules: rulesWith({ orphans }, { maxParallelAgents: { ...RULES.maxParallelAgents, value: slots } }),
          };
          const run = testRun({
            ...setting,
            log: lengthsOf(memoryLog(), lengths),
            script: async ({ agent, purpose }, n) => {
              await turn();
              if (purpose.is !== 'work') return undefined;
              return (agent.length + n) % 7 !== 6 ? calling(`read ${n}`) : undefined;
            },
          });
          await scheduler.waitFor(Promise.all([act30(run, acts, turn), run.result]));
          const events = run.events();
          expect([brokenByChildren(events, true), brokenBy(events)]).toEqual([[], []]);
          // Cut off anywhere, it comes to its end as well.
          const before = events.slice(0, lengths[cut % (lengths.length - 1)]);
          const resumed = testRun({ ...setting, log: cutLog(run.options.session, before) });
          await resumed.result;
          expect([brokenByChildren(resumed.events(), true), brokenBy(resumed.events())]).toEqual([[], []]);
          const { agents } = run.state();
          seen.children += [...agents.values()].filter(({ spawned }) => spawned !== null).length;
          seen.adopted += events.filter(({ type }) => type === 'agent.adopted').length;
          seen.revived +=
            events.filter((event) => event.type === 'agent.status' && event.status === 'initializing').length -
            agents.size +
            1;
        },
      ),
      { numRuns: 60 },
    );
    expect(
      Object.values(seen).every((count) => count > 0),
      JSON.stringify(seen),
    ).toBe(true);
  });
});
