/** The sandbox of a project: probes once, with the flags of real commands, whether it works, and turns a command into what to
 * start so that it runs sandboxed. There is no fallback: what cannot be sandboxed is not started. */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import { CREDENTIALS } from '../../domain/text/redact.ts';
import type { SandboxState, ToolContext } from '../../ports/tool.ts';
import type { PathRules, Root } from '../paths/root.ts';
import { checkRoot, isFolder, isInside, isWithin, mountsBelow, realPlace, replaced, treeRoot } from '../paths/root.ts';
import { type Environment, type OwnProgram, ownVariables, programOn, toolEnvironment } from '../process/environment.ts';
import { neverRan, type Program, type ProgramEnd, runProgram } from '../process/run-program.ts';
import { SANDBOX_HOME, PLACE_VARIABLES } from '../toolchains/toolchains.ts';
import { type Bounds, type Homes, NO_HOME, openHomes } from './home.ts';
import type { Bind, SandboxPlan, HomeParts, Masks } from './mounts.ts';
import { boxArguments, limited, masksOf, systemOnly } from './mounts.ts';
import * as machine from './places.ts';
import type { Found, Walked } from './protected-scan.ts';
import { lookThrough, NEVER_MADE, NOT_WALKED, projectWalk, TOO_LARGE } from './protected-scan.ts';
import { coveredFor, mountSocket, mountsIn, withSocket } from './socket-mount.ts';

const PROBE_MS = 5000;

export interface SandboxOptions {
  /** The project folder, as found or typed. */
  readonly root: string;
  /** The person's home directory; never a root. */
  readonly home: string;
  /** Mimir's state directory; never inside a root. */
  readonly stateDir: string;
  /** The path rules of policy, the same as those of the tools; absent: none. */
  readonly paths?: PathRules;
  /** The environment of commands; by default the tools' part of this process's environment. */
  readonly environment?: Environment;
  /** Mimir itself, for commands that get an agent socket; absent: they get the socket without the program. */
  readonly program?: OwnProgram;
  /** Folders with Mimir's own sockets; always covered. */
  readonly hide?: readonly string[];
  /** Limits of caches and `/tmp` in bytes, instead of the usual ones. */
  readonly bounds?: Bounds;
  /** The root is a tree of an agent's own, made from this project, which is hidden: its `.git` is writable. */
  readonly tree?: { readonly of: Root; readonly objects: readonly string[] };
}

const rootOf = ({ root, home, stateDir, paths, tree }: SandboxOptions): Result<Root, string> =>
  tree === undefined ? checkRoot(root, { home, state: stateDir, rules: paths }) : treeRoot(tree.of, root);

/** A missing sandbox: it reports `because` and runs nothing. */
export const noSandbox = (because: string): Sandbox => ({
  state: { is: 'none', because },
  wrap: () => Promise.resolve(fail(because)),
  ended: () => Promise.resolve(),
  walk: () => Promise.resolve(NOT_WALKED),
});

