/** The project root: its real path, fixed at start, its git directory, and which paths below it may be read and written.
 * Opening files is left to `workspace.ts`. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writesText } from '../../domain/plan/writes.ts';
import { codeOf, fail, ok, type Result, tried } from '../../domain/result.ts';
import { matchesGlob } from '../../domain/text/glob.ts';

export type GitState =
  | { readonly is: 'repository'; readonly directory: string }
  | { readonly is: 'none'; readonly because: string };

/** A path as policy writes it: absolute, `~/…`, or relative to the project. `rule` names its source for people. */
export interface PathRule {
  readonly path: string;
  readonly rule: string;
}

/** The path rules of policy, for commands and all tools. Denials override every allow list. */
export interface PathRules {
  /** Neither read nor written. */
  readonly denyRead: readonly PathRule[];
  readonly denyWrite: readonly PathRule[];
  /** One list per layer that has one; a path is writable when it is in all lists. */
  readonly allowWrite: readonly { readonly paths: readonly string[]; readonly rule: string }[];
  /** Paths outside the project that commands may read in addition to the usual ones. */
  readonly allowRead?: readonly PathRule[];
  /** Absolute paths of Mimir's own folders: never inside a project, never around one, and never written by agents. */
  readonly own?: readonly string[];
}

/** A checked project folder. Only `checkRoot` creates one; `path` contains no link. */
export interface Root {
  readonly path: string;
  /** Device and inode of the folder, to detect that another folder has taken its place. */
  readonly identity: string;
  /** Mimir's state folder; absent: nothing is recorded there. */
  readonly state?: string;
  readonly git: GitState;
  readonly rules: PathRules;
  /** Globs of the files that the current task may change; all files if absent. */
  readonly writes?: readonly string[];
}

/** The root restricted to the files that `writes` allows; unchanged without `writes`. */
export const rootFor = (root: Root, { writes }: { readonly writes?: readonly string[] }): Root =>
  writes === undefined ? root : { ...root, writes };

/** The root at `folder`, or why it cannot be one: it is not a folder; it is `/`, the home or the shared temporary directory; it
 * contains or lies in a folder of Mimir's own (configuration, state, cache); `.mimir` or `.git` is a link. A `.git` file that
 * points outside gives a root without git, unless it points to a worktree entry that points back. */
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
  if (reserved !== undefined) return fail(`${folder}: ${reserved.name} cannot be a project; use a project folder`);
  const foreign = [state, ...(rules?.own ?? [])].flatMap((own) => ownProblem(real, own))[0];
  if (foreign !== undefined) return fail(`${folder}: ${foreign}; use a project folder`);
  const link = ['.mimir', '.git'].find((name) => isLink(path.join(real, name)));
  if (link !== undefined)
    return fail(`${path.join(folder, link)}: is a symbolic link; replace it with a real folder to work here`);
  return ok({
    path: real,
    identity: identityOf(real),
    state,
    git: gitOf(real),
    rules: placed(real, home, rules ?? NO_RULES),
  });
}

/** The root of a tree of an agent's own, which lies in Mimir's state folder, under the rules of the project that it was made from: what they say of
 * places in the project holds for the same places in the tree. */
export function treeRoot(project: Root, folder: string): Result<Root, string> {
  const real = realFolder(folder);
  if (real === null) return fail(`${folder}: the agent's own tree no longer exists`);
  const link = ['.mimir', '.git'].find((name) => isLink(path.join(real, name)));
  if (link !== undefined) return fail(`${path.join(folder, link)}: is a symbolic link`);
  const moved = (place: string): string =>
    isInside(project.path, place) ? path.join(real, path.relative(project.path, place)) : place;
  const at = (rule: PathRule): PathRule => ({ ...rule, path: moved(rule.path) });
  const { denyRead, denyWrite, allowWrite, allowRead } = project.rules;
  const apart = (rule: PathRule): boolean => !isInside(rule.path, real);
  return ok({
    path: real,
    identity: identityOf(real),
    git: gitOf(real),
    ...(project.state === undefined ? {} : { state: project.state }),
    rules: {
      denyRead: denyRead.map(at).filter(apart),
      // Mimir's own folders are among them, and the tree lies in one.
      denyWrite: denyWrite.map(at).filter(apart),
      allowWrite: allowWrite.map(({ paths, rule }) => ({ paths: paths.map(moved), rule })),
      ...(allowRead === undefined ? {} : { allowRead: allowRead.map(at) }),
    },
  });
}

