/**
 * How the analyst looks: the calls of the tools that it knows, each bounded, the reading of what they give, and the words for the
 * evidence of a sentence: a quoted line, or the call behind it. The only place that knows the tools' inputs and results.
 */
import type { Ask, Looking, Seen } from './turns.ts';
import { code, plural } from './words.ts';

/** One line of a file, as a tool showed it. */
export interface Hit {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

const LONGEST_QUOTE = 100;
/** Left out of searches: generated, locked or packed text. */
const NOISE = '!*{.lock,.map,.svg,.snap,.min.js,-lock.json,.min.css}';
/** The tools take eighty characters. */
const LONGEST_ABOUT = 80;
export const LONGEST_PATTERN = 990;

/** `` `path:line` `text of the line` ``. What backticks or control characters would break is left out. */
export function claim(hit: Hit): string {
  const words = quotable(hit.text);
  return words === '' ? place(hit) : `${place(hit)} \`${words}\``;
}

/** `` `path:line` `` alone. */
export const place = ({ path, line }: Pick<Hit, 'path' | 'line'>): string => `\`${path}:${line}\``;

/** The longest part of a line that can be between backticks. */
function quotable(line: string): string {
  // A long line arrives cut, with the number of characters that are missing: those words are not the file's.
  const own = line.replace(/… \(\+\d+ characters\)$/, '');
  const parts = own.split(/[`\p{Cc}\p{Cf}\u2028\u2029\uFFFD]/u).map((part) => part.trim());
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  return longest
    .slice(0, LONGEST_QUOTE)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trim();
}

const clipped = (about: string | undefined): { readonly about?: string } =>
  about === undefined ? {} : { about: about.slice(0, LONGEST_ABOUT).toWellFormed() };

/** Where and how a call looks; `about` says what for, in a few words: people see it instead of the pattern. */
export interface Where {
  readonly glob?: string;
  readonly path?: string | undefined;
  readonly anyCase?: boolean;
  readonly limit?: number;
  readonly context?: number;
  readonly about?: string;
}

/** Names of files below the root (or `path`), or those that fit `glob`. */
export const list = (limit: number, { glob, path, about }: Where = {}): Ask => ({
  tool: 'list_files',
  input: { limit, ...(glob === undefined ? {} : { glob }), ...(path === undefined ? {} : { path }), ...clipped(about) },
});

/** Lines that match. */
export const search = (pattern: string, where: Where = {}): Ask => ({
  tool: 'search',
  input: {
    pattern,
    glob: where.glob ?? NOISE,
    limit: where.limit ?? 200,
    ...(where.path === undefined ? {} : { path: where.path }),
    ...(where.anyCase === true ? { ignore_case: true } : {}),
    ...(where.context === undefined ? {} : { context: where.context }),
    ...clipped(where.about),
  },
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
  return seen.text.split('\n').flatMap((line) => hitIn(line, HIT));
}

const hitIn = (line: string, form: RegExp): readonly Hit[] => {
  const found = form.exec(line);
  return found === null ? [] : [{ path: found[1] ?? '', line: Number(found[2]), text: found[3] ?? '' }];
};

/** Matching lines, each with the lines that a search with context shows behind it. */
export function hitsWithNext(seen: Seen | undefined): readonly (readonly [hit: Hit, next: readonly string[]])[] {
  if (!seen?.ok) return [];
  const rows = seen.text.split('\n').filter((line) => line !== '--');
  return rows.flatMap((row, at) =>
    hitIn(row, HIT).map((hit): readonly [Hit, readonly string[]] => {
      const begin = (n: number): string[] => [`${hit.path}-${hit.line + n}- `, `${hit.path}:${hit.line + n}: `];
      const next = [1, 2].flatMap((n) => {
        const mark = begin(n).find((each) => rows[at + n]?.startsWith(each) === true);
        return mark === undefined ? [] : [rows[at + n]?.slice(mark.length) ?? ''];
      });
      return [hit, next];
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

const MOST_CALLS = 4;

/** The call behind a sentence, with what it gave: `(search for definitions of x: 3 lines)`. A search in parts counts as one. */
export function behind(...looks: readonly (Seen | undefined)[]): string {
  const groups = [
    ...Map.groupBy(
      [...new Set(looks)].filter((one) => one !== undefined),
      callText,
    ),
  ];
  const texts = groups.map(([call, all]) => `${call}: ${resultText(all)}`);
  const rest = texts.length > MOST_CALLS ? `; ${texts.length - MOST_CALLS} more` : '';
  return texts.length === 0 ? '(nothing was asked)' : `(${texts.slice(0, MOST_CALLS).join('; ')}${rest})`;
}

const VERBS: Readonly<Record<string, string>> = {
  list_files: 'list of',
  search: 'search for',
  read_file: 'read of',
  git: 'git',
};

function callText({ ask: { tool, input } }: Seen): string {
  const word = (...keys: readonly string[]): string =>
    keys.map((key) => input[key]).find((value) => typeof value === 'string') ?? '';
  const what = word('about') || code(word('pattern', 'glob', 'path', 'subcommand'));
  return `${VERBS[tool] ?? tool} ${what}`;
}

function resultText(all: readonly Seen[]): string {
  const failed = all.find(({ ok }) => !ok);
  if (failed !== undefined) return `failed, ${failed.text.split('\n')[0]?.slice(0, 120) ?? ''}`;
  const count = all.reduce((sum, seen) => sum + sizeOf(seen), 0);
  const parts = all.length > 1 ? ` in ${all.length} searches` : '';
  return `${plural(count, all[0]?.ask.tool === 'list_files' ? 'file' : 'line')}${parts}${all.some(isCut) && all[0]?.ask.tool === 'search' ? ', stopped there' : ''}`;
}

function sizeOf(seen: Seen): number {
  const { tool } = seen.ask;
  if (tool === 'list_files') return countOf(seen);
  return tool === 'search'
    ? hitsOf(seen).length
    : tool === 'read_file'
      ? linesOf(seen).length
      : seen.text.split('\n').length;
}

/** Looks that failed, for the end of a report. */
export function faults(seen: readonly (Seen | undefined)[]): readonly string[] {
  const failed = seen.filter((one) => one?.ok === false).map((one) => `- ${behind(one).slice(1, -1)}`);
  return failed.length === 0 ? [] : ['', '## Could not be looked at', '', ...new Set(failed)];
}

/** A heading with its rows; nothing without rows. */
export const section = (heading: string, rows: readonly string[]): readonly string[] =>
  rows.length === 0 ? [] : ['', `## ${heading}`, '', ...rows];

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
    const more = yield {
      say: 'A search had too many lines: I search each folder by itself.',
      todo,
      asks: parts.slice(0, MOST_PARTS),
    };
    seen = [...whole, ...more];
    if (parts.length > MOST_PARTS) break;
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

/** Lines as they are, with their numbers; nothing for fewer than two. */
export function excerpt(lines: readonly Hit[]): readonly string[] {
  const last = lines.findLastIndex(({ text }) => text.trim() !== '');
  const shown = lines.slice(0, last + 1);
  const [first, end] = [shown[0], shown.at(-1)];
  if (first === undefined || end === undefined || shown.length < 2) return [];
  const rows = shown.map(({ line, text }) => `${line}  ${text}`.trimEnd());
  return ['', `## ${first.path}, lines ${first.line} to ${end.line}`, '', '~~~~', ...rows, '~~~~'];
}
