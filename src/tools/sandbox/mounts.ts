/** The sandbox as arguments of bubblewrap. The order of mounts matters: later ones lie on top. All paths are real; bubblewrap
 * refuses to start, as intended, when one no longer exists. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { codeOf, fail, messageOf, ok, type Result } from '../../domain/result.ts';
import { isAlive, ownMark, realPlace } from '../paths/root.ts';
import { closingInherited, type Environment, keepFile } from '../process/environment.ts';
import { SANDBOX_HOME } from '../toolchains/toolchains.ts';

/** A file or a folder, and its path in the sandbox. */
export type Bind = readonly [from: string, to: string];

export interface SandboxPlan {
  readonly cwd: string;
  readonly hidden: readonly string[];
  /** Shown read-only below what is hidden. */
  readonly shown: readonly string[];
  /** Shown read-only under another path in the sandbox. */
  readonly binds: readonly Bind[];
  readonly root: string;
  /** Writable folders; empty in a read-only sandbox. */
  readonly writable: readonly string[];
  /** Writable folders that must not be moved, each its own mount; parents first. */
  readonly pinned: readonly string[];
  /** Read-only folders inside writable ones. */
  readonly closed: readonly string[];
  readonly reopened: readonly string[];
  readonly readOnly: readonly string[];
  readonly secretFiles: readonly string[];
  readonly secretFolders: readonly string[];
  readonly home: Pick<HomeParts, 'binds' | 'kept' | 'covered'>;
  /** The folder to mount as `/tmp` and its mount points inside; null for an empty one. */
  readonly tmp: { readonly folder: string; readonly mounts: readonly string[] } | null;
}

const [MIB, GIB] = [1024 * 1024, 1024 * 1024 * 1024];
const TMP_BYTES = 2 * GIB;
const SHM_BYTES = 256 * MIB;

/** All namespaces, no capabilities (bubblewrap keeps those of root), an own session, and an end with Mimir's. */
const APART = [
  '--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try',
  '--hostname box --cap-drop ALL --new-session --die-with-parent',
];

const SYSTEM = ['--ro-bind / /', `--dev /dev --size ${SHM_BYTES} --tmpfs /dev/shm --remount-ro /dev`, '--proc /proc'];
const FIXED: readonly string[] = [...APART, ...SYSTEM].flatMap((words) => words.split(' '));

export function boxArguments(plan: SandboxPlan): readonly string[] {
  const onto = (option: string, places: readonly string[]): readonly string[] =>
    places.flatMap((place) => [option, place, place]);
  return [
    ...FIXED,
    ...homeArguments(plan),
    ...plan.hidden.flatMap((place) => ['--size', String(MIB), '--tmpfs', place]),
    ...onto('--ro-bind', plan.shown),
    ...plan.binds.flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...onto('--ro-bind', plan.writable.includes(plan.root) ? [] : [plan.root]),
    ...onto('--bind', plan.writable),
    ...onto('--bind', plan.pinned),
    ...onto('--ro-bind', plan.closed),
    ...onto('--bind', plan.reopened),
    ...onto('--ro-bind', plan.readOnly),
    ...plan.secretFiles.flatMap((file) => ['--ro-bind', '/dev/null', file]),
    ...plan.secretFolders.flatMap((place) => ['--size', String(MIB), '--tmpfs', place, '--remount-ro', place]),
    // Last, because bubblewrap creates the parent folders of shown paths.
    ...plan.hidden.flatMap((place) => ['--remount-ro', place]),
    '--chdir',
    plan.cwd,
  ];
}

/** `/tmp` and the home in it; the agent's own `/tmp` if its folder is usable. */
function homeArguments({ home, tmp }: SandboxPlan): readonly string[] {
  const fresh = ['--size', String(TMP_BYTES), '--tmpfs'];
  const small = ['--size', String(MIB), '--tmpfs'];
  const own = tmp === null ? [] : ['--bind', tmp.folder, '/tmp', ...tmp.mounts.flatMap((place) => [...small, place])];
  return [
    ...(tmp === null ? [...fresh, '/tmp', '--dir', SANDBOX_HOME] : [...own, ...fresh, SANDBOX_HOME]),
    ...home.binds.flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...home.kept.flatMap(([from, to]) => ['--bind', from, to]),
    ...home.covered.flatMap((place) => [...small, place, '--remount-ro', place]),
  ];
}