/** Finds bubblewrap and probes it. Never rejects: if it does not work, the state says why and what to do. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const root = rootOf(options);
  if (!root.ok) return noSandbox(root.fault);
  if (process.platform !== 'linux') return noSandbox('the sandbox needs Linux');
  const environment = options.environment ?? toolEnvironment(root.value.path);
  const program = machine.findBubblewrap(root.value.path, environment);
  if (program === null) return noSandbox(machine.whyNoBubblewrap(root.value.path, environment));
  const [bash, yes] = [programOn(environment, 'bash'), programOn(environment, 'true')];
  if (bash === null || yes === null) return noSandbox('bash is not on the PATH');
  const masks = masksOf(options.stateDir, root.value.path);
  const fresh = {
    chains: new Map<string, machine.Chains>(),
    known: { readOnly: new Set<string>(), secret: new Set<string>() },
  };
  const homes = openHomes({
    ...aroundOf(root.value, options),
    // Caches of builds, and `/tmp` of an agent, are those of the project.
    root: options.tree?.of.path ?? root.value.path,
    environment,
    variables: ownVariables(PLACE_VARIABLES),
    bubblewrap: program,
    bounds: options.bounds,
  });
  const walk = projectWalk(root.value.path);
  const parts = { program, bash, root: root.value, masks, homes, options, probing: false, walk, ...fresh };
  const state = { is: 'bubblewrap' } as const;
  const ended = (agent: string | null): Promise<void> => homes.ended(agent);
  const trial: Sandbox = { state, walk, wrap: (spec) => wrapIn({ ...parts, probing: true }, spec), ended };
  const probe = { box: 'read-only', file: yes, args: [], cwd: root.value.path, env: environment } as const;
  const [fault] = await Promise.all([faultOf(trial, probe), masks.tidy()]);
  if (fault !== null) return noSandbox(fault);
  // The remains of earlier processes are removed in the background.
  void homes.tidy();
  return { state, walk, wrap: (spec) => wrapIn(parts, spec), ended };
}

async function faultOf(trial: Sandbox, probe: SandboxedCommand): Promise<string | null> {
  const planned = await trial.wrap(probe);
  if (!planned.ok) return planned.fault;
  const course = { timeLimit: PROBE_MS };
  const first = await startSandboxed(planned.value, course);
  const end = first.is === 'not boxed' ? await runSandboxed(trial, probe, course) : first;
  return end.is === 'exited' && end.exit === 0 ? null : whyRefused(end, PROBE_MS);
}

interface Parts {
  readonly program: string;
  readonly bash: string;
  readonly root: Root;
  readonly masks: Masks;
  readonly homes: Homes;
  readonly options: SandboxOptions;
  readonly probing: boolean;
  readonly walk: () => Promise<Walked>;
  /** By PATH: looked for once, since there may be hundreds of links. */
  readonly chains: Map<string, machine.Chains>;
  /** Everything found so far: the search is bounded, and folders that a command creates could crowd out important ones. */
  readonly known: Readonly<Record<'readOnly' | 'secret', Set<string>>>;
}

const OF_STATUS = ['--json-status-fd', '3'];

/** Inspects the project anew for each program: its content changes, and a link may have appeared. */
async function wrapIn(parts: Parts, spec: SandboxedCommand): Promise<Result<Wrapped, string>> {
  const { stateDir } = parts.options;
  const root = rootOf({ ...parts.options, root: parts.root.path });
  if (!root.ok) return root;
  const gone = replaced(parts.root);
  if (gone !== null) return fail(gone);
  const paths = machine.pathsOf(root.value);
  const wrap = (): Promise<Result<Wrapped, string>> => wrapFor(parts, spec, root.value, paths);
  return withFolders(parts.masks, spec.opened?.absent ?? [], stateDir, wrap);
}

async function wrapFor(
  parts: Parts,
  spec: SandboxedCommand,
  root: Root,
  paths: machine.Paths,
): Promise<Result<Wrapped, string>> {
  const { stateDir } = parts.options;
  const writable = spec.box === 'read-only' ? [] : machine.writableIn(root, paths, spec.opened);
  const never = [
    ...NEVER_MADE.map((name) => path.join(root.path, name)),
    ...paths.denyWrite.flatMap(machine.firstAbsent),
  ].filter((place) => place !== ownGit(parts, root));
  const covered = never.filter(isWithin(writable));
  const begun = covered.length === 0 ? ok(() => Promise.resolve()) : await parts.masks.begin(covered);
  if (!begun.ok) return fail(stateFault(stateDir, begun.fault));
  // Looked at when the covers are there: they are found as what they cover is.
  const { found, whole } = await lookAt(parts, root);
  const fault = found.link === null ? whyHidden(spec, whole) : `${found.link} ${NO_LINK}`;
  if (fault !== null) {
    await begun.value();
    return fail(fault);
  }
  const { agent } = spec;
  const inHome = agent === undefined || parts.probing ? NO_HOME : await parts.homes.forCommand({ ...spec, agent });
  const closed = (spec.opened?.closed ?? []).filter(isWithin(writable));
  const { box, env } = planOf(
    parts,
    root,
    { own: NOTHING_MORE, ...spec },
    { paths, writable, closed, covered, found, inHome },
  );
  const argv = [...OF_STATUS, ...boxArguments(box), '--', ...limited(parts.bash, [spec.file, ...spec.args])];
  const end = async (): Promise<void> => {
    inHome.end();
    await begun.value();
  };
  return ok({ file: parts.program, argv, env, note: inHome.note, end });
}

const NO_LINK = 'is a symbolic link; replace it with a real folder to run commands here';
const whyHidden = ({ reads }: SandboxedCommand, whole: boolean): string | null =>
  reads === true && !whole ? TOO_LARGE : null;

