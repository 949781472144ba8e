/** What the analyst knows of languages: one row of `data/languages.json` each. Patterns there are for ripgrep and JavaScript alike.
 * `NAME` in them is the name that is looked for, `MODIFIER` a word before a declaration, `TYPE` a type before a name.
 *
 * - `comment`: how comments begin. `defines`: lines that define NAME. `starts`: lines at which a program starts.
 * - `exports`: top-level lines that offer a name to other files; the first group that matched is the name.
 * - `imports`: lines that import a file of the project. `late`: such a line that does not need the file when it is loaded.
 * - `target`: what such a line names: `name`, `ending` behind it, `up` before it (where it is looked for), `names` of it that may be
 *   files, too.
 * - `separator`: between the parts of a name; null where it is a path. `files`: what comes behind a name in the path of a file.
 * - `omits`: how many of its first parts a path may leave out where a file is told by the end of its path; null where it cannot be.
 * - `tests`: names of files that are tests in whatever folder. */
import { batched } from '../domain/lists.ts';
import ROWS from './data/languages.json' with { type: 'json' };

export type Language = (typeof LANGUAGES)[number];

/** One line of a file, as a tool showed it. */
export interface Hit {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

const MODIFIER =
  '(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|open|virtual|sealed|async|readonly|partial|suspend|inline|data|implicit|lazy)';
const TYPE = String.raw`(?:[A-Za-z_][\w.:]*(?:<[^()]*>)?(?:\[\])*[\s*&?]+)`;
const filled = (pattern: string): string => pattern.replaceAll('MODIFIER', MODIFIER).replaceAll('TYPE', () => TYPE);
const expression = (pattern: string | null): RegExp | null => (pattern === null ? null : new RegExp(pattern));

export const LANGUAGES = Object.entries(ROWS).map(([name, row]) => ({
  ...row,
  name,
  endings: row.endings.split(' '),
  comment: new RegExp(row.comment),
  defines: row.defines.map(filled),
  exports: row.exports === null ? null : filled(row.exports),
  late: expression(row.late),
  target: expression(row.target),
  files: row.files.split(' '),
  tests: new RegExp(row.tests),
}));

/** A glob for the files of these languages. */
export function globFor(languages: readonly Language[]): string {
  const endings = languages.flatMap((language) => language.endings);
  return endings.length === 1 ? `*.${endings[0] ?? ''}` : `*.{${endings.join(',')}}`;
}

const BY_ENDING = new Map(LANGUAGES.flatMap((language) => language.endings.map((ending) => [ending, language])));

/** The language of a file, by its ending. */
export const languageOf = (path: string): Language | undefined => BY_ENDING.get(/\.(\w+)$/.exec(path)?.[1] ?? '');

/** Languages of `paths`, most files first. */
export function languagesIn(paths: readonly string[]): readonly Language[] {
  const files = (language: Language): number => paths.filter((path) => languageOf(path) === language).length;
  return LANGUAGES.filter((language) => files(language) > 0).toSorted((a, b) => files(b) - files(a));
}

/** Characters of a pattern that a search takes, less those around it. */
export const LONGEST_PATTERN = 960;

/** The patterns of lines that define one of `names` in a language, as few as searches take; names are regular expressions. */
export function definitionPatterns({ defines }: Language, names: readonly string[]): readonly string[] {
  const patterns = defines.map((pattern) => pattern.replaceAll('NAME', () => anyOf(names)));
  return batched(patterns, (pattern) => pattern, LONGEST_PATTERN).map((group) => group.join('|'));
}

/** A pattern for one of several. */
export const anyOf = (patterns: readonly string[]): string =>
  patterns.length === 1 ? (patterns[0] ?? '') : `(?:${patterns.join('|')})`;

/** A line that only comments. Within a block comment only lines with a sign of their own can be told. */
export const isComment = ({ path, text }: Pick<Hit, 'path' | 'text'>): boolean =>
  (languageOf(path)?.comment ?? /^\s*(?:\/\/|\/\*|#|<!--|--\s)/).test(text);

/** Whether the place in a line is behind the beginning of a comment. */
export const isInComment = (hit: Hit, at: number): boolean =>
  isComment(hit) || /(?:^|\s)(?:\/\/|\/\*|#(?!\w)|<!--|--\s|;;|%\s)/.test(hit.text.slice(0, at));

/** Whether the place in a line is inside of a string, as far as the quotes before it tell. */
export const isInString = (text: string, at: number): boolean =>
  ['"', "'", '`'].some((quote) => text.slice(0, at).replaceAll(`\\${quote}`, '').split(quote).length % 2 === 0);

/** Whether the place in a line is neither in a comment nor in a string, as far as the line tells. */
export const isInCode = (hit: Hit, at: number): boolean => !isInComment(hit, at) && !isInString(hit.text, at);

/** A statement that only looks like a definition. */
const STATEMENT =
  /^\s*(?:return|throw|new|else|await|yield|delete|typeof|case|goto|using\s+\(|import\b|from\b|export\s*(?:type\s*)?\{|\}\s*from\b|if|for|while|switch|catch)\b/;

/** A line that could define something: no comment, no statement. */
export const isDefinition = (hit: Hit): boolean =>
  !isComment(hit) && !STATEMENT.test(hit.text) && !/=\s*(?:await\s+)?(?:require|import)\s*\(/.test(hit.text);

/** A prototype tells of a function and defines none. */
export const isPrototype = (hit: Hit): boolean =>
  languageOf(hit.path)?.name === 'c' && /^(?!return\b)[A-Za-z_][\w\s*]*[\s*]\w+\s*\([^{}]*\)[^{]*;\s*$/.test(hit.text);

export const isHeader = (path: string): boolean => /\.(?:h|hpp|hh)$/.test(path);
const NO_EXPORT = /\b(?:static|typedef)\b|\bmain\s*\(|^\s*(?:else|return|case|goto)\b/;

/** What is static in C, and what a header only declares, is not offered. */
const isHidden = ({ path, text }: Pick<Hit, 'path' | 'text'>): boolean =>
  languageOf(path)?.name === 'c' && (isHeader(path) || NO_EXPORT.test(text));

/** Names that a line offers to other files: one, or those of a list. An attribute of C# is used by the first part of its name. */
export function exportsIn(hit: Pick<Hit, 'path' | 'text'>): readonly string[] {
  const pattern = isHidden(hit) ? null : languageOf(hit.path)?.exports;
  const names = typeof pattern === 'string' ? new RegExp(pattern).exec(hit.text)?.slice(1).find(Boolean) : undefined;
  const all = names?.split(',').flatMap((one) => /^\s*([A-Za-z_$][\w$]*)/.exec(one)?.[1] ?? []) ?? [];
  return hit.path.endsWith('.cs')
    ? all.flatMap((name) => [...new Set([name, name.replace(/(?<=\w)Attribute$/, '')])])
    : all;
}
