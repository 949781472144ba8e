/** How the analyst looks: the calls of the tools that it knows, each bounded, and the reading of what they give. The only place that
 * knows the tools' inputs and results. */
import { defined } from '../domain/result.ts';
import { captured } from '../domain/lists.ts';
import { matchesGlob } from '../domain/text/glob.ts';
import type { Json } from '../domain/turn.ts';
import { globFor, type Hit, type Language } from './languages.ts';

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

/** Left out of searches: generated, locked or packed text. */
const NOISE = '!*{.lock,.map,.svg,.snap,.min.js,-lock.json,.min.css}';
/** The tools take eighty characters. */
const LONGEST_ABOUT = 80;

/** Where and how a call looks; `about` says what for, in a few words: people see it instead of the pattern. */
export interface Where {
  readonly glob?: string;
  readonly path?: string | undefined;
  readonly ignore_case?: boolean;
  readonly limit?: number;
  readonly context?: number;
  readonly about?: string;
}

/** What of `where` a tool is told: nothing that is undefined. */
const inputOf = ({ about, ...where }: Where): Ask['input'] =>
  defined({ ...where, about: about?.slice(0, LONGEST_ABOUT).toWellFormed() });

const callOf = (tool: string, input: Ask['input']): Ask => ({ tool, input });

/** Names of files below the root (or `path`), or those that fit `glob`. */
export const list = (limit: number, where: Where = {}): Ask => callOf('list_files', inputOf({ ...where, limit }));

/** Lines that match, at most 200 where `where` sets no limit. */
export const search = (pattern: string, where: Where = {}): Ask =>
  callOf('search', { pattern, ...inputOf({ glob: NOISE, limit: 200, ...where }) });

type PatternsFor = (language: Language) => readonly (string | null)[];
/** Searches in the files of each language for its patterns: `about` is followed by the language. */
export const searchEach = (languages: readonly Language[], patternsFor: PatternsFor, where: Where): readonly Ask[] =>
  languages.flatMap((language) => {
    const own = { ...where, glob: globFor([language]), about: `${where.about ?? ''} in ${language.label}` };
    return patternsFor(language).flatMap((pattern) => (pattern === null ? [] : [search(pattern, own)]));
  });

export const read = (path: string, from = 1, lines = 60): Ask => callOf('read_file', { path, from, lines });
export const git = (subcommand: string, options: Ask['input'] = {}): Ask => callOf('git', { subcommand, ...options });

/** What is left out between two rows may cut them, too. */
const LEFT_OUT = /^.*\n\[… \d+ bytes left out.*\n.*$/m;
const HIT = /^(.+?):(\d+): (.*)$/;

/** Matching lines of a search. Nothing for a search that failed. */
export function hitsOf(seen: Seen | undefined): readonly Hit[] {
  if (!seen?.ok) return [];
  const whole = seen.text.replace(LEFT_OUT, '');
  return whole.split('\n').flatMap((row) => {
    const [, path, line, text = ''] = HIT.exec(row) ?? [];
    return path === undefined ? [] : [{ path, line: Number(line), text }];
  });
}

/** A line that is longer than a search shows, with the number of characters that are missing. */
export const LONG_LINE = /… \(\+\d+ characters\)$/;

const LONGEST_CONTEXT = 10;
const ROW = /^(.+?)[:-](\d+)[:-] (.*)$/gm;

/** Matching lines, each with the lines that a search with context shows behind it. */
export function hitsWithNext(seen: Seen | undefined): readonly (readonly [hit: Hit, next: readonly string[]])[] {
  const rows = new Map([...(seen?.text ?? '').matchAll(ROW)].map(([, path, line, text]) => [`${path}:${line}`, text]));
  return hitsOf(seen).map((hit) => {
    const next = Array.from({ length: LONGEST_CONTEXT }, (_, at) => rows.get(`${hit.path}:${hit.line + at + 1}`));
    return [hit, next.filter((text) => text !== undefined)];
  });
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
  Number(captured(IN_ALL, seen?.text ?? '')) || filesOf(seen).length;
const IN_ALL = /^\((?:at least )?\d+ more, (?:at least )?(\d+) files? in all/m;

/** Lines of a file that were read, with the path that was asked for. */
export function linesOf(seen: Seen | undefined): readonly Hit[] {
  const path = seen?.ask.input['path'];
  if (!seen?.ok || typeof path !== 'string') return [];
  return seen.text.split('\n').flatMap((line) => {
    const found = /^\s*(\d+)\t(.*)$/.exec(line);
    return found ? [{ path, line: Number(found[1]), text: found[2] ?? '' }] : [];
  });
}

/** The lines of lists, by the line that opens each. */
export type Lists = ReadonlyMap<Hit, readonly Hit[]>;
const [MOST_LISTS, LONGEST_LIST] = [40, 60] as const;

/** Reads the lines behind each of `openers`, up to the one that fits `closes`. */
export function* listsBehind(openers: readonly Hit[], closes: RegExp, todo: number): Looking<Lists> {
  const some = openers.slice(0, MOST_LISTS);
  const asks = some.map(({ path, line }) => read(path, line + 1, LONGEST_LIST));
  const seen = asks.length === 0 ? [] : yield { todo, say: 'I read the lists that continue on the next lines.', asks };
  return new Map(
    some.map((hit, at) => {
      const lines = linesOf(seen[at]);
      return [hit, lines.slice(0, lines.findIndex(({ text }) => closes.test(text)) + 1 || lines.length)];
    }),
  );
}

type Looks = Looking<readonly Seen[]>;
const [SPLITS, MOST_PARTS] = [6, 120] as const;

/** A search that was cut is asked again for each folder and file below, so that nothing of it is missing. */
export function* searchAll(asks: readonly Ask[], names: readonly string[], say: string, todo: number): Looks {
  let seen = yield { todo, say, asks };
  for (let round = 0; round < SPLITS; round += 1) {
    const cut = seen.filter((one) => one.ok && isCut(one));
    const parts = cut.flatMap(({ ask }) => splitAsk(ask, names));
    // Part of the parts would look like all of them: the search that says that it was cut is kept.
    if (parts.length === 0 || parts.length > MOST_PARTS) break;
    const more = yield { todo, say: 'A search had too many lines: I search each folder by itself.', asks: parts };
    seen = [...seen.filter((one) => !cut.includes(one)), ...more];
  }
  return seen;
}

/** The same search in each folder and file right below the place of the first, where files that it may read are. */
function splitAsk(ask: Ask, names: readonly string[]): readonly Ask[] {
  const { path, glob } = ask.input;
  const from = typeof path === 'string' ? `${path}/` : '';
  const isSought = (name: string): boolean =>
    typeof glob !== 'string' || glob.startsWith('!') || matchesGlob([glob], name.replace(/^.*\//, ''));
  const inside = names.filter((name) => name.startsWith(from) && isSought(name));
  const parts = new Set(inside.map((name) => from + name.slice(from.length).replace(/\/.*/, '')));
  return parts.size === 0 ? [ask] : [...parts].map((part) => ({ ...ask, input: { ...ask.input, path: part } }));
}
