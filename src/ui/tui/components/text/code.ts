/** Code as coloured lines. The languages are loaded when the first code is seen; until then, and for unknown ones, it is plain. */
import { span } from '../../../../app/views/text/clip.ts';
import type { Line, Span, Style } from '../../../../app/views/text/line.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { diffInk } from './diff.ts';
import { splitLines } from './inline.ts';

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
