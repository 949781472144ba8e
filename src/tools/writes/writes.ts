/**
 * Holds commands to what their task may change. The sandbox opens folders; what a command changed in them outside of
 * the globs is put back when it has ended, and named. What another agent was allowed to change meanwhile is left, and named as well.
 */
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { matchesGlob } from '../../domain/text/glob.ts';
import { writesText } from '../../domain/writes.ts';
import type { Environment } from '../shell/environment.ts';
import { WHAT_TO_DO } from '../paths/path-policy.ts';
import { shownName } from '../shell/output.ts';
import type { Root } from '../paths/root.ts';
import type { Opened } from '../sandbox/paths.ts';
import { type BuildFolders, buildFolders, ignoredOf } from './ignored.ts';
import { dropEmpty, foldersBack, isSame, type Kept, keptFiles } from './kept.ts';
import { isPlainFolder, type Looked, lookAgain, missingOf, type Scope, scopeOf } from './scope.ts';

/** Names of files in a result; more are counted. */
const NAMED = 20;

/** A command that is to be held to globs. */
export interface Held {
  /** What the sandbox opens instead of the project. */
  readonly opened: Opened;
  /** To be called when nothing of the command runs any more: puts back, and says what. */
  end(): Promise<PutBack>;
}

export interface PutBack {
  /** For the model and the person; empty where nothing is to be said. */
  readonly text: string;
  /** Something was put back: then the command has not done what it says. */
  readonly changed: boolean;
}

export interface Writes {
  /** Finds out what git ignores now, before anything was changed; later calls wait for the first. */
  begin(): Promise<void>;
  /** A file tool changed this file just now. */
  wrote(name: string): void;
  /** Before a command that may write: `globs` are those of its task, null where it may change the whole project. */
  hold(globs: readonly string[] | null): Promise<Held>;
}

interface Writer {
  /** Null: it may change anything. */
  readonly globs: readonly string[] | null;
  readonly from: number;
  to: number;
}

interface Parts {
  readonly root: Root;
  readonly environment: Environment;
  readonly kept: Kept;
  /** Other commands, and files that file tools changed: since when anybody has to know. */
  readonly writers: Set<Writer>;
  readonly files: Map<string, number>;
}

export function openWrites(root: Root, environment: Environment, stateDir: string): Writes {
  const key = createHash('sha256').update(root.path).digest('hex').slice(0, 16);
  const kept = keptFiles(root.path, path.join(stateDir, 'writes', key), stateDir);
  const parts: Parts = { root, environment, kept, writers: new Set(), files: new Map() };
  let found: Promise<BuildFolders> | null = null;
  const build = (): Promise<BuildFolders> => (found ??= buildFolders(root, environment));
  return {
    begin: async () => void (await build()),
    wrote(name) {
      if (parts.writers.size > 0) parts.files.set(name, performance.now());
    },
    async hold(globs) {
      const folders = await build();
      const writer: Writer = { globs, from: performance.now(), to: Number.POSITIVE_INFINITY };
      parts.writers.add(writer);
      if (globs !== null) return held(parts, writer, globs, folders);
      const end = (): Promise<PutBack> => {
        leave(parts, writer);
        return Promise.resolve(NOTHING);
      };
      return { opened: {}, end };
    },
  };
}

/** Those that ended before all that still run began are of no matter any more. */
function leave({ writers, files }: Parts, writer: Writer): void {
  writer.to = performance.now();
  const running = [...writers].filter(({ to }) => to === Number.POSITIVE_INFINITY);
  const first = Math.min(...running.map(({ from }) => from));
  for (const one of writers) if (one.to < first) writers.delete(one);
  for (const [name, at] of files) if (at < first) files.delete(name);
}

async function held(parts: Parts, writer: Writer, globs: readonly string[], folders: BuildFolders): Promise<Held> {
  const { root, kept } = parts;
  const there = [...folders.there, ...folders.usual].filter((name) => isPlainFolder(root.path, name));
  const absent = folders.usual.flatMap((name) => missingOf(root.path, name) ?? []);
  const found = await scopeOf(root.path, globs, new Set([...there, ...folders.usual]));
  const isKept = await kept.keep(found.before.files);
  const scope = isKept ? found.scope : narrowed(found.scope);
  const place = (name: string): string => path.join(root.path, name);
  const opened: Opened = {
    writable: [...new Set([...scope.tops, ...there, ...folders.usual])].map(place),
    closed: [...scope.closed].map(place),
    absent: [...scope.absent, ...absent].map(place),
  };
  return {
    opened,
    async end() {
      try {
        return scope.tooWide.length > 0 ? closedTo(scope) : await putBack(parts, scope, found.before, writer);
      } finally {
        leave(parts, writer);
      }
    },
  };
}

