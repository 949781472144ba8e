/** What `mimir plan` says beside the plan: what it will probably use, and what it would cost with other models. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import { readDraft } from '../../../src/domain/plan/check-plan.ts';
import { ModelId, RoleName } from '../../../src/domain/ids.ts';
import { learnedFrom } from '../../../src/domain/plan/calibration.ts';
import type { PlanChoices } from '../../../src/domain/plan/plan.ts';
import type { RunState } from '../../../src/events/state.ts';
import { EMPTY } from '../../../src/events/state.ts';
import { planJson } from '../../../src/cli/plan-file.ts';
import { planLines } from '../../../src/app/reports/plan-lines.ts';
import { outlookLines, outlookOf } from '../../../src/app/reports/plan-lines.ts';
import { CHOICES, planOf } from '../../support/plans.ts';

/** 4000 tokens at $0.0072 and 20 000 at $0.108. */
const PLAN = planOf({
  reason: 'two',
  tasks: [
    { id: 'a', description: 'look', role: 'finder', estimatedTokens: 4000 },
    { id: 'b', description: 'judge', role: 'reviewer', estimatedTokens: 20_000, dependsOn: ['a'] },
  ],
});
const stateWith = (more: Partial<RunState> = {}, choices: PlanChoices = CHOICES): RunState => ({
  ...EMPTY,
  plan: PLAN,
  choices,
  maxParallel: 4,
  ...more,
});

describe('the outlook of a plan', () => {
  it('is a line of the range and one on other models', () => {
    expect(outlookLines(stateWith())).toEqual([
      'Range: $0.07 to $0.20, 14k to 41k tokens, 43s to 2m 2s (no history)',
      'What if: cheap $0.04, 40s (1 task changes); balanced: no change; best $0.13, 1m 18s (1 task changes)',
    ]);
  });

  it('says from how many runs it knows, and where a budget may not do', () => {
    const samples = Array.from({ length: 7 }, (_, index) => ({
      run: `run-${index}`,
      role: RoleName.parse('finder'),
      model: ModelId.parse('anthropic/haiku-4.5'),
      tokens: 2,
      seconds: 1,
      cost: 2,
    }));
    const [likely] = outlookLines(
      stateWith({ budget: { maxCost: 0.3 } }, { ...CHOICES, learned: learnedFrom(samples) }),
    );
    expect(likely).toContain('(from 7 runs); may exceed the budget');
    const [over] = outlookLines(stateWith({ budget: { maxTokens: 10_000 } }));
    expect(over).toContain('; over the budget');
  });

  it('stands under the total until the plan is approved', () => {
    const lines = (state: RunState): string => planLines(state, new Chalk({ level: 0 })).join('\n');
    expect(lines(stateWith())).toContain('Range: ');
    expect(lines(stateWith({ approvedDigest: 'd' }))).not.toContain('Range: ');
    expect(outlookLines({ ...EMPTY, plan: PLAN })).toEqual([]);
  });

  it('is beside the plan for programs, and the print is still a plan', () => {
    const outlook = outlookOf(stateWith());
    expect(outlook).toMatchObject({
      estimate: { tokens: { low: 14_400, likely: 24_000, high: 40_800 }, runs: 0, because: 'no history' },
      whatIf: [
        { name: 'cheap', same: false, cost: 0.0432, models: { b: 'anthropic/haiku-4.5' } },
        { name: 'balanced', same: true, models: {} },
        { name: 'best', same: false, models: { a: 'anthropic/sonnet-4.5' } },
      ],
    });
    const read = readDraft(JSON.parse(planJson('Look around', PLAN, outlook)));
    expect(read.ok && planOf(read.value)).toEqual(PLAN);
  });
});
