import { describe, expect, it } from 'vitest';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { scheduleLines } from '../../../../../src/ui/tui/components/plan/estimate.ts';
import { lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { planOf } from '../../../../support/plans.ts';

/** Tasks one after the other, each of so many tokens. */
const chain = (count: number, estimatedTokens: number): Parameters<typeof scheduleLines>[0]['plan'] =>
  planOf({
    reason: 'because',
    tasks: Array.from({ length: count }, (_, at) => ({
      id: `t${at}`,
      description: 'look there',
      role: 'finder',
      model: 'haiku-4.5',
      estimatedTokens,
      dependsOn: at === 0 ? [] : [`t${at - 1}`],
    })),
  });

describe('the time below the schedule', () => {
  it.each([
    [1, 1_000, 120],
    [3, 90_000, 120],
    [50, 1_000_000_000, 200],
    [50, 1_000_000_000, 30],
  ])('has a few marks, well apart (%i tasks of %i tokens, %i columns)', (count, tokens, width) => {
    const plan = chain(count, tokens);
    const lines = scheduleLines({ plan, maxParallel: 4, selected: 0, focused: true }, width, 12, UNICODE);
    expect(lines.map(lineWidth)).toEqual(lines.map(() => width));
    const marks = plain(lines.at(-1) ?? []);
    expect(marks).toMatch(/^ *0s( {2,}\d+[smh]( \d+s)?)* *$/);
    expect(marks.trim().split(/ {2,}/).length).toBeLessThan(width / 11);
  });
});
