/** Which words of a text are places one can go to: files of the project and web addresses. Only these become links. */
import type { Line, Span } from '../../../../app/views/text/line.ts';

/** A path with a folder or an ending that files have, maybe with a line, or a web address. */
const PLACE =
  /\bhttps?:\/\/[^\s<>"'`)\]]+[^\s<>"'`)\].,;:!?]|(?<![\w@:/.~-])(?:\.\/)?(?:[\w@.-]+\/)*[\w@-][\w@.-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?::\d+(?::\d+)?)?(?![\w/])/g;

/** Endings that are no files: `e.g.`, `Node.js`-like words are left to those with a folder or a line. */
const isFile = (text: string): boolean =>
  (text.includes('/') || /:\d+$/.test(text) || KNOWN.test(text)) && !text.split('/').includes('..');

const KNOWN =
  /\.(?:[cm]?[jt]sx?|json|ya?ml|md|py|go|rs|java|c|h|cc|cpp|hpp|cs|rb|php|sh|sql|html?|s?css|toml|lock|txt|kt|swift|vue|svelte)$/;

/** The address behind a place: the web address itself, or the file in the project; null for what is no place. */
export function linkOf(text: string, cwd: string): string | null {
  if (/^https?:\/\//.test(text)) return asAddress(text);
  if (cwd === '' || !cwd.startsWith('/') || !isFile(text)) return null;
  const path = text.replace(/^\.\//, '').replace(/(?::\d+){1,2}$/, '');
  return `file://${[...cwd.split('/'), ...path.split('/')].map((part) => encodeURIComponent(part.toWellFormed())).join('/')}`;
}

/** Percent-encoded, so that nothing in it can end the sequence that carries it. */
function asAddress(text: string): string | null {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : null;
}

/** One span as several, the places in it with their links. */
export function linked([text, style]: Span, cwd: string): Line {
  if (!text.includes('.')) return [[text, style]];
  const out: Span[] = [];
  let at = 0;
  for (const found of text.matchAll(PLACE)) {
    const link = linkOf(found[0], cwd);
    if (link === null) continue;
    if (found.index > at) out.push([text.slice(at, found.index), style]);
    out.push([found[0], { ...style, link }]);
    at = found.index + found[0].length;
  }
  return at === 0 ? [[text, style]] : at < text.length ? [...out, [text.slice(at), style]] : out;
}
