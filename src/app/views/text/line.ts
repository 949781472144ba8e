/** Lines of styled text: measured, clipped, padded, aligned and wrapped by terminal columns. */
import type { Token } from '../../../domain/theme.ts';
import { clusterWidth, graphemes, isSimple, widthOf } from './width.ts';

/** A colour by its meaning: a theme token, or the colour of a role. */
export type Ink = Token | `role:${string}`;

export interface Style {
  readonly fg?: Ink;
  readonly bg?: Ink;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
  /** The target of a hyperlink: a `file:` or `http(s):` address that Mimir built, percent-encoded. */
  readonly link?: string;
}

export type Span = readonly [text: string, style: Style];
export type Line = readonly Span[];

export interface Cursor {
  readonly x: number;
  readonly y: number;
}

/** A whole screen: one line per row of the terminal, each exactly as wide as the screen. */
export interface Frame {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
}

export const PLAIN: Style = {};
export const span = (text: string, style: Style = PLAIN): Span => [text, style];

/** The text of a line without styles. */
export const plain = (line: Line): string => line.map(([text]) => text).join('');

export const lineWidth = (line: Line): number => line.reduce((sum, [text]) => sum + widthOf(text), 0);

/** The line with `under` as the base of each span's style. */
export const restyle = (line: Line, under: Style): Line =>
  line.map(([text, style]): Span => [text, { ...under, ...style }]);

/** Cuts a line to at most `width` columns; a cut line ends in `ellipsis`, styled as the last remaining letter. */
export function clip(line: Line, width: number, ellipsis = '…'): Line {
  if (lineWidth(line) <= width) return line;
  const end = widthOf(ellipsis) <= width ? ellipsis : '';
  const left = slice(line, 0, Math.max(0, width - widthOf(end)), '');
  const style = left.at(-1)?.[1] ?? line[0]?.[1] ?? PLAIN;
  return end === '' ? left : [...left, [end, style]];
}

/** Cuts or pads a line to exactly `width` columns; `pad` styles the padding. */
export function fit(line: Line, width: number, pad: Style = PLAIN): Line {
  const cutLine = clip(line, width);
  const missing = width - lineWidth(cutLine);
  return missing > 0 ? [...cutLine, [' '.repeat(missing), pad]] : cutLine;
}

/** Cuts or pads a text to exactly `width` columns, for tables. */
export function fitText(text: string, width: number, align: 'left' | 'right' = 'left', ellipsis = '…'): string {
  const cutText = plain(clip([[text, PLAIN]], width, ellipsis));
  const missing = ' '.repeat(Math.max(0, width - widthOf(cutText)));
  return align === 'left' ? cutText + missing : missing + cutText;
}

/** Cuts a path to at most `width` columns, at its start. */
export function clipPath(path: string, width: number, ellipsis = '…'): string {
  const whole = widthOf(path);
  const from = whole - Math.max(0, width - widthOf(ellipsis));
  return whole <= width ? path : `${ellipsis}${plain(slice([[path, PLAIN]], from, whole, ' '))}`;
}

/** Places `left` and `right` at the ends of exactly `width` columns. If both do not fit, `left` is cut first. */
export function spread(left: Line, right: Line, width: number): Line {
  const end = clip(right, width);
  const remaining = width - lineWidth(end);
  // One column stays free, otherwise the two texts would read as one word.
  const start = clip(left, Math.max(0, end.length === 0 ? remaining : remaining - 1));
  const gap = remaining - lineWidth(start);
  return gap > 0 ? [...start, [' '.repeat(gap), PLAIN], ...end] : [...start, ...end];
}

/** Cuts or pads a line to exactly `width` columns, with its text at the left, the right or in the middle. */
export function aligned(line: Line, width: number, align: 'left' | 'right' | 'center'): Line {
  const missing = Math.max(0, width - lineWidth(line));
  const before = align === 'right' ? missing : align === 'center' ? missing >> 1 : 0;
  return fit(before === 0 ? line : [[' '.repeat(before), PLAIN], ...line], width);
}

/** Columns `from` to `to` of a line, padded with spaces; half of a wide letter becomes a space. */
export function columns(line: Line, from: number, to: number): Line {
  const spans = slice(line, from, to, ' ');
  const missing = Math.max(0, to - from) - lineWidth(spans);
  return missing > 0 ? [...spans, [' '.repeat(missing), PLAIN]] : spans;
}

/** The spans between two columns; each column of a wide letter that is cut becomes `half`. */
function slice(line: Line, from: number, to: number, half: '' | ' '): Line {
  const spans: Span[] = [];
  let x = 0;
  for (const [text, style] of line) {
    const width = widthOf(text);
    const isWhole = x >= from && x + width <= to;
    const part = isWhole || x + width <= from ? '' : sliceText(text, from - x, to - x, half);
    if (isWhole) spans.push([text, style]);
    else if (part !== '') spans.push([part, style]);
    x += width;
    if (x > to) break;
  }
  return spans;
}