const NOTHING: PutBack = { text: '', changed: false };

const closedTo = ({ tooWide }: Scope): PutBack => ({
  text: `Commands could not change ${tooWide.join(', ')}: there is too much beside it to look at; use write_file and edit_file.`,
  changed: false,
});

/** Nothing is opened that would have to be looked at. */
const narrowed = (scope: Scope): Scope => ({ ...scope, tops: [], closed: new Set(), tooWide: scope.globs });

interface Difference {
  readonly name: string;
  readonly how: 'changed' | 'deleted' | 'new';
}

async function putBack(parts: Parts, scope: Scope, before: Looked, writer: Writer): Promise<PutBack> {
  const { root } = parts;
  await foldersBack(root.path, parts.kept, before.folders);
  const now = await lookAgain(root.path, scope);
  if (now === null) return { text: TOO_MUCH, changed: true };
  const all = differences(before, now);
  // A list of what is ignored that the command has made or changed itself does not count.
  const lists = all.filter(({ name }) => path.posix.basename(name) === '.gitignore');
  const others = all.filter((one) => !lists.includes(one));
  const mine = (one: Difference): boolean => !isAllowedElsewhere(parts, writer, one.name);
  const away = new Set<string>();
  for (const one of lists.filter(mine)) await undo(parts, one, away);
  const ignored = await ignoredOf(
    root,
    parts.environment,
    others.map(({ name }) => name),
  );
  const outside = others.filter(({ name }) => !ignored.has(name));
  for (const one of outside.filter(mine)) await undo(parts, one, away);
  const added = [...now.folders.keys()].filter((name) => !before.folders.has(name));
  for (const name of added.toSorted((a, b) => b.length - a.length)) await dropEmpty(path.join(root.path, name));
  const undone = [...lists, ...outside].filter(mine);
  const left = [...lists, ...outside].filter((one) => !mine(one));
  return wordsOf(scope.globs, undone, left, [...away]);
}

const TOO_MUCH =
  'the command made so many files that what it changed can not be looked at; look at the project yourself';

function differences(before: Looked, now: Looked): readonly Difference[] {
  const gone = [...before.files].flatMap(([name, stats]): readonly Difference[] => {
    const then = now.files.get(name);
    if (then === undefined) return [{ name, how: 'deleted' }];
    return isSame(stats, then) ? [] : [{ name, how: 'changed' }];
  });
  const come = [...now.files.keys()].filter((name) => !before.files.has(name));
  return [...gone, ...come.map((name): Difference => ({ name, how: 'new' }))];
}

/** Did somebody else change it meanwhile, or could have with good reason? */
function isAllowedElsewhere({ writers, files }: Parts, own: Writer, name: string): boolean {
  const at = files.get(name);
  if (at !== undefined && at >= own.from) return true;
  return [...writers].some(
    (one) => one !== own && one.to >= own.from && (one.globs === null || matchesGlob(one.globs, name)),
  );
}

async function undo({ root, kept }: Parts, { name, how }: Difference, away: Set<string>): Promise<void> {
  const isThere = (await lstat(path.join(root.path, name)).catch(() => null)) !== null;
  if (isThere) away.add(await kept.takeAway(name));
  if (how !== 'new') await kept.putBack(name);
}

const listed = (all: readonly Difference[]): string => {
  const named = all.slice(0, NAMED).map(({ name, how }) => `${shownName(name)} (${how})`);
  return [...named, ...(all.length > NAMED ? [`${all.length - NAMED} more`] : [])].join(', ');
};

function wordsOf(
  globs: readonly string[],
  undone: readonly Difference[],
  left: readonly Difference[],
  away: readonly string[],
): PutBack {
  if (undone.length === 0 && left.length === 0) return NOTHING;
  const kept = away.length === 0 ? '' : `; as the command had left them they are in ${away.join(', ')}`;
  const lines = [
    undone.length === 0
      ? ''
      : `PUT BACK as it was before the command: ${listed(undone)}. This task may change ${writesText(globs)} only${kept}. ${WHAT_TO_DO}`,
    left.length === 0 ? '' : `Changed meanwhile where another agent may write, and left: ${listed(left)}.`,
  ];
  return { text: lines.filter((line) => line !== '').join('\n'), changed: undone.length > 0 };
}
