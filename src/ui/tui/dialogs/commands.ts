/** The command palette and the help, both built from the key tables. Unavailable commands show the reason. */
import { go } from 'fuzzysort';
import type { Line } from '../../../app/views/index.ts';
import { clip, fit, fitText, graphemes, lineWidth, span, spread, wrap, wrapText } from '../../../app/views/index.ts';
import type { Entry, HelpPart } from '../frame/keymap.ts';
import { closed, type Overlay, stay } from '../frame/overlay.ts';
import type { Context } from '../frame/screen.ts';
import type { Input } from '../terminal/terminal.ts';
import { edit, type Editor, editorText, openEditor } from '../text/editor.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { listOverlay } from './list.ts';
import { readOverlay } from './message.ts';
import { strong, tint } from '../text/blocks.ts';

/** The entries of the palette, computed for each frame. */
export type Entries = (context: Context) => readonly Entry[];

interface PaletteRow {
  readonly entry: Entry;
  /** The indexes in `entry.help` that the filter matched. */
  readonly marked: ReadonlySet<number>;
}

/** Matches with a lower score are scattered letters. */
const MIN_SCORE = 0.35;
const NOT_AVAILABLE = 'Not available here.';
const GROUP = 11;

export const paletteOverlay = (entries: Entries): Overlay =>
  listOverlay<PaletteRow>({
    title: 'Commands',
    kind: 'palette',
    width: 88,
    placeholder: 'type to filter',
    yes: 'run',
    takes: ['enter'],
    items: (context, filter) => searchEntries(entries(context), filter),
    first: () => 0,
    rows: () => Number.POSITIVE_INFINITY,
    line: ({ entry, marked }, _, { glyphs }, width) => entryLine(entry, marked, glyphs, width),
    below: (one, _, { glyphs }, width) => [
      [tint(glyphs.light.horizontal.repeat(width), 'border')],
      ...detailLines(one, width),
    ],
    take: ({ entry }) =>
      entry.why === null
        ? { stays: false, effect: entry.run() }
        : {
            stays: true,
            effect: { toast: { level: 'info', text: entry.why === '' ? NOT_AVAILABLE : entry.why } },
          },
  });

/** The entries that make sense here, in order; with a filter, the best matches first. */
export function searchEntries(entries: readonly Entry[], filter: string): readonly PaletteRow[] {
  if (filter.trim() === '')
    return entries.filter(({ why }) => why !== '').map((entry) => ({ entry, marked: new Set<number>() }));
  const keys = [(one: Entry) => one.help, (one: Entry) => one.action, (one: Entry) => one.more];
  return go(filter.trim(), entries, { keys, threshold: MIN_SCORE, limit: 0 }).map((result) => ({
    entry: result.obj,
    marked: new Set(result[0]?.indexes ?? []),
  }));
}

/** `Agent  Change budget  finder: $0.04 of $1.00  b`; the reason replaces the value if unavailable. */
function entryLine(entry: Entry, marked: ReadonlySet<number>, glyphs: Glyphs, width: number): Line {
  const { keys, group, help, value, why } = entry;
  const able = why === null;
  // Two blanks, so that a long key such as Shift-Tab does not touch the text before it.
  const key = span(`  ${keys.padStart(4)}`, { fg: able ? 'focus' : 'faint', bold: able });
  const left: Line = [
    ...(width < 50 ? [] : [tint(fitText(group, GROUP), 'faint')]),
    ...highlighted(help, marked, able),
    span('  '),
  ];
  const room = Math.max(0, width - lineWidth(left) - lineWidth([key]) - 1);
  const note = able ? value : why === '' ? '' : `(${why})`;
  const right: Line = [...clip([tint(note, 'muted')], room), key];
  return spread(clip(left, width - lineWidth([key])), right, width);
}

/** The name with matching letters bold and underlined, so that colour is not the only mark. */
function highlighted(text: string, marked: ReadonlySet<number>, able: boolean): Line {
  const ink = able ? 'fg' : 'faint';
  let at = 0;
  return graphemes(text).map((cluster) => {
    const isLit = marked.has(at);
    at += cluster.length;
    return span(cluster, isLit ? { fg: able ? 'title' : 'muted', bold: true, underline: true } : { fg: ink });
  });
}

/** Two rows: why the command is unavailable, a further explanation, or its name for own keys. */
function detailLines(one: PaletteRow | undefined, width: number): readonly Line[] {
  if (one === undefined) return [[], []];
  const { action, why, more } = one.entry;
  const known: Line = [tint(more === '' ? `Rebind as ${action}` : more, more === '' ? 'faint' : 'muted')];
  const not: Line = [strong('Not available: ', 'warn'), tint(why || NOT_AVAILABLE, 'warn')];
  const rows = wrap(why === null ? known : not, width);
  return [
    rows[0] ?? [],
    clip(
      rows.slice(1).flatMap((line) => [...line, span(' ')]),
      width,
    ),
  ];
}

