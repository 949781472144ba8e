/** Tables of Markdown: columns as wide as they need, narrower where the pane is, cells wrapped; very narrow as a list. */
import type { Tokens } from 'marked';
import { fit, lineWidth, span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';
import { inline, splitLines } from './inline.ts';
import type { Page } from './markdown.ts';

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
  const widths = shared(
    header.map((cell, column) => Math.max(1, ...[cell, ...rows.map((row) => row[column] ?? [])].map(lineWidth))),
    room,
  );
  const { light, lane } = page.glyphs;
  const line = widths.map((size) => light[4].repeat(size)).join(`${light[4]}${lane[2]}${light[4]}`);
  const drawn = (cells: readonly Line[]): readonly Line[] => rowLines(cells, widths, table.align, light[5]);
  return [...drawn(header), [span(line, { fg: 'border' })], ...rows.flatMap(drawn)];
}

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