/** The bounded look for what is protected, and the walk for what is secret; while the sandbox is tried out, without the walk. */
async function lookAt(parts: Parts, root: Root): Promise<{ readonly found: Found; readonly whole: boolean }> {
  const walked = parts.probing ? NOT_WALKED : await parts.walk();
  const looked = lookThrough(root.path);
  const secret = [...new Set([...looked.secret, ...walked.secret.flatMap(realPlace)])];
  const readOnly = looked.readOnly.filter((place) => place !== ownGit(parts, root));
  return { found: withKnown(parts, { ...looked, readOnly, secret }), whole: walked.whole };
}

function withKnown({ known }: Parts, found: Found): Found {
  const all = (kind: 'readOnly' | 'secret'): readonly string[] => {
    for (const place of found[kind]) known[kind].add(place);
    return found[kind].length === known[kind].size ? found[kind] : [...new Set([...known[kind]].flatMap(realPlace))];
  };
  return { ...found, readOnly: all('readOnly'), secret: all('secret') };
}

/** The repository of a tree of its own: it is the agent's to write, and Mimir never obeys it. */
const ownGit = ({ options }: Parts, root: Root): string | null =>
  options.tree === undefined ? null : path.join(root.path, '.git');

interface Looked {
  readonly paths: machine.Paths;
  readonly writable: readonly string[];
  readonly closed: readonly string[];
  readonly covered: readonly string[];
  readonly found: Found;
  readonly inHome: HomeParts;
}

/** Of a tree of an agent's own: the project, which is hidden, and the objects that are shown of it. */
const lentTo = ({ tree }: SandboxOptions): Readonly<Record<'project' | 'objects', readonly string[]>> => ({
  project: tree === undefined ? [] : [tree.of.path],
  objects: (tree?.objects ?? []).flatMap(realPlace),
});

const aroundOf = (root: Root, { home, stateDir }: SandboxOptions): Surroundings => ({
  home,
  root: root.path,
  stateDir,
  denied: machine.pathsOf(root).denyRead.flatMap(realPlace),
});

/** Null if the agent's folder cannot serve as `/tmp` with these places in it. */
function tmpFor(folder: string | null, places: readonly string[]): SandboxPlan['tmp'] {
  const mounts = folder === null ? null : mountsIn(folder, places);
  return folder === null || mounts === null
    ? null
    : { folder, mounts: mounts.filter((place) => place !== SANDBOX_HOME) };
}

const NOTHING_MORE = { shown: [], kept: [] };

function planOf(
  parts: Parts,
  root: Root,
  { file, cwd, env, secrets, door, opened, reads, own }: SandboxedCommand & Required<Pick<SandboxedCommand, 'own'>>,
  { paths, writable, closed, covered, found, inHome }: Looked,
): { readonly box: SandboxPlan; readonly env: Environment } {
  const { home, stateDir, program, hide = [] } = parts.options;
  const lent = lentTo(parts.options);
  const apart = (place: string): boolean => !isInside(root.path, place);
  const agentSockets = [...hide, ...(door === undefined ? [] : coveredFor(door, stateDir))].flatMap(realPlace);
  // A runtime folder may be anywhere, even in the project.
  const ownAgentSockets = agentSockets.filter(isWithin([root.path]));
  const less = systemOnly(reads, stateDir);
  const hidden = machine.hiddenFolders(
    [home, stateDir, tmpdir(), ...lent.project, ...less.hidden, ...paths.denyRead.filter(apart)],
    agentSockets.filter(apart),
  );
  const shown = door === undefined ? null : mountSocket(door, program, { root: root.path, stateDir, hidden });
  const chains = chainsOf(parts, { file, env }, hidden);
  // What is read-only anyway gets no second mount, which could show hidden content.
  const inWritable = isWithin(writable);
  const unread = paths.denyRead.flatMap(realPlace);
  const around = aroundOf(root, parts.options);
  const open = openPlaces([...paths.allowRead, ...inHome.shown], around);
  const ofProject = [...found.secret, ...unread.filter(isWithin([root.path]))];
  const secret = [
    ...new Set([
      ...(secrets === 'seen' ? [] : ofProject),
      ...machine.hiddenFiles(),
      ...machine.openSockets(root.path, hidden, open),
      ...closedIn(open, around),
      ...unread.filter(apart),
      ...ownAgentSockets,
    ]),
  ].filter((place) => !hidden.includes(place) && isSeen(place, hidden, [root.path, ...open]));
  const kept = [...covered, ...[...paths.denyWrite, ...mountsBelow(root.path)].flatMap(realPlace).filter(inWritable)];
  const visible = [...chains.folders.flatMap(realPlace), ...machine.gitFolders(root), ...lent.objects, ...open];
  const binds = [...less.binds, ...(shown?.binds ?? []), ...own.shown];
  const box = {
    cwd,
    hidden,
    root: root.path,
    writable,
    pinned: machine.foldersAbove(writable, [...kept, ...ofProject, ...ownAgentSockets, ...closed]),
    closed,
    reopened: (opened?.writable ?? []).filter(isWithin(closed)).flatMap(realPlace),
    shown: visible,
    binds,
    home: { ...inHome, kept: [...inHome.kept, ...own.kept] },
    tmp: tmpFor(inHome.tmp, [root.path, ...visible, ...binds.map(([, to]) => to)]),
    // Covers vanish when the last writing sandbox ends, so a read-only sandbox does not name them.
    readOnly: [...new Set([...found.readOnly.filter(inWritable), ...kept])],
    secretFiles: secret.filter((place) => !isFolder(place)),
    secretFolders: secret.filter(isFolder),
  };
  const known = { ...env, ...inHome.env, ...chains.env, HOME: SANDBOX_HOME };
  return { box, env: shown === null ? known : withSocket(known, shown.env) };
}

