/**
 * How the analyst looks: the calls of the tools that it knows, each bounded, and the reading of what they give. The only place that
 * knows the tools' inputs and results.
 */
import type { Json } from '../domain/turn.ts';
import { globFor, TABLE } from './languages.ts';
import type { LanguageName } from './languages.ts';

/** A tool call that a part wants. */
export interface Ask {
  readonly tool: string;
  readonly input: { readonly [key: string]: Json };
}

/** What a call gave. A tool that the role doesn't have, or that was denied, is an error result like any other. */
export interface Seen {
  readonly ask: Ask;
  readonly ok: boolean;
  readonly text: string;
}

/** One turn: a sentence for the person who watches, the todo it belongs to (an index), and the calls. */
export interface Step {
  readonly say: string;
  readonly todo: number;
  readonly asks: readonly Ask[];
}

/** A piece of work that asks tools step by step and gives a `T` at its end. */
export type Looking<T> = Generator<Step, T, readonly Seen[]>;

/** One line of a file, as a tool showed it. */
export interface Hit {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Left out of searches: generated, locked or packed text. */
const NOISE = '!*{.lock,.map,.svg,.snap,.min.js,-lock.json,.min.css}';
/** The tools take eighty characters. */
const LONGEST_ABOUT = 80;

/** Where and how a call looks; `about` says what for, in a few words: people see it instead of the pattern. */
export interface Where {
  readonly glob?: string;
  readonly path?: string | undefined;
  readonly anyCase?: boolean;
  readonly limit?: number;
  readonly context?: number;
  readonly about?: string;
}

/** What of `where` a tool is told: nothing that is undefined. */
const inputOf = ({ glob, path, limit, context, about, anyCase }: Where): Ask['input'] => ({
  ...(glob === undefined ? {} : { glob }),
  ...(limit === undefined ? {} : { limit }),
  ...(path === undefined ? {} : { path }),
  ...(anyCase === true ? { ignore_case: true } : {}),
  ...(context === undefined ? {} : { context }),
  ...(about === undefined ? {} : { about: about.slice(0, LONGEST_ABOUT).toWellFormed() }),
});

/** Names of files below the root (or `path`), or those that fit `glob`. */
export const list = (limit: number, where: Where = {}): Ask => ({
  tool: 'list_files',
  input: inputOf({ ...where, limit }),
});

/** Lines that match, at most 200 where `where` sets no limit. */
export const search = (pattern: string, where: Where = {}): Ask => ({
  tool: 'search',
  input: { pattern, ...inputOf({ glob: NOISE, limit: 200, ...where }) },
});

/** A search in each language that has a pattern: `about` is followed by the files that are searched. */
export const searchEach = (
  languages: readonly LanguageName[],
  kind: 'exports' | 'imports' | 'starts',
  where: Where & { readonly about: string },
): readonly Ask[] =>
  languages.flatMap((language) => {
    const glob = globFor([language]);
    const pattern = TABLE[language][kind];
    return pattern === null ? [] : [search(pattern, { glob, ...where, about: `${where.about} in ${glob}` })];
  });

export const read = (path: string, from = 1, lines = 60): Ask => ({ tool: 'read_file', input: { path, from, lines } });

export const git = (
  subcommand: string,
  options: { readonly limit?: number; readonly stat?: boolean; readonly paths?: readonly string[] } = {},
): Ask => ({ tool: 'git', input: { subcommand, ...options } });

const HIT = /^(.+?):(\d+): (.*)$/;

/** Matching lines of a search. Nothing for a search that failed. */
export function hitsOf(seen: Seen | undefined): readonly Hit[] {
  if (!seen?.ok) return [];
  return seen.text.split('\n').flatMap(hitIn);
}

const hitIn = (line: string): readonly Hit[] => {
  const found = HIT.exec(line);
  return found === null ? [] : [{ path: found[1] ?? '', line: Number(found[2]), text: found[3] ?? '' }];
};

/** Lines that a search shows around a match, at most. */
export const LONGEST_CONTEXT = 10;

/** Matching lines, each with the lines that a search with context shows behind it. */
export function hitsWithNext(seen: Seen | undefined): readonly (readonly [hit: Hit, next: readonly string[]])[] {
  if (!seen?.ok) return [];
  const rows = seen.text.split('\n').filter((line) => line !== '--');
  return rows.flatMap((row, at) =>
    hitIn(row).map((hit): readonly [Hit, readonly string[]] => {
      const begin = (n: number): string[] => [`${hit.path}-${hit.line + n}- `, `${hit.path}:${hit.line + n}: `];
      const next = Array.from({ length: LONGEST_CONTEXT }, (_, n) => {
        const mark = begin(n + 1).find((each) => rows[at + n + 1]?.startsWith(each) === true);
        return mark === undefined ? [] : [rows[at + n + 1]?.slice(mark.length) ?? ''];
      });
      return [hit, next.flat()];
    }),
  );
}

const CUT = /^\(stopped (?:after|by)|^\[… \d+ bytes left out|^\((?:at least )?\d+ more, /m;
/** A look ended before it had seen everything: what is missing in it may be there all the same. */
export const isCut = (seen: Seen | undefined): boolean => seen !== undefined && CUT.test(seen.text);

/** Names of a listing. */
export function filesOf(seen: Seen | undefined): readonly string[] {
  if (!seen?.ok || seen.text.startsWith('no files in ')) return [];
  const lines = seen.text.split('\n');
  const end = lines.findIndex((line) => CUT.test(line) || /^\(\d+ /.test(line));
  return end === -1 ? lines : lines.slice(0, end);
}

/** How many files a listing counted, those not shown included. */
export const countOf = (seen: Seen | undefined): number =>
  Number(
    /^\((?:at least )?\d+ more, (?:at least )?(\d+) files? in all/m.exec(seen?.text ?? '')?.[1] ?? filesOf(seen).length,
  );

/** Lines of a file that were read, with the path that was asked for. */
export function linesOf(seen: Seen | undefined): readonly Hit[] {
  const path = seen?.ask.input['path'];
  if (!seen?.ok || typeof path !== 'string') return [];
  return seen.text.split('\n').flatMap((line) => {
    const found = /^\s*(\d+)\t(.*)$/.exec(line);
    return found ? [{ path, line: Number(found[1]), text: found[2] ?? '' }] : [];
  });
}

/** A search that was cut is asked again for each folder below, and for the files beside them, so that nothing of it is missing. */
export function* searchAll(
  asks: readonly Ask[],
  names: readonly string[],
  say: string,
  todo: number,
): Looking<readonly Seen[]> {
  let seen = yield { say, todo, asks };
  for (let round = 0; round < SPLITS && seen.some((one) => one.ok && isCut(one)); round += 1) {
    const whole = seen.filter((one) => !one.ok || !isCut(one));
    const parts = seen.filter((one) => !whole.includes(one)).flatMap(({ ask }) => splitAsk(ask, names));
    // Part of the parts would look like all of them: the search that says that it was cut is kept.
    if (parts.length > MOST_PARTS) break;
    const more = yield { say: 'A search had too many lines: I search each folder by itself.', todo, asks: parts };
    seen = [...whole, ...more];
  }
  return seen;
}

const SPLITS = 4;
const MOST_PARTS = 40;

function splitAsk(ask: Ask, names: readonly string[]): readonly Ask[] {
  const path = typeof ask.input['path'] === 'string' ? `${ask.input['path']}/` : '';
  const glob = typeof ask.input['glob'] === 'string' ? ask.input['glob'] : '*';
  if (glob.startsWith('/')) return [ask];
  const inside = names.filter((name) => name.startsWith(path)).map((name) => name.slice(path.length));
  const folders = [
    ...new Set(inside.filter((name) => name.includes('/')).map((name) => name.slice(0, name.indexOf('/')))),
  ];
  const here =
    glob.startsWith('!') || glob.includes('/') ? [] : [{ ...ask, input: { ...ask.input, glob: `/${glob}` } }];
  return [...here, ...folders.map((folder) => ({ ...ask, input: { ...ask.input, path: path + folder } }))];
}