/** Limits per process; the number of processes is per sandbox, because it is set inside its user namespace. */
const LIMITS = {
  fileBytes: 4 * GIB,
  /** Private writable memory; memory that is only reserved (V8, the JVM) does not count. */
  memoryBytes: 2.5 * GIB,
  openFiles: 4096,
  processes: Math.max(1024, 64 * availableParallelism()),
} as const;

/** Shell commands that lower the limits; a limit that is already lower stays. Processes of a sandbox are the first that the
 * kernel ends when memory runs out. The number of processes does not bind root. */
const LIMITED = [
  'ulimit -c 0',
  `ulimit -f ${LIMITS.fileBytes / 1024}`,
  `ulimit -d ${LIMITS.memoryBytes / 1024}`,
  `ulimit -n ${LIMITS.openFiles}`,
  `ulimit -u ${LIMITS.processes}`,
  'echo 800 >/proc/self/oom_score_adj',
].join('; ');

/** The command line that runs `program` under the limits; `bash` is the path of a bash. */
export const limited = (bash: string, program: readonly string[]): readonly string[] => [
  bash,
  '--noprofile',
  '--norc',
  '-c',
  `{ ${LIMITED}; } 2>/dev/null; ${closingInherited()}exec "$@"`,
  'mimir',
  ...program,
];

export interface HomeParts {
  /** The agent's folder to mount at `/tmp`; null for an empty one that ends with the command. */
  readonly tmp: string | null;
  readonly binds: readonly Bind[];
  /** Writable mounts. */
  readonly kept: readonly Bind[];
  /** Folders of the machine that packages are taken from by their own names. */
  readonly shown: readonly string[];
  /** Folders covered by empty ones, on top of all mounts. */
  readonly covered: readonly string[];
  readonly env: Environment;
  /** A note for the reader of the command's output. */
  readonly note: string | null;
  /** Call this when the command has ended. */
  end(): void;
}

// Names that must stay absent in a project (`.git`, `.vscode`) are covered by mounts, and a mount needs a folder to stand
// on. These folders are made here, and removed when the last box of the project, of any process, has ended: removing one
// would uncover a running sandbox. The lock is a file that is renamed, because renaming is atomic.

const LOCK_MS = 5000;
const POLL_MS = 5;

export interface Masks {
  /** Registers a sandbox and creates the missing folders of `wanted` (absolute), which stay until it ends. Returns its end
   * function, to be called when no process of it is left. Fails when the state directory cannot be used. */
  begin(wanted: readonly string[]): Promise<Result<() => Promise<void>, string>>;
  /** Removes what killed processes have left. */
  tidy(): Promise<void>;
}

export function masksOf(stateDir: string, root: string): Masks {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 24);
  const folder = path.join(stateDir, 'boxes', key);
  return {
    async begin(wanted) {
      try {
        makeFolder(folder);
        const entry = path.join(folder, `box.${ownMark()}`);
        const made = await locked(folder, () => {
          removeUnused(folder);
          fs.writeFileSync(entry, '', { mode: 0o600, flag: 'wx' });
          makeMasks(folder, wanted);
          return true;
        });
        if (made === null) return fail('another process holds the sandbox lock of this project');
        return ok(() => endBox(folder, entry));
      } catch (error) {
        return fail(messageOf(error));
      }
    },
    async tidy() {
      try {
        // Without the folder no sandbox was ever started here.
        fs.readdirSync(folder);
        await locked(folder, () => removeUnused(folder));
      } catch {
        // A later call removes it.
      }
    },
  };
}

async function endBox(folder: string, entry: string): Promise<void> {
  try {
    const done = await locked(folder, () => {
      fs.rmSync(entry, { force: true });
      removeUnused(folder);
      return true;
    });
    // Without the lock only the registration of this sandbox is removed.
    if (done === null) fs.rmSync(entry, { force: true });
  } catch {
    // An empty folder that stays is removed with the next sandbox.
  }
}

/** Call under the lock. Records the folders before it creates them, so that a crash leaves none unrecorded. */
function makeMasks(folder: string, wanted: readonly string[]): void {
  const absent = wanted.filter((mask) => fs.lstatSync(mask, { throwIfNoEntry: false }) === undefined);
  if (absent.length === 0) return;
  record(folder, [...new Set([...recorded(folder), ...absent])]);
  for (const mask of absent) fs.mkdirSync(mask, { mode: 0o755 });
}

