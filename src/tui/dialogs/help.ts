/** The help: every key of the screen and of the app, made from their tables, in two columns. */
import type { HelpPart } from '../keymap.ts';
import { fitText, lineWidth, span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { wrapText } from '../text/wrap.ts';
import type { Overlay } from './overlay.ts';
import { scrollOverlay } from './read.ts';

/** Columns that keys take at most; more of them go on in the next row. */
const MOST = 11;

export const helpOverlay = (parts: readonly HelpPart[], notes: readonly string[]): Overlay =>
  scrollOverlay('Help', (width) => helpLines(parts, notes, width));

/** Lines of at most `width` columns. */
export function helpLines(parts: readonly HelpPart[], notes: readonly string[], width: number): readonly Line[] {
  const most = Math.max(1, Math.min(MOST, width >> 1));
  const keyRows = parts.flatMap(({ rows }) => rows.flatMap(({ keys }) => inRows(keys, most)));
  const column = Math.min(most, Math.max(0, ...keyRows.map((keys) => lineWidth([span(keys)]))));
  return [
    ...parts.flatMap(({ title, rows }, index): readonly Line[] => [
      ...(index === 0 ? [] : [[]]),
      [span(title, { fg: 'title', bold: true })],
      ...rows.flatMap(({ keys, help }) => entry(inRows(keys, most), help, column, width)),
    ]),
    ...notes.flatMap((note) => [[], ...wrapText(note, width, { fg: 'muted' })]),
  ];
}

/** Keys on the left and what they do on the right, each in as many rows as it takes. */
function entry(keys: readonly string[], help: string, column: number, width: number): readonly Line[] {
  const room = Math.max(1, width - column - 4);
  const words = wrapText(help, room, { fg: 'fg' });
  return Array.from(
    { length: Math.max(keys.length, words.length) },
    (_, row): Line => [
      span(`  ${fitText(keys[row] ?? '', column)}  `, { fg: 'focus', bold: true }),
      ...(words[row] ?? []),
    ],
  );
}

/** `↑ ↓ k j PgUp PgDn` in rows of at most `most` columns. */
function inRows(keys: string, most: number): readonly string[] {
  const rows: string[] = [];
  for (const key of keys.split(' ')) {
    const joined = `${rows.at(-1) ?? ''} ${key}`.trim();
    if (rows.length > 0 && lineWidth([span(joined)]) <= most) rows[rows.length - 1] = joined;
    else rows.push(key);
  }
  return rows;
}
