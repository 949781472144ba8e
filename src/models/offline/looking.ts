/**
 * How the analyst looks: the calls of the tools it knows, each bounded, and the reading of what they give. The only place
 * that knows the tools' inputs and the shape of their results.
 */
import type { Hit } from './claims.ts';
import type { Ask, Seen } from './step.ts';
import { patternOf } from './words.ts';
import type { Term } from './words.ts';

/** Left out of searches: generated, locked or packed text, whose hits tell nothing. */
const NOISE = '!*{.lock,.map,.svg,.snap,.min.js,-lock.json}';

/** The tools take eighty characters. */
const LONGEST_ABOUT = 80;
const clipped = (about: string | undefined): { readonly about?: string } =>
  about === undefined ? {} : { about: about.slice(0, LONGEST_ABOUT).toWellFormed() };

export interface ListOptions {
  readonly glob?: string;
  readonly path?: string;
  /** What is looked for, in a few words: shown to the person instead of the glob. */
  readonly about?: string;
}

/** Names below the root (or `path`), or those that fit `glob`, at most `limit`. */
export const list = (limit: number, options: ListOptions = {}): Ask => ({
  tool: 'list_files',
  input: { limit, ...options, ...clipped(options.about) },
});

export interface SearchOptions {
  readonly glob?: string;
  readonly path?: string | undefined;
  readonly anyCase?: boolean;
  readonly limit?: number;
  /** What is looked for, in a few words: shown to the person instead of the pattern. */
  readonly about?: string;
}

export const search = (pattern: string, { glob, path, anyCase, limit, about }: SearchOptions = {}): Ask => ({
  tool: 'search',
  input: {
    pattern,
    glob: glob ?? NOISE,
    limit: limit ?? 40,
    ...(path === undefined ? {} : { path }),
    ...(anyCase === true ? { ignore_case: true } : {}),
    ...clipped(about),
  },
});

/** A search for a term: words in any case, the rest as written. */
export const searchFor = (term: Term, limit = 40, path?: string): Ask =>
  search(patternOf(term), { anyCase: term.is === 'word', limit, path, about: `\`${term.text}\`` });

export const read = (path: string, from = 1, lines = 60): Ask => ({ tool: 'read_file', input: { path, from, lines } });

/** Switches of the git tool that the analyst uses. */
export interface GitOptions {
  readonly refs?: readonly string[];
  readonly limit?: number;
  readonly stat?: boolean;
}

export const git = (subcommand: string, options: GitOptions = {}): Ask => ({
  tool: 'git',
  input: { subcommand, ...options },
});

/** Matching lines of a search. Nothing for a search that failed. */
export function hitsOf(seen: Seen | undefined): readonly Hit[] {
  if (!seen?.ok) return [];
  return seen.text.split('\n').flatMap((line) => {
    const found = /^(.+?):(\d+): (.*)$/.exec(line);
    return found ? [{ path: found[1] ?? '', line: Number(found[2]), text: found[3] ?? '' }] : [];
  });
}

/** The search ended before it had seen everything: what is missing in it may be there all the same. */
export const isCut = (seen: Seen | undefined): boolean =>
  seen !== undefined && /^\(stopped (?:after|by)/m.test(seen.text);

/** Names of a listing that were shown, and how many files there are. */
export function filesOf(seen: Seen | undefined): { readonly names: readonly string[]; readonly count: number } {
  if (!seen?.ok || seen.text.startsWith('no files in ')) return { names: [], count: 0 };
  const lines = seen.text.split('\n');
  const end = lines.findIndex((line) => /^\((?:at least )?\d+ more, |^\(stopped by /.test(line));
  const names = end === -1 ? lines : lines.slice(0, end);
  const rest = /^\((?:at least )?(\d+) more, /.exec(lines[end] ?? '')?.[1];
  return { names, count: names.length + Number(rest ?? 0) };
}

/** Lines of a file that were read, with the path that was asked for. */
export function linesOf(seen: Seen | undefined): readonly Hit[] {
  const path = seen?.ask.input['path'];
  if (!seen?.ok || typeof path !== 'string') return [];
  return seen.text.split('\n').flatMap((line) => {
    const found = /^\s*(\d+)\t(.*)$/.exec(line);
    return found ? [{ path, line: Number(found[1]), text: found[2] ?? '' }] : [];
  });
}

/** How many lines a file has, where the tool said so. */
export function lengthOf(seen: Seen | undefined): number | null {
  const found = /^.* \(lines \d+-\d+ of (\d+), /.exec(seen?.ok === true ? seen.text : '')?.[1];
  return found === undefined ? null : Number(found);
}

/** Why a look gave nothing, for the answer; null when it worked. */
export const faultOf = (seen: Seen | undefined): string | null =>
  seen === undefined || seen.ok ? null : `${seen.ask.tool}: ${seen.text.split('\n')[0] ?? ''}`.slice(0, 160);
