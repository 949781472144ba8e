/**
 * The box itself, as arguments of bubblewrap. The order of mounts is the meaning: what comes later lies on top. Only real
 * paths get here; what is not there any more makes bubblewrap refuse, which is what is wanted.
 */
import { availableParallelism } from 'node:os';
import { closingInherited } from '../process/descriptors.ts';
import type { Environment } from '../process/environment.ts';
import { BOX_HOME } from '../toolchains/toolchains.ts';

/** A file or a folder, and where it is shown. */
export type Bind = readonly [from: string, to: string];

export interface BoxPlan {
  readonly cwd: string;
  /** Covered by an empty folder that can't be written. */
  readonly hidden: readonly string[];
  /** Shown read-only below what is hidden. */
  readonly shown: readonly string[];
  /** The same, for what has another name in the box. */
  readonly binds: readonly Bind[];
  readonly root: string;
  /** Writable; in a read-only box none. */
  readonly writable: readonly string[];
  /** Writable folders that can't be moved: a mount each. The upper ones first. */
  readonly pinned: readonly string[];
  /** Read-only folders in writable ones, and what is writable in those all the same. */
  readonly closed: readonly string[];
  readonly reopened: readonly string[];
  readonly readOnly: readonly string[];
  readonly secretFiles: readonly string[];
  readonly secretFolders: readonly string[];
  readonly home: Pick<HomeParts, 'binds' | 'kept' | 'covered'>;
  /** A folder to be `/tmp`, and folders in it that are mounts of their own; null: an empty one. */
  readonly tmp: { readonly folder: string; readonly mounts: readonly string[] } | null;
}

const [MIB, GIB] = [1024 * 1024, 1024 * 1024 * 1024];
const TMP_BYTES = 2 * GIB;
const SHM_BYTES = 256 * MIB;

/** All namespaces, no capability (bubblewrap keeps root's own), a session of its own, gone with Mimir. */
const APART = [
  '--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try',
  '--hostname box --cap-drop ALL --new-session --die-with-parent',
];

const SYSTEM = ['--ro-bind / /', `--dev /dev --size ${SHM_BYTES} --tmpfs /dev/shm --remount-ro /dev`, '--proc /proc'];

const FIXED: readonly string[] = [...APART, ...SYSTEM].flatMap((words) => words.split(' '));

export function boxArguments(plan: BoxPlan): readonly string[] {
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
    // Last, since bubblewrap makes the folders on the way to what is shown.
    ...plan.hidden.flatMap((place) => ['--remount-ro', place]),
    '--chdir',
    plan.cwd,
  ];
}

/** `/tmp` and the home in it: the agent's own where its folder can be used. */
function homeArguments({ home, tmp }: BoxPlan): readonly string[] {
  const fresh = ['--size', String(TMP_BYTES), '--tmpfs'];
  const small = ['--size', String(MIB), '--tmpfs'];
  const own = tmp === null ? [] : ['--bind', tmp.folder, '/tmp', ...tmp.mounts.flatMap((place) => [...small, place])];
  return [
    ...(tmp === null ? [...fresh, '/tmp', '--dir', BOX_HOME] : [...own, ...fresh, BOX_HOME]),
    ...home.binds.flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...home.kept.flatMap(([from, to]) => ['--bind', from, to]),
    ...home.covered.flatMap((place) => [...small, place, '--remount-ro', place]),
  ];
}

/** Per process, but for the count of processes, which is the box's: it is set inside the box's own user namespace. */
const LIMITS = {
  fileBytes: 4 * GIB,
  /** Of what a process has for itself to write in; what it only reserves (V8, the JVM) doesn't count. */
  memoryBytes: 2.5 * GIB,
  openFiles: 4096,
  processes: Math.max(1024, 64 * availableParallelism()),
} as const;

/**
 * A shell line that lowers the limits and then becomes the program. Where a limit is lower already it stays. The kernel
 * ends processes of a box first when memory runs out. The user root is bound by all but the count of processes.
 */
const LIMITED = [
  'ulimit -c 0',
  `ulimit -f ${LIMITS.fileBytes / 1024}`,
  `ulimit -d ${LIMITS.memoryBytes / 1024}`,
  `ulimit -n ${LIMITS.openFiles}`,
  `ulimit -u ${LIMITS.processes}`,
  'echo 800 >/proc/self/oom_score_adj',
].join('; ');

/** The program under the limits: `bash` is the path of one. */
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
  /** Of the agent, to be mounted at `/tmp`; null: an empty one that is gone with the command. */
  readonly tmp: string | null;
  readonly binds: readonly Bind[];
  /** Writable. */
  readonly kept: readonly Bind[];
  /** Folders of the machine that packages are taken from by their own names. */
  readonly shown: readonly string[];
  /** Covered by empty folders, on top of all. */
  readonly covered: readonly string[];
  readonly env: Environment;
  /** For who reads the output of the command; null: nothing. */
  readonly note: string | null;
  /** To be called when the command has ended. */
  end(): void;
}