/** Call under the lock. Removes the folders when no sandbox is left; a folder with content stays. */
function removeUnused(folder: string): void {
  const boxes = fs.readdirSync(folder).filter((name) => name.startsWith('box.'));
  const dead = boxes.filter((name) => !isAlive(name.slice('box.'.length)));
  for (const name of dead) fs.rmSync(path.join(folder, name), { force: true });
  if (boxes.length > dead.length) return;
  const masks = recorded(folder);
  if (masks.length === 0) return;
  // Nested folders first.
  for (const mask of masks.toSorted((a, b) => b.length - a.length)) {
    try {
      fs.rmdirSync(mask);
    } catch {
      // Not empty, or gone already.
    }
  }
  record(folder, []);
}

function recorded(folder: string): readonly string[] {
  try {
    return fs
      .readFileSync(path.join(folder, 'masks'), 'utf8')
      .split('\0')
      .filter((mask) => mask !== '');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function record(folder: string, masks: readonly string[]): void {
  keepFile(path.join(folder, 'masks'), masks.join('\0'));
}

/** Creates the folder together with its one lock file in a single rename, so that it never exists without the lock. */
function makeFolder(folder: string): void {
  const parent = path.dirname(folder);
  fs.mkdirSync(parent, { recursive: true, mode: 0o700 });
  try {
    fs.readdirSync(folder);
    return;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const fresh = fs.mkdtempSync(`${folder}.`);
  fs.writeFileSync(path.join(fresh, FREE), '', { mode: 0o600 });
  try {
    fs.renameSync(fresh, folder);
  } catch {
    // Another process was first.
    fs.rmSync(fresh, { recursive: true, force: true });
  }
}

const FREE = 'lock.free';

/** Runs `act`, which must be synchronous, under the lock; null when the lock is not free within five seconds. The lock of an
 * ended process is taken over: it carries that process's mark, so only one rename of it succeeds. */
async function locked<T>(folder: string, act: () => T): Promise<T | null> {
  const mine = path.join(folder, `lock.${ownMark()}`);
  const end = performance.now() + LOCK_MS;
  while (!take(folder, mine)) {
    if (performance.now() >= end) return null;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  try {
    return act();
  } finally {
    fs.renameSync(mine, path.join(folder, FREE));
  }
}

function take(folder: string, mine: string): boolean {
  const lock = fs.readdirSync(folder).find((name) => name.startsWith('lock.'));
  if (lock === undefined || (lock !== FREE && isAlive(lock.slice('lock.'.length)))) return false;
  try {
    fs.renameSync(path.join(folder, lock), mine);
    return true;
  } catch {
    return false;
  }
}

// The stricter box of commands that only read: it shows the project, system programs and libraries, tool chains that the PATH
// names, and of /etc the few files that programs need to start.

/** Top-level folders that a reading command sees. */
const SHOWN_FOLDERS = new Set('bin sbin lib lib32 lib64 libx32 usr nix gnu dev proc sys tmp'.split(' '));

const OF_ETC =
  'ld.so.cache ld.so.conf ld.so.conf.d alternatives passwd group nsswitch.conf localtime timezone locale.alias magic os-release';

/** What a reading command's sandbox hides in addition, and what it shows of that; empty for other commands. */
export const systemOnly = (
  reads: boolean | undefined,
  stateDir: string,
): {
  readonly hidden: readonly string[];
  readonly binds: readonly Bind[];
} => (reads === true ? { hidden: outsideSystem(), binds: keptOfEtc(stateDir) } : { hidden: [], binds: [] });

function outsideSystem(): readonly string[] {
  const places = fs.readdirSync('/').map((name) => path.join('/', name));
  return places.filter((place) => !SHOWN_FOLDERS.has(path.basename(place)) && isRealFolder(place));
}

const keptOfEtc = (stateDir: string): readonly Bind[] => [
  ...OF_ETC.split(' ').flatMap((name) => {
    const place = path.join('/etc', name);
    return realPlace(place).map((real): Bind => [real, place]);
  }),
  ...realPlace(attributesIn(stateDir)).map((real): Bind => [real, ATTRIBUTES]),
];

/** Where git reads, in such a sandbox, that it must not show the content of committed `.env*` files. */
export const ATTRIBUTES = '/etc/gitattributes';
const NO_CONTENT = '.[eE][nN][vV]* -diff\n.[eE][nN][vV]*/** -diff\n';
const attributesIn = (stateDir: string): string => path.join(stateDir, 'reading', 'gitattributes');

/** Creates that file in the state directory. Throws if it cannot; git must not run then. */
export const keepAttributes = (stateDir: string): void => keepFile(attributesIn(stateDir), NO_CONTENT);

const isRealFolder = (place: string): boolean => fs.lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
