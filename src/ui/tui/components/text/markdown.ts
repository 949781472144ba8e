/**
 * Markdown as lines, parsed by marked. What a model writes is text: HTML stays as it was written, links only lead to the web
 * and to files of the project. Each block is made once for a width; while a text grows, only its end is made anew.
 */
import { type MarkedToken, type Token, type Tokens, Lexer } from 'marked';
import { clip, restyle, span } from '../../../../app/views/text/clip.ts';
import type { Line, Span, Style } from '../../../../app/views/text/line.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { tableLines } from './table.ts';
import { diffInk } from './diff.ts';
import { inline, splitLines, type Page } from './inline.ts';

/** Lines of at most `width` columns. Blank lines at the ends are left out, several in a row become one. */
export function markdown(text: string, width: number, glyphs: Glyphs, cwd = ''): readonly Line[] {
  if (width <= 0) return [];
  const page: Page = { glyphs, cwd, style: { fg: 'fg' } };
  const lines = shallow(
    () => blocks(lexed(stable(text)), width, page, true),
    () => wrapText(text, width, page.style),
  );
  return trimmed(lines).map((line) => clip(line, width, glyphs.ellipsis));
}

/** The same of a text that grows: what ended with a blank line is drawn once, only the end of it is parsed anew. */
export function growing(text: string, width: number, glyphs: Glyphs, cwd = ''): readonly Line[] {
  const at = text.length < LONG ? 0 : endedAt(text);
  if (at === 0) return markdown(text, width, glyphs, cwd);
  const head = text.slice(0, at);
  const key = `${width} ${glyphs.ellipsis} ${coloured.version} ${cwd}`;
  const known = GROWN.get(key);
  const lines = known?.head === head ? known.lines : markdown(head, width, glyphs, cwd);
  if (GROWN.size > 8) GROWN.clear();
  GROWN.set(key, { head, lines });
  const end = markdown(text.slice(at), width, glyphs, cwd);
  return end.length === 0 ? lines : [...lines, [], ...end];
}

const LONG = 2000;
/** By how it is drawn: one text at a time is looked at. */
const GROWN = new Map<string, { readonly head: string; readonly lines: readonly Line[] }>();

