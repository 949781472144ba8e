/** A text field as an immutable state, edited by graphemes, with undo and folded pastes. Keys it does not use give null. */
import type { Cursor, Line, Style } from '../../../app/views/index.ts';
import { columns, fit, graphemes, PLAIN, rowsIn, toTerminal, widthOf } from '../../../app/views/index.ts';
import type { Input } from '../terminal/terminal.ts';

export interface Editor {
  readonly lines: readonly string[];
  /** The cursor; `column` counts UTF-16 units and lies between two graphemes. */
  readonly row: number;
  readonly column: number;
  readonly multiline: boolean;
  /** The terminal column that up and down aim at; null after any other key. */
  readonly goal: number | null;
  /** The last cut text, for `ctrl-y`. */
  readonly cut: string;
  readonly undo: readonly Snapshot[];
  /** True while typed letters join one step of undo. */
  readonly typing: boolean;
  /** Long pastes: each is a placeholder in the lines, which the cursor treats as one letter. */
  readonly folds: readonly Fold[];
}

interface Snapshot {
  readonly lines: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** A field with a text and the cursor at its end. */
export function openEditor(text = '', multiline = false): Editor {
  const clean = toTerminal(text);
  const lines = multiline ? clean.split('\n') : [clean.replaceAll('\n', ' ')];
  const row = lines.length - 1;
  return {
    lines,
    row,
    column: lines[row]?.length ?? 0,
    multiline,
    goal: null,
    cut: '',
    undo: [],
    typing: false,
    folds: [],
  };
}

/** The whole text, with pastes in place of their placeholders. */
export const editorText = ({ lines, folds }: Editor): string => expandFolds(lines.join('\n'), folds);

export const isEmpty = (editor: Editor): boolean => editorText(editor) === '';

/** The field after an input; null if it is not the field's: Enter (`alt-enter` breaks lines), Esc, Tab, Up in the first line. */
export function edit(editor: Editor, input: Input): Editor | null {
  if (input.is === 'paste') return insertPaste(editor, toTerminal(input.text));
  if (input.is === 'edited') return replaceAllText(editor, toTerminal(input.text));
  if (input.is !== 'key') return null;
  const step = KEYS.get(input.key);
  if (step !== undefined) return step(editor);
  return isLetter(input.key) ? insert(editor, toTerminal(input.key), true) : null;
}

/** Inserts `text` at the cursor as one step of undo. */
function insert(editor: Editor, text: string, typed = false): Editor {
  if (text === '') return editor;
  const pieces = (editor.multiline ? text : text.replaceAll('\n', ' ')).split('\n');
  const [before, after] = splitAtCursor(editor);
  const last = pieces.length - 1;
  const lines = pieces.map((piece, index) => (index === 0 ? before : '') + piece + (index === last ? after : ''));
  const column = (last === 0 ? before.length : 0) + (pieces[last]?.length ?? 0);
  // A blank ends a step, so that undo removes whole words.
  const grows = typed && editor.typing && text !== ' ';
  return alignCursor({
    ...editor,
    lines: editor.lines.toSpliced(editor.row, 1, ...lines),
    row: editor.row + last,
    column,
    goal: null,
    typing: typed,
    undo: grows ? editor.undo : remember(editor),
  });
}

function insertPaste(editor: Editor, text: string): Editor {
  const fold = editor.multiline ? foldOf(text, editor) : null;
  return fold === null ? insert(editor, text) : insert({ ...editor, folds: [...editor.folds, fold] }, fold.sign);
}

/** Replaces the text by that of the user's editor, without the final line break that editors add. */
function replaceAllText(editor: Editor, text: string): Editor {
  const all = openEditor(text.replace(/\n$/, ''), editor.multiline);
  return { ...all, cut: editor.cut, folds: editor.folds, undo: remember(editor) };
}

type Step = (editor: Editor) => Editor | null;
const MAX_UNDO = 100;
const isLetter = (key: string): boolean => !/^(?:ctrl|alt|shift)-./.test(key) && graphemes(key).length === 1;
const newline: Step = (editor) => (editor.multiline ? insert(editor, '\n') : null);
const undo: Step = (editor) => {
  const last = editor.undo.at(-1);
  if (last === undefined) return editor;
  const { lines, row, column } = last;
  return { ...editor, lines, row, column, goal: null, typing: false, undo: editor.undo.slice(0, -1) };
};
const forward: Step = (editor) => remove(editor, stepRight(editor), false);
const cutToStart: Step = (editor) => remove(editor, editor.column > 0 ? [editor.row, 0] : stepLeft(editor), true);
const cutToEnd: Step = (editor) => {
  const length = lineOf(editor).length;
  return remove(editor, editor.column < length ? [editor.row, length] : stepRight(editor), true);
};

const STEPS: readonly (readonly [keys: string, step: Step])[] = [
  ['left ctrl-b', (editor) => at(editor, stepLeft(editor))],
  ['right ctrl-f', (editor) => at(editor, stepRight(editor))],
  ['up', (editor) => vertical(editor, -1)],
  ['down', (editor) => vertical(editor, 1)],
  ['home ctrl-a', (editor) => at(editor, [editor.row, 0])],
  ['end ctrl-e', (editor) => at(editor, [editor.row, lineOf(editor).length])],
  ['ctrl-home', (editor) => at(editor, [0, 0])],
  ['ctrl-end', (editor) => at(editor, [editor.lines.length - 1, editor.lines.at(-1)?.length ?? 0])],
  ['ctrl-left alt-left alt-b', (editor) => at(editor, toWordStart(editor))],
  ['ctrl-right alt-right alt-f', (editor) => at(editor, toWordEnd(editor))],
  ['backspace ctrl-h', (editor) => remove(editor, stepLeft(editor), false)],
  ['delete', forward],
  ['ctrl-d', (editor) => (isEmpty(editor) ? null : forward(editor))],
  ['ctrl-w', (editor) => remove(editor, toBlank(editor), true)],
  ['alt-backspace ctrl-backspace', (editor) => remove(editor, toWordStart(editor), true)],
  ['alt-d ctrl-delete', (editor) => remove(editor, toWordEnd(editor), true)],
  ['ctrl-u', cutToStart],
  ['ctrl-k', cutToEnd],
  ['ctrl-y', (editor) => insert(editor, editor.cut)],
  ['ctrl-_', undo],
  ['alt-enter shift-enter ctrl-j', newline],
];
const KEYS: ReadonlyMap<string, Step> = new Map(
  STEPS.flatMap(([keys, step]) => keys.split(' ').map((key) => [key, step] as const)),
);

type Place = readonly [row: number, column: number];
const lineOf = (editor: Editor): string => editor.lines[editor.row] ?? '';
const splitAtCursor = (editor: Editor): readonly [string, string] => [
  lineOf(editor).slice(0, editor.column),
  lineOf(editor).slice(editor.column),
];
/** Moves the cursor out of a grapheme or a placeholder. */
const alignCursor = (editor: Editor): Editor => ({
  ...editor,
  column: outsideFold(editor.folds, lineOf(editor), boundary(lineOf(editor), editor.column)),
});
const at = (editor: Editor, [row, column]: Place): Editor =>
  alignCursor({ ...editor, row, column, goal: null, typing: false });
const remember = ({ undo, lines, row, column }: Editor): readonly Snapshot[] =>
  [...undo, { lines, row, column }].slice(-MAX_UNDO);

function remove(editor: Editor, to: Place, keep: boolean): Editor {
  const here: Place = [editor.row, editor.column];
  const place: Place = [to[0], outsideFold(editor.folds, editor.lines[to[0]] ?? '', to[1])];
  const back = place[0] < here[0] || (place[0] === here[0] && place[1] < here[1]);
  const [from, until] = back ? [place, here] : [here, place];
  if (from[0] === until[0] && from[1] === until[1]) return at(editor, here);
  const start = (editor.lines[from[0]] ?? '').slice(0, from[1]);
  const rest = (editor.lines[until[0]] ?? '').slice(until[1]);
  const lines = editor.lines.toSpliced(from[0], until[0] - from[0] + 1, start + rest);
  const cut = keep ? between(editor.lines, from, until) : editor.cut;
  return at({ ...editor, lines, cut, undo: remember(editor) }, from);
}

function between(lines: readonly string[], [row, column]: Place, [lastRow, lastColumn]: Place): string {
  if (row === lastRow) return (lines[row] ?? '').slice(column, lastColumn);
  const whole = lines.slice(row + 1, lastRow);
  return [(lines[row] ?? '').slice(column), ...whole, (lines[lastRow] ?? '').slice(0, lastColumn)].join('\n');
}

function stepLeft(editor: Editor): Place {
  if (editor.column > 0) {
    const [before] = splitAtCursor(editor);
    return [editor.row, editor.column - letterBefore(editor.folds, before).length];
  }
  return editor.row > 0 ? [editor.row - 1, editor.lines[editor.row - 1]?.length ?? 0] : [0, 0];
}

function stepRight(editor: Editor): Place {
  const [, after] = splitAtCursor(editor);
  if (after !== '') return [editor.row, editor.column + letterBehind(editor.folds, after).length];
  return editor.row < editor.lines.length - 1 ? [editor.row + 1, 0] : [editor.row, editor.column];
}

function toWordStart(editor: Editor): Place {
  const [before] = splitAtCursor(editor);
  const word = /[\p{L}\p{N}\p{M}_]+[^\p{L}\p{N}\p{M}_]*$/u.exec(before);
  if (word !== null) return [editor.row, word.index];
  return editor.column > 0 ? [editor.row, 0] : stepLeft(editor);
}

function toWordEnd(editor: Editor): Place {
  const [, after] = splitAtCursor(editor);
  const word = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]+/u.exec(after)?.[0].length;
  if (word !== undefined) return [editor.row, editor.column + word];
  return after === '' ? stepRight(editor) : [editor.row, lineOf(editor).length];
}

