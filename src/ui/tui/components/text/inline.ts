/** Words of Markdown as spans: emphasis, code, links. HTML is text like any other. */
import type { MarkedToken, Token } from 'marked';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line, Span, Style } from '../../../../app/views/text/line.ts';
import { linked, linkOf } from './links.ts';
import type { Glyphs } from '../../text/glyphs.ts';

/** The spans of some tokens; line breaks are still in them. */
export const inline = (tokens: readonly Token[], page: Page): Line =>
  tokens.flatMap((token) => (isInline(token) ? spans(token, page) : [[token.raw, page.style] as const]));

const INLINE: ReadonlySet<string> = new Set(
  'text escape strong em codespan del link image br html checkbox'.split(' '),
);
const isInline = (token: Token): token is MarkedToken => INLINE.has(token.type);

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
      return [span(`[${token.text}]`, { ...style, fg: 'muted' }), span(` (${token.href})`, { fg: 'faint' })];
    case 'br':
      return [span('\n', style)];
    case 'checkbox':
      return [];
    default:
      return [span(token.raw, style)];
  }
}

const codeStyle = (style: Style): Style => ({ ...style, fg: 'info', italic: false });

/** Underlined, with the address behind it where it isn't what is read anyway. */
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

/** Spans as lines, broken where the text is. */
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
  /** Of the text that no other style is said of. */
  readonly style: Style;
}