/** Why nothing may be done in this root any more: another folder is in its place. Null while it is the same folder. */
export function replaced({ path: folder, identity }: Pick<Root, 'path' | 'identity'>): string | null {
  try {
    if (identityOf(folder) === identity) return null;
  } catch {
    // It is gone, which counts as much.
  }
  return `${folder} is no longer the folder in which this session started; restart Mimir to work in the present one`;
}

function identityOf(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  return `${dev}:${ino}`;
}

/** Agents must not be able to write files that become Mimir's configuration or state at the next start. */
function ownProblem(real: string, own: string): readonly string[] {
  const place = realOrSame(own);
  if (isInside(real, place)) return [`contains a folder that belongs to Mimir (${own})`];
  return isInside(place, real) ? [`is inside a folder that belongs to Mimir (${own})`] : [];
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
    denyWrite: [...denyWrite.map(at), ...own.map((place) => ({ path: place, rule: 'it belongs to Mimir' }))],
    ...(allowRead.length === 0 ? {} : { allowRead: allowRead.map(at) }),
    allowWrite: allowWrite.map(({ paths, rule }) => ({ paths: paths.map(place), rule })),
  };
}

/** True when `inner` is `outer` or below it; compares whole path components. Both paths are absolute and normal. */
export const isInside = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);

/** A predicate: is a place in one of these folders? */
export const isWithin =
  (folders: readonly string[]) =>
  (place: string): boolean =>
    folders.some((folder) => isInside(folder, place));

const realFolder = (folder: string): string | null =>
  tried((): string | null => {
    const real = realpathSync(folder);
    return statSync(real).isDirectory() ? real : null;
  }, null);

/** The real path; for a path whose end does not exist, the real part with the rest appended. */
function realOrSame(place: string): string {
  const absolute = path.resolve(place);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = path.dirname(absolute);
    return parent === absolute ? absolute : path.join(realOrSame(parent), path.basename(absolute));
  }
}