/** The start of the word before the cursor, as `ctrl-w` in a shell: words are separated by blanks. */
function toBlank(editor: Editor): Place {
  const [before] = splitAtCursor(editor);
  return before === '' ? stepLeft(editor) : [editor.row, before.replace(/\S+\s*$|\s+$/u, '').length];
}

/** Moves the cursor up or down; null at the first and last line, where history or a list takes over. */
function vertical(editor: Editor, by: 1 | -1): Editor | null {
  const line = editor.lines[editor.row + by];
  if (line === undefined) return null;
  const goal = editor.goal ?? widthOf(splitAtCursor(editor)[0]);
  const column = outsideFold(editor.folds, line, unitsAt(line, goal));
  return { ...editor, row: editor.row + by, column, goal, typing: false };
}

/** The last position in a line that is not after a terminal column. */
function unitsAt(line: string, column: number): number {
  let units = 0;
  let width = 0;
  for (const cluster of graphemes(line)) {
    width += widthOf(cluster);
    if (width > column) break;
    units += cluster.length;
  }
  return units;
}

function boundary(line: string, units: number): number {
  let place = 0;
  for (const cluster of graphemes(line)) {
    if (place + cluster.length > units) break;
    place += cluster.length;
  }
  return place;
}

/** A long paste with its placeholder (`[pasted 42 lines]`). */
interface Fold {
  readonly sign: string;
  readonly text: string;
}

