import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelId, ROOT } from '../../../../../src/domain/ids.ts';
import { sanitiseData } from '../../../../../src/app/views/text/sanitise-state.ts';
import { ASCII, UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { type Line, lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import { FIRST, type PlanUi } from '../../../../../src/ui/tui/screens/plan/ui.ts';
import { withEllipsis } from '../../../../../src/ui/tui/shell/frame.ts';
import { hostileText, soundPlan } from '../../../../support/arbitraries.ts';
import { CHOICES, contextFor, graph, planOf, RACE, RACE_JSON, task } from '../../../../support/plans.ts';
import { approving, contextOf, textOf } from './context.ts';

const oracle: PlanUi = { ...FIRST, selected: task('task-4'), row: 3 };
const golden = (name: string): string => `goldens/${name}.txt`;
const styleOf = (lines: readonly Line[], text: string): unknown =>
  lines.flat().find(([words]) => words.includes(text))?.[1];

describe('the plan screen', () => {
  it.each([
    [80, 24],
    [120, 40],
    [200, 60],
    [40, 10],
  ])('shows list, graph, task, schedule and totals at %i x %i (O100, O101, O110)', async (width, height) => {
    const body = planScreen.body(oracle, contextOf(approving()), { width, height: height - 2 });
    await expect(textOf(body)).toMatchFileSnapshot(golden(`plan-${width}x${height}`));
  });

  it('shows the same in ASCII', async () => {
    const context = contextOf(approving(), { glyphs: ASCII });
    const { lines } = planScreen.body(oracle, context, { width: 80, height: 22 });
    const text = textOf({ lines: withEllipsis(lines, ASCII) });
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
    await expect(text).toMatchFileSnapshot(golden('plan-ascii'));
  });

  it('shows the asked and the used model, and why they differ', () => {
    const because = 'no provider is configured';
    const used = ModelId.parse('offline/analyst');
    const tasks = RACE.tasks.map((each) => ({ ...each, model: { asked: each.model.asked, used, because } }));
    const offline = contextOf(approving({ ...RACE, tasks }));
    const text = textOf(planScreen.body(oracle, offline, { width: 120, height: 38 }));
    expect(text).toContain('haiku-4.5 → offline');
    expect(text).toContain('o3 → offline  M');
    expect(text).toContain(because);
  });

  it('marks what a person edited, and says what it was', () => {
    const before = planOf({
      ...RACE_JSON,
      tasks: RACE_JSON.tasks.map((each) => ({ ...each, recommendedModel: 'gpt-5' })),
    });
    const history = {
      proposal: 'run-7f3a anthropic/opus-4.5 6000',
      plans: [
        { plan: before, digest: 'before' },
        { plan: RACE, digest: approving().planDigest },
      ],
      at: 1,
    };
    const text = textOf(planScreen.body({ ...oracle, history }, contextOf(approving()), { width: 120, height: 38 }));
    expect(text).toContain('oracle  ✎ edited');
    expect(text).toContain('o3  (was gpt-5)  M');
    expect(text).not.toContain('reviewer  ✎ edited');
  });

  it('says in red what is over the cap', () => {
    const over = contextOf(approving(RACE, { budget: { maxCost: 0.5 } }));
    const { lines } = planScreen.body(oracle, over, { width: 80, height: 22 });
    expect(plain(lines.at(-1) ?? [])).toMatch(/^ Estimate 159k tokens {2}≈ \$0\.70 .*✗ \$0\.20 over budget  B raise $/);
    expect([styleOf(lines, '$0.70'), styleOf(lines, 'over budget')]).toMatchObject([{ fg: 'err' }, { fg: 'err' }]);
  });

  it('does not guess a price that is not known', () => {
    const plan = planOf({ tasks: [{ id: 'a', description: 'x', role: 'finder', model: 'qwen-3' }] });
    const text = textOf(planScreen.body(FIRST, contextOf(approving(plan)), { width: 80, height: 22 }));
    expect(text).toContain('at least $0.00');
    expect(text).toContain('$?');
    expect(text).toContain('1 task · 1 stage');
  });

  it('shows the planner at work, its words and its troubles', async () => {
    const state = approving(RACE, {
      phase: 'planning',
      log: [{ at: 0, agent: ROOT, level: 'warn', text: 'model call ended: the stream broke off' }],
    });
    const live = new Map([[ROOT, '{ "reason": "Reading and changing are different kinds of work']]);
    const body = planScreen.body(FIRST, contextOf(state, { live }), { width: 80, height: 22 });
    await expect(textOf(body)).toMatchFileSnapshot(golden('planning'));
  });

  it.each([
    ['anthropic/claude-opus-4-5', 'planned in 6s (opus-4.5)'],
    ['template review (.mimir/plans/review.yml)', 'from template review'],
    ['template explain-how-balanceof-works (plans/x.yml)', 'from template explain-how…'],
  ])('names in its first row what %s made', (planBy, words) => {
    const { right } = planScreen.header(FIRST, contextOf(approving(RACE, { planBy, planMs: 6000 })), 80);
    expect(plain(right).replace(/ · .*/, '')).toBe(words);
  });

  it('can only be looked at once it runs', () => {
    const state = approving(RACE, { phase: 'running', approvedDigest: 'd' });
    const text = textOf(planScreen.body(oracle, contextOf(state), { width: 120, height: 38 }));
    expect(text).toContain('running (read-only)');
    expect(text).toContain('○');
    expect(text).not.toContain('e edit');
  });

  it('scrolls long lists around the selected task, and long texts with Tab', () => {
    const plan = graph('t0', ...Array.from({ length: 48 }, (_, index) => `t${index + 1}:t${index}`));
    const at = { ...FIRST, selected: task('t40'), row: 40 };
    const text = textOf(planScreen.body(at, contextOf(approving(plan)), { width: 80, height: 22 }));
    expect(text).toContain('do t40');
    expect(text).toContain('of 49');
    const below = { ...oracle, pane: 'inspector', scroll: 1000 } as const;
    const small = textOf(planScreen.body(below, contextOf(approving()), { width: 80, height: 22 }));
    expect(small).toContain('in three places.');
  });

  it('has exactly the size it is given, whatever the plan says', () => {
    const size = fc.record({ width: fc.integer({ min: 1, max: 300 }), height: fc.integer({ min: 1, max: 100 }) });
    const ui = fc.record({
      row: fc.nat(60),
      pane: fc.constantFrom('list' as const, 'inspector' as const),
      scroll: fc.nat(40),
      ascii: fc.boolean(),
      phase: fc.constantFrom('approving' as const, 'planning' as const, 'running' as const),
    });
    fc.assert(
      fc.property(soundPlan(50), hostileText, size, ui, (plan, words, size, { row, pane, scroll, ascii, phase }) => {
        const state = sanitiseData(approving({ ...plan, reason: words }, { phase, task: words }));
        const live = new Map([[ROOT, sanitiseData(words)]]);
        const context = contextOf(state, { glyphs: ascii ? ASCII : UNICODE, live });
        const { lines } = planScreen.body({ ...FIRST, row, pane, scroll }, context, size);
        expect(lines.map(lineWidth)).toEqual(Array.from({ length: size.height }, () => size.width));
        expect(lines.map((line) => plain(line)).join('')).not.toMatch(/\p{Cc}/u);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a long plan', () => {
  const long = planOf(
    {
      reason: 'many small steps',
      tasks: Array.from({ length: 500 }, (_, index) => ({
        id: `t${index}`,
        description: `步骤 ${index}: look at a file with a name that is longer than the row of a list could ever hold`,
        role: index % 2 === 0 ? 'finder' : 'tester',
        dependsOn: index < 20 ? [] : [`t${index - 20}`],
      })),
    },
    contextFor({ ...CHOICES, limits: { ...CHOICES.limits, maxTasks: 1000 } }),
  );

  it('folds the lanes that nobody could follow, and cuts nothing without a sign', () => {
    const at = { ...FIRST, selected: task('t250'), row: 250 };
    const text = textOf(planScreen.body(at, contextOf(approving(long)), { width: 120, height: 38 }));
    expect(text).toContain('246-256 of 500');
    expect(text).toContain('│ …  ');
    expect(text).toContain('步骤 250: look at a file with a name that is…');
  });

  it('costs a frame no more than what is on the screen', () => {
    const context = contextOf(approving(long));
    const draw = (row: number): unknown => planScreen.body({ ...FIRST, row }, context, { width: 120, height: 38 });
    draw(0);
    const began = process.cpuUsage().user;
    for (let frame = 0; frame < 50; frame++) draw(frame * 9);
    expect((process.cpuUsage().user - began) / 50).toBeLessThan(25_000);
  });
});
