/**
 * Where an agent looks: the folders and files of its task that are really there, by one listing; everything when the task
 * names none, or none that exists, which is then said.
 */
import { filesOf, list } from './looking.ts';
import type { Ask, Seen, Step } from './step.ts';
import type { Topic } from './topic.ts';
import { listed, plural } from './words.ts';

export interface Ground {
  /** A folder or file for searches; undefined for the whole. */
  readonly path: string | undefined;
  /** Files that the task names and that are there. */
  readonly files: readonly string[];
  /** Names that were listed there, and how many there are. */
  readonly names: readonly string[];
  readonly count: number;
  /** In words: `src/`, `this repository`. */
  readonly called: string;
  /** What the task names and nobody could find. */
  readonly missing: readonly string[];
  readonly seen: readonly Seen[];
  /** Whether a path belongs to it: searches may reach a little further. */
  has(path: string): boolean;
}

export interface Listing {
  readonly say: string;
  readonly todo: number;
  readonly limit: number;
  readonly glob?: string;
}

type Settling = Generator<Step, Ground, readonly Seen[]>;

/** Lists the ground of a task: one step, two when what it names is not there. */
export function* groundOf(topic: Topic, listing: Listing): Settling {
  const { folders, files } = topic;
  const named = [...folders, ...files];
  const folder = files.length > 0 ? undefined : common(folders);
  const [all, byName] = yield {
    say: listing.say,
    todo: listing.todo,
    asks: [
      listOf(listing, folder),
      ...(files.length === 0 ? [] : [list(20, { glob: nameGlob(files), about: listed(files) })]),
    ],
  };
  const seen = [all, byName].filter((one) => one !== undefined);
  const { names, count } = filesOf(all);
  if (named.length === 0) {
    return { path: undefined, files: [], names, count, called: 'this repository', missing: [], seen, has: () => true };
  }
  const there = filesOf(byName).names.filter((name) => files.some((file) => `/${name}`.endsWith(`/${file}`)));
  const has = (path: string): boolean => there.includes(path) || folders.some((one) => path.startsWith(one));
  const own = [...new Set([...names.filter(has), ...there])];
  if (own.length === 0) return yield* everywhere(listing, named);
  return {
    path: there.length === 1 && folders.length === 0 ? there[0] : folder,
    files: there,
    names: own,
    count: own.length === names.length ? count : own.length,
    called: listed([...folders, ...there]),
    missing: files.filter((file) => !there.some((name) => `/${name}`.endsWith(`/${file}`))),
    seen,
    has,
  };
}

const listOf = ({ limit, glob }: Listing, path: string | undefined): Ask =>
  list(limit, { ...(glob === undefined ? {} : { glob }), ...(path === undefined ? {} : { path }) });

/** Nothing of what was named is there: everything is looked at instead. */
function* everywhere(listing: Listing, missing: readonly string[]): Settling {
  const [all] = yield {
    say: `There is no ${listed(missing)} that I can see, so I look at the whole repository.`,
    todo: listing.todo,
    asks: [listOf(listing, undefined)],
  };
  const { names, count } = filesOf(all);
  const seen = all === undefined ? [] : [all];
  return { path: undefined, files: [], names, count, called: 'this repository', missing, seen, has: () => true };
}

const nameGlob = (files: readonly string[]): string => {
  const globs = files.map((file) => `**/${file.replaceAll(/[^\w./@-]/g, '?')}`);
  return globs.length === 1 ? (globs[0] ?? '') : `{${globs.join(',')}}`;
};

/** The folder that holds them all; undefined when that is the root. */
function common(folders: readonly string[]): string | undefined {
  const [first, ...rest] = folders.map((folder) => folder.replace(/\/$/, '').split('/'));
  if (first === undefined) return undefined;
  const length = first.findIndex((part, at) => rest.some((other) => other[at] !== part));
  const shared = first.slice(0, length === -1 ? undefined : length).join('/');
  return shared === '' ? undefined : shared;
}

/** What to say of places that were asked for and are not there. */
export const missingText = ({ missing }: Ground): readonly string[] =>
  missing.length === 0 ? [] : ['', `Not there: ${listed(missing)} (${plural(missing.length, 'name')} of the task).`];