function chainsOf(
  { bash, chains, options, probing }: Parts,
  { file, env }: Pick<SandboxedCommand, 'file' | 'env'>,
  hidden: readonly string[],
): machine.Chains {
  // The probe runs system programs only; searching for toolchains would just delay the first screen.
  if (probing && ![bash, file].some(isWithin(hidden))) return { folders: [], env: {} };
  const key = [env['PATH'] ?? '', ...hidden].join(path.delimiter);
  const known = chains.get(key);
  if (known !== undefined) return known;
  const found = machine.toolChains(env, options.home, hidden);
  chains.set(key, found);
  return found;
}

/** True if a place is visible in the sandbox, and therefore needs a cover. */
const isSeen = (place: string, hidden: readonly string[], open: readonly string[]): boolean =>
  isWithin(open)(place) || !isWithin(['/tmp', ...hidden])(place);

/** Of a trial that did not end well, and may have had so long. */
function whyRefused({ is, stderr }: ProgramEnd, milliseconds: number): string {
  const said =
    stderr
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^bwrap: /, '') ?? '';
  if (is === 'time limit') return `bubblewrap did not answer within ${milliseconds / 1000} s`;
  if (/mount proc|mounting proc/i.test(said))
    return `bubblewrap cannot create its own /proc (${said}): Mimir seems to run inside another sandbox or container`;
  if (/namespace|uid map|gid map|clone|unshare|No space left/i.test(said))
    return `bubblewrap is installed, but this system does not allow new namespaces (${said}): they are disabled or exhausted, or Mimir runs inside another sandbox`;
  return `bubblewrap is installed, but does not work${said === '' ? '' : ` (${said})`}`;
}

/** Creates `absent` (absolute, parents first) before the sandbox, as mount points; those that stay empty are removed at its end. */
async function withFolders(
  masks: Masks,
  absent: readonly string[],
  stateDir: string,
  wrap: () => Promise<Result<Wrapped, string>>,
): Promise<Result<Wrapped, string>> {
  if (absent.length === 0) return wrap();
  const made = await masks.begin(absent);
  if (!made.ok) return fail(stateFault(stateDir, made.fault));
  const wrapped = await wrap();
  if (!wrapped.ok) {
    await made.value();
    return wrapped;
  }
  return ok({ ...wrapped.value, end: () => wrapped.value.end().then(made.value) });
}

// Folders of the machine that commands may read beyond the usual, and what in them stays hidden all the same.

interface Surroundings {
  readonly home: string;
  readonly root: string;
  readonly stateDir: string;
  /** Real paths that must not be read. */
  readonly denied: readonly string[];
}

