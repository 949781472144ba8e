/** Copy mode: freezes the screen, moves a cursor over it with keys, and copies the selected text. */
import type { Frame, Line, Style } from '../../../app/views/index.ts';
import { clusterWidth, columns, graphemes, lineWidth, plain, span, widthOf } from '../../../app/views/index.ts';
import type { Hint, OwnKeys } from '../frame/keymap.ts';
import { bind, bindingFor, footerLine, hintsOf, keyLabel, rebind, stepOf } from '../frame/keymap.ts';
import { closed, type Overlay, type OverlayView } from '../frame/overlay.ts';
import type { Binding, Context, Effect } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { sized } from '../text/blocks.ts';
import { edit, type Editor, editorText, openEditor, viewEditor } from '../text/editor.ts';

/** Opens copy mode over a frame; its last row shows the keys of copy mode. */
export function copyOverlay(frame: Frame, own: OwnKeys = {}): Overlay {
  const frozen: Frame = { ...frame, lines: frame.lines.slice(0, -1) };
  const rows = cellsOf(frozen);
  const at = frame.cursor ?? { x: 0, y: rows.length > 1 ? 1 : 0 };
  return open(frozen, moveCursor({ rows, at, mark: null, sought: '', field: null, keys: rebind(COPY_KEYS, own) }, at));
}

const open = (still: Frame, copying: CopyState): Overlay => ({
  title: 'Copy mode',
  kind: 'copy',
  view: (context, size) => view(still, copying, context, size),
  press(input, context) {
    const { ui, ...effect } = press(copying, input, context);
    return ui === undefined ? closed(effect) : { overlay: open(still, ui), effect };
  },
  hints: (context) => hintsIn(copying, context),
});

const hintsIn = (copying: CopyState, context: Context): readonly Hint[] => [
  { keys: `${keyLabel('up', context.glyphs)}${keyLabel('down', context.glyphs)}`, hint: 'move' },
  ...hintsOf(copying.keys, copying, context),
];

/** An effect without a state ends copy mode. */
function press(copying: CopyState, input: Input, context: Context): Effect<CopyState> {
  const { at, field, keys } = copying;
  if (input.is === 'wheel') return { ui: moveCursor(copying, { x: at.x, y: at.y + 3 * input.by }) };
  if (input.is === 'click') return { ui: moveCursor(copying, input) };
  if (field !== null) return { ui: editSearch(copying, field, input) };
  const binding = input.is === 'key' ? bindingFor(keys, input.key) : undefined;
  return input.is === 'key' && binding !== undefined ? binding.run(copying, context, input.key) : { ui: copying };
}

function editSearch(copying: CopyState, field: NonNullable<CopyState['field']>, input: Input): CopyState {
  if (input.is === 'key' && input.key === 'esc') return { ...copying, field: null };
  if (input.is === 'key' && input.key === 'enter') return { ...sought(copying, editorText(field), 1), field: null };
  return { ...copying, field: edit(field, input) ?? field };
}

function copied(copying: CopyState): Effect<CopyState> {
  const text = textOf(copying.rows, selectionOf(copying));
  if (text.trim() === '') return { ui: copying, toast: { level: 'info', text: 'There is no text selected.' } };
  const lines = text.split('\n').length;
  return { app: { copy: text, what: lines === 1 ? 'one line' : `${lines} lines` } };
}

const selectionOf = ({ mark, at }: CopyState): Selection =>
  mark === null ? { from: at, to: at, shape: 'lines' } : { from: mark, to: at, shape: mark.shape };

function view(still: Frame, copying: CopyState, context: Context, { width, height }: Size): OverlayView {
  const selection = copying.mark === null ? null : selectionOf(copying);
  const lines = still.lines.map((line, y) => {
    const row = copying.rows[y] ?? [];
    const found = matches(row, copying.sought).reduce(
      (one, x) => withStyle(one, x, x + widthOf(copying.sought), { underline: true, bold: true }),
      line,
    );
    const part = selection === null ? null : selectedOf(selection, row, y);
    return part === null ? found : withStyle(found, ...part, { fg: 'surface', bg: 'focus', dim: false });
  });
  const { row, cursor } = lastRow(copying, context, width, height);
  return { lines: [...sized(lines, width, Math.max(0, height - 1)), row], cursor: cursor ?? copying.at };
}

