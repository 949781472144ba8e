/** Providers that fail in any order, and a person who interrupts, writes and kills meanwhile: whatever comes, it ends. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../src/domain/budget.ts';
import type { AgentId } from '../../src/domain/ids.ts';
import { committed } from '../../src/events/queries.ts';
import type { ModelFault } from '../../src/ports/model.ts';
import { scriptedModel } from '../support/scripted.ts';
import { throughTime } from '../support/run-looks.ts';
import { AGENT, calling, planOf, RULES, type TestRun, testRun } from '../support/run.ts';
import { type FakeWorld, fakeWorld } from '../support/world.ts';

const AGENTS = [1, 2, 3, 4, 5].map((n) => AGENT(`ROOT::S${n}`));
const SPENT = { input: 40, output: 4, cacheRead: 0, cacheWrite: 0 };
const price = { input: 1, output: 5 };
const CATALOGUE = [
  scriptedModel('scripted/fast', { aliases: ['fast'], outputLimit: 500, price }),
  scriptedModel('other/slow', { aliases: ['slow'], outputLimit: 500, price }),
];

interface Said {
  readonly is: ModelFault['is'] | 'reply' | 'tool';
  readonly takes: number;
}

const said = fc.record<Said>({
  is: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('reply' as const, 'tool' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom<ModelFault['is']>(
        ...(['rate limited', 'overloaded', 'unreachable', 'cut', 'silent', 'malformed', 'refused'] as const),
      ),
    },
  ),
  takes: fc.constantFrom(0, 10, 900, 7000),
});

const act = fc.record({
  do: fc.constantFrom('interrupt', 'kill', 'urgent'),
  agent: fc.constantFrom(...AGENTS),
  at: fc.integer({ min: 0, max: 90_000 }),
});
type Act = { readonly do: string; readonly agent: AgentId; readonly at: number };

/** Does what a person does at their time; who was interrupted is let go on ten seconds later. */
async function person(run: TestRun, world: FakeWorld, acts: readonly Act[]): Promise<void> {
  await Promise.all(
    acts.map(async ({ do: what, agent, at }) => {
      await world.sleep(at);
      if (what === 'urgent') await run.tell({ do: 'message', to: agent, text: 'well?', delivery: 'urgent' });
      if (what === 'kill') await run.tell({ do: 'kill', agent });
      if (what !== 'interrupt') return;
      await run.tell({ do: 'interrupt', agent });
      await world.sleep(10_000);
      await run.tell({ do: 'resume', agent });
    }),
  );
}

describe('a run whose providers fail in any order', () => {
  it('ends, with every agent at its end or left for a resume, no call open, nobody asleep, and all charged (J03, J09)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { minLength: 1, maxLength: 60 }),
        fc.array(act, { maxLength: 6 }),
        fc.constantFrom(undefined, 30_000),
        fc.constantFrom(undefined, 5000),
        async (says, acts, maxDuration, maxTokens) => {
          const world = fakeWorld();
          let calls = 0;
          const run = testRun({
            person: false,
            plan: planOf(['a'], ['b'], ['c', 'a'], ['d'], ['e', 'b']),
            world,
            catalogue: CATALOGUE,
            rules: { ...RULES, onFailure: { ...RULES.onFailure, value: 'skip' } },
            runBudget: {
              ...(maxDuration === undefined ? {} : { maxDuration }),
              ...(maxTokens === undefined ? {} : { maxTokens }),
            },
            scripted: { aborted: SPENT },
            script: async ({ purpose }) => {
              if (purpose.is === 'plan') return undefined;
              const next = says[(calls += 1) - 1] ?? { is: 'reply', takes: 5 };
              if (next.takes > 0) await world.sleep(next.takes);
              if (next.is === 'reply') return { text: 'done', usage: SPENT };
              if (next.is === 'tool') return { ...calling(`read ${calls}`), usage: SPENT };
              return { fault: { is: next.is, message: 'no', spent: SPENT } };
            },
          });
          const meanwhile = person(run, world, acts);
          const { status } = await throughTime(run, world);
          await world.advance(200_000);
          await meanwhile;
          const state = run.state();
          const agents = [...state.agents.values()];
          expect(agents.flatMap(({ open }) => open)).toEqual([]);
          if (status !== 'stopped') expect(agents.filter(({ outcome }) => outcome === null)).toEqual([]);
          expect(state.phase).toBe('finished');
          expect(world.sleepers()).toBe(0);
          const usages = run
            .events()
            .flatMap((event) =>
              (event.type === 'model.finished' || event.type === 'model.failed') && event.usage ? [event.usage] : [],
            );
          const { tokens, reservedTokens } = committed(state, AGENT('ROOT'));
          expect([tokens, reservedTokens]).toEqual([usages.reduce((sum, usage) => sum + tokensOf(usage), 0), 0]);
        },
      ),
      { numRuns: 150 },
    );
  });
});
