/**
 * The project root: its real path, fixed at start, and which git directory belongs to it. Decides which folders can't be
 * a root at all; what may be touched below one is `workspace.ts`'s.
 */
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';

export type GitState =
  | { readonly is: 'repository'; readonly directory: string }
  | { readonly is: 'none'; readonly because: string };

/** A path as policy writes it: absolute, `~/…`, or relative to the project. `rule` is where it is written, for people. */
export interface PathRule {
  readonly path: string;
  readonly rule: string;
}

/** What policy says of paths, for commands and for every tool alike. What is denied is so whatever a list allows. */
export interface PathRules {
  /** Not written either. */
  readonly denyRead: readonly PathRule[];
  readonly denyWrite: readonly PathRule[];
  /** One list for each layer that names one: writable is what is in all of them. */
  readonly allowWrite: readonly { readonly paths: readonly string[]; readonly rule: string }[];
  /** Outside the project: what commands may read beyond the usual. */
  readonly allowRead?: readonly PathRule[];
  /** Absolute paths of Mimir's own folders: a project neither holds one nor lies in one, and nothing writes there. */
  readonly own?: readonly string[];
}

/** Made by `checkRoot` only. `path` is real: no link on the way to it. */
export interface Root {
  readonly path: string;
  /** Device and inode of the folder: another one in its place is not this root. */
  readonly identity: string;
  /** Mimir's state folder; absent: nothing is noted there. */
  readonly state?: string;
  readonly git: GitState;
  /** With absolute paths. */
  readonly rules: PathRules;
  /** Globs of the files that whoever works may change (domain/glob); all when left out. */
  readonly writes?: readonly string[];
}

/** The same root for one that may change only what `writes` say; without them as it is. */
export const rootFor = (root: Root, { writes }: { readonly writes?: readonly string[] }): Root =>
  writes === undefined ? root : { ...root, writes };

/**
 * The root at `folder`, or why it can't be one: not a folder; `/`, the home directory, the shared temporary directory; one that
 * holds a folder of Mimir's own (configuration, state, cache) or lies in one; `.mimir` or `.git` a link (cases C09, C10). A `.git` file that points outside gives a
 * root without git, unless the place it points to is a worktree entry that points back.
 */
export function checkRoot(
  folder: string,
  { home, state, rules }: { readonly home: string; readonly state: string; readonly rules?: PathRules | undefined },
): Result<Root, string> {
  const real = realFolder(folder);
  if (real === null) return fail(`${folder}: not a folder that can be opened; give the path of a project`);
  const reserved = [
    { is: path.parse(real).root, name: 'the root of the file system' },
    { is: realOrSame(home), name: 'the home directory' },
    { is: realOrSame(tmpdir()), name: 'the shared temporary directory' },
  ].find((place) => place.is === real);
  if (reserved !== undefined) return fail(`${folder}: ${reserved.name} can't be a project; go into a project folder`);
  const foreign = [state, ...(rules?.own ?? [])].flatMap((own) => ownProblem(real, own))[0];
  if (foreign !== undefined) return fail(`${folder}: ${foreign}; go into a project folder`);
  const link = ['.mimir', '.git'].find((name) => isLink(path.join(real, name)));
  if (link !== undefined) {
    return fail(`${path.join(folder, link)}: is a symbolic link; replace it by a real folder to work here`);
  }
  return ok({
    path: real,
    identity: identityOf(real),
    state,
    git: gitOf(real),
    rules: placed(real, home, rules ?? NO_RULES),
  });
}

/** Why nothing may be done in this root any more: another folder was put in its place. Null while it is the same one. */
export function replaced({ path: folder, identity }: Pick<Root, 'path' | 'identity'>): string | null {
  try {
    if (identityOf(folder) === identity) return null;
  } catch {
    // It is gone, which counts as much.
  }
  return `${folder} is not the folder any more that this session began in; start Mimir again to work in the one that is there now`;
}

function identityOf(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  return `${dev}:${ino}`;
}

/** What agents write there would be Mimir's configuration, or its memory, at the next start. */
function ownProblem(real: string, own: string): readonly string[] {
  const place = realOrSame(own);
  if (isInside(real, place)) return [`holds a folder of Mimir's own (${own})`];
  return isInside(place, real) ? [`lies in a folder of Mimir's own (${own})`] : [];
}

const NO_RULES: PathRules = { denyRead: [], denyWrite: [], allowWrite: [] };

function placed(
  root: string,
  home: string,
  { denyRead, denyWrite, allowWrite, allowRead = [], own = [] }: PathRules,
): PathRules {
  const place = (written: string): string =>
    /^~(\/|$)/.test(written) ? path.join(home, written.slice(1)) : path.resolve(root, written);
  const at = ({ path: written, rule }: PathRule): PathRule => ({ path: place(written), rule });
  return {
    denyRead: denyRead.map(at),
    denyWrite: [...denyWrite.map(at), ...own.map((place) => ({ path: place, rule: "it is Mimir's own" }))],
    ...(allowRead.length === 0 ? {} : { allowRead: allowRead.map(at) }),
    allowWrite: allowWrite.map(({ paths, rule }) => ({ paths: paths.map(place), rule })),
  };
}

/** Is `inner` the folder `outer` or below it? Compares whole path components. Both absolute and normal. */
export function isInside(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

function realFolder(folder: string): string | null {
  try {
    const real = realpathSync(folder);
    return statSync(real).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

/** Of a path whose end may not exist yet, the real part with the rest after it. */
function realOrSame(place: string): string {
  const absolute = path.resolve(place);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = path.dirname(absolute);
    return parent === absolute ? absolute : path.join(realOrSame(parent), path.basename(absolute));
  }
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** Which git directory a root has at this moment; a link is none. `root` is a real path. */
export function gitOf(root: string): GitState {
  const dotGit = path.join(root, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return { is: 'none', because: 'this folder is not the top of a git repository' };
  // An empty folder is no repository: it may be what stands under a cover of the sandbox.
  if (stat.isDirectory() && existsSync(path.join(dotGit, 'HEAD'))) return { is: 'repository', directory: dotGit };
  if (stat.isDirectory()) return { is: 'none', because: 'the folder .git is not a git repository' };
  if (!stat.isFile() || stat.size > 4096) return { is: 'none', because: '.git is neither a folder nor a short file' };
  return worktreeOf(root, dotGit);
}

/** A forged pointer could borrow any repository: one that leads outside counts only when its other end leads back here. */
function worktreeOf(root: string, dotGit: string): GitState {
  try {
    const target = /^gitdir: (.+)\n?$/.exec(readFileSync(dotGit, 'utf8'))?.[1];
    if (target === undefined) return { is: 'none', because: '.git is a file without a gitdir line' };
    const directory = realpathSync(path.resolve(root, target));
    if (isInside(root, directory)) return { is: 'repository', directory };
    if (ownerOf(directory) === root) return { is: 'repository', directory };
  } catch {
    // Unreadable or dangling: the same answer as a pointer that nobody answers for.
  }
  return { is: 'none', because: '.git points to a folder outside the project that does not point back' };
}

/** The work tree that a git directory outside of it names as its own: by `gitdir` of a linked work tree, by `core.worktree` of a submodule. */
function ownerOf(directory: string): string | null {
  const back = path.join(directory, 'gitdir');
  if (existsSync(back)) return path.dirname(realpathSync(readFileSync(back, 'utf8').trimEnd()));
  const [, worktree] =
    /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(readFileSync(path.join(directory, 'config'), 'utf8')) ?? [];
  return worktree === undefined ? null : realpathSync(path.resolve(directory, worktree));
}
