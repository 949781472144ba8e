/** Markdown as lines, parsed by marked. HTML stays text; links lead only to the web and to files of the project. */
import type { HLJSApi } from 'highlight.js';
import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import type { Line, Span, Style } from '../../../../app/views/index.ts';
import { aligned, clip, lineWidth, plain, restyle, span, wrap, wrapText } from '../../../../app/views/index.ts';
import { tint } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { diffInk, inline, isMarked, type Page, splitLines } from './inline.ts';

/** Lines of at most `width` columns, without blank lines at the ends and with single ones between. */
export function markdown(text: string, width: number, glyphs: Glyphs, cwd = ''): readonly Line[] {
  if (width <= 0) return [];
  const page: Page = { glyphs, cwd, style: { fg: 'fg' } };
  const lines = shallow(
    () => blocks(lexed(stable(text)), width, page),
    () => wrapText(text, width, page.style),
  );
  return trimmed(lines).map((line) => clip(line, width));
}

/** The same for a growing text: the lines of its finished blocks are kept, and only its end is laid out again. */
export function growing(text: string, width: number, glyphs: Glyphs, cwd = ''): readonly Line[] {
  const key = `${width} ${glyphs.ellipsis} ${coloured.version} ${cwd}`;
  const linesFrom = (from: number, to?: number): readonly Line[] => markdown(text.slice(from, to), width, glyphs, cwd);
  const before = grown.key === key && text.startsWith(grown.head) ? grown : { head: '', lines: [] };
  const at = before.head.length + endedAt(text.slice(before.head.length));
  const lines = at === before.head.length ? before.lines : joined(before.lines, linesFrom(before.head.length, at));
  grown = { key, head: text.slice(0, at), lines };
  return joined(lines, linesFrom(at));
}

const joined = (above: readonly Line[], below: readonly Line[]): readonly Line[] =>
  above.length === 0 || below.length === 0 ? [...above, ...below] : [...above, [], ...below];

/** The finished blocks of the last growing text. */
let grown: { readonly key: string; readonly head: string; readonly lines: readonly Line[] } = {
  key: '',
  head: '',
  lines: [],
};

