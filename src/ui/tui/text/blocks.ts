/** Building blocks of screens: bordered boxes with text in their borders, composition of blocks of lines, and long scrolling documents. */
import type { Ink, Line, Span, Style } from '../../../app/views/index.ts';
import { clip, columns, fit, lineWidth, PLAIN, restyle, span, wrap } from '../../../app/views/index.ts';
import type { Size } from '../terminal/terminal.ts';
import type { Glyphs } from './glyphs.ts';

/** A span in one colour. */
export const tint = (text: string, fg: Ink): Span => [text, { fg }];

/** A bold span in one colour. */
export const strong = (text: string, fg: Ink): Span => [text, { fg, bold: true }];

export interface Box {
  readonly width: number;
  readonly height: number;
  readonly glyphs: Glyphs;
  readonly border: 'light' | 'heavy' | 'round';
  readonly style?: Style;
  /** The base style under border and body, such as a dialog's background. */
  readonly fill?: Style;
  /** Texts in the border, padded by blanks; the left one is cut first. */
  readonly title?: Line;
  readonly titleEnd?: Line;
  readonly foot?: Line;
  readonly footEnd?: Line;
  /** A card's texts start at the corners, a pane's one column further (`┌ ● oracle` and `┌─ Log`). */
  readonly kind?: 'card' | 'pane';
  /** The content, cut and padded to `width - 2 - 2 * pad` columns and `height - 2` lines. */
  readonly body: readonly Line[];
  /** Columns between border and body; 1 by default. */
  readonly pad?: number;
}

/** Exactly `height` lines of exactly `width` columns. */
export function box(of: Box): readonly Line[] {
  const { width, height } = of;
  if (width < 2 || height < 2) return Array.from({ length: Math.max(0, height) }, () => fit([], width));
  const { topLeft, topRight, bottomLeft, bottomRight } = of.glyphs[of.border];
  const pane = of.kind !== 'card';
  const top = edge(of, [topLeft, topRight], [of.title ?? [], of.titleEnd ?? []], [pane ? 1 : 0, pane ? 1 : 0]);
  const bottom = edge(of, [bottomLeft, bottomRight], [of.foot ?? [], of.footEnd ?? []], [1, pane ? 1 : 0]);
  return [top, ...Array.from({ length: height - 2 }, (_, row) => bodyLine(of, of.body[row] ?? [])), bottom];
}

/** A box that can have the focus, shown by a heavy, bright border. */
export const pane = ({
  focused,
  ...of
}: Omit<Box, 'border' | 'style'> & { readonly focused: boolean }): readonly Line[] =>
  box({ ...of, border: focused ? 'heavy' : 'light', style: { fg: focused ? 'focus' : 'border' } });

/** The size inside a box. */
export const inside = ({ width, height }: Size, pad = 1): Size => ({
  width: Math.max(0, width - 2 - 2 * pad),
  height: Math.max(0, height - 2),
});

function bodyLine(of: Box, line: Line): Line {
  const side = of.glyphs[of.border].vertical;
  const fill = of.fill ?? PLAIN;
  const style = borderStyle(of);
  const pad = Math.max(0, Math.min(of.pad ?? 1, (of.width - 2) >> 1));
  const gap: Line = pad > 0 ? [[' '.repeat(pad), fill]] : [];
  const room = of.width - 2 - 2 * pad;
  return [[side, style], ...gap, ...restyle(fit(line, room, fill), fill), ...gap, [side, style]];
}

