/** Lines of an exact width: measured, cut, padded, aligned. Nothing here knows what a line means. */
import type { Line, Span, Style } from './line.ts';
import { clusterWidth, graphemes, widthOf } from './width.ts';

export const PLAIN: Style = {};

/** One span; the style is plain when left out. */
export const span = (text: string, style: Style = PLAIN): Span => [text, style];

/** The text of a line without its styles. */
export const plain = (line: Line): string => line.map(([text]) => text).join('');

/** Columns of a line. */
export const lineWidth = (line: Line): number => line.reduce((sum, [text]) => sum + widthOf(text), 0);

/** The same line with every span's style laid over `under`: what the span says wins. */
export const restyle = (line: Line, under: Style): Line =>
  line.map(([text, style]): Span => [text, { ...under, ...style }]);

/** At most `width` columns. What is cut ends in `ellipsis` in the style of the last letter that is left. */
export function clip(line: Line, width: number, ellipsis = '…'): Line {
  if (lineWidth(line) <= width) return line;
  const end = widthOf(ellipsis) <= width ? ellipsis : '';
  const left = cut(line, Math.max(0, width - widthOf(end)));
  const style = left.at(-1)?.[1] ?? line[0]?.[1] ?? PLAIN;
  return end === '' ? left : [...left, [end, style]];
}

/** Exactly `width` columns: cut with an ellipsis, or padded with spaces in `pad`. */
export function fit(line: Line, width: number, pad: Style = PLAIN, ellipsis = '…'): Line {
  const cutLine = clip(line, width, ellipsis);
  const missing = width - lineWidth(cutLine);
  return missing > 0 ? [...cutLine, [' '.repeat(missing), pad]] : cutLine;
}

/** A text of exactly `width` columns, for columns of a table. */
export function fitText(text: string, width: number, align: 'left' | 'right' = 'left', ellipsis = '…'): string {
  const cutText = plain(clip([[text, PLAIN]], width, ellipsis));
  const missing = ' '.repeat(Math.max(0, width - widthOf(cutText)));
  return align === 'left' ? cutText + missing : missing + cutText;
}

/** `left` and `right` at the two ends of exactly `width` columns; when both don't fit, the left one is cut first. */
export function spread(left: Line, right: Line, width: number, pad: Style = PLAIN, ellipsis = '…'): Line {
  const end = clip(right, width, ellipsis);
  const room = width - lineWidth(end);
  // One column stays free between the two, else the cut end and the right part would read as one word.
  const start = clip(left, Math.max(0, end.length === 0 ? room : room - 1), ellipsis);
  const gap = room - lineWidth(start);
  return gap > 0 ? [...start, [' '.repeat(gap), pad], ...end] : [...start, ...end];
}

/** In the middle of exactly `width` columns. */
export function centre(line: Line, width: number, pad: Style = PLAIN): Line {
  const cutLine = clip(line, width);
  const before = Math.floor((width - lineWidth(cutLine)) / 2);
  return fit(before > 0 ? [[' '.repeat(before), pad], ...cutLine] : cutLine, width, pad);
}

/** Columns `from` to `to` of a line, exactly: half of a wide letter becomes a space, what is missing too. */
export function columns(line: Line, from: number, to: number): Line {
  const spans: Span[] = [];
  let x = 0;
  for (const [text, style] of line) {
    if (x >= to) break;
    const width = widthOf(text);
    if (x >= from && x + width <= to) spans.push([text, style]);
    else if (x + width > from) spans.push([part(text, from - x, to - x), style]);
    x += width;
  }
  const missing = Math.max(0, to - from) - lineWidth(spans);
  if (missing > 0) spans.push([' '.repeat(missing), PLAIN]);
  return spans;
}

/** The letters of a text between two columns, with spaces for halves at the two edges. */
function part(text: string, from: number, to: number): string {
  let x = 0;
  let out = '';
  for (const cluster of graphemes(text)) {
    const end = x + clusterWidth(cluster);
    if (x >= from && end <= to) out += end === from ? '' : cluster;
    else out += ' '.repeat(Math.max(0, Math.min(end, to) - Math.max(x, from)));
    x = end;
  }
  return out;
}

/** The first `width` columns; a wide letter that doesn't fit whole is left out. */
function cut(line: Line, width: number): Line {
  const spans: Span[] = [];
  let room = width;
  for (const [text, style] of line) {
    const size = widthOf(text);
    if (size <= room) {
      spans.push([text, style]);
      room -= size;
      continue;
    }
    const start = startOf(text, room);
    if (start !== '') spans.push([start, style]);
    break;
  }
  return spans;
}

/** The longest start of a text that takes at most `width` columns. */
function startOf(text: string, width: number): string {
  let room = width;
  let out = '';
  for (const cluster of graphemes(text)) {
    room -= clusterWidth(cluster);
    if (room < 0) break;
    out += cluster;
  }
  return out;
}