/** Behind the last blank line that ends a block: not in a fence, and with no indented line after it. 0 where there is none. */
function endedAt(text: string): number {
  const fences = Array.from(text.matchAll(/^ {0,3}(?:```|~~~)/gm), ({ index }) => index);
  for (let at = text.lastIndexOf('\n\n'); at > 0; at = text.lastIndexOf('\n\n', at - 1)) {
    while ((fences.at(-1) ?? 0) > at) fences.pop();
    if (fences.length % 2 === 0 && /\S/.test(text.charAt(at + 2))) return at + 2;
  }
  return 0;
}

/** Without the signs at the end that are no text yet: they may become a heading, a list or a fence, and nothing may jump. */
function stable(text: string): string {
  const line = text.lastIndexOf('\n') + 1;
  const unfinished = line > 0 && text.length - line < 16 && NO_TEXT_YET.test(text.slice(line));
  return unfinished ? text.slice(0, line) : text;
}

const NO_TEXT_YET = /^[ \t]*(?:[-=*+_#>|`~]{1,2}|\d{1,3}[.)]?)[ \t]*$/;

/** What blocks come to, by what they say; the last ones used. */
const MADE = new Map<string, readonly Line[]>();
/** Characters of what they say, together. */
const MOST_MADE = 500_000;
const LONGEST_MADE = 20_000;
let allMade = 0;

function blocks(tokens: readonly Token[], width: number, page: Page, keep = false): readonly Line[] {
  const out: Line[] = [];
  for (const token of tokens) {
    if (out.length > 0 && token.type === 'space') out.push([]);
    if (token.type === 'space' || !isKnown(token)) continue;
    out.push(...(keep ? made(token, width, page) : block(token, width, page)));
    if (/\n[ \t]*\n$/.test(token.raw)) out.push([]);
  }
  return out.filter((line, index) => line.length > 0 || (out[index - 1]?.length ?? 0) > 0);
}

function made(token: MarkedToken, width: number, page: Page): readonly Line[] {
  if (token.raw.length > LONGEST_MADE) return block(token, width, page);
  const key = `${width} ${page.glyphs.ellipsis} ${coloured.version} ${page.cwd}\n${token.raw}`;
  const known = MADE.get(key);
  const lines = known ?? block(token, width, page);
  // The one used last is the last to go.
  if (known !== undefined) MADE.delete(key);
  else allMade += key.length;
  MADE.set(key, lines);
  for (const oldest of MADE.keys()) {
    if (allMade <= MOST_MADE) break;
    MADE.delete(oldest);
    allMade -= oldest.length;
  }
  return lines;
}

const isKnown = (token: Token): token is MarkedToken => token.type in KINDS;

/** What each kind of block is drawn by; kinds that only stand in a line are text when they stand alone. */
const KINDS = {
  heading: true,
  hr: true,
  list: true,
  blockquote: true,
  code: true,
  table: true,
  paragraph: true,
  text: true,
  html: true,
  def: true,
  checkbox: true,
} as const;

function block(token: MarkedToken, width: number, page: Page): readonly Line[] {
  switch (token.type) {
    case 'heading':
      return flowing(token.tokens, width, { ...page, style: headingStyle(token.depth) });
    case 'hr':
      return [[span(page.glyphs.light[4].repeat(Math.min(width, 40)), { fg: 'border' })]];
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

/** Words in a line, broken where the writer broke them and where they must be. */
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

/** The sign, and the entry's own blocks hanging behind it; where there is no room, under it. */
function entry(item: Tokens.ListItem, sign: string, width: number, page: Page): readonly Line[] {
  const { glyphs } = page;
  const done = item.checked === true;
  const box = item.task ? `${done ? glyphs.todo.completed : glyphs.todo.pending} ` : '';
  const hang = width - sign.length - box.length >= 8 ? sign.length + box.length : 0;
  const style: Style = item.task && done ? { fg: 'muted' } : page.style;
  const body = trimmed(blocks(item.tokens, Math.max(1, width - hang), { ...page, style }));
  const head: Line = [span(sign, { fg: 'focus' }), ...(box === '' ? [] : [span(box, { fg: done ? 'ok' : 'faint' })])];
  if (hang === 0) return [head, ...body];
  return (body.length === 0 ? [[]] : body).map((line, row) => [
    ...(row === 0 ? head : [span(' '.repeat(hang))]),
    ...line,
  ]);
}

const railed = (lines: readonly Line[], { glyphs, style }: Page): readonly Line[] =>
  lines.map((line): Line => [span(`${glyphs.light[5]} `, { fg: 'border' }), ...restyle(line, style)]);

function trimmed(lines: readonly Line[]): readonly Line[] {
  const isText = (line: Line): boolean => line.some(([text]) => text.trim() !== '');
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}

// Markdown parsed by marked, within bounds: what nests deeper than anybody writes is a model that repeats itself or means harm,
// and would take seconds or the whole stack. Beyond them it is text as it stands.

/** Quotes and lists that begin in one line, one in the other: the sign after the tenth is none any more. */
const DEEP = /^([ \t]*(?:(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)){10})(?=[->*+\d])/gm;
/** Blanks before the sign of a list; lists in lists are some columns further in each. */
const FAR_IN = /^([ \t]{80})[ \t]+(?=(?:[-*+]|\d{1,9}[.)])[ \t])/gm;

/** The blocks of a text. Never fails: what can't be parsed is one block of text. */
function lexed(text: string): readonly Token[] {
  return shallow<readonly Token[]>(
    () => Lexer.lex(text.replaceAll(DEEP, '$1\\').replaceAll(FAR_IN, '$1')),
    () => [{ type: 'text', raw: text, text }],
  );
}

/** What `deep` makes, or `flat` where it runs out of stack: emphasis in emphasis is counted by nobody before it is parsed. */
function shallow<T>(deep: () => T, flat: () => T): T {
  try {
    return deep();
  } catch (error) {
    if (error instanceof RangeError) return flat();
    throw error;
  }
}

/** The code blocks in a text, one after the other; empty where there is none. */
export const codeOf = (text: string): string =>
  lexed(text)
    .flatMap((token) =>
      token.type === 'code' && 'text' in token && typeof token.text === 'string' ? [token.text] : [],
    )
    .join('\n\n');

// Code as coloured lines. The languages are loaded when the first code is seen; until then, and for unknown ones, it is plain.

type Highlighter = (code: string, language: string) => string | null;
let highlighter: Highlighter | null = null;
let loading: Promise<void> | null = null;

/** Counts how often what code looks like has changed: part of the key of everything that is kept. */
export const coloured = { version: 0 };

/** Loads the languages; resolves when code is coloured. */
export function loadColours(): Promise<void> {
  loading ??= import('./languages.ts').then(({ highlighted }) => {
    highlighter = highlighted;
    coloured.version += 1;
  });
  return loading;
}

/** Longer code stays plain: it would take longer than a frame may. */
const MOST = 20_000;

/** Lines of at most `width` columns; what is too long goes on in the next line. */
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

const diffLine = (text: string): Line => [span(text, { fg: diffInk(text) })];

const PLAIN_CODE: Style = { fg: 'fg' };

function colouredSpans(code: string, language: string): Line {
  if (highlighter === null) void loadColours();
  const html = code.length > MOST ? null : (highlighter?.(code, language) ?? null);
  return html === null ? [span(code, { fg: highlighter === null ? 'fg' : 'muted' })] : spansOf(html);
}

/** What the kinds of words look like. Those that aren't here are plain. */
const STYLES: Readonly<Record<string, Style>> = {
  keyword: { fg: 'role:oracle' },
  built_in: { fg: 'info' },
  type: { fg: 'warn' },
  literal: { fg: 'warn' },
  number: { fg: 'warn' },
  string: { fg: 'ok' },
  regexp: { fg: 'ok' },
  symbol: { fg: 'warn' },
  title: { fg: 'info', bold: true },
  section: { fg: 'title', bold: true },
  name: { fg: 'info' },
  attr: { fg: 'info' },
  attribute: { fg: 'info' },
  property: { fg: 'info' },
  comment: { fg: 'faint', italic: true },
  quote: { fg: 'faint', italic: true },
  doctag: { fg: 'muted' },
  meta: { fg: 'muted' },
  addition: { fg: 'ok' },
  deletion: { fg: 'err' },
  strong: { fg: 'title', bold: true },
  emphasis: { fg: 'fg', italic: true },
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** The library's HTML, which knows only its own spans and five entities, as spans of ours. */
function spansOf(html: string): Line {
  const out: Span[] = [];
  const open: Style[] = [];
  for (const [part] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    const [, name] = /^<span class="hljs-([\w]+)/.exec(part) ?? [];
    const under = open.at(-1) ?? PLAIN_CODE;
    if (part === '</span>') open.pop();
    else if (part.startsWith('<span')) open.push(STYLES[name ?? ''] ?? under);
    else out.push([part.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (found) => ENTITIES[found] ?? found), under]);
  }
  return out;
}
