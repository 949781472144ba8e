/** Limits commands to the files that their task may change. The sandbox opens folders; changes in them outside the globs are
 * undone when the command has ended, and reported. Changes that another agent was allowed to make meanwhile stay. */
import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, realpathSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { coversFolder, literalFolders, literalNames, matchesGlob, reachesInto } from '../../domain/text/glob.ts';
import { writesText } from '../../domain/plan/writes.ts';
import { runGit } from '../git/hardening.ts';
import { forbidden, type Root, WHAT_TO_DO } from '../paths/root.ts';
import type { Opened } from '../sandbox/places.ts';
import type { Environment } from '../process/environment.ts';
import { isOwnFreshFile } from '../process/kept-folders.ts';
import { shownName } from '../process/output.ts';
import { dropEmpty, foldersBack, isSame, type KeptOriginal, keptFiles } from './kept.ts';

/** The most files that a result names; more are counted. */
const NAMED = 20;

/** The limits of one command. */
export interface Held {
  /** What the sandbox makes writable instead of the whole project. */
  readonly opened: Opened;
  /** Call this when nothing of the command runs any more: undoes forbidden changes and reports them. */
  end(): Promise<PutBack>;
}

export interface PutBack {
  /** For the model and the person; empty if there is nothing to report. */
  readonly text: string;
  /** True if a change was undone, so that the command's own output is misleading. */
  readonly changed: boolean;
}

export interface Writes {
  /** Finds out what git ignores, before anything is changed; later calls wait for the first. */
  begin(): Promise<void>;
  /** Records that a file tool has just changed this file. */
  wrote(name: string): void;
  /** Call this before a command that may write: `globs` are those of its task, null if it may change the whole project. */
  hold(globs: readonly string[] | null): Promise<Held>;
}

interface Writer {
  /** Null if it may change anything. */
  readonly globs: readonly string[] | null;
  readonly from: number;
  to: number;
}

interface Parts {
  readonly root: Root;
  readonly environment: Environment;
  readonly kept: KeptOriginal;
  /** Other commands, and when file tools changed which file: kept as long as a running command has to know. */
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

/** Ends a writer, and forgets those that ended before every running one began. */
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
  text: `Commands could not change ${tooWide.join(', ')}: there are too many files beside it to check; use write_file and edit_file.`,
  changed: false,
});

/** The scope without any folder that would have to be checked afterwards. */
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
  // Changed .gitignore files are undone first, so that they do not decide what is ignored.
  const lists = all.filter(({ name }) => path.posix.basename(name) === '.gitignore');
  const others = all.filter((one) => !lists.includes(one));
  const mine = (one: Difference): boolean => !isAllowedElsewhere(parts, writer, one.name);
  const away = new Set<string>();
  for (const one of lists.filter(mine)) await undo(parts, one, away);
  const names = others.map(({ name }) => name);
  const ignored = await ignoredOf(root, parts.environment, names);
  const outside = others.filter(({ name }) => !ignored.has(name));
  for (const one of outside.filter(mine)) await undo(parts, one, away);
  const added = [...now.folders.keys()].filter((name) => !before.folders.has(name));
  for (const name of added.toSorted((a, b) => b.length - a.length)) await dropEmpty(path.join(root.path, name));
  const undone = [...lists, ...outside].filter(mine);
  const left = [...lists, ...outside].filter((one) => !mine(one));
  return wordsOf(scope.globs, undone, left, [...away]);
}

const TOO_MUCH = 'the command created so many files that its changes cannot be checked; check the project yourself';

function differences(before: Looked, now: Looked): readonly Difference[] {
  const gone = [...before.files].flatMap(([name, stats]): readonly Difference[] => {
    const then = now.files.get(name);
    if (then === undefined) return [{ name, how: 'deleted' }];
    return isSame(stats, then) ? [] : [{ name, how: 'changed' }];
  });
  const come = [...now.files.keys()].filter((name) => !before.files.has(name));
  return [...gone, ...come.map((name): Difference => ({ name, how: 'new' }))];
}

/** True if another agent changed the file meanwhile, or was allowed to. */
function isAllowedElsewhere({ writers, files }: Parts, own: Writer, name: string): boolean {
  const at = files.get(name);
  if (at !== undefined && at >= own.from) return true;
  return [...writers].some(
    (one) => one !== own && one.to >= own.from && (one.globs === null || matchesGlob(one.globs, name)),
  );
}

