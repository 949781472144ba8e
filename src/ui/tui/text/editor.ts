/**
 * A field to type in, as state and steps: single or several lines, by graphemes, with undo. It decides what a key does to
 * the text; what Enter or Esc lead to is the screen's (it gets null back), and drawing is editor-view.ts.
 */
import { toTerminal } from '../../../app/views/text/sanitise.ts';
import { graphemes, widthOf } from '../../../app/views/text/width.ts';
import type { Input } from '../terminal/terminal.ts';

export interface Editor {
  readonly lines: readonly string[];
  /** Where the cursor stands; `column` counts UTF-16 units of the line and is always between two graphemes. */
  readonly row: number;
  readonly column: number;
  readonly multiline: boolean;
  /** Column (of the terminal) that up and down aim at; null after any other key. */
  readonly goal: number | null;
  /** What the last cut took, for `ctrl-y`. */
  readonly cut: string;
  readonly undo: readonly Snapshot[];
  /** Letters typed in a row are one step of undo. */
  readonly typing: boolean;
  /** Long texts that were pasted: each stands in the lines as its sign, moved over and removed as one letter. */
  readonly folds: readonly Fold[];
}

interface Snapshot {
  readonly lines: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** A field with a text in it, the cursor at its end. */
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

/** The whole text: pasted ones are in it, not their signs. */
export const editorText = ({ lines, folds }: Editor): string => unfolded(lines.join('\n'), folds);

export const isEmpty = (editor: Editor): boolean => editorText(editor) === '';

/**
 * The field after an input; null when the input isn't the field's, such as Enter (a line break is `alt-enter`,
 * `shift-enter` or `ctrl-j`), Esc, Tab, or Up in the first line: the caller takes those for send, cancel, history.
 */
export function edit(editor: Editor, input: Input): Editor | null {
  if (input.is === 'paste') return pasted(editor, toTerminal(input.text));
  if (input.is === 'edited') return replaced(editor, toTerminal(input.text));
  if (input.is !== 'key') return null;
  const step = KEYS[input.key];
  if (step !== undefined) return step(editor);
  return isLetter(input.key) ? insert(editor, toTerminal(input.key), true) : null;
}

/** The field with `text` at the cursor, as one step of undo. */
function insert(editor: Editor, text: string, typed = false): Editor {
  if (text === '') return editor;
  const pieces = (editor.multiline ? text : text.replaceAll('\n', ' ')).split('\n');
  const [before, after] = halves(editor);
  const last = pieces.length - 1;
  const lines = pieces.map((piece, index) => (index === 0 ? before : '') + piece + (index === last ? after : ''));
  const column = (last === 0 ? before.length : 0) + (pieces[last]?.length ?? 0);
  // A blank ends a step, so that undo takes back a word at a time.
  const grows = typed && editor.typing && text !== ' ';
  return settled({
    ...editor,
    lines: editor.lines.toSpliced(editor.row, 1, ...lines),
    row: editor.row + last,
    column,
    goal: null,
    typing: typed,
    undo: grows ? editor.undo : remember(editor),
  });
}

function pasted(editor: Editor, text: string): Editor {
  const fold = editor.multiline ? foldOf(text, editor) : null;
  return fold === null ? insert(editor, text) : insert({ ...editor, folds: [...editor.folds, fold] }, fold.sign);
}

/** What came back from the person's own editor, in the place of all; editors end a file with a line break of their own. */
function replaced(editor: Editor, text: string): Editor {
  const all = openEditor(text.replace(/\n$/, ''), editor.multiline);
  return { ...all, cut: editor.cut, folds: editor.folds, undo: remember(editor) };
}

type Step = (editor: Editor) => Editor | null;

const MOST_UNDO = 100;
const isLetter = (key: string): boolean => !/^(?:ctrl|alt|shift)-./.test(key) && graphemes(key).length === 1;
const newline: Step = (editor) => (editor.multiline ? insert(editor, '\n') : null);
const undo: Step = (editor) => {
  const last = editor.undo.at(-1);
  if (last === undefined) return editor;
  const { lines, row, column } = last;
  return { ...editor, lines, row, column, goal: null, typing: false, undo: editor.undo.slice(0, -1) };
};
const yank: Step = (editor) => insert(editor, editor.cut);
const left: Step = (editor) => at(editor, stepLeft(editor));
const right: Step = (editor) => at(editor, stepRight(editor));
const home: Step = (editor) => at(editor, [editor.row, 0]);
const end: Step = (editor) => at(editor, [editor.row, lineOf(editor).length]);
const first: Step = (editor) => at(editor, [0, 0]);
const last: Step = (editor) => at(editor, [editor.lines.length - 1, editor.lines.at(-1)?.length ?? 0]);
const wordLeft: Step = (editor) => at(editor, toWordStart(editor));
const wordRight: Step = (editor) => at(editor, toWordEnd(editor));
const backspace: Step = (editor) => remove(editor, stepLeft(editor), false);
const forward: Step = (editor) => remove(editor, stepRight(editor), false);
const cutWord: Step = (editor) => remove(editor, toBlank(editor), true);
const cutWordLeft: Step = (editor) => remove(editor, toWordStart(editor), true);
const cutWordRight: Step = (editor) => remove(editor, toWordEnd(editor), true);
const cutToStart: Step = (editor) => remove(editor, editor.column > 0 ? [editor.row, 0] : stepLeft(editor), true);
const cutToEnd: Step = (editor) => {
  const length = lineOf(editor).length;
  return remove(editor, editor.column < length ? [editor.row, length] : stepRight(editor), true);
};

const KEYS: Readonly<Record<string, Step>> = {
  left,
  right,
  home,
  end,
  backspace,
  up: (editor) => vertical(editor, -1),
  down: (editor) => vertical(editor, 1),
  delete: forward,
  'ctrl-b': left,
  'ctrl-f': right,
  'ctrl-a': home,
  'ctrl-e': end,
  'ctrl-h': backspace,
  'ctrl-d': (editor) => (isEmpty(editor) ? null : forward(editor)),
  'ctrl-left': wordLeft,
  'ctrl-right': wordRight,
  'alt-left': wordLeft,
  'alt-right': wordRight,
  'alt-b': wordLeft,
  'alt-f': wordRight,
  'ctrl-home': first,
  'ctrl-end': last,
  'ctrl-w': cutWord,
  'alt-backspace': cutWordLeft,
  'ctrl-backspace': cutWordLeft,
  'alt-d': cutWordRight,
  'ctrl-delete': cutWordRight,
  'ctrl-u': cutToStart,
  'ctrl-k': cutToEnd,
  'ctrl-y': yank,
  'ctrl-_': undo,
  'alt-enter': newline,
  'shift-enter': newline,
  'ctrl-j': newline,
};

type Place = readonly [row: number, column: number];

const lineOf = (editor: Editor): string => editor.lines[editor.row] ?? '';
const halves = (editor: Editor): readonly [string, string] => [
  lineOf(editor).slice(0, editor.column),
  lineOf(editor).slice(editor.column),
];
/** Never inside of what is one character, whatever the text around it became. */
const settled = (editor: Editor): Editor => ({
  ...editor,
  column: outside(editor.folds, lineOf(editor), boundary(lineOf(editor), editor.column)),
});
const at = (editor: Editor, [row, column]: Place): Editor =>
  settled({ ...editor, row, column, goal: null, typing: false });
const remember = ({ undo, lines, row, column }: Editor): readonly Snapshot[] =>
  [...undo, { lines, row, column }].slice(-MOST_UNDO);

/** Takes away what is between the cursor and a place. */
function remove(editor: Editor, to: Place, keep: boolean): Editor {
  const here: Place = [editor.row, editor.column];
  const place: Place = [to[0], outside(editor.folds, editor.lines[to[0]] ?? '', to[1])];
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
    const [before] = halves(editor);
    return [editor.row, editor.column - letterBefore(editor.folds, before).length];
  }
  return editor.row > 0 ? [editor.row - 1, editor.lines[editor.row - 1]?.length ?? 0] : [0, 0];
}