/** One border line: corner, `inset` strokes, text, strokes, text, `inset` strokes, corner. */
function edge(
  of: Box,
  [left, right]: readonly [string, string],
  [start, end]: readonly [Line, Line],
  [before, after]: readonly [number, number],
): Line {
  const style = borderStyle(of);
  const stroke = of.glyphs[of.border].horizontal;
  const room = Math.max(0, of.width - 2 - before - after);
  // Narrower than its insets: the bare border in the exact width.
  if (of.width - 2 < before + after + 3) return [[left + stroke.repeat(of.width - 2) + right, style]];
  const endText = spaced(clip(end, Math.max(0, room - 2)), style);
  const rest = room - lineWidth(endText);
  // A text of one letter and an ellipsis says nothing; the border is better.
  const startText = rest >= 5 ? spaced(clip(start, rest - 3), style) : [];
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

/** Columns of a label. */
export const LABEL = 10;

/** A label, its value and its key. Null or empty leaves the fact out; without a label it continues the one above. */
export type Fact = readonly [label: string, value: Line | string | null, key?: string | undefined];

/** The facts with their wrapped values beside the labels, in lines of at most `width` columns. */
export const factLines = (facts: readonly Fact[], width: number): readonly Line[] =>
  facts.flatMap(([label, value, key = '']) => {
    if (value === null || value.length === 0) return [];
    const line = typeof value === 'string' ? [tint(value, 'fg')] : value;
    return wrap(key === '' ? line : [...line, tint(`  ${key}`, 'focus')], Math.max(1, width - LABEL)).map((part, row) =>
      clip([tint((row === 0 ? label : '').padEnd(LABEL), 'faint'), ...part], width),
    );
  });

/** `height` empty lines of `width` columns. */
export const blank = (width: number, height: number): readonly Line[] =>
  Array.from({ length: Math.max(0, height) }, (): Line => [span(' '.repeat(Math.max(0, width)))]);

/** Exactly `height` lines of exactly `width` columns: cut at the end, padded with empty lines. */
export const sized = (lines: readonly Line[], width: number, height: number): readonly Line[] =>
  height <= 0
    ? []
    : [...lines.slice(0, height).map((line) => fit(line, width)), ...blank(width, height - lines.length)];

/** Draws `block` over `base` at column x, row y, clipped. Lines keep their width. */
export const overlay = (base: readonly Line[], block: readonly Line[], x: number, y: number): readonly Line[] =>
  base.map((line, row) => {
    const over = block[row - y];
    if (over === undefined) return line;
    const width = lineWidth(line);
    const from = Math.max(0, x);
    const to = Math.min(width, x + lineWidth(over));
    if (from >= to) return line;
    return [...columns(line, 0, from), ...columns(over, from - x, to - x), ...columns(line, to, width)];
  });

/** Places blocks side by side, padded to their widths and the greatest height. */
export function beside(
  ...blocks: readonly { readonly lines: readonly Line[]; readonly width: number }[]
): readonly Line[] {
  const height = Math.max(0, ...blocks.map(({ lines }) => lines.length));
  const exact = blocks.map(({ lines, width }) => sized(lines, width, height));
  return Array.from({ length: height }, (_, row) => exact.flatMap((lines) => lines[row] ?? []));
}

export interface Part {
  /** The index of the selectable item: a block, a call, a file. Null for other parts. */
  readonly item: number | null;
  readonly lines: readonly Line[];
}

/** A long text of parts, from which only the visible lines are taken. */
export interface Doc {
  readonly parts: readonly Part[];
  /** The first line of each part. */
  readonly starts: readonly number[];
  readonly total: number;
  /** The first item that is laid out; those before it follow in the next frames. 0 if complete. */
  readonly front: number;
}

/** The separator of parts. */
export const GAP: Part = { item: null, lines: [[]] };

export function docOf(parts: readonly Part[], front = 0): Doc {
  const starts: number[] = [];
  let total = 0;
  for (const { lines } of parts) {
    starts.push(total);
    total += lines.length;
  }
  return { parts, starts, total, front };
}

/** Lines as one part that cannot be selected. */
export const docOfLines = (lines: readonly Line[]): Doc => docOf([{ item: null, lines }]);

/** Lines `from` to `to`, each with its item. */
export function linesOf(
  doc: Doc,
  from: number,
  to: number,
): readonly { readonly line: Line; readonly item: number | null }[] {
  const out: { line: Line; item: number | null }[] = [];
  for (let at = partAt(doc, from); at < doc.parts.length; at++) {
    const part = doc.parts[at];
    const start = doc.starts[at] ?? 0;
    if (part === undefined || start >= to) break;
    for (let row = Math.max(from, start); row < Math.min(to, start + part.lines.length); row++)
      out.push({ line: part.lines[row - start] ?? [], item: part.item });
  }
  return out;
}

function partAt({ starts }: Doc, line: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= line) low = middle;
    else high = middle;
  }
  return low;
}

/** The lines of an item, `to` exclusive; null if it does not exist. */
export function placeOf(doc: Doc, item: number): { readonly from: number; readonly to: number } | null {
  const at = doc.parts.findIndex((part) => part.item === item);
  const from = doc.starts[at];
  return from === undefined ? null : { from, to: from + (doc.parts[at]?.lines.length ?? 0) };
}

/** The items in order. */
export const itemsOf = ({ parts }: Doc): readonly number[] =>
  parts.flatMap(({ item, lines }) => (item === null || lines.length === 0 ? [] : [item]));

/** The last item that starts in these lines, otherwise the one that covers them, or null. */
export function itemWithin(doc: Doc, from: number, to: number): number | null {
  for (let at = partAt(doc, Math.max(from, to - 1)); at >= 0; at--) {
    const part = doc.parts[at];
    if (part !== undefined && part.item !== null && part.lines.length > 0) return part.item;
  }
  return itemsOf(doc)[0] ?? null;
}

/** A scroll bar, one character per row; blank if everything is visible. */
export function scrollBar(top: number, total: number, height: number, sign: string): readonly string[] {
  if (total <= height) return Array.from({ length: height }, () => ' ');
  const size = Math.max(1, Math.round((height * height) / total));
  const from = Math.round((top / Math.max(1, total - height)) * (height - size));
  return Array.from({ length: height }, (_, row) => (row >= from && row < from + size ? sign : ' '));
}

/** The first entry of a window that centres the selected one where possible. */
export const windowTop = (selected: number, count: number, height: number): number =>
  Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));