async function undo({ root, kept }: Parts, { name, how }: Difference, away: Set<string>): Promise<void> {
  const isThere = (await lstat(path.join(root.path, name)).catch(() => null)) !== null;
  if (isThere) away.add(await kept.takeAway(name, how !== 'new'));
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
  const kept = away.length === 0 ? '' : `; the versions of the command are in ${away.join(', ')}`;
  const lines = [
    undone.length === 0
      ? ''
      : `PUT BACK as it was before the command: ${listed(undone)}. This task may only change ${writesText(globs)}${kept}. ${WHAT_TO_DO}`,
    left.length === 0 ? '' : `Changed meanwhile where another agent may write, and kept: ${listed(left)}.`,
  ];
  return { text: lines.filter((line) => line !== '').join('\n'), changed: undone.length > 0 };
}

// Folders of build output: those that git ignores, determined once. Commands may write them whatever a task may change.

const MOST_FOLDERS = 200;

/** Third-party dependencies are not output: only their cache folders are writable. */
const DEPENDENCIES = new Set(['node_modules', 'vendor', '.venv', 'venv', 'bower_components']);
const CACHES = ['.cache', '.vite', '.vitest', '.tmp', '.vite-temp'];

/** Output folders that tools create at the top of a project. An ignored one that is missing is created for the command. */
const USUAL = [
  'target dist build out coverage .cache .next .nyc_output .pytest_cache .mypy_cache .ruff_cache .gradle .turbo',
  '.parcel-cache bin obj tmp node_modules/.cache __pycache__ htmlcov .tox .svelte-kit .nuxt .output .dart_tool',
].flatMap((names) => names.split(' '));

interface BuildFolders {
  readonly there: readonly string[];
  /** Ignored ones that do not exist. */
  readonly usual: readonly string[];
}

const NONE: BuildFolders = { there: [], usual: [] };
const LISTED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];

/** Empty without git or if it fails. */
async function buildFolders(root: Root, environment: Environment): Promise<BuildFolders> {
  if (root.git.is === 'none') return NONE;
  const end = await runGit({ root, environment }, root.git.directory, LISTED);
  const listed = end.exit === 0 && end.whole ? end.stdout.split('\0') : [];
  const ignored = listed.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1));
  const there = ignored.flatMap(opened).filter((name) => isPlainFolder(root.path, name));
  const asked = USUAL.filter((name) => !isPlainFolder(root.path, name) && forbidden(name, 'write') === null);
  const folders = asked.map((name) => `${name}/`);
  const usual = await ignoredOf(root, environment, folders);
  return {
    there: there.toSorted((a, b) => a.length - b.length).slice(0, MOST_FOLDERS),
    usual: [...usual].map((name) => name.slice(0, -1)),
  };
}

async function ignoredOf(root: Root, environment: Environment, names: readonly string[]): Promise<ReadonlySet<string>> {
  if (root.git.is === 'none' || names.length === 0) return new Set();
  // This command does not support literal paths, and a leading ":" has a meaning.
  const input = names.map((name) => `./${name}\0`).join('');
  const asked = ['--no-literal-pathspecs', 'check-ignore', '--stdin', '-z'];
  const end = await runGit({ root, environment, input }, root.git.directory, asked);
  return new Set(end.exit === 0 ? end.stdout.split('\0').flatMap((name) => (name === '' ? [] : [name.slice(2)])) : []);
}

const opened = (folder: string): readonly string[] =>
  DEPENDENCIES.has(path.posix.basename(folder)) ? CACHES.map((name) => `${folder}/${name}`) : [folder];

// Where commands of a task with `writes` may write: the longest literal folder of each glob, and ignored folders of build output.
// Subfolders that no glob reaches are read-only; what remains is compared before and after the command.

/** The most read-only subfolders: each is a mount, which costs time. Further ones are compared instead. */
const MOST_CLOSED = 150;
/** The most files to compare. Beyond it, only folders that a glob covers as a whole are writable. */
const MOST_LOOKED_AT = 20_000;

interface Scope {
  readonly globs: readonly string[];
  /** Writable folders apart from those of build output. */
  readonly tops: readonly string[];
  /** Missing folders that are created first, because a glob covers their content; parents first. */
  readonly absent: readonly string[];
  /** Read-only folders inside writable ones. */
  readonly closed: ReadonlySet<string>;
  readonly build: ReadonlySet<string>;
  /** Globs without a writable folder, because too many other files are beside what they match. */
  readonly tooWide: readonly string[];
}

/** The files and folders outside the globs, in folders that a command may write. */
type Looked = Readonly<Record<'files' | 'folders', ReadonlyMap<string, BigIntStats>>>;

