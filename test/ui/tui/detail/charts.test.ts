/** Curves and bars of a run: in braille once the canvas is there, in signs without it, exactly as wide as asked. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { MOST_POINTS, withSpend } from '../../../../src/events/fold.ts';
import type { SpendPoint } from '../../../../src/events/state.ts';
import { chartsOverlay } from '../../../../src/ui/tui/dialogs/open.ts';
import { ASCII } from '../../../../src/ui/tui/text/glyphs.ts';
import { pageOf } from '../../../../src/ui/tui/frame/keymap.ts';
import { runScreen } from '../../../../src/ui/tui/screens/run/run.ts';
import { loadCanvas } from '../../../../src/ui/tui/terminal/canvas.ts';
import { spendChart } from '../../../../src/ui/tui/components/charts.ts';
import { sidePane } from '../../../../src/ui/tui/components/side.ts';
import { lineWidth, plain } from '../../../../src/app/views/text/line.ts';
import { contextOf } from '../../../support/look.ts';
import { midRun, planned, Recording, started } from '../../../support/recorded-run.ts';

beforeAll(loadCanvas);

describe('the series of what was spent', () => {
  it('ends in the true sum and stays small, however many calls there are', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5000), fc.nat(900)), { maxLength: 1500 }), (calls) => {
        let points: readonly SpendPoint[] = [];
        for (const [index, [micro, tokens]] of calls.entries()) points = withSpend(points, index, micro / 1e6, tokens);
        expect(points.length).toBeLessThanOrEqual(MOST_POINTS);
        expect(points.at(-1)?.tokens ?? 0).toBe(calls.reduce((sum, [, tokens]) => sum + tokens, 0));
        expect(Math.round((points.at(-1)?.cost ?? 0) * 1e6)).toBe(calls.reduce((sum, [micro]) => sum + micro, 0));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the curve', () => {
  it('is braille with an axis of money and one of time', () => {
    const lines = spendChart(contextOf(midRun().events), 50, 14).map(plain);
    expect(lines.slice(0, 12).join('')).toMatch(/[\u2801-\u28ff]{5}/);
    expect(lines[0]).toMatch(/^ \$0\.\d\d /);
    expect(lines[11]).toContain('$0.00 ');
    expect(lines[13]).toMatch(/^ {8}0s +3m 12s$/);
  });

  it('is signs where only ASCII can be shown, and words where nothing was spent', () => {
    const lines = spendChart(contextOf(midRun().events, { glyphs: ASCII }), 50, 14).map(plain);
    expect(lines.filter((line) => /[^\x20-\x7e]/.test(line))).toEqual([]);
    expect(lines[10]).toContain('####');
    const nothing = contextOf(planned(started(new Recording())).events);
    expect(spendChart(nothing, 50, 14).map(plain).join('')).toContain('Nothing spent yet.');
  });
});

describe('the panes of figures', () => {
  it('are exactly as large as asked, at any size', () => {
    const context = contextOf(midRun().events, {
      activity: () => ({ rate: 12, steps: Array.from({ length: 60 }, (_, at) => at) }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 240 }), fc.integer({ min: 1, max: 80 }), (width, height) => {
        for (const lines of [sidePane(context, width, height, false), spendChart(context, width, height)])
          expect(lines.map(lineWidth)).toEqual(Array.from({ length: height }, () => width));
        const { lines } = chartsOverlay().view(context, { width, height });
        expect(new Set(lines.map(lineWidth)).size).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('open by c from any pane of the run', () => {
    const context = contextOf(midRun().events);
    const size = { width: 120, height: 38 };
    const page = pageOf(runScreen, {});
    for (const key of ['c', 'enter', 'c'])
      expect(page.press({ is: 'key', key }, context, size)).toEqual(key === 'c' ? { dialog: { is: 'charts' } } : {});
  });

  it('show every chart of the run, and go back by Esc', () => {
    const context = contextOf(midRun().events);
    const text = chartsOverlay().view(context, { width: 160, height: 60 }).lines.map(plain).join('\n');
    for (const words of ['Spend over time', 'estimated', 'Spend by agent', 'By model', 'Tokens/s', 'Timeline'])
      expect(text).toContain(words);
    expect(chartsOverlay().press({ is: 'key', key: 'esc' }, context, { width: 160, height: 60 }).overlay).toBeNull();
  });
});
