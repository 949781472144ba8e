/** The words of a request: what can be looked for in it (identifiers, paths, plain words), and small helpers for texts. */
import { byName, distinct } from '../domain/lists.ts';
import PATTERNS from './data/patterns.json' with { type: 'json' };
import WORDS from './data/stop-words.json' with { type: 'json' };
import type { Hit } from './languages.ts';

/** Something to look for. A `word` is looked for by its stem, in any case; the others as written. */
export interface Term {
  readonly is: 'identifier' | 'path' | 'word';
  readonly text: string;
}

const STOP_WORDS = new Set(WORDS.flatMap((line) => line.split(' ')));
const IDENTIFIER = new RegExp(PATTERNS.identifier);
const PATH = new RegExp(PATTERNS.path);

/** A path that ends as names of files do. */
export const isFilePath = (path: string): boolean => /\.\w{1,5}$/.test(path);

/** Longer tokens are no names. */
const LONGEST_TERM = 60;

/** What a text names, what is in quotes first, then paths and identifiers, then words that aren't common. */
export function termsIn(text: string, most = 6): readonly Term[] {
  const quotes = [...text.matchAll(/`([^`\n]{2,60})`|"([^"\n]{2,60})"|(?<!\w)'([^'\n]{2,60})'(?!\w)/g)];
  const quoted = quotes.map(([, a, b, c]) => termOf((a ?? b ?? c ?? '').trim(), true));
  const plain = text.replaceAll(/`[^`\n]*`|"[^"\n]*"/g, ' ').replaceAll(/[“”‘’«»]/g, ' ');
  const tokens = plain
    .split(/[\s,;!?<>[\]{}|"]+/)
    .map((token) => token.replaceAll(/^[('.:*]+|'s$|(?<!\()[).:*']+$/g, ''));
  const named = tokens.flatMap((token) =>
    PATH.test(token) || (IDENTIFIER.test(token) && !STOP_WORDS.has(token.toLowerCase())) ? [termOf(token, false)] : [],
  );
  const words = quoted.length + named.filter(({ is }) => is === 'identifier').length > 0 ? [] : tokens.flatMap(wordsOf);
  const all = [...quoted, ...named, ...words].filter(({ text: own }) => own.length <= LONGEST_TERM && own !== '');
  return distinct(all, (term) => stem(term.text)).slice(0, most);
}

function termOf(token: string, quoted: boolean): Term {
  if (PATH.test(token) && !/^\w+\.\w+\(/.test(token)) return { is: 'path', text: token.replace(/^\.\//, '') };
  if (!quoted && /^\p{L}[\p{Ll}]*$/u.test(token)) return { is: 'word', text: token.toLowerCase() };
  return {
    is: 'identifier',
    text: token.replace(/\(\)$/, '').replace(/^(?:class|function|struct|def|interface|method|type)\s+/, ''),
  };
}

function wordsOf(token: string): readonly Term[] {
  if (PATH.test(token) || IDENTIFIER.test(token)) return [];
  return token
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= 3 && /\p{L}/u.test(word) && !STOP_WORDS.has(word))
    .map((text) => ({ is: 'word', text }));
}

const ENDINGS = ['ations', 'ation', 'ions', 'ion', 'ings', 'ing', 'ers', 'ies', 'ed', 'er', 'es', 's', 'e', 'y'];

/** The part of a word that its forms share: `parsing`, `parses`, `parsed` -> `pars`. Never shorter than four letters. */
export function stem(word: string): string {
  const ending = ENDINGS.find((each) => word.endsWith(each) && word.length - each.length >= (each === 'ies' ? 3 : 4));
  return ending === undefined ? word : word.slice(0, -ending.length);
}

export const code = (text: string): string => `\`${text}\``;

/** Sorts files and lines: by path, then by line. */
export const byPlace = (a: Partial<Hit>, b: Partial<Hit>): number =>
  byName(a.path ?? '', b.path ?? '') || (a.line ?? 0) - (b.line ?? 0);

/** The files nearest to the top first. */
export const byDepth = (a: string, b: string): number => a.split('/').length - b.split('/').length || byName(a, b);

type Words<T> = (one: T) => string;
type Rest<T> = string | Words<readonly T[]>;
/** At most `most` rows; where there are more, a last row says how many, and of them what `rest` says. */
export function shortened<T>(all: readonly T[], most: number, row: Words<T>, rest: Rest<T> = ''): readonly string[] {
  const others = all.slice(most);
  const more = `- and ${others.length} more${typeof rest === 'string' ? rest : rest(others)}`;
  return [...all.slice(0, most).map(row), ...(others.length === 0 ? [] : [more])];
}