/** `root` is a real path; `build` are folders that git ignores. Changes nothing. */
async function scopeOf(
  root: string,
  globs: readonly string[],
  build: ReadonlySet<string>,
): Promise<{ readonly scope: Scope; readonly before: Looked }> {
  const wanted = outermost(globs.flatMap((glob) => folderOf(root, glob)));
  const tops = wanted.filter((folder) => isPlainFolder(root, folder));
  const coming = wanted.filter((folder) => !tops.includes(folder) && missingOf(root, folder) !== null);
  const absent = coming.flatMap((folder) => missingOf(root, folder) ?? []);
  const closed = new Set<string>();
  const scope = { globs, tops: [...tops, ...coming], absent: [...new Set(absent)], closed, build, tooWide: [] };
  const isClosed = (folder: string): boolean => {
    const close = closed.size < MOST_CLOSED && isOutside(globs, folder);
    if (close) closed.add(folder);
    return close;
  };
  const before = await look(root, scope, isClosed);
  if (before !== null) return { scope, before };
  const exact = scope.tops.filter((folder) => coversFolder(globs, folder));
  const tooWide = globs.filter((glob) => !folderOf(root, glob).some((folder) => exact.includes(folder)));
  return {
    scope: { ...scope, tops: exact, closed: new Set(), tooWide },
    before: { files: new Map(), folders: new Map() },
  };
}

/** The present state; null if there is too much. New folders are included. */
const lookAgain = (root: string, scope: Scope): Promise<Looked | null> =>
  look(root, scope, (folder) => scope.closed.has(folder));

const isOutside = (globs: readonly string[], folder: string): boolean =>
  !reachesInto(globs, folder) || forbidden(folder, 'write') !== null;

async function look(root: string, scope: Scope, passedOver: (folder: string) => boolean): Promise<Looked | null> {
  const files = new Map<string, BigIntStats>();
  const open = scope.tops.filter((folder) => !coversFolder(scope.globs, folder));
  const folders = new Map(await statsOf(root, open));
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const [name, stats] of await entriesOf(root, folder)) {
      if (!stats.isDirectory()) {
        // Another agent is writing the file beside it.
        if (!matchesGlob(scope.globs, name) && !isOwnFreshFile(path.posix.basename(name))) files.set(name, stats);
      } else if (!scope.build.has(name) && !coversFolder(scope.globs, name) && !passedOver(name)) {
        folders.set(name, stats);
        open.push(name);
      }
    }
    if (files.size + folders.size > MOST_LOOKED_AT) return null;
  }
  return { files, folders };
}

async function entriesOf(root: string, folder: string): Promise<readonly (readonly [string, BigIntStats])[]> {
  const place = path.join(root, folder);
  const names = await readdir(place).catch(() => []);
  const below = names.map((name) => (folder === '' ? name : `${folder}/${name}`));
  return statsOf(root, below);
}

/** Skips names that do not exist. */
async function statsOf(root: string, names: readonly string[]): Promise<readonly (readonly [string, BigIntStats])[]> {
  const all = await Promise.all(
    names.map(async (name) => {
      const stats = await lstat(path.join(root, name), { bigint: true }).catch(() => null);
      return stats === null ? [] : [[name, stats] as const];
    }),
  );
  return all.flat();
}

/** The folders that contain everything a glob matches. A folder named without a wildcard is meant as a whole. */
function folderOf(root: string, glob: string): readonly string[] {
  const named = new Map(literalNames(glob).map((name) => [path.posix.dirname(name), name]));
  return literalFolders(glob).map((folder) => {
    const name = named.get(folder === '' ? '.' : folder);
    return name !== undefined && isPlainFolder(root, name) ? name : folder;
  });
}

const outermost = (folders: readonly string[]): readonly string[] => {
  const all = [...new Set(folders)];
  return all.filter((one) => !all.some((other) => other !== one && (other === '' || one.startsWith(`${other}/`))));
};

/** A folder whose path contains no link: a link would open another place than the one that was named. */
function isPlainFolder(root: string, name: string): boolean {
  if (name !== '' && forbidden(name, 'write') !== null) return false;
  const place = path.join(root, name);
  try {
    return realpathSync(place) === place && lstatSync(place).isDirectory();
  } catch {
    return false;
  }
}

/** The missing folders on the way to `name`; null if a link or a file is in the way. */
function missingOf(root: string, name: string): readonly string[] | null {
  if (forbidden(name, 'write') !== null) return null;
  const steps = name.split('/');
  const ways = steps.map((_, index) => steps.slice(0, index + 1).join('/'));
  const first = ways.findIndex((way) => lstatSync(path.join(root, way), { throwIfNoEntry: false }) === undefined);
  return first === -1 || !isPlainFolder(root, ways[first - 1] ?? '') ? null : ways.slice(first);
}