function stepRight(editor: Editor): Place {
  const [, after] = halves(editor);
  if (after !== '') return [editor.row, editor.column + letterBehind(editor.folds, after).length];
  return editor.row < editor.lines.length - 1 ? [editor.row + 1, 0] : [editor.row, editor.column];
}

function toWordStart(editor: Editor): Place {
  const [before] = halves(editor);
  const word = /[\p{L}\p{N}\p{M}_]+[^\p{L}\p{N}\p{M}_]*$/u.exec(before);
  if (word !== null) return [editor.row, word.index];
  return editor.column > 0 ? [editor.row, 0] : stepLeft(editor);
}

function toWordEnd(editor: Editor): Place {
  const [, after] = halves(editor);
  const word = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]+/u.exec(after)?.[0].length;
  if (word !== undefined) return [editor.row, editor.column + word];
  return after === '' ? stepRight(editor) : [editor.row, lineOf(editor).length];
}

/** As `ctrl-w` in a shell: back to the blank before the word, whatever the word is made of. */
function toBlank(editor: Editor): Place {
  const [before] = halves(editor);
  return before === '' ? stepLeft(editor) : [editor.row, before.replace(/\S+\s*$|\s+$/u, '').length];
}

/** Null at the first and last line: history, or the list around the field, take over. */
function vertical(editor: Editor, by: 1 | -1): Editor | null {
  const line = editor.lines[editor.row + by];
  if (line === undefined) return null;
  const goal = editor.goal ?? widthOf(halves(editor)[0]);
  const column = outside(editor.folds, line, unitsAt(line, goal));
  return { ...editor, row: editor.row + by, column, goal, typing: false };
}

