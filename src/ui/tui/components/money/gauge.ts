/** Gauges, meters and sparklines: one row each, readable without colour, coloured by how near the limit is. */
import type { LimitShare } from '../../../../app/views/spending/spending.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Glyphs } from '../../text/glyphs.ts';

/** The colour of a used share: amber from 80 %, red at 100 %. */
export const inkOfShare = (share: number): Ink => (share >= 1 ? 'err' : share >= 0.8 ? 'warn' : 'focus');

/**
 * `▰▰▱··` of `cells` columns: what is spent is solid and what is reserved hollow, so that the solid part never runs backwards. An
 * empty gauge means less than half a cell.
 */
export function gauge({ spent, reserved }: LimitShare, cells: number, glyphs: Glyphs): Line {
  const upTo = (share: number): number => Math.max(0, Math.min(cells, Math.round(share * cells)));
  const full = upTo(spent);
  const hollow = upTo(spent + reserved) - full;
  const [solid, open, free] = glyphs.gauge;
  return [
    span(solid.repeat(full), { fg: inkOfShare(spent) }),
    span(open.repeat(hollow), { fg: 'muted' }),
    span(free.repeat(cells - full - hollow), { fg: 'faint' }),
  ];
}

/** `━━━╸──` of `cells` columns, in `ink`. */
export function meter(share: number, cells: number, ink: Ink, glyphs: Glyphs): Line {
  const halves = Math.max(share > 0 ? 1 : 0, Math.min(2 * cells, Math.round(share * 2 * cells)));
  const [full, half, rest] = glyphs.meter;
  const bar = full.repeat(halves >> 1) + (halves % 2 === 1 ? half : '');
  return [span(bar, { fg: ink }), span(rest.repeat(Math.max(0, cells - ((halves + 1) >> 1))), { fg: 'border' })];
}

/** `▁▃▆`, one column a step; a step of nothing is a blank. */
export function sparkline(steps: readonly number[], glyphs: Glyphs): string {
  const most = Math.max(1, ...steps);
  const signs = glyphs.spark;
  return steps
    .map((step) =>
      step <= 0 ? ' ' : (signs[Math.min(signs.length - 1, Math.floor((step / most) * signs.length))] ?? ' '),
    )
    .join('');
}