export const isLink = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/** The git directory of a root at this moment; a link does not count. `root` is a real path. */
export function gitOf(root: string): GitState {
  const dotGit = path.join(root, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return { is: 'none', because: 'this folder is not the top of a git repository' };
  // An empty folder is not a repository; it may be a mount point of the sandbox.
  if (stat.isDirectory() && existsSync(path.join(dotGit, 'HEAD'))) return { is: 'repository', directory: dotGit };
  if (stat.isDirectory()) return { is: 'none', because: 'the folder .git is not a git repository' };
  if (!stat.isFile() || stat.size > 4096) return { is: 'none', because: '.git is neither a folder nor a short file' };
  return worktreeOf(root, dotGit);
}

/** A forged pointer could borrow any repository, so one that leads outside counts only when its target points back. */
function worktreeOf(root: string, dotGit: string): GitState {
  try {
    const target = /^gitdir: (.+)\n?$/.exec(readFileSync(dotGit, 'utf8'))?.[1];
    if (target === undefined) return { is: 'none', because: '.git is a file without a gitdir line' };
    const directory = realpathSync(path.resolve(root, target));
    if (isInside(root, directory) || ownerOf(directory) === root) return { is: 'repository', directory };
  } catch {
    // Unreadable or dangling: the same answer as a pointer that nobody answers for.
  }
  return { is: 'none', because: '.git points to a folder outside the project that does not point back' };
}

/** The work tree that an outside git directory names as its own: `gitdir` of a linked work tree, `core.worktree` of a submodule. */
function ownerOf(directory: string): string | null {
  const back = path.join(directory, 'gitdir');
  if (existsSync(back)) return path.dirname(realpathSync(readFileSync(back, 'utf8').trimEnd()));
  const [, worktree] =
    /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(readFileSync(path.join(directory, 'config'), 'utf8')) ?? [];
  return worktree === undefined ? null : realpathSync(path.resolve(directory, worktree));
}

// Which names inside the project may be read and written, from the name alone: no file is looked at. Protected names are
// the way lenient file systems do (case, Unicode form, ignorable characters, trailing dots).

export type Access = 'read' | 'write';
const MAX_PATH_BYTES = 4096;
const MAX_COMPONENT_BYTES = 255;

/** Folders whose content configures git, Mimir, editors or other agents, and so can run code. */
const PROTECTED_FOLDERS = new Set('.git git~1 .mimir mimir~1 .vscode .idea .zed .fleet .devcontainer'.split(' '));

/** Files that a shell, an editor or git runs or obeys when somebody opens the folder. */
const PROTECTED_FILES = new Set(
  [
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile',
    '.zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login',
    '.inputrc .gitconfig .vimrc .exrc .nvimrc .nvim.lua .dir-locals.el',
  ].flatMap((names) => names.split(' ')),
);

/** Characters that lenient file systems ignore in a name: zero-width characters, direction marks, a byte order mark. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** The normal path relative to `root`, with `/` and without `.` or `..`, or why it is not a path inside. Absolute paths are
 * accepted when they lie inside. The root itself is the empty string, accepted only with `folder: true`. */
export function insideName(
  root: string,
  given: string,
  { folder = false }: { readonly folder?: boolean } = {},
): Result<string, string> {
  const malformed = malformedName(given, folder);
  if (malformed !== null) return fail(malformed);
  if (/^~(\/|$)/.test(given)) return fail(`${given}: outside the project; paths are relative to its root`);
  const absolute = path.resolve(root, given);
  if (!isInside(root, absolute)) return fail(`${given}: outside the project; paths are relative to its root`);
  const name = path.relative(root, absolute).split(path.sep).join('/');
  return name === '' && !folder ? fail(`${given}: the project's folder, not a file`) : ok(name);
}

/** Why a name inside the root may not be read or written whatever the mode; null when nothing forbids it. */
export function forbidden(name: string, access: Access): string | null {
  const components = name.split('/').map(folded);
  const secret = components.some((component) => component.startsWith('.env'));
  if (secret) return `${name}: agents never read or write files named .env*`;
  if (access === 'read') return null;
  const folder = components.find((component) => PROTECTED_FOLDERS.has(component));
  if (folder !== undefined) return `${name}: ${folder} is protected; agents never write there`;
  const last = components.at(-1) ?? '';
  if (PROTECTED_FILES.has(last) || last.endsWith('.code-workspace'))
    return `${name}: start-up files of shells and editors are protected; agents never write them`;
  return null;
}

/** True for the name of a folder that configures git or Mimir, in any spelling that a file system accepts. */
export const isRepositoryName = (name: string): boolean =>
  ['.git', 'git~1', '.mimir', 'mimir~1'].includes(folded(name));

/** One component as lenient file systems compare it; NTFS takes what follows a colon for a stream of the same file. */
const folded = (component: string): string =>
  component
    .replace(/:.*$/s, '')
    .normalize('NFKC')
    .replaceAll(IGNORABLE, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');

function malformedName(given: string, folder: boolean): string | null {
  if (given === '') return 'the path is empty';
  if (given.includes('\0')) return 'the path contains a NUL character';
  if (!given.isWellFormed()) return 'the path is not well-formed Unicode';
  if (Buffer.byteLength(given) > MAX_PATH_BYTES) return `the path is longer than ${MAX_PATH_BYTES} bytes`;
  const tooLong = given.split('/').some((component) => Buffer.byteLength(component) > MAX_COMPONENT_BYTES);
  if (tooLong) return `a part of the path is longer than ${MAX_COMPONENT_BYTES} bytes`;
  return !folder && given.endsWith('/') ? `${given}: names a folder, not a file` : null;
}

// What may be read and written inside the project, by name: the program's own rules and policy's. Every tool
// asks here, and the sandbox mounts by the same paths, so that there is one set of rules for all.

/** Why `name` (relative to the root, any spelling of it) may not be read or written; null when no rule denies it. Ends with the rule, if it is policy's. */
export function denied(root: Root, name: string, access: Access): string | null {
  const byName = forbidden(name, access) ?? replaced(root) ?? (access === 'write' ? onMount(root, name) : null);
  if (byName !== null) return byName;
  const rule = denyingRule(root, name, access);
  return rule === null ? null : refusal(name, access, rule.rule);
}

/** What is mounted below the project is not the project's own, whatever its name says. */
function onMount({ path: root }: Root, name: string): string | null {
  const mount = mountsBelow(root).find((place) => isInside(place, path.join(root, name)));
  return mount === undefined
    ? null
    : `${name}: ${path.relative(root, mount)} is a separate file system mounted in the project; agents never write there`;
}

/** As `denied`, for a name without links: where lists say what may be written, it must be in each of them. */
export function refused(root: Root, real: string, access: Access): string | null {
  const no = denied(root, real, access);
  if (no !== null || access === 'read') return no;
  const list = missingList(root, real);
  return list === null ? notAmong(root, real) : refusal(real, access, list.rule);
}

/** Why a task may not change a file that everybody else may; null when it may. */
const notAmong = ({ writes }: Root, real: string): string | null =>
  writes === undefined || matchesGlob(writes, real)
    ? null
    : `${real}: this task may only change ${writesText(writes)}. ${WHAT_TO_DO}`;

/** What an agent can do that needs to change something else. */
export const WHAT_TO_DO =
  'If this has to change, say so in your answer, or ask with ask_user: a person can extend what the task may change.';

/** Paths below `folder` (real) that may not be read, relative to it; walks through the folder skip them. */
export function hiddenBelow({ rules }: Root, folder: string): readonly string[] {
  const places = rules.denyRead.flatMap((rule) => spellings(rule.path));
  const below = places.filter((place) => place !== folder && isInside(folder, place));
  return [...new Set(below.map((place) => path.relative(folder, place)))];
}

const refusal = (name: string, access: Access, rule: string): string =>
  `${name}: agents may not ${access === 'read' ? 'read' : 'write'} it: ${rule}`;

function denyingRule({ path: root, rules }: Root, name: string, access: Access): PathRule | null {
  const place = path.join(root, name);
  const covers = (rule: PathRule): boolean => isWithin(spellings(rule.path))(place);
  // A hidden folder above the project does not hide the project; a folder that must not be written protects all below it.
  const read = rules.denyRead.find((rule) => spellings(rule.path).some((each) => isInside(root, each)) && covers(rule));
  return read ?? (access === 'write' ? rules.denyWrite.find(covers) : undefined) ?? null;
}

function missingList({ path: root, rules }: Root, real: string): { readonly rule: string } | null {
  const place = path.join(root, real);
  return rules.allowWrite.find(({ paths }) => !isWithin(paths.flatMap(spellings))(place)) ?? null;
}

/** A path as written, and its real path if that differs. */
const spellings = (place: string): readonly string[] =>
  tried((): readonly string[] => {
    const real = realpathSync(place);
    return real === place ? [place] : [place, real];
  }, [place]);

// Where paths really lead, and the file systems mounted below a project: their files lie elsewhere, under a name in the project.

/** Mount points below `root` (real), absolute; none where /proc is not available. */
export function mountsBelow(root: string): readonly string[] {
  const lines = mountLines();
  return lines.flatMap((line) => {
    const place = unescaped(line.split(' ')[4] ?? '');
    return place !== root && isInside(root, place) ? [place] : [];
  });
}

const mountLines = (): readonly string[] => tried(() => readFileSync('/proc/self/mountinfo', 'utf8').split('\n'), []);

/** Decodes octal escapes such as `\040` for a space. */
const unescaped = (place: string): string =>
  place.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));