/** The index after the last blank line that ends a block, outside of fences and without an indented line after it; 0 for none. */
function endedAt(text: string): number {
  const fences = Array.from(text.matchAll(/^ {0,3}(?:```|~~~)/gm), ({ index }) => index);
  for (let at = text.lastIndexOf('\n\n'); at > 0; at = text.lastIndexOf('\n\n', at - 1)) {
    while ((fences.at(-1) ?? 0) > at) fences.pop();
    if (fences.length % 2 === 0 && /\S/.test(text.charAt(at + 2))) return at + 2;
  }
  return 0;
}

/** The text without an unfinished sign at its end, which may become a heading, a list or a fence and would make lines jump. */
function stable(text: string): string {
  const line = text.lastIndexOf('\n') + 1;
  const unfinished = line > 0 && text.length - line < 16 && NO_TEXT_YET.test(text.slice(line));
  return unfinished ? text.slice(0, line) : text;
}

const NO_TEXT_YET = /^[ \t]*(?:[-=*+_#>|`~]{1,2}|\d{1,3}[.)]?)[ \t]*$/;

function blocks(tokens: readonly Token[], width: number, page: Page): readonly Line[] {
  const out: Line[] = [];
  for (const token of tokens) {
    if (out.length > 0 && token.type === 'space') out.push([]);
    if (token.type === 'space' || !isMarked(token)) continue;
    out.push(...block(token, width, page));
    if (/\n[ \t]*\n$/.test(token.raw)) out.push([]);
  }
  return out.filter((line, index) => line.length > 0 || (out[index - 1]?.length ?? 0) > 0);
}

function block(token: MarkedToken, width: number, page: Page): readonly Line[] {
  switch (token.type) {
    case 'heading':
      return flowing(token.tokens, width, { ...page, style: headingStyle(token.depth) });
    case 'hr':
      return [[tint(page.glyphs.light.horizontal.repeat(Math.min(width, 40)), 'border')]];
    case 'list':
      return list(token, width, page);
    case 'blockquote':
      return railed(
        blocks(token.tokens, Math.max(1, width - 2), { ...page, style: { fg: 'muted', italic: true } }),
        page,
      );
    case 'code':
      return railed(codeLines(token.text, token.lang ?? '', Math.max(1, width - 2)), page);
    case 'table':
      return tableLines(token, width, page);
    case 'paragraph':
      return flowing(token.tokens, width, page);
    case 'text':
      return flowing(token.tokens ?? [token], width, page);
    case 'checkbox':
      return [];
    default:
      return splitLines([span(token.raw.trimEnd(), page.style)]).flatMap((line) => wrap(line, width));
  }
}

const flowing = (tokens: readonly Token[], width: number, page: Page): readonly Line[] =>
  splitLines(inline(tokens, page)).flatMap((line) => wrap(line, width));

const headingStyle = (level: number): Style =>
  level === 1 ? { fg: 'title', bold: true, underline: true } : { fg: level === 2 ? 'title' : 'focus', bold: true };

function list(token: Tokens.List, width: number, page: Page): readonly Line[] {
  const first = typeof token.start === 'number' ? token.start : 1;
  const last = String(first + token.items.length - 1);
  return token.items.flatMap((item, index) => {
    const number = `${String(first + index).padStart(last.length)}. `;
    const lines = entry(item, token.ordered ? number : `${page.glyphs.bullet} `, width, page);
    return index > 0 && token.loose ? [[], ...lines] : lines;
  });
}

/** The sign of a list item, with its blocks beside it, or below it where there is no room. */
function entry(item: Tokens.ListItem, sign: string, width: number, page: Page): readonly Line[] {
  const { glyphs } = page;
  const done = item.checked === true;
  const box = item.task ? `${done ? glyphs.todo.completed : glyphs.todo.pending} ` : '';
  const hang = width - sign.length - box.length >= 8 ? sign.length + box.length : 0;
  const style: Style = item.task && done ? { fg: 'muted' } : page.style;
  const body = trimmed(blocks(item.tokens, Math.max(1, width - hang), { ...page, style }));
  const head: Line = [tint(sign, 'focus'), ...(box === '' ? [] : [tint(box, done ? 'ok' : 'faint')])];
  if (hang === 0) return [head, ...body];
  return (body.length === 0 ? [[]] : body).map((line, row) => [
    ...(row === 0 ? head : [span(' '.repeat(hang))]),
    ...line,
  ]);
}

const railed = (lines: readonly Line[], { glyphs, style }: Page): readonly Line[] =>
  lines.map((line): Line => [tint(`${glyphs.light.vertical} `, 'border'), ...restyle(line, style)]);

function trimmed(lines: readonly Line[]): readonly Line[] {
  const isText = (line: Line): boolean => line.some(([text]) => text.trim() !== '');
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}

// Limits of the parser: deeper nesting, by a model that repeats itself or by an attack, would take seconds or the whole stack. It is
// shown as plain text.

/** Nested quotes and lists that begin in one line: signs after the tenth are escaped. */
const DEEP = /^([ \t]*(?:(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)){10})(?=[->*+\d])/gm;
/** Blanks before the sign of a list item: those after the eightieth are removed. */
const FAR_IN = /^([ \t]{80})[ \t]+(?=(?:[-*+]|\d{1,9}[.)])[ \t])/gm;

/** The blocks of a text. Never throws: a text that cannot be parsed is one block of text. */
const lexed = (text: string): readonly Token[] =>
  shallow<readonly Token[]>(
    () => Lexer.lex(text.replaceAll(DEEP, '$1\\').replaceAll(FAR_IN, '$1')),
    () => [{ type: 'text', raw: text, text }],
  );

/** The result of `deep`, or of `flat` where `deep` runs out of stack, as nested emphasis may. */
function shallow<T>(deep: () => T, flat: () => T): T {
  try {
    return deep();
  } catch (error) {
    if (error instanceof RangeError) return flat();
    throw error;
  }
}

/** The code blocks of a text, joined by blank lines; empty without any. */
export const codeOf = (text: string): string =>
  lexed(text)
    .flatMap((token) =>
      token.type === 'code' && 'text' in token && typeof token.text === 'string' ? [token.text] : [],
    )
    .join('\n\n');

// Code as coloured lines. The languages are loaded with the first code; until then, and for unknown languages, code is plain.

let highlighter: HLJSApi | null = null;
let loading: Promise<void> | null = null;

/** `version` changes when the languages are loaded: a part of the key of all cached lines. */
export const coloured = { version: 0 };

/** Loads the languages once; resolves when code can be coloured. */
export function loadColours(): Promise<void> {
  loading ??= import('highlight.js/lib/common').then((loaded) => {
    highlighter = loaded.default;
    coloured.version += 1;
  });
  return loading;
}

/** Longer code stays plain, since colouring would take longer than a frame. */
const MOST = 20_000;