/** The real paths of those `places` that may be shown. Excluded are places around the home, the project or Mimir's state, places
 * inside the project or the state, credentials, and what a rule hides. */
function openPlaces(places: readonly string[], around: Surroundings): readonly string[] {
  const real = (place: string): string => realPlace(place)[0] ?? place;
  const within = [real(around.root), real(around.stateDir), '/proc', '/dev'];
  const kept = [around.home, around.root, around.stateDir].map(real);
  const closed = [...around.denied, ...CREDENTIALS.flatMap((name) => realPlace(path.join(around.home, name)))];
  return [...new Set(places.flatMap(realPlace))].filter(
    (place) => !kept.some((other) => isInside(place, other)) && !isWithin([...within, ...closed])(place),
  );
}

/** The places inside shown ones that stay hidden: credentials, and what rules hide. */
const closedIn = (open: readonly string[], { home, denied }: Surroundings): readonly string[] =>
  open.length === 0
    ? []
    : [...denied, ...CREDENTIALS.flatMap((name) => realPlace(path.join(home, name)))].filter(isWithin(open));

export interface SandboxedCommand {
  readonly box: Exclude<ToolContext['sandbox'], 'none'>;
  /** Absolute path, as seen in the sandbox. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** `seen`: leaves `.env*` files visible, for programs that never show their content. */
  readonly secrets?: 'seen';
  /** A command that only reads and that nobody was asked about: it sees less, and runs only where every secret is covered. */
  readonly reads?: boolean | undefined;
  readonly opened?: machine.Opened | undefined;
  readonly door?: string | undefined;
  /** The agent whose `/tmp` it gets; absent: an empty one. */
  readonly agent?: string | undefined;
  readonly judges?: boolean | undefined;
  /** Of an agent of another program: shown and writable places, each with its path in the sandbox. */
  readonly own?: Readonly<Record<'shown' | 'kept', readonly Bind[]>>;
}

/** What to start instead. It must get exactly this environment, because the sandbox can read bubblewrap's own. */
interface Wrapped {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Environment;
  /** A note for the reader of the output. */
  readonly note: string | null;
  /** Call this when no process of the command is left. */
  end(): Promise<void>;
}

export interface Sandbox {
  readonly state: SandboxState;
  /** How to start a program sandboxed, or why it cannot be; then it must not be started at all. */
  wrap(spec: SandboxedCommand): Promise<Result<Wrapped, string>>;
  /** Removes the `/tmp` of an ended agent, or of all agents (null). */
  ended(agent: string | null): Promise<void>;
  /** What the project holds that no command may read, and repositories below it. */
  walk(): Promise<Walked>;
}

/** How a program is run, beside what it is. */
export type Course = Pick<Program, 'timeLimit' | 'signal' | 'input' | 'onOutput'>;

/** How often a program is started in all if bubblewrap refuses. On a busy machine, sockets of other programs come and go. */
const MOST_STARTS = 5;

/** Runs a program in a sandbox to its end, or not at all: `is` is then "not boxed", with the reason in `stderr`. If bubblewrap
 * refuses, nothing of the program has run, and it is planned and started again: a place that was to be covered may have gone. */
export async function runSandboxed(sandbox: Sandbox, spec: SandboxedCommand, course: Course): Promise<ProgramEnd> {
  for (let start = 1; ; start += 1) {
    const wrapped = await sandbox.wrap(spec);
    if (!wrapped.ok) return neverRan('not boxed', wrapped.fault);
    const end = await startSandboxed(wrapped.value, course);
    const { note } = wrapped.value;
    if (end.is !== 'not boxed' || start === MOST_STARTS) return note === null ? end : { ...end, note };
  }
}

async function startSandboxed(wrapped: Wrapped, course: Course): Promise<ProgramEnd> {
  try {
    const { file, argv, env } = wrapped;
    return await runProgram({ ...course, file, args: argv, env, cwd: '/', boxed: true });
  } finally {
    await wrapped.end();
  }
}

/** The result text of a tool whose program could not be started in the sandbox. */
export const notRun = ({ stderr }: ProgramEnd): string =>
  `not run: the sandbox could not start the command: ${stderr.trim()}`;

/** Why nothing can be sandboxed; `fault` is the problem with the state directory. */
export const stateFault = (stateDir: string, fault: string): string =>
  `the state directory ${stateDir} cannot be used for the sandbox: ${fault}`;
