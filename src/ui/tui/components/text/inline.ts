/** Inline Markdown as spans, links to files and web pages, and lines of diffs. HTML is plain text. */
import type { MarkedToken, Token } from 'marked';
import { clip, type Ink, type Line, type Span, span, type Style } from '../../../../app/views/index.ts';
import { tint } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';

/** The spans of inline tokens; line breaks are kept in their texts. */
export const inline = (tokens: readonly Token[], page: Page): Line =>
  tokens.flatMap((token) => (isMarked(token) ? spans(token, page) : []));

/** True for every token: others than marked's own come from extensions, and there are none. */
export const isMarked = (token: Token): token is MarkedToken => 'raw' in token;

function spans(token: MarkedToken, page: Page): Line {
  const { style } = page;
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? linked([token.text, style], page.cwd) : inline(token.tokens, page);
    case 'escape':
      return [span(token.text, style)];
    case 'strong':
      return inline(token.tokens, { ...page, style: { ...style, fg: 'title', bold: true } });
    case 'em':
      return inline(token.tokens, { ...page, style: { ...style, italic: true } });
    case 'del':
      return inline(token.tokens, { ...page, style: { ...style, fg: 'faint' } });
    case 'codespan':
      return linked([token.text, codeStyle(style)], page.cwd);
    case 'link':
      return link(token.text, token.href, inline(token.tokens, page), page);
    case 'image':
      return [span(`[${token.text}]`, { ...style, fg: 'muted' }), tint(` (${token.href})`, 'faint')];
    case 'br':
      return [span('\n', style)];
    case 'checkbox':
      return [];
    default:
      return [span(token.raw, style)];
  }
}

const codeStyle = (style: Style): Style => ({ ...style, fg: 'info', italic: false });

/** An underlined link, with the address behind it unless the label is the address. */
function link(label: string, href: string, words: Line, { cwd, style }: Page): Line {
  const to = linkOf(href, cwd);
  const shown = words.map(([text, own]): Span => {
    const { link: _, ...rest } = own;
    return [text, { ...rest, underline: true, ...(to === null ? {} : { link: to }) }];
  });
  const same =
    href === label || href === `mailto:${label}` || href === `http://${label}` || href === `https://${label}`;
  return same ? shown : [...shown, span(` (${href})`, { ...style, fg: 'faint' })];
}

/** Spans as lines, broken at line breaks. */
export function splitLines(spansOf: Line): readonly Line[] {
  const lines: Span[][] = [[]];
  for (const [text, style] of spansOf) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push([part, style]);
    }
  }
  return lines;
}

export interface Page {
  readonly glyphs: Glyphs;
  /** The project's folder, for links to files; empty where none are made. */
  readonly cwd: string;
  /** The style of text without a style of its own. */
  readonly style: Style;
}

// Links: only files of the project and web addresses become links.

/** A path with a folder or a file extension, maybe with a line, or a web address. */
const PLACE =
  /\bhttps?:\/\/[^\s<>"'`)\]]+[^\s<>"'`)\].,;:!?]|(?<![\w@:/.~-])(?:\.\/)?(?:[\w@.-]+\/)*[\w@-][\w@.-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?::\d+(?::\d+)?)?(?![\w/])/g;

/** True for paths with a folder, a line or a known extension, so that `e.g.` is not a file. */
const isFile = (text: string): boolean =>
  (text.includes('/') || /:\d+$/.test(text) || KNOWN.test(text)) && !text.split('/').includes('..');

const KNOWN =
  /\.(?:[cm]?[jt]sx?|json|ya?ml|md|py|go|rs|java|c|h|cc|cpp|hpp|cs|rb|php|sh|sql|html?|s?css|toml|lock|txt|kt|swift|vue|svelte)$/;

/** The URL of a web address or of a file in the project; null for any other text. */
export function linkOf(text: string, cwd: string): string | null {
  if (/^https?:\/\//.test(text)) return asAddress(text);
  if (cwd === '' || !cwd.startsWith('/') || !isFile(text)) return null;
  const path = text.replace(/^\.\//, '').replace(/(?::\d+){1,2}$/, '');
  return `file://${[...cwd.split('/'), ...path.split('/')].map((part) => encodeURIComponent(part.toWellFormed())).join('/')}`;
}

/** Percent-encoded, so that it cannot end the escape sequence that carries it. */
function asAddress(text: string): string | null {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : null;
}

/** One span as several, with links on files and addresses. */
export function linked(whole: Span, cwd: string): Line {
  const [text, style] = whole;
  if (!text.includes('.')) return [whole];
  const places = Array.from(text.matchAll(PLACE), ({ 0: { length }, index: at }) => {
    const link = linkOf(text.slice(at, at + length), cwd);
    return link === null ? [] : [{ at, length, style: { ...style, link } }];
  });
  return marked(whole, places.flat());
}

/** One span as several: the given places, in their order, have a style of their own. */
export function marked(
  [text, style]: Span,
  places: readonly { readonly at: number; readonly length: number; readonly style: Style }[],
): Line {
  const out: Span[] = [];
  let from = 0;
  for (const { at, length, style: own } of places) {
    if (at > from) out.push([text.slice(from, at), style]);
    from = at + length;
    out.push([text.slice(at, from), own]);
  }
  return out.length === 0 || from < text.length ? [...out, [text.slice(from), style]] : out;
}

/** The colour of a line of a diff. */
export function diffInk(line: string): Ink {
  if (/^(?:\+\+\+|---|@@|diff |index )/.test(line)) return 'info';
  if (line.startsWith('+')) return 'ok';
  return line.startsWith('-') ? 'err' : 'muted';
}

/** `+6 -2` in two colours; a binary file and a change of the mode have no lines. */
export const countSpans = ({ added, removed }: { readonly added: number; readonly removed: number }): Line =>
  added + removed === 0
    ? [tint('no lines', 'muted')]
    : [tint(`+${added}`, 'ok'), span(' '), tint(`-${removed}`, 'err')];

/** A diff as lines of at most `width` columns; long lines are cut. */
export const diffLines = (diff: string, width: number): readonly Line[] =>
  diff.split('\n').map((line) => {
    const [, range, rest] = /^(@@ [^@]* @@)(.*)$/.exec(line) ?? [];
    const whole: Line =
      range === undefined ? [tint(line, diffInk(line))] : [tint(range, 'info'), tint(rest ?? '', 'faint')];
    return clip(whole, width);
  });
