/**
 * The live graph, in every shape that a plan can have: as text in files that were looked at, at the sizes that it has on screens
 * of 80x24, 120x40 and 200x60, and in ASCII. And that a plan of hundreds costs a frame no more than what is seen of it.
 */
import { describe, expect, it } from 'vitest';
import { ModelId, RoleName, TaskId } from '../../../../../src/domain/ids.ts';
import { ASCII } from '../../../../../src/ui/tui/text/glyphs.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { remainingOf } from '../../../../../src/ui/tui/components/plan/estimate.ts';
import { runScreen } from '../../../../../src/ui/tui/screens/run/run.ts';
import { withEllipsis } from '../../../../../src/ui/tui/shell/frame.ts';
import { lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { agentAt, graphHeight, graphPane } from '../../../../../src/ui/tui/components/agents/graph.ts';
import { lanesOf } from '../../../../../src/ui/tui/components/plan/list.ts';
import { shaped, type ShapeTask } from '../../../../support/live-graph.ts';
import { contextOf, look } from '../../../../support/look.ts';
import { START } from '../../../../support/recorded-run.ts';

const many = (count: number, needs: (index: number) => readonly number[]): readonly ShapeTask[] =>
  Array.from(
    { length: count },
    (_, index): ShapeTask => [
      index % 2 === 0 ? 'finder' : 'tester',
      needs(index),
      index < count / 3 ? 'done' : index < count / 3 + 4 ? 'runs' : 'pending',
    ],
  );

const security = {
  role: RoleName.parse('security'),
  model: { asked: 'sonnet-4.5', used: ModelId.parse('anthropic/claude-sonnet-4-5'), because: null },
  triggers: ['on-write', 'always'],
  onFailure: 'block',
  after: [TaskId.parse('task-2')],
  runs: 1,
  estimatedTokens: 8000,
  estimatedCost: 0.03,
  estimatedSeconds: 40,
  budget: {},
  because: 'managed, policy.yml:3',
} as const;

const SHAPES: Readonly<Record<string, readonly ShapeTask[]>> = {
  chain: [
    ['finder', [], 'done'],
    ['oracle', [1], 'done'],
    ['refactoring', [2], 'runs'],
    ['tester', [3], 'pending'],
  ],
  'fan-out': [
    ['finder', [], 'done'],
    ['oracle', [1], 'runs'],
    ['tester', [1], 'late'],
    ['reviewer', [1], 'held'],
    ['rush', [1], 'pending'],
  ],
  'fan-in': [
    ['finder', [], 'done'],
    ['oracle', [], 'runs'],
    ['librarian', [], 'runs'],
    ['reviewer', [1, 2, 3], 'pending'],
  ],
  diamond: [
    ['finder', [], 'done'],
    ['oracle', [1], 'runs'],
    ['tester', [1], 'done'],
    ['reviewer', [2, 3], 'pending'],
  ],
  'two-components': [
    ['finder', [], 'done'],
    ['oracle', [], 'runs'],
    ['tester', [1], 'asks'],
    ['reviewer', [2], 'pending'],
  ],
  wide: many(14, (index) => (index === 13 ? Array.from({ length: 13 }, (_, at) => at + 1) : [])),
  deep: many(16, (index) => (index === 0 ? [] : [index])),
  forced: [
    ['finder', [], 'done'],
    ['refactoring', [1], 'runs'],
    ['tester', [2], 'pending'],
  ],
  children: [
    ['finder', [], 'done'],
    ['refactoring', [1], 'runs', 2],
    ['reviewer', [2], 'pending'],
  ],
  failures: [
    ['finder', [], 'failed'],
    ['oracle', [1], 'pending'],
    ['tester', [2], 'pending'],
    ['rush', [], 'done'],
  ],
  'left-out': [
    ['finder', [], 'done'],
    ['oracle', [1], 'left out'],
    ['tester', [2], 'pending'],
    ['reviewer', [3], 'pending'],
  ],
  fifty: many(50, (index) => (index < 5 ? [] : [index - 4, ...(index % 7 === 0 ? [index - 1] : [])])),
};

const contextFor = (name: string): Context =>
  contextOf(shaped(SHAPES[name] ?? [], name === 'forced' ? { forced: [security] } : {}).events, {
    now: START + 110_000,
  });

const PLACES = [
  ['80x24', 80, 20],
  ['120x40', 55, 30],
  ['200x60 at the side', 56, 24],
] as const;

describe('the graph of a running plan', () => {
  it.each(Object.keys(SHAPES))('draws %s', async (name) => {
    const context = contextFor(name);
    const selected = [...context.state.agents.values()][2];
    const pictures = [
      ...PLACES.map((place) => [...place, context] as const),
      ['80x24 in ASCII', 80, 20, { ...context, glyphs: ASCII }] as const,
    ];
    const text = pictures.flatMap(([title, width, height, of]) => {
      const lines = withEllipsis(graphPane({ selected, focused: true }, of, width, height), of.glyphs);
      expect(lines.map(lineWidth)).toEqual(Array.from({ length: height }, () => width));
      if (of.glyphs === ASCII) expect(lines.map(plain).join('')).toMatch(/^[\u0020-\u007e]*$/);
      return [title, ...lines.map((line) => plain(line).trimEnd()), ''];
    });
    await expect(`${text.join('\n')}\n`).toMatchFileSnapshot(`./graph/${name}.txt`);
  });

  it('counts no time for what can never run, and none of it as critical', () => {
    const of = (name: string): ReturnType<typeof remainingOf> => remainingOf(contextFor(name).state, START + 110_000);
    expect(of('left-out')).toEqual({ left: null, byTask: new Map(), critical: new Set() });
    expect([...of('failures').byTask.keys()]).toEqual([]);
    expect(of('chain').left).toBe(110_000);
    const begun = shaped([
      ['finder', [], 'failed'],
      ['oracle', [1], 'runs'],
    ]);
    expect(remainingOf(contextOf(begun.events).state, START + 110_000).left).toBe(20_000);
  });

  it('has the agent of a row under the pointer, of a description too, and nobody beside them', () => {
    const { state } = contextFor('children');
    const context = contextFor('children');
    const at = (y: number): string | undefined => agentAt({ selected: undefined, focused: true }, context, 20, y)?.id;
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 19].map(at)).toEqual([
      undefined,
      'ROOT::S1',
      'ROOT::S1',
      'ROOT::S2',
      'ROOT::S2',
      'ROOT::S2::S1',
      'ROOT::S2::S2',
      'ROOT::S3',
      'ROOT::S3',
      undefined,
      undefined,
    ]);
    expect(graphHeight(context, 40)).toBe(10);
    expect(state.plan?.tasks).toHaveLength(3);
  });

  it('stands at the side by itself where it leaves the curve its room, and T puts it away', () => {
    const context = contextFor('diamond');
    const page = pageOf(runScreen, {});
    const size = { width: 200, height: 60 };
    const shown = (keys: readonly string[]): readonly boolean[] => {
      const rows = look(page, context, size, keys).join('\n');
      return [rows.includes('─ Graph '), rows.includes(' by agent ─')];
    };
    expect(shown([])).toEqual([true, true]);
    expect(shown(['T'])).toEqual([false, true]);
    expect(look(page, context, { width: 120, height: 40 }).join('\n')).not.toContain('─ Graph ');
  });

  it('of 500 tasks looks at those that are seen, and lays the lanes out once', () => {
    const context = contextOf(shaped(many(500, (index) => (index < 4 ? [] : [index - 3]))).events, {
      now: START + 110_000,
    });
    let described = 0;
    const { plan } = context.state;
    if (plan === null) throw new Error('no plan');
    const watched = plan.tasks.map((task) =>
      Object.defineProperty({ ...task }, 'description', { get: () => ((described += 1), task.description) }),
    );
    const state = { ...context.state, plan: { ...plan, tasks: watched } };
    const draw = (): readonly unknown[] =>
      graphPane({ selected: undefined, focused: true }, { ...context, state }, 120, 40);
    draw();
    const lanes = lanesOf(watched);
    described = 0;
    expect(draw()).toHaveLength(40);
    expect(described).toBeLessThanOrEqual(38);
    expect(lanesOf(watched)).toBe(lanes);
  });
});
