/** Tables of Markdown: columns as wide as they need, narrower where the pane is, cells wrapped; very narrow as a list. */
import type { Tokens } from 'marked';
import { fit, lineWidth, plain, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { inline, splitLines, type Page } from './inline.ts';

/** Below this a column says nothing. */
const NARROWEST = 5;
const BETWEEN = 3;

/** As many lines as it takes, at most `width` columns each. */
export function tableLines(table: Tokens.Table, width: number, page: Page): readonly Line[] {
  const bold: Page = { ...page, style: { fg: 'title', bold: true } };
  const header = table.header.map(({ tokens }) => inline(tokens, bold));
  const rows = table.rows.map((row) => row.map(({ tokens }) => inline(tokens, page)));
  const room = width - BETWEEN * (header.length - 1);
  if (room < NARROWEST * header.length) return asList(header, rows, width);
  const widths = widthsOf(header, rows, room);
  const { light, lane } = page.glyphs;
  const line = widths.map((size) => light[4].repeat(size)).join(`${light[4]}${lane[2]}${light[4]}`);
  const drawn = (cells: readonly Line[]): readonly Line[] => rowLines(cells, widths, table.align, light[5]);
  return [...drawn(header), [span(line, { fg: 'border' })], ...rows.flatMap(drawn)];
}

/** All that is in a column where that fits. Else its name is wrapped first: it stands there once, what is below it in every row. */
function widthsOf(header: readonly Line[], rows: readonly (readonly Line[])[], room: number): readonly number[] {
  const below = header.map((_, column) => Math.max(1, ...rows.map((row) => lineWidth(row[column] ?? []))));
  const wanted = header.map((cell, column) => Math.max(below[column] ?? 1, lineWidth(cell)));
  if (sumOf(wanted) <= room) return wanted;
  const least = header.map((cell, column) => Math.max(below[column] ?? 1, longestWord(cell)));
  const over = sumOf(wanted) - room;
  // No more of the names is wrapped than it takes.
  const spare = wanted.map((each, column) => each - (least[column] ?? each));
  if (sumOf(spare) >= over) return given(wanted, spare, over);
  return shared(least, room);
}

/** `wanted` less `over` in all, taken where the most can be spared. */
function given(wanted: readonly number[], spare: readonly number[], over: number): readonly number[] {
  const [widths, left] = [[...wanted], [...spare]];
  for (let more = over; more > 0; more--) {
    const most = left.indexOf(Math.max(...left));
    widths[most] = (widths[most] ?? 1) - 1;
    left[most] = (left[most] ?? 0) - 1;
  }
  return widths;
}

const sumOf = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0);
const longestWord = (cell: Line): number =>
  Math.max(
    1,
    ...plain(cell)
      .split(/\s+/)
      .map((word) => lineWidth([span(word)])),
  );

/** What each column gets: all it wants where that fits, else the wide ones give. */
function shared(wanted: readonly number[], room: number): readonly number[] {
  const widths = [...wanted];
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

function rowLines(
  cells: readonly Line[],
  widths: readonly number[],
  align: Tokens.Table['align'],
  bar: string,
): readonly Line[] {
  const wrapped = widths.map((size, column) => splitLines(cells[column] ?? []).flatMap((line) => wrap(line, size)));
  const height = Math.max(1, ...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    widths.flatMap((size, column): Line => {
      const cell = aligned(wrapped[column]?.[row] ?? [], size, align[column] ?? null);
      return column === 0 ? cell : [span(` ${bar} `, { fg: 'border' }), ...cell];
    }),
  );
}

function aligned(cell: Line, size: number, align: 'left' | 'right' | 'center' | null): Line {
  const missing = Math.max(0, size - lineWidth(cell));
  const before = align === 'right' ? missing : align === 'center' ? missing >> 1 : 0;
  return fit(before === 0 ? cell : [span(' '.repeat(before)), ...cell], size);
}

/** `Name: value` under each other, rows apart. */
const asList = (header: readonly Line[], rows: readonly (readonly Line[])[], width: number): readonly Line[] =>
  rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [[]]),
    ...row.flatMap((cell, column) => wrap([...(header[column] ?? []), span(': ', { fg: 'faint' }), ...cell], width, 2)),
  ]);