/** The real path; empty when it does not exist. */
export const realPlace = (place: string): readonly string[] => tried(() => [realpathSync.native(place)], []);

/** What a name of the root is, without following a link; null: nothing, or it is reached by a link. */
export function kindAt(root: string, name: string): 'file' | 'folder' | 'link' | null {
  const parent = path.posix.dirname(name);
  const stats = lstatSync(path.join(root, name), { throwIfNoEntry: false });
  if (stats === undefined || (parent !== '.' && kindAt(root, parent) !== 'folder')) return null;
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : null;
}

export const isFolder = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

// Names that tell which process made a file, so that a later process can see whether its maker still lives.

/** A name for a file made by this process: its pid, its start time and a random part. */
export const ownMark = (): string =>
  `${process.pid}.${startOf(String(process.pid)) ?? ''}.${randomBytes(8).toString('hex')}`;

/** True while the process that made this mark lives. A reused pid does not count. */
export function isAlive(mark: string): boolean {
  const [pid = '', start = ''] = mark.split('.');
  const now = startOf(pid);
  if (now !== null) return now === start;
  // The mark was made without /proc, so only the pid can be checked.
  return start === '' && exists(Number(pid));
}

/** Names in `folder` that begin with the mark of an ended process; none if the folder cannot be read. */
export const leftByDead = (folder: string): readonly string[] =>
  tried(() => readdirSync(folder).filter((name) => !isAlive(name)), []);

/** The start time in kernel ticks; null when the process does not exist or has ended, or without /proc. */
const startOf = (pid: string): string | null =>
  tried((): string | null => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : (fields[18] ?? null);
  }, null);

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