function sliceText(text: string, from: number, to: number, half: '' | ' '): string {
  let x = 0;
  let out = '';
  for (const cluster of graphemes(text)) {
    const end = x + clusterWidth(cluster);
    if (x >= from && end <= to) out += end === from ? '' : cluster;
    else out += half.repeat(Math.max(0, Math.min(end, to) - Math.max(x, from)));
    if (end > to) break;
    x = end;
  }
  return out;
}

/** Wraps a text with line breaks to lines of at most `width` columns. An empty text is one empty line. */
export const wrapText = (text: string, width: number, style: Style = PLAIN): readonly Line[] =>
  text.split('\n').flatMap((paragraph) => wrap(paragraph === '' ? [] : [[paragraph, style]], width));

/** Wraps one line at blanks to lines of at most `width` columns. Longer words are cut. Continuation lines keep the
 * line's indentation plus `hang` columns (for the text after a bullet), at most half of the width. */
export function wrap(line: Line, width: number, hang = 0): readonly Line[] {
  if (width <= 0) return [[]];
  if (lineWidth(line) <= width) return [line];
  const text = plain(line);
  const indent = Math.min(Math.max(0, text.search(/[^ ]/)) + hang, Math.floor(width / 2));
  const room = Math.max(1, width - indent);
  const whole = room > 1 ? line : line.map(([part, style]): Span => [withoutWide(part), style]);
  const letters = isSimple(text) ? text : whole.flatMap(([part]) => graphemes(part));
  const cut = createCutter(whole);
  return rowsIn(letters, width, room, true).map(([from, to], row) =>
    row === 0 || indent === 0 ? cut(from, to, letters) : [[' '.repeat(indent), PLAIN], ...cut(from, to, letters)],
  );
}

/** A letter wider than a whole row becomes a dot. */
const withoutWide = (text: string): string =>
  graphemes(text)
    .map((cluster) => (clusterWidth(cluster) > 1 ? '.' : cluster))
    .join('');

/** A text whose letters take one column each, or its letters. */
export type Characters = string | readonly string[];

/** Breaks letters into rows of at most `width` columns, the later ones of `next`: after blanks and wide letters, inside of words that are
 * wider than a row, never in an indentation. `dropsBlanks`: rows have no blanks at a break. No letters are one row. */
export function rowsIn(
  letters: Characters,
  width: number,
  next = width,
  dropsBlanks = false,
): readonly (readonly [from: number, to: number])[] {
  const rows: (readonly [number, number])[] = [];
  for (let from = 0; from < letters.length || rows.length === 0; ) {
    const end = endOf(letters, from, rows.length === 0 ? width : next);
    if (end === letters.length) return [...rows, [from, end]];
    let to = breakOf(letters, from, end);
    const kept = dropsBlanks ? endOfWords(letters, from, to) : to;
    while (dropsBlanks && letters[to] === ' ') to++;
    rows.push([from, kept]);
    from = to;
  }
  return rows;
}

function endOfWords(letters: Characters, from: number, to: number): number {
  let end = to;
  while (end > from && letters[end - 1] === ' ') end--;
  return end;
}

/** The end of the longest row that starts at `from`; at least one letter. */
function endOf(letters: Characters, from: number, width: number): number {
  if (typeof letters === 'string') return Math.min(letters.length, from + width);
  let [end, used] = [from, 0];
  while (end < letters.length && used + clusterWidth(letters[end] ?? '') <= width)
    used += clusterWidth(letters[end++] ?? '');
  return end === from ? Math.min(letters.length, from + 1) : end;
}

/** The best break between `from` and `end`: behind the last blank or wide letter after the first word begins, otherwise `end`. */
function breakOf(letters: Characters, from: number, end: number): number {
  if (letters[end] === ' ') return end;
  let word = from;
  while (letters[word] === ' ') word++;
  for (let at = end; at - 1 > word; at--) if (letters[at - 1] === ' ' || isWide(letters[at - 1])) return at;
  return end;
}

const isWide = (letter = ''): boolean => clusterWidth(letter) === 2;

/** Returns a function that cuts the rows of `letters` out of a line, in ascending order. */
function createCutter(line: Line): (from: number, to: number, letters: Characters) => Line {
  // Of the letters, the span and its text: how many are behind.
  let [letter, unit, index, start] = [0, 0, 0, 0];
  const unitOf = (at: number, letters: Characters): number => {
    if (typeof letters === 'string') return at;
    for (; letter < at; letter++) unit += letters[letter]?.length ?? 0;
    return unit;
  };
  return (first, last, letters) => {
    const [from, to] = [unitOf(first, letters), unitOf(last, letters)];
    const spans: Span[] = [];
    for (; index < line.length; index++) {
      const [text, style] = line[index] ?? ['', PLAIN];
      const piece = text.slice(Math.max(0, from - start), to - start);
      const before = spans.at(-1);
      if (piece !== '' && before?.[1] === style) spans[spans.length - 1] = [before[0] + piece, style];
      else if (piece !== '') spans.push([piece, style]);
      if (start + text.length >= to) break;
      start += text.length;
    }
    return spans;
  };
}
