/** Light Markdown as lines: headings, lists, quotes, fences, `code`, **bold**, links. What it doesn't know stays as it is. */
import type { Glyphs } from '../glyphs.ts';
import { span } from '../text/clip.ts';
import type { Line, Span, Style } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';

/** Lines of at most `width` columns. Blank lines at the ends are left out, several in a row become one. */
export function markdown(text: string, width: number, glyphs: Glyphs): readonly Line[] {
  const out: Line[] = [];
  let fenced = false;
  let blank = true;
  for (const raw of text.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(raw)) {
      fenced = !fenced;
      continue;
    }
    const empty = raw.trim() === '';
    if (empty && blank && !fenced) continue;
    blank = empty;
    out.push(...(fenced ? code(raw, width, glyphs) : paragraph(raw, width, glyphs)));
  }
  while (out.length > 0 && out.at(-1)?.every(([part]) => part.trim() === '')) out.pop();
  return out;
}

/** The kinds of lines, each with what it becomes; the first that matches. */
const KINDS: readonly (readonly [
  pattern: RegExp,
  lines: (found: readonly string[], width: number, glyphs: Glyphs) => readonly Line[],
])[] = [
  [/^(#{1,6})\s+(.*)$/, ([, marks = '', text = ''], width) => wrap(inline(text, headingStyle(marks.length)), width)],
  [
    /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/,
    (_, width, glyphs) => [[span(glyphs.light[4].repeat(Math.min(width, 40)), { fg: 'border' })]],
  ],
  [
    /^(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$/,
    ([, indent = '', mark = '', text = ''], width, glyphs) => listEntry(indent, mark, text, width, glyphs),
  ],
  [
    /^\s*>\s?(.*)$/,
    ([, text = ''], width, glyphs) => railed(wrap(inline(text, { fg: 'muted' }), Math.max(1, width - 2)), glyphs),
  ],
];

function paragraph(raw: string, width: number, glyphs: Glyphs): readonly Line[] {
  for (const [pattern, lines] of KINDS) {
    const found = pattern.exec(raw);
    if (found) return lines(found, width, glyphs);
  }
  return wrap(inline(raw, { fg: 'fg' }), width);
}

const headingStyle = (level: number): Style =>
  level <= 2 ? { fg: 'title', bold: true, underline: level === 1 } : { fg: 'title', bold: true };

function listEntry(indent: string, mark: string, text: string, width: number, glyphs: Glyphs): readonly Line[] {
  const sign = /\d/.test(mark) ? mark : glyphs.bullet;
  const box = /^\[([ xX])\]\s+(.*)$/.exec(text);
  const done = box === null ? '' : `${box[1] === ' ' ? glyphs.todo.pending : glyphs.todo.completed} `;
  const line: Line = [
    span(indent),
    span(`${sign} ${done}`, { fg: 'focus' }),
    ...inline(box?.[2] ?? text, { fg: 'fg' }),
  ];
  return wrap(line, width, sign.length + 1);
}

const railed = (lines: readonly Line[], glyphs: Glyphs): readonly Line[] =>
  lines.map((line) => [span(`${glyphs.light[5]} `, { fg: 'border' }), ...line]);

/** Code is never broken at words: what is too long is continued on the next line. */
function code(raw: string, width: number, glyphs: Glyphs): readonly Line[] {
  return railed(wrap([span(raw, { fg: 'muted' })], Math.max(1, width - 2)), glyphs);
}

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\[([^\]\n]+)\]\(([^)\s]+)\)|(?<!\w)_(?=\S)([^_\n]+)_(?!\w)/g;

/** One line's spans; what stands around them keeps `style`. */
function inline(text: string, style: Style): Line {
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > at) spans.push([text.slice(at, match.index), style]);
    spans.push(...inlineSpans(match, style));
    at = match.index + match[0].length;
  }
  if (at < text.length) spans.push([text.slice(at), style]);
  return spans;
}

function inlineSpans([, code, bold, alsoBold, label, target, leaning]: RegExpExecArray, style: Style): readonly Span[] {
  if (code !== undefined) return [[code, { ...style, fg: 'info' }]];
  if (leaning !== undefined) return [[leaning, { ...style, italic: true }]];
  if (label !== undefined)
    return [
      [label, { ...style, underline: true }],
      [` (${target ?? ''})`, { fg: 'faint' }],
    ];
  return [[bold ?? alsoBold ?? '', { ...style, fg: 'title', bold: true }]];
}
