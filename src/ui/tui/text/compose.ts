/** Puts blocks of lines over, beside and under each other; widths stay exact even where a wide letter is cut. */
import { columns, fit, lineWidth, PLAIN } from '../../../app/views/text/clip.ts';
import type { Line, Style } from '../../../app/views/text/line.ts';

/** `height` empty lines of `width` columns. */
export const blank = (width: number, height: number, style: Style = PLAIN): readonly Line[] =>
  Array.from({ length: Math.max(0, height) }, (): Line => [[' '.repeat(Math.max(0, width)), style]]);

/** Exactly `height` lines of exactly `width` columns: cut at the end, padded with empty lines. */
export const sized = (lines: readonly Line[], width: number, height: number, pad: Style = PLAIN): readonly Line[] =>
  height <= 0
    ? []
    : [...lines.slice(0, height).map((line) => fit(line, width, pad)), ...blank(width, height - lines.length, pad)];

/** `block` over `base` with its upper left corner at column x, row y; what sticks out is cut. Lines keep their width. */
export function overlay(base: readonly Line[], block: readonly Line[], x: number, y: number): readonly Line[] {
  return base.map((line, row) => {
    const over = block[row - y];
    if (over === undefined) return line;
    const width = lineWidth(line);
    const from = Math.max(0, x);
    const to = Math.min(width, x + lineWidth(over));
    if (from >= to) return line;
    return [...columns(line, 0, from), ...columns(over, from - x, to - x), ...columns(line, to, width)];
  });
}

/** Blocks side by side; each is cut or padded to its width and to the height of the highest. */
export function beside(
  ...blocks: readonly { readonly lines: readonly Line[]; readonly width: number }[]
): readonly Line[] {
  const height = Math.max(0, ...blocks.map(({ lines }) => lines.length));
  const exact = blocks.map(({ lines, width }) => sized(lines, width, height));
  return Array.from({ length: height }, (_, row) => exact.flatMap((lines) => lines[row] ?? []));
}
