/** The help: every key of the screen and of the app, made from their tables; side by side where the terminal is wide. */
import type { HelpPart } from '../../frame/keymap.ts';
import type { Input } from '../../terminal/terminal.ts';
import { fit, fitText, lineWidth, span } from '../../../../app/views/text/clip.ts';
import { type Editor, edit, editorText, openEditor } from '../../text/editor.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { wrapText } from '../../../../app/views/text/wrap.ts';
import { closed, stay, type Overlay } from '../../frame/overlay.ts';
import { scrollOverlay } from '../read.ts';

/** Columns that keys take at most; more of them go on in the next row. */
const MOST = 11;

export const helpOverlay = (parts: readonly HelpPart[], notes: readonly string[]): Overlay =>
  open(parts, notes, null, '');

/** `field` is the filter while it is written, `filter` what holds. */
function open(parts: readonly HelpPart[], notes: readonly string[], field: Editor | null, filter: string): Overlay {
  const of = (next: Editor | null, words: string): Overlay => open(parts, notes, next, words);
  const found = matching(parts, filter);
  const linesAt = (width: number): readonly Line[] => [
    ...(field === null && filter === '' ? [] : [filterLine(filter, field !== null), []]),
    ...(found.length === 0 ? [[span('No key does that; Esc shows all.', { fg: 'faint' })]] : []),
    ...helpLines(found, filter === '' ? notes : [], width),
  ];
  const shown = scrollOverlay('Help', linesAt, MOST_COLUMNS * (COLUMN + GAP));
  return wrapped(shown, field, filter, of);
}

/** The list scrolls by itself; letters are the filter's while it is written. */
function wrapped(
  shown: Overlay,
  field: Editor | null,
  filter: string,
  of: (field: Editor | null, filter: string) => Overlay,
): Overlay {
  return {
    ...shown,
    kind: 'help',
    press(input, context, size) {
      const next = filtering(input, field, filter);
      if (next !== null) return stay(of(next.field, next.filter));
      const { overlay } = shown.press(input, context, size);
      return overlay === null ? closed() : stay(wrapped(overlay, field, filter, of));
    },
    hints: (context) => [{ keys: '/', hint: 'filter' }, ...shown.hints(context)],
  };
}

/** What an input does to the filter; null when it is not about that. */
function filtering(
  input: Input,
  field: Editor | null,
  filter: string,
): { readonly field: Editor | null; readonly filter: string } | null {
  const key = input.is === 'key' ? input.key : '';
  if (field === null && key === '/') return { field: openEditor(filter), filter };
  if (key === 'esc') return field === null && filter === '' ? null : { field: null, filter: '' };
  if (field === null) return null;
  if (key === 'enter') return { field: null, filter };
  const next = edit(field, input);
  return next === null ? null : { field: next, filter: editorText(next) };
}

const filterLine = (filter: string, writes: boolean): Line => [
  span('/', { fg: 'focus', bold: true }),
  span(filter, { fg: 'fg', bold: true }),
  ...(writes ? [span(' ', { inverse: true })] : []),
];

/** Rows that have every word, in their keys or their sentence. */
function matching(parts: readonly HelpPart[], filter: string): readonly HelpPart[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return parts;
  return parts
    .map(({ title, rows }) => ({
      title,
      rows: rows.filter(({ keys, help }) => words.every((word) => `${keys} ${help}`.toLowerCase().includes(word))),
    }))
    .filter(({ rows }) => rows.length > 0);
}

/** Columns that a sentence is read in comfortably, with its keys; how many of them stand side by side at most. */
const COLUMN = 54;
const GAP = 4;
const MOST_COLUMNS = 3;

/** Lines of at most `width` columns. */
export function helpLines(parts: readonly HelpPart[], notes: readonly string[], width: number): readonly Line[] {
  const columns = Math.max(1, Math.min(MOST_COLUMNS, Math.floor((width + GAP) / (COLUMN + GAP))));
  const each = Math.floor((width + GAP) / columns) - GAP;
  const lines = keyLines(parts, each);
  return [...(columns === 1 ? lines : besides(lines, columns, each)), ...noteLines(notes, width)];
}

const noteLines = (notes: readonly string[], width: number): readonly Line[] =>
  notes.flatMap((note) => [[], ...wrapText(note, width, { fg: 'muted' })]);

/** As in a newspaper: down the first column, then down the next. No column begins with an empty row. */
function besides(lines: readonly Line[], columns: number, each: number): readonly Line[] {
  const rows = Math.ceil(lines.length / columns);
  const parts = Array.from({ length: columns }, (_, at) => lines.slice(at * rows, (at + 1) * rows));
  const shown = parts.map((part) => (part[0]?.length === 0 ? part.slice(1) : part));
  return Array.from(
    { length: rows },
    (_, row): Line =>
      shown.flatMap(
        (part, at): Line => [...fit(part[row] ?? [], each), ...(at < columns - 1 ? [span(' '.repeat(GAP))] : [])],
      ),
  );
}

function keyLines(parts: readonly HelpPart[], width: number): readonly Line[] {
  const most = Math.max(1, Math.min(MOST, width >> 1));
  const keyRows = parts.flatMap(({ rows }) => rows.flatMap(({ keys }) => inRows(keys, most)));
  const column = Math.min(most, Math.max(0, ...keyRows.map((keys) => lineWidth([span(keys)]))));
  return parts.flatMap(({ title, rows }, index): readonly Line[] => [
    ...(index === 0 ? [] : [[]]),
    [span(title, { fg: 'title', bold: true })],
    ...rows.flatMap(({ keys, help }) => entry(inRows(keys, most), help, column, width)),
  ]);
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
