/** A bordered box with text in its border lines: cards, panes and dialogs are all this. */
import type { Glyphs } from './glyphs.ts';
import { clip, fit, lineWidth, PLAIN, restyle } from '../../../app/views/text/clip.ts';
import type { Line, Style } from '../../../app/views/text/line.ts';

export interface Box {
  readonly width: number;
  readonly height: number;
  readonly glyphs: Glyphs;
  readonly border: 'light' | 'heavy' | 'round';
  /** Style of the border itself; plain when left out. */
  readonly style?: Style;
  /** Laid under the border and the body where they say nothing themselves, such as a dialog's background. */
  readonly fill?: Style;
  /** In the border lines. A blank is put on both sides; the left one is cut first when both don't fit. */
  readonly title?: Line;
  readonly titleEnd?: Line;
  readonly foot?: Line;
  readonly footEnd?: Line;
  /** A card's texts stand at the corners, a pane's one column away from them (`┌ ● oracle` and `┌─ Log`). */
  readonly kind?: 'card' | 'pane';
  /** Lines between the borders; cut and padded to `width - 2 - 2 * pad` columns and `height - 2` lines. */
  readonly body: readonly Line[];
  /** Empty columns between border and body; 1 when left out. */
  readonly pad?: number;
}

/** Exactly `height` lines of exactly `width` columns. */
export function box(of: Box): readonly Line[] {
  const { width, height } = of;
  if (width < 2 || height < 2) return Array.from({ length: Math.max(0, height) }, () => fit([], width));
  const [topLeft, topRight, bottomLeft, bottomRight] = of.glyphs[of.border];
  const pane = of.kind !== 'card';
  const top = edge(of, [topLeft, topRight], [of.title ?? [], of.titleEnd ?? []], [pane ? 1 : 0, pane ? 1 : 0]);
  const bottom = edge(of, [bottomLeft, bottomRight], [of.foot ?? [], of.footEnd ?? []], [1, pane ? 1 : 0]);
  return [top, ...Array.from({ length: height - 2 }, (_, row) => bodyLine(of, of.body[row] ?? [])), bottom];
}

/** Columns and lines that are left for the body of a box. */
export const inside = (
  width: number,
  height: number,
  pad = 1,
): { readonly width: number; readonly height: number } => ({
  width: Math.max(0, width - 2 - 2 * pad),
  height: Math.max(0, height - 2),
});

function bodyLine(of: Box, line: Line): Line {
  const side = of.glyphs[of.border][5];
  const fill = of.fill ?? PLAIN;
  const style = borderStyle(of);
  const pad = Math.max(0, Math.min(of.pad ?? 1, (of.width - 2) >> 1));
  const gap: Line = pad > 0 ? [[' '.repeat(pad), fill]] : [];
  const room = of.width - 2 - 2 * pad;
  return [[side, style], ...gap, ...restyle(fit(line, room, fill, of.glyphs.ellipsis), fill), ...gap, [side, style]];
}

/** One border line: corner, `inset` strokes, text, strokes, text, `inset` strokes, corner. */
function edge(
  of: Box,
  [left, right]: readonly [string, string],
  [start, end]: readonly [Line, Line],
  [before, after]: readonly [number, number],
): Line {
  const style = borderStyle(of);
  const stroke = of.glyphs[of.border][4];
  const room = Math.max(0, of.width - 2 - before - after);
  // Narrower than its insets: the bare border, still of the exact width.
  if (of.width - 2 < before + after + 3) return [[left + stroke.repeat(of.width - 2) + right, style]];
  const endText = spaced(clip(end, Math.max(0, room - 2), of.glyphs.ellipsis), style);
  const rest = room - lineWidth(endText);
  // A text of one letter and its ellipsis says nothing; the stroke is better.
  const startText = rest >= 5 ? spaced(clip(start, rest - 3, of.glyphs.ellipsis), style) : [];
  const strokes = room - lineWidth(startText) - lineWidth(endText);
  return [
    [left + stroke.repeat(before), style],
    ...startText,
    [stroke.repeat(strokes), style],
    ...endText,
    [stroke.repeat(after) + right, style],
  ];
}

const borderStyle = (of: Box): Style => ({ ...of.fill, ...of.style });

const bgOf = (style: Style): Style => (style.bg === undefined ? PLAIN : { bg: style.bg });

const spaced = (line: Line, style: Style): Line =>
  line.length === 0 ? [] : [[' ', style], ...restyle(line, bgOf(style)), [' ', style]];