const FOLD_LINES = 10;
const FOLD_LENGTH = 2000;

/** Folds a long paste under a unique placeholder; null for a short one. */
function foldOf(text: string, { lines, folds }: Pick<Editor, 'lines' | 'folds'>): Fold | null {
  const count = text.split('\n').length;
  if (count <= FOLD_LINES && text.length <= FOLD_LENGTH) return null;
  const what = count > FOLD_LINES ? `${count} lines` : `${text.length} letters`;
  const isTaken = (sign: string): boolean =>
    folds.some((fold) => fold.sign === sign) || lines.some((line) => line.includes(sign));
  let sign = `[pasted ${what}]`;
  for (let more = 2; isTaken(sign); more++) sign = `[pasted ${what}, ${more}]`;
  return { sign, text };
}

/** Replaces the placeholders by the pasted texts. */
function expandFolds(shown: string, folds: readonly Fold[]): string {
  if (folds.length === 0) return shown;
  const texts = new Map(folds.map(({ sign, text }) => [sign, text]));
  return shown.replaceAll(/\[pasted [^\]\n]+\]/g, (sign) => texts.get(sign) ?? sign);
}

/** The placeholder before the cursor as one letter, otherwise the letter; empty at the start. */
const letterBefore = (folds: readonly Fold[], before: string): string =>
  folds.find(({ sign }) => before.endsWith(sign))?.sign ?? graphemes(before).at(-1) ?? '';