/** Code in wrapped lines of at most `width` columns. */
export function codeLines(code: string, language: string, width: number): readonly Line[] {
  const name =
    language
      .trim()
      .split(/[\s{,:]/)[0]
      ?.toLowerCase() ?? '';
  const lines =
    name === 'diff' || name === 'patch' ? code.split('\n').map(diffLine) : splitLines(colouredSpans(code, name));
  return lines.flatMap((line) => wrap(line, width));
}

const diffLine = (text: string): Line => [tint(text, diffInk(text))];
const PLAIN_CODE: Style = { fg: 'fg' };

function colouredSpans(code: string, language: string): Line {
  if (highlighter === null) void loadColours();
  if (code.length > MOST || highlighter?.getLanguage(language) === undefined)
    return [tint(code, highlighter === null ? 'fg' : 'muted')];
  return spansOf(highlighter.highlight(code, { language, ignoreIllegals: true }).value);
}

const CLASSES: readonly (readonly [style: Style, classes: string])[] = [
  [{ fg: 'role:oracle' }, 'keyword'],
  [{ fg: 'info' }, 'built_in name attr attribute property'],
  [{ fg: 'warn' }, 'type literal number symbol'],
  [{ fg: 'ok' }, 'string regexp addition'],
  [{ fg: 'err' }, 'deletion'],
  [{ fg: 'muted' }, 'doctag meta'],
  [{ fg: 'info', bold: true }, 'title'],
  [{ fg: 'title', bold: true }, 'section strong'],
  [{ fg: 'fg', italic: true }, 'emphasis'],
  [{ fg: 'faint', italic: true }, 'comment quote'],
];
const STYLES: ReadonlyMap<string, Style> = new Map(
  CLASSES.flatMap(([style, classes]) => classes.split(' ').map((name) => [name, style] as const)),
);

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** The HTML of highlight.js, which consists of spans and five entities, as styled spans. */
function spansOf(html: string): Line {
  const out: Span[] = [];
  const open: Style[] = [];
  for (const [part] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    const [, name] = /^<span class="hljs-([\w]+)/.exec(part) ?? [];
    const under = open.at(-1) ?? PLAIN_CODE;
    if (part === '</span>') open.pop();
    else if (part.startsWith('<span')) open.push(STYLES.get(name ?? '') ?? under);
    else out.push([part.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (found) => ENTITIES[found] ?? found), under]);
  }
  return out;
}

// Tables: columns as wide as needed, cells wrapped where the pane is narrow, a list where it is very narrow.

const NARROWEST = 5;
const BETWEEN = 3;

function tableLines(table: Tokens.Table, width: number, page: Page): readonly Line[] {
  const bold: Page = { ...page, style: { fg: 'title', bold: true } };
  const header = table.header.map(({ tokens }) => inline(tokens, bold));
  const rows = table.rows.map((row) => row.map(({ tokens }) => inline(tokens, page)));
  const room = width - BETWEEN * (header.length - 1);
  if (room < NARROWEST * header.length) return asList(header, rows, width);
  const widths = widthsOf(header, rows, room);
  const { light, lane } = page.glyphs;
  const line = widths
    .map((size) => light.horizontal.repeat(size))
    .join(`${light.horizontal}${lane.crossing}${light.horizontal}`);
  const drawn = (cells: readonly Line[]): readonly Line[] => rowLines(cells, widths, table.align, light.vertical);
  return [...drawn(header), [tint(line, 'border')], ...rows.flatMap(drawn)];
}

/** The widths of the columns. Where the contents do not fit, the headings are wrapped first, since each occurs once. */
function widthsOf(header: readonly Line[], rows: readonly (readonly Line[])[], room: number): readonly number[] {
  const below = header.map((_, column) => Math.max(1, ...rows.map((row) => lineWidth(row[column] ?? []))));
  const least = header.map((cell, column) => Math.max(below[column] ?? 1, longestWord(cell)));
  const widths = header.map((cell, column) => Math.max(below[column] ?? 1, lineWidth(cell)));
  for (let over = widths.reduce((sum, size) => sum + size, 0) - room; over > 0; over--) {
    const spare = widths.map((size, column) => size - (least[column] ?? size));
    const from = Math.max(...spare) > 0 ? spare : widths;
    const most = from.indexOf(Math.max(...from));
    widths[most] = (widths[most] ?? 1) - 1;
  }
  return widths;
}

const longestWord = (cell: Line): number =>
  Math.max(
    1,
    ...plain(cell)
      .split(/\s+/)
      .map((word) => lineWidth([span(word)])),
  );

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
      const cell = aligned(wrapped[column]?.[row] ?? [], size, align[column] ?? 'left');
      return column === 0 ? cell : [tint(` ${bar} `, 'border'), ...cell];
    }),
  );
}

/** `Name: value` under each other, rows apart. */
const asList = (header: readonly Line[], rows: readonly (readonly Line[])[], width: number): readonly Line[] =>
  rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [[]]),
    ...row.flatMap((cell, column) => wrap([...(header[column] ?? []), tint(': ', 'faint'), ...cell], width, 2)),
  ]);