/** The place in a line that is nearest to a column of the terminal without being behind it. */
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

/** The last place between two graphemes that is not behind `units`. */
function boundary(line: string, units: number): number {
  let place = 0;
  for (const cluster of graphemes(line)) {
    if (place + cluster.length > units) break;
    place += cluster.length;
  }
  return place;
}

// Long pastes in a field: each stands there as a short sign (`[pasted 42 lines]`), which the cursor jumps over and which is
// removed as one letter, while the field's text holds all of it.

/** A pasted text, and what stands in its place. */
interface Fold {
  readonly sign: string;
  readonly text: string;
}

/** Longer pastes are folded. */
const MOST_LINES = 10;
const MOST_LETTERS = 2000;

/** How a pasted text is folded, by a sign that is nowhere else in the field; null for one that is short enough to stand there. */
function foldOf(
  text: string,
  { lines, folds }: { readonly lines: readonly string[]; readonly folds: readonly Fold[] },
): Fold | null {
  const count = text.split('\n').length;
  if (count <= MOST_LINES && text.length <= MOST_LETTERS) return null;
  const what = count > MOST_LINES ? `${count} lines` : `${text.length} letters`;
  const isTaken = (sign: string): boolean =>
    folds.some((fold) => fold.sign === sign) || lines.some((line) => line.includes(sign));
  let sign = `[pasted ${what}]`;
  for (let more = 2; isTaken(sign); more++) sign = `[pasted ${what}, ${more}]`;
  return { sign, text };
}

/** The text with what was pasted in the place of its signs. */
function unfolded(shown: string, folds: readonly Fold[]): string {
  if (folds.length === 0) return shown;
  const texts = new Map(folds.map(({ sign, text }) => [sign, text]));
  return shown.replaceAll(/\[pasted [^\]\n]+\]/g, (sign) => texts.get(sign) ?? sign);
}

/** The sign right before the cursor as one letter; else the letter itself, empty at the start. */
const letterBefore = (folds: readonly Fold[], before: string): string =>
  folds.find(({ sign }) => before.endsWith(sign))?.sign ?? graphemes(before).at(-1) ?? '';

/** The same behind the cursor. */
const letterBehind = (folds: readonly Fold[], after: string): string =>
  folds.find(({ sign }) => after.startsWith(sign))?.sign ?? graphemes(after)[0] ?? '';

/** A place in a line that is not within a sign: it would be torn. */
function outside(folds: readonly Fold[], line: string, column: number): number {
  for (const { sign } of folds) {
    const start = line.lastIndexOf(sign, column);
    if (start !== -1 && column > start && column < start + sign.length) return start;
  }
  return column;
}