const letterBehind = (folds: readonly Fold[], after: string): string =>
  folds.find(({ sign }) => after.startsWith(sign))?.sign ?? graphemes(after)[0] ?? '';

/** Moves a position out of a placeholder. */
function outsideFold(folds: readonly Fold[], line: string, column: number): number {
  for (const { sign } of folds) {
    const start = line.lastIndexOf(sign, column);
    if (start !== -1 && column > start && column < start + sign.length) return start;
  }
  return column;
}

interface EditorView {
  readonly width: number;
  readonly height: number;
  readonly style?: Style;
  /** Shown faint while the field is empty. */
  readonly placeholder?: string;
  /** Without focus the text is shown from its start. */
  readonly focused?: boolean;
}

/** A field in exactly `height` lines of `width` columns, wrapped or scrolled sideways, and the position of its cursor. */
export function viewEditor(
  editor: Editor,
  { width, height, style = PLAIN, placeholder = '', focused = true }: EditorView,
): { readonly lines: readonly Line[]; readonly cursor: Cursor } {
  if (width < 1 || height < 1) return { lines: [], cursor: { x: 0, y: 0 } };
  const empty = isEmpty(editor) && placeholder !== '';
  const { rows, cursor } = editor.multiline ? wrapEditor(editor, width) : single(editor, width, focused);
  const top = focused ? Math.max(0, Math.min(cursor.y - height + 1, rows.length - height)) : 0;
  // Scrolls only when the cursor would leave at the bottom.
  const shown = rows.slice(top, top + height);
  const lines = Array.from({ length: height }, (_, y): Line => {
    if (empty && y === 0) return fit([[placeholder, { ...style, fg: 'faint' }]], width, style);
    return fit([[shown[y] ?? '', style]], width, style);
  });
  return { lines, cursor: { x: Math.min(cursor.x, width - 1), y: Math.max(0, Math.min(cursor.y - top, height - 1)) } };
}

/** The rows that a field needs at a width. */
export const editorHeight = (editor: Editor, width: number): number =>
  editor.multiline && width > 0 ? wrapEditor(editor, width).rows.length : 1;

interface Rows {
  readonly rows: readonly string[];
  readonly cursor: Cursor;
}

/** One line: the part around the cursor with some text before it. */
function single(editor: Editor, width: number, focused: boolean): Rows {
  const line = editor.lines[0] ?? '';
  const x = widthOf(line.slice(0, editor.column));
  // The cursor may be after the last letter.
  const from =
    focused && widthOf(line) >= width ? Math.max(0, Math.min(x - (width >> 1), widthOf(line) + 1 - width)) : 0;
  const part = columns([[line, PLAIN]], from, from + width);
  return { rows: [part.map(([text]) => text).join('')], cursor: { x: x - from, y: 0 } };
}

function wrapEditor(editor: Editor, width: number): Rows {
  const rows: string[] = [];
  let cursor: Cursor = { x: 0, y: 0 };
  for (const [row, line] of editor.lines.entries()) {
    const top = rows.length;
    const parts = softRows(line, width);
    rows.push(...parts.map(({ text }) => text));
    if (row !== editor.row) continue;
    const y = Math.max(
      0,
      parts.findLastIndex(({ start }) => start <= editor.column),
    );
    const x = widthOf(line.slice(parts[y]?.start ?? 0, editor.column));
    cursor = { x, y: top + y };
    // After the last letter of a full row, the cursor is at the start of the next.
    if (x >= width) {
      if (y === parts.length - 1) rows.push('');
      cursor = { x: 0, y: top + y + 1 };
    }
  }
  return { rows, cursor };
}

/** The rows of a line, which keep every letter, so that the cursor can be at each. */
function softRows(line: string, width: number): readonly { readonly text: string; readonly start: number }[] {
  const letters = graphemes(line);
  return rowsIn(letters, width).map(([from, to]) => ({
    text: letters.slice(from, to).join(''),
    start: letters.slice(0, from).join('').length,
  }));
}
