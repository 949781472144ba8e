/** What a line of code says by itself: whether it comments, quotes, defines, declares or offers a name. */
import { languageOf, TABLE } from './languages.ts';
import { isHeader } from './paths.ts';
import type { Hit } from './tools.ts';

/** A line that only comments. Within a block comment only lines with a sign of their own can be told. */
export function isComment({ path, text }: Pick<Hit, 'path' | 'text'>): boolean {
  const language = languageOf(path);
  return language === undefined ? /^\s*(?:\/\/|\/\*|#|<!--|--\s)/.test(text) : TABLE[language].comment.test(text);
}

/** Whether the place in a line is behind the beginning of a comment. */
export const isInComment = (hit: Hit, at: number): boolean =>
  isComment(hit) || /(?:^|\s)(?:\/\/|\/\*|#(?!\w)|<!--|--\s|;;|%\s)/.test(hit.text.slice(0, at));

/** Whether the place in a line is inside of a string, as far as the quotes before it tell. */
export const isInString = (text: string, at: number): boolean =>
  ['"', "'", '`'].some((quote) => text.slice(0, at).replaceAll(`\\${quote}`, '').split(quote).length % 2 === 0);

/** A statement that only looks like a definition. */
const STATEMENT =
  /^\s*(?:return|throw|new|else|await|yield|delete|typeof|case|goto|using\s+\(|import\b|from\b|export\s*(?:type\s*)?\{|\}\s*from\b|if|for|while|switch|catch)\b/;

/** A line that could define something: no comment, no statement. */
export const isDefinition = (hit: Hit): boolean =>
  !isComment(hit) && !STATEMENT.test(hit.text) && !/=\s*(?:await\s+)?(?:require|import)\s*\(/.test(hit.text);

/** A prototype tells of a function and defines none. */
export const isPrototype = (hit: Hit): boolean =>
  languageOf(hit.path) === 'c' && /^(?!return\b)[A-Za-z_][\w\s*]*[\s*]\w+\s*\([^{}]*\)[^{]*;\s*$/.test(hit.text);

const NO_EXPORT = /\b(?:static|typedef)\b|\bmain\s*\(|^\s*(?:else|return)\b/;
const MODULE_EXPORTS =
  /^module\.exports\s*=\s*(?:\{(.*)\}|(?:(?:async\s+)?function\s*\*?|class)?\s*([A-Za-z_$][\w$]*)\b)/;

/** Names that a line offers to other files. What is static in C, and what a header only declares, is not offered there. */
export function exportsIn({ path, text }: Pick<Hit, 'path' | 'text'>): readonly string[] {
  const language = languageOf(path);
  const pattern = language === undefined ? null : TABLE[language].exports;
  if (pattern === null || (language === 'c' && (isHeader(path) || NO_EXPORT.test(text)))) return [];
  const several = MODULE_EXPORTS.exec(text);
  const name = several === null ? new RegExp(pattern).exec(text)?.slice(1).find(Boolean) : (several[1] ?? several[2]);
  return (name ?? '').split(',').flatMap((one) => /^\s*([A-Za-z_$][\w$]*)/.exec(one)?.[1] ?? []);
}
