/** Runs with limits on everybody, answered, killed, raised and lowered in any order: I3 at every event, and all come to an end. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budget.ts';
import { scriptedModel } from '../support/scripted.ts';
import { brokenBy } from '../support/invariants.ts';
import { AGENT, calling, RULES, type TestRun, testRun } from '../support/run.ts';
import { throughTime } from '../support/run-looks.ts';
import { type FakeWorld, fakeWorld } from '../support/world.ts';

const CATALOGUE = [
  scriptedModel('scripted/dear', { aliases: ['fast'], price: { input: 15, output: 75 } }),
  scriptedModel('scripted/cheap', { price: { input: 1, output: 5 } }),
  scriptedModel('scripted/cheaper', { price: { input: 0.1, output: 0.4 } }),
];

const budget: fc.Arbitrary<Budget> = fc.record(
  {
    maxTokens: fc.integer({ min: 0, max: 40_000 }),
    maxCost: fc.integer({ min: 0, max: 400_000 }).map((micro) => micro / 1e6),
    maxDuration: fc.integer({ min: 1000, max: 20_000 }),
  },
  { requiredKeys: [] },
);

type Act =
  | { readonly is: 'answer'; readonly text: string; readonly allow: boolean }
  | { readonly is: 'kill' | 'interrupt'; readonly agent: number }
  | { readonly is: 'budget'; readonly agent: number; readonly budget: Budget };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      is: fc.constant('answer'),
      text: fc.constantFrom('', 'add', 'add', 'add 10k', '0.5', '1M', 'finish', 'cheaper', 'cheaper', 'stop', 'what?'),
      allow: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constantFrom('kill', 'interrupt'), agent: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('budget'), agent: fc.nat({ max: 5 }), budget }) },
);

async function perform(run: TestRun, world: FakeWorld, one: Act): Promise<void> {
  const at = (n: number): ReturnType<typeof AGENT> => AGENT(n === 0 ? 'ROOT' : `ROOT::S${n}`);
  if (one.is === 'budget') await run.tell({ do: 'set budget', agent: at(one.agent), budget: one.budget });
  else if (one.is !== 'answer') {
    await run.tell({ do: one.is, agent: at(one.agent) });
    await world.sleep(10);
    // Else the run would wait for that, as it should.
    if (one.is === 'interrupt') await run.tell({ do: 'resume', agent: at(one.agent) });
  } else {
    const [first] = run.state().approvals;
    if (first !== undefined)
      await run.tell({ do: 'answer', approval: first.id, allow: one.allow, scope: 'once', text: one.text });
  }
}

describe('runs at their limits', () => {
  it('I3: promise nothing above a limit and leave nobody waiting, whatever is answered', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ run: budget, agents: fc.array(budget, { minLength: 1, maxLength: 5 }) }),
        fc.array(act, { maxLength: 25 }),
        fc.array(
          fc.record({ input: fc.nat({ max: 4000 }), output: fc.nat({ max: 4000 }), ms: fc.nat({ max: 4000 }) }),
          {
            minLength: 1,
            maxLength: 20,
          },
        ),
        async (limits, acts, replies) => {
          const world = fakeWorld();
          let calls = 0;
          const run = testRun({
            world,
            catalogue: CATALOGUE,
            rules: {
              ...RULES,
              agentBudget: { ...RULES.agentBudget, value: { maxTokens: 60_000, maxCost: 1 } },
              runBudget: { ...RULES.runBudget, value: { maxTokens: 200_000, maxCost: 2 } },
              answerWithin: { ...RULES.maxNestingDepth, value: 60_000 },
              onFailure: { ...RULES.onFailure, value: 'skip' },
            },
            runBudget: limits.run,
            plan: {
              tasks: limits.agents.map((own, n) => ({ id: `t${n}`, description: 'do', role: 'finder', budget: own })),
            },
            script: async ({ purpose }) => {
              const { ms, ...usage } = replies[calls++ % replies.length] ?? { ms: 0, input: 0, output: 0 };
              await world.sleep(ms);
              return purpose.is === 'work' && calls < 30 ? { ...calling(`read ${calls}`), usage } : undefined;
            },
          });
          const meanwhile = (async () => {
            for (const one of acts) {
              await world.sleep(1500);
              await perform(run, world, one);
            }
          })();
          await throughTime(run, world);
          await world.advance(200_000);
          await meanwhile;
          const state = run.state();
          expect(brokenBy(run.events())).toEqual([]);
          expect(state.approvals).toEqual([]);
          expect([...state.agents.values()].flatMap(({ open }) => open)).toEqual([]);
          expect(world.sleepers()).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});