function withStyle(line: Line, from: number, until: number, more: Style): Line {
  const width = lineWidth(line);
  const over = columns(line, from, until).map(([text, style]) => span(text, { ...style, ...more }));
  return [...columns(line, 0, from), ...over, ...columns(line, until, width)];
}

function lastRow(
  copying: CopyState,
  context: Context,
  width: number,
  height: number,
): { readonly row: Line; readonly cursor: OverlayView['cursor'] } {
  const { field, at, mark } = copying;
  if (field === null) {
    const place = `${mark === null ? 'COPY' : `COPY ${mark.shape}`} ${at.y + 1}:${at.x + 1}`;
    return { row: footerLine(hintsIn(copying, context), place, width, context.glyphs), cursor: null };
  }
  const shown = viewEditor(field, { width: Math.max(1, width - 2), height: 1, style: { fg: 'fg', bg: 'raised' } });
  const row: Line = [span(' /', { fg: 'focus', bg: 'raised', bold: true }), ...(shown.lines[0] ?? [])];
  return { row: sized([row], width, 1)[0] ?? row, cursor: { x: shown.cursor.x + 2, y: height - 1 } };
}

/** The clusters of a line by column; `''` is the second half of a wide one. */
export type Row = readonly string[];

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** `letters` runs across line ends, `lines` takes whole lines, `block` is a rectangle. */
export type Shape = 'letters' | 'lines' | 'block';

interface Selection {
  readonly from: Place;
  readonly to: Place;
  readonly shape: Shape;
}

export const cellsOf = ({ lines }: Frame): readonly Row[] =>
  lines.map((line) =>
    graphemes(plain(line)).flatMap((cluster) => {
      const width = clusterWidth(cluster);
      return width === 2 ? [cluster, ''] : width === 1 ? [cluster] : [];
    }),
  );

const letterAt = (row: Row, x: number): number => (x > 0 && row[x] === '' ? x - 1 : x);

/** The selected columns of a row, `until` exclusive; null if none. */
function selectedOf(
  { from, to, shape }: Selection,
  row: Row,
  y: number,
): readonly [from: number, until: number] | null {
  const [first, last] = from.y < to.y || (from.y === to.y && from.x <= to.x) ? [from, to] : [to, from];
  if (y < first.y || y > last.y) return null;
  if (shape === 'lines') return [0, row.length];
  if (shape === 'block') return [letterAt(row, Math.min(from.x, to.x)), endOf(row, Math.max(from.x, to.x))];
  return [y === first.y ? letterAt(row, first.x) : 0, y === last.y ? endOf(row, last.x) : row.length];
}

/** The column after the letter at a column. */
const endOf = (row: Row, x: number): number => {
  const start = letterAt(row, x);
  return start + (row[start + 1] === '' ? 2 : 1);
};

/** The selected text without trailing blanks and without the borders of boxes. */
export function textOf(rows: readonly Row[], selection: Selection): string {
  const lines = rows.flatMap((row, y) => {
    const columns = selectedOf(selection, row, y);
    return columns === null ? [] : [row.slice(...columns).join('')];
  });
  return withoutBorders(lines.map((line) => line.trimEnd())).join('\n');
}

const UPRIGHT = /^\s*[│┃] ?/;
const EDGE = /^\s*[╭┌┏╰└┗].*[╮┐┓╯┘┛]\s*$/u;

/** Removes horizontal borders, and vertical ones if all lines have them. */
function withoutBorders(lines: readonly string[]): readonly string[] {
  const texts = lines.length > 1 ? lines.filter((line) => !EDGE.test(line)) : lines;
  const boxed = texts.some((line) => line !== '') && texts.every((line) => line === '' || UPRIGHT.test(line));
  return texts.map((line) => (boxed ? line.replace(UPRIGHT, '') : line).replace(/\s*[│┃▐]$/u, '').trimEnd());
}

/** The next match after `at` in the direction `by`, wrapping around; null if there is none. */
export function find(rows: readonly Row[], search: string, at: Place, by: 1 | -1): Place | null {
  if (search === '') return null;
  const places = rows.flatMap((row, y) => matches(row, search).map((x): Place => ({ x, y })));
  return nearest(places, at, by) ?? places.at(by === 1 ? 0 : -1) ?? null;
}

/** The nearest of the places, which are in reading order, after or before `at`. */
function nearest(places: readonly Place[], at: Place, by: 1 | -1): Place | undefined {
  const isAhead = ({ x, y }: Place): boolean => by * (y === at.y ? x - at.x : y - at.y) > 0;
  return by === 1 ? places.find(isAhead) : places.findLast(isAhead);
}