/** The maximum width of the key column; further keys go to the next row. */
const MAX_KEYS = 11;

/** The keys; `field` is their filter, `typing` while it is edited. */
export function helpOverlay(
  parts: readonly HelpPart[],
  notes: readonly string[],
  field: Editor = openEditor(),
  typing: boolean = false,
): Overlay {
  const filter = editorText(field);
  const found = matching(parts, filter);
  const linesAt = (width: number): readonly Line[] => [
    ...(typing || filter !== '' ? [filterLine(filter, typing), []] : []),
    ...(found.length === 0 ? [[tint('No matching keys. Esc clears the filter.', 'faint')]] : []),
    ...helpLines(found, filter === '' ? notes : [], width),
  ];
  const filtered = (shown: Overlay): Overlay => ({
    ...shown,
    kind: 'help',
    press(input, context, size) {
      const next = editFilter(input, field, typing);
      if (next !== null) return stay(helpOverlay(parts, notes, next.field, next.typing));
      const { overlay } = shown.press(input, context, size);
      return overlay === null ? closed() : stay(filtered(overlay));
    },
    hints: (context) => [{ keys: '/', hint: 'filter' }, ...shown.hints(context)],
  });
  return filtered(readOverlay('Help', linesAt, MAX_COLUMNS * (COLUMN + GAP)));
}

/** The filter after an input; null if the input does not concern it. */
function editFilter(
  input: Input,
  field: Editor,
  typing: boolean,
): { readonly field: Editor; readonly typing: boolean } | null {
  const key = input.is === 'key' ? input.key : '';
  if (key === '/' && !typing) return { field, typing: true };
  if (key === 'esc') return typing || editorText(field) !== '' ? { field: openEditor(), typing: false } : null;
  if (!typing) return null;
  if (key === 'enter') return { field, typing: false };
  const next = edit(field, input);
  return next === null ? null : { field: next, typing };
}

const filterLine = (filter: string, writes: boolean): Line => [
  strong('/', 'focus'),
  strong(filter, 'fg'),
  ...(writes ? [span(' ', { inverse: true })] : []),
];

/** The rows whose keys or text contain every word. */
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

/** The width of one column of the help, the gap between them, and their maximum number. */
const COLUMN = 34;
const GAP = 4;
const MAX_COLUMNS = 3;

/** The help as lines of at most `width` columns. */
export function helpLines(parts: readonly HelpPart[], notes: readonly string[], width: number): readonly Line[] {
  const columns = Math.max(1, Math.min(MAX_COLUMNS, Math.floor((width + GAP) / (COLUMN + GAP))));
  const each = Math.floor((width + GAP) / columns) - GAP;
  const lines = keyLines(parts, each);
  return [...(columns === 1 ? lines : inColumns(lines, columns, each)), ...noteLines(notes, width)];
}

const noteLines = (notes: readonly string[], width: number): readonly Line[] =>
  notes.flatMap((note) => [[], ...wrapText(note, width, { fg: 'muted' })]);

/** Arranges lines in newspaper columns. No column starts with an empty row. */
function inColumns(lines: readonly Line[], columns: number, each: number): readonly Line[] {
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
  const most = Math.max(1, Math.min(MAX_KEYS, width >> 1));
  const keyRows = parts.flatMap(({ rows }) => rows.flatMap(({ keys }) => wrapKeys(keys, most)));
  const column = Math.min(most, Math.max(0, ...keyRows.map((keys) => lineWidth([span(keys)]))));
  return parts.flatMap(({ title, rows }, index): readonly Line[] => [
    ...(index === 0 ? [] : [[]]),
    [strong(title, 'title')],
    ...rows.flatMap(({ keys, help }) => entry(wrapKeys(keys, most), help, column, width)),
  ]);
}

function entry(keys: readonly string[], help: string, column: number, width: number): readonly Line[] {
  const room = Math.max(1, width - column - 4);
  const words = wrapText(help, room, { fg: 'fg' });
  return Array.from(
    { length: Math.max(keys.length, words.length) },
    (_, row): Line => [strong(`  ${fitText(keys[row] ?? '', column)}  `, 'focus'), ...(words[row] ?? [])],
  );
}

/** Wraps keys such as `↑ ↓ k j PgUp PgDn` to rows of at most `most` columns. */
function wrapKeys(keys: string, most: number): readonly string[] {
  const rows: string[] = [];
  for (const key of keys.split(' ')) {
    const joined = `${rows.at(-1) ?? ''} ${key}`.trim();
    if (rows.length > 0 && lineWidth([span(joined)]) <= most) rows[rows.length - 1] = joined;
    else rows.push(key);
  }
  return rows;
}
