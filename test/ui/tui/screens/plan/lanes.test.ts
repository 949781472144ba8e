import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SoundPlan } from '../../../../../src/domain/plan/plan.ts';
import { waitsFor } from '../../../../../src/domain/plan/writes.ts';
import { ASCII, UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { lanesOf, lanesWidth, MOST_LANES, nodeLine, restLine } from '../../../../../src/ui/tui/components/plan/list.ts';
import { lineWidth, plain, span } from '../../../../../src/app/views/text/line.ts';
import { soundPlan } from '../../../../support/arbitraries.ts';
import { graph, RACE } from '../../../../support/plans.ts';

const drawn = (plan: SoundPlan, most = 60): readonly string[] => {
  const { count, rows } = lanesOf(plan.tasks);
  return rows.map((row) => plain(nodeLine(row, count, most, UNICODE, span(UNICODE.node))));
};

/** The sides at which a sign has a stroke. A crossing only leads straight on. */
const SIDES: Readonly<Record<string, string>> = {
  '│': 'ud',
  '─': 'lr',
  '├': 'udr',
  '┤': 'udl',
  '┴': 'ulr',
  '╯': 'ul',
  '•': 'udlr',
};

/** Follows the strokes from a task's sign to the signs above that it is connected with: rows of those tasks. */
function connected(rows: readonly string[], from: number): readonly number[] {
  const found = new Set<number>();
  const signAt = (row: number, x: number): string => rows[row]?.[x] ?? ' ';
  /** Up a lane: what joins it from a side belongs to other tasks. */
  const up = (row: number, x: number): void => {
    const sign = signAt(row, x);
    if (sign === '◆') found.add(row);
    else if (sign === '┼' || SIDES[sign]?.includes('d')) up(row - 1, x);
  };
  const along = (x: number, by: 1 | -1): void => {
    const sign = signAt(from, x);
    const sides = sign === '┼' ? 'lr' : (SIDES[sign] ?? '');
    if (!sides.includes(by === 1 ? 'l' : 'r')) return;
    if (sides.includes('u')) up(from - 1, x);
    if (sides.includes(by === 1 ? 'r' : 'l')) along(x + by, by);
  };
  const x = rows[from]?.indexOf('◆') ?? -1;
  along(x - 1, -1);
  along(x + 1, 1);
  up(from - 1, x);
  return [...found].sort((a, b) => a - b);
}

const needs = (plan: SoundPlan): readonly (readonly number[])[] =>
  plan.tasks.map((one) =>
    [...new Set(waitsFor(one))].map((id) => plan.tasks.findIndex((task) => task.id === id)).sort((a, b) => a - b),
  );
/** Nobody waits for anybody: one column without a line. */
const isFlat = (plan: SoundPlan): boolean => needs(plan).every((one) => one.length === 0);
const followed = (plan: SoundPlan): readonly (readonly number[])[] => {
  const rows = drawn(plan);
  if (isFlat(plan) && rows.every((row) => row === '◆')) return rows.map(() => []);
  return rows.map((_, row) => connected(rows, row));
};

const SHAPES: Readonly<Record<string, SoundPlan>> = {
  alone: graph('a'),
  chain: graph('a', 'b:a', 'c:b', 'd:c'),
  apart: graph('a', 'b', 'c'),
  fork: graph('a', 'b:a', 'c:a', 'd:a'),
  join: graph('a', 'b', 'c', 'd:a,b,c'),
  diamond: graph('a', 'b:a', 'c:a', 'd:b,c'),
  ladder: graph('a', 'b', 'c:a,b', 'd:a,b', 'e:c,d'),
  crossing: graph('a', 'b', 'c:b', 'd:a', 'e:c,d'),
  'long edge': graph('a', 'b', 'c:b', 'd:c', 'e:a,d'),
  'all to all': graph('a', 'b', 'c', 'd:a,b,c', 'e:a,b,c', 'f:a,b,c'),
  'two plans': graph('a', 'b', 'c:a', 'd:b', 'e:c', 'f:d'),
  star: graph('a', 'b:a', 'c', 'd:a,c', 'e:a,b,c,d', 'f:a,e'),
};

describe('the lanes of a plan', () => {
  it('draws the plan of the pictures', () => {
    expect(drawn(RACE)).toEqual([
      '◆      ',
      '│ ◆    ',
      '│ │ ◆  ',
      '├─┼─┼─◆',
      '◆─╯ │ │',
      '│ ◆─┼─┤',
      '◆ │ │ │',
      '├─┼─┼─◆',
      '◆─╯ │ │',
      '◆───┴─╯',
    ]);
  });

  it.each(Object.entries(SHAPES))('connects every task with what it needs and nothing else: %s', (_, plan) => {
    expect(followed(plan)).toEqual(needs(plan));
  });

  it('is one column where nobody waits for anybody: two would look like an order', () => {
    expect(drawn(graph('a', 'b', 'c'))).toEqual(['◆', '◆', '◆']);
  });

  it('connects tasks of any plan with what they wait for and nothing else', () => {
    fc.assert(
      fc.property(soundPlan(30), (plan) => {
        expect(followed(plan)).toEqual(needs(plan));
      }),
    );
  });

  it('is as wide as it says, in both sets of signs, folded or not', () => {
    fc.assert(
      fc.property(soundPlan(40), fc.integer({ min: 1, max: MOST_LANES }), fc.boolean(), (plan, most, ascii) => {
        const glyphs = ascii ? ASCII : UNICODE;
        const { count, rows } = lanesOf(plan.tasks);
        for (const row of rows) {
          const lines = [nodeLine(row, count, most, glyphs, span(glyphs.node)), restLine(row, count, most, glyphs)];
          expect(lines.map(lineWidth)).toEqual(lines.map(() => lanesWidth(count, most)));
          expect(plain(lines[0] ?? [])).toContain(glyphs.node);
        }
      }),
    );
  });

  it('folds the lanes that are too many into one column', () => {
    const plan = graph('a', 'b', 'c', 'd', 'e:a,b,c,d');
    expect(drawn(plan, 2)).toEqual(['◆    ', '│ ◆  ', '│ │ ◆', '│ │ ◆', '◆─┴─…']);
  });
});