/** The first columns of the matches in a row, ignoring case. */
function matches(row: Row, sought: string): readonly number[] {
  if (sought === '') return [];
  const text = row.join('').toLowerCase();
  const found: number[] = [];
  for (let at = text.indexOf(sought.toLowerCase()); at !== -1; at = text.indexOf(sought.toLowerCase(), at + 1))
    found.push(columnOf(row, at));
  return found;
}

function columnOf(row: Row, unit: number): number {
  let units = 0;
  const column = row.findIndex((cluster) => {
    units += cluster.length;
    return units > unit;
  });
  return Math.max(0, column);
}

interface CopyState {
  readonly rows: readonly Row[];
  readonly at: Place;
  readonly mark: (Place & { readonly shape: Shape }) | null;
  readonly sought: string;
  readonly field: Editor | null;
  readonly keys: readonly Binding<CopyState>[];
}

export const COPY_KEYS: readonly Binding<CopyState>[] = [
  bind('copy.move', (copying, _, key) => ({ ui: moveCursor(copying, placeFor(copying, key)) })),
  bind('copy.word', (copying, _, key) => ({ ui: moveCursor(copying, wordFrom(copying, key === 'w' ? 1 : -1)) })),
  bind('copy.select', (copying) => ({ ui: startSelection(copying, 'letters') })),
  bind('copy.lines', (copying) => ({ ui: startSelection(copying, 'lines') })),
  bind('copy.block', (copying) => ({ ui: startSelection(copying, 'block') })),
  bind('copy.take', copied),
  bind('copy.search', (copying) => ({ ui: { ...copying, field: openEditor() } })),
  bind('copy.next', (copying, _, key) => ({ ui: sought(copying, copying.sought, key === 'n' ? 1 : -1) })),
  bind('copy.leave', (copying, _, key) =>
    key === 'esc' && copying.mark !== null ? { ui: { ...copying, mark: null } } : {},
  ),
];

/** Searches from the cursor; the cursor stays if there is no match. */
function sought(copying: CopyState, text: string, by: 1 | -1): CopyState {
  const at = find(copying.rows, text, copying.at, by);
  return { ...copying, sought: text, ...(at === null ? {} : { at }) };
}

/** Moves the cursor to a place, limited to the screen and aligned to a letter. */
export function moveCursor(copying: CopyState, { x, y }: Place): CopyState {
  const row = Math.max(0, Math.min(copying.rows.length - 1, y));
  const cells = copying.rows[row] ?? [];
  return { ...copying, at: { x: letterAt(cells, Math.max(0, Math.min(cells.length - 1, x))), y: row } };
}

const startSelection = (copying: CopyState, shape: Shape): CopyState => ({
  ...copying,
  mark: copying.mark?.shape === shape ? null : { ...(copying.mark ?? copying.at), shape },
});

function placeFor({ rows, at }: CopyState, key: string): Place {
  const row = rows[at.y] ?? [];
  switch (key) {
    case 'left':
    case 'h':
      return { x: at.x - 1, y: at.y };
    case 'right':
    case 'l':
      return { x: endOf(row, at.x), y: at.y };
    case 'home':
    case '0':
      return { x: 0, y: at.y };
    case 'end':
    case '$':
      return { x: lastLetter(row), y: at.y };
    case 'g':
      return { x: 0, y: 0 };
    case 'G':
      return { x: 0, y: rows.length - 1 };
    default:
      return { x: at.x, y: at.y + stepOf(key, Math.max(1, rows.length - 1)) };
  }
}

const lastLetter = (row: Row): number =>
  Math.max(
    0,
    row.findLastIndex((cluster) => cluster.trim() !== ''),
  );

const isLetter = (cluster: string | undefined): boolean => cluster !== undefined && /[\p{L}\p{N}_]/u.test(cluster);
const isStart = (row: Row, x: number): boolean => isLetter(row[x]) && !isLetter(row[x - 1]);

/** The next or previous beginning of a word; the cursor's place without one. */
function wordFrom({ rows, at }: CopyState, by: 1 | -1): Place {
  const starts = rows.flatMap((row, y) => row.flatMap((_, x) => (isStart(row, x) ? { x, y } : [])));
  return nearest(starts, at, by) ?? at;
}
