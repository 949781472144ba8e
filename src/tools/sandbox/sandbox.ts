/**
 * The sandbox of a project: whether there is one, found out once with the very flags that commands get, and what to start
 * so that a program runs in it. Never a silent fallback: what can't be boxed is not started.
 */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import { CREDENTIALS } from '../../domain/text/credentials.ts';
import { isFolder, mountsBelow, realPlace } from '../paths/mounts.ts';
import { checkRoot, isInside, type PathRules, replaced, type Root } from '../paths/root.ts';
import { type Environment, ownVariables, programOn, toolEnvironment } from '../process/environment.ts';
import type { OwnProgram } from '../process/launcher.ts';
import type { ProgramEnd } from '../process/run-program.ts';
import { BOX_HOME, PLACE_VARIABLES } from '../toolchains/toolchains.ts';
import { mountsIn } from './agent-tmp.ts';
import { type Bounds, type Homes, NO_HOME, openHomes } from './home.ts';
import { type Masks, masksOf } from './mount-placeholders.ts';
import { boxArguments, type BoxPlan, type HomeParts, limited } from './mounts.ts';
import {
  closedPlaces,
  firstAbsent,
  foldersAbove,
  type Paths,
  pathsOf,
  reopenedPlaces,
  within,
  writableIn,
} from './paths.ts';
import {
  type Chains,
  findBubblewrap,
  gitFolders,
  hiddenFiles,
  hiddenFolders,
  openSockets,
  toolChains,
  whyNoBubblewrap,
} from './places.ts';
import { type Found, lookThrough, NEVER_MADE } from './protected-scan.ts';
import { systemOnly } from './reading.ts';
import { type Boxed, runBoxed, type Sandbox, startBoxed, stateFault, type Wrapped } from './run.ts';
import { coveredFor, doorInBox, withDoor } from './socket-mount.ts';
import { NOT_WALKED, projectWalk, TOO_LARGE, type Walked } from './walk.ts';

const PROBE_MS = 5000;

export interface SandboxOptions {
  readonly root: string;
  readonly home: string;
  readonly stateDir: string;
  /** What policy says of paths; absent: nothing. The tools get the same. */
  readonly paths?: PathRules;
  /** What commands get; by default the clean part of this process's environment. */
  readonly environment?: Environment;
  /** Mimir itself, for commands that have a door; absent: they get the socket alone. */
  readonly program?: OwnProgram;
  /** Folders in which sockets of Mimir's own are made: always covered. */
  readonly hide?: readonly string[];
  /** Bytes that caches and `/tmp` may have before they are emptied, where they are not the usual ones. */
  readonly bounds?: Bounds;
}

/** The sandbox that says there is none, and boxes nothing. */
export const noSandbox = (because: string): Sandbox => ({
  state: { is: 'none', because },
  wrap: () => Promise.resolve(fail(because)),
  ended: () => Promise.resolve(),
  walk: () => Promise.resolve(NOT_WALKED),
});

/** Finds bubblewrap and tries it. Never rejects: where it does not work, the state says why and what to do. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const root = checkRoot(options.root, { home: options.home, state: options.stateDir, rules: options.paths });
  if (!root.ok) return noSandbox(root.fault);
  if (process.platform !== 'linux') return noSandbox('the sandbox needs Linux');
  const environment = options.environment ?? toolEnvironment(root.value.path);
  const program = findBubblewrap(root.value.path, environment);
  if (program === null) return noSandbox(whyNoBubblewrap(root.value.path, environment));
  const [bash, yes] = [programOn(environment, 'bash'), programOn(environment, 'true')];
  if (bash === null || yes === null) return noSandbox('there is no bash on the PATH');
  const masks = masksOf(options.stateDir, root.value.path);
  const fresh = {
    chains: new Map<string, Chains>(),
    known: { readOnly: new Set<string>(), secret: new Set<string>() },
  };
  const homes = openHomes({
    ...aroundOf(root.value, options),
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
  // Nothing waits for what earlier processes have left.
  void homes.tidy();
  return { state, walk, wrap: (spec) => wrapIn(parts, spec), ended };
}

/** Null when a box stood. */
async function faultOf(trial: Sandbox, probe: Boxed): Promise<string | null> {
  const planned = await trial.wrap(probe);
  if (!planned.ok) return planned.fault;
  const course = { timeLimit: PROBE_MS };
  const first = await startBoxed(planned.value, course);
  const end = first.is === 'not boxed' ? await runBoxed(trial, probe, course) : first;
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
  readonly chains: Map<string, Chains>;
  /** What was ever found: a look is bounded, and folders that a command makes could come before what matters. */
  readonly known: Readonly<Record<'readOnly' | 'secret', Set<string>>>;
}

const OF_STATUS = ['--json-status-fd', '3'];

/** Looked at anew for each program: what the project holds changes, and a link may have come in. */
async function wrapIn(parts: Parts, spec: Boxed): Promise<Result<Wrapped, string>> {
  const { home, stateDir, paths: rules } = parts.options;
  const root = checkRoot(parts.root.path, { home, state: stateDir, rules });
  if (!root.ok) return root;
  const gone = replaced(parts.root);
  if (gone !== null) return fail(gone);
  const paths = pathsOf(root.value);
  const wrap = (): Promise<Result<Wrapped, string>> => wrapFor(parts, spec, root.value, paths);
  return withFolders(parts.masks, spec.opened?.absent ?? [], stateDir, wrap);
}

async function wrapFor(parts: Parts, spec: Boxed, root: Root, paths: Paths): Promise<Result<Wrapped, string>> {
  const { stateDir } = parts.options;
  const writable = spec.box === 'read-only' ? [] : writableIn(root, paths, spec.opened);
  const never = [...NEVER_MADE.map((name) => path.join(root.path, name)), ...paths.denyWrite.flatMap(firstAbsent)];
  const covered = never.filter((place) => writable.some((folder) => isInside(folder, place)));
  const begun = covered.length === 0 ? ok(() => Promise.resolve()) : await parts.masks.begin(covered);
  if (!begun.ok) return fail(stateFault(stateDir, begun.fault));
  // Looked at when the covers are there: they are found as what they cover is.
  const { found, whole } = await lookAt(parts, root.path);
  const fault = found.link === null ? whyHidden(spec, whole) : `${found.link} ${NO_LINK}`;
  if (fault !== null) {
    await begun.value();
    return fail(fault);
  }
  const { agent } = spec;
  const inHome = agent === undefined || parts.probing ? NO_HOME : await parts.homes.forCommand({ ...spec, agent });
  const { box, env } = planOf(parts, root, spec, { paths, writable, covered, found, inHome });
  const argv = [...OF_STATUS, ...boxArguments(box), '--', ...limited(parts.bash, [spec.file, ...spec.args])];
  const end = async (): Promise<void> => {
    inHome.end();
    await begun.value();
  };
  return ok({ file: parts.program, argv, env, note: inHome.note, end });
}

const NO_LINK = 'is a symbolic link; replace it by a real folder to run commands here';
const whyHidden = ({ reads }: Boxed, whole: boolean): string | null => (reads === true && !whole ? TOO_LARGE : null);

/** The bounded look for what is protected, and the walk for what is secret; while the sandbox is tried out, without the walk. */
async function lookAt(parts: Parts, root: string): Promise<{ readonly found: Found; readonly whole: boolean }> {
  const walked = parts.probing ? NOT_WALKED : await parts.walk();
  const looked = lookThrough(root);
  const secret = [...new Set([...looked.secret, ...walked.secret.flatMap(realPlace)])];
  return { found: withKnown(parts, { ...looked, secret }), whole: walked.whole };
}

function withKnown({ known }: Parts, found: Found): Found {
  const all = (kind: 'readOnly' | 'secret'): readonly string[] => {
    for (const place of found[kind]) known[kind].add(place);
    return found[kind].length === known[kind].size ? found[kind] : [...new Set([...known[kind]].flatMap(realPlace))];
  };
  return { ...found, readOnly: all('readOnly'), secret: all('secret') };
}

interface Looked {
  readonly paths: Paths;
  readonly writable: readonly string[];
  readonly covered: readonly string[];
  readonly found: Found;
  readonly inHome: HomeParts;
}

const aroundOf = (root: Root, { home, stateDir }: SandboxOptions): Surroundings => ({
  home,
  root: root.path,
  stateDir,
  denied: pathsOf(root).denyRead.flatMap(realPlace),
});

/** Null where the agent's folder can't be used for `/tmp`, with these places in it. */
function tmpFor(folder: string | null, places: readonly string[]): BoxPlan['tmp'] {
  const mounts = folder === null ? null : mountsIn(folder, places);
  return folder === null || mounts === null ? null : { folder, mounts: mounts.filter((place) => place !== BOX_HOME) };
}

function planOf(
  parts: Parts,
  root: Root,
  { file, cwd, env, secrets, door, opened, reads }: Boxed,
  { paths, writable, covered, found, inHome }: Looked,
): { readonly box: BoxPlan; readonly env: Environment } {
  const { home, stateDir, program, hide = [] } = parts.options;
  const apart = (place: string): boolean => !isInside(root.path, place);
  const doors = [...hide, ...(door === undefined ? [] : coveredFor(door, stateDir))].flatMap(realPlace);
  // A runtime folder may lie anywhere, also in the project.
  const ownDoors = doors.filter(within(root.path));
  const less = systemOnly(reads, stateDir);
  const hidden = hiddenFolders(
    [home, stateDir, tmpdir(), ...less.hidden, ...paths.denyRead.filter(apart)],
    doors.filter(apart),
  );
  const shown = door === undefined ? null : doorInBox(door, program, { root: root.path, stateDir, hidden });
  // What the probe runs is the system's own: looking for tool chains would only keep the first screen waiting.
  const ofSystem = ![parts.bash, file].some((program) => hidden.some((folder) => isInside(folder, program)));
  const chains = parts.probing && ofSystem ? { folders: [], env: {} } : chainsOf(parts, env, hidden);
  // What is read-only in any case is left as it is: shown once more, it could show what is hidden.
  const inWritable = (place: string): boolean => writable.some((folder) => isInside(folder, place));
  const unread = paths.denyRead.flatMap(realPlace);
  const around = aroundOf(root, parts.options);
  const open = openPlaces([...paths.allowRead, ...inHome.shown], around);
  const ofProject = [...found.secret, ...unread.filter(within(root.path))];
  const secret = [
    ...new Set([
      ...(secrets === 'seen' ? [] : ofProject),
      ...hiddenFiles(),
      ...openSockets(root.path, hidden, open),
      ...closedIn(open, around),
      ...unread.filter(apart),
      ...ownDoors,
    ]),
  ].filter((place) => !hidden.includes(place) && isSeen(place, hidden, [root.path, ...open]));
  const closed = closedPlaces(opened, writable);
  const kept = [...covered, ...[...paths.denyWrite, ...mountsBelow(root.path)].flatMap(realPlace).filter(inWritable)];
  const visible = [...chains.folders.flatMap(realPlace), ...gitFolders(root), ...open];
  const binds = [...less.binds, ...(shown?.binds ?? [])];
  const box = {
    cwd,
    hidden,
    root: root.path,
    writable,
    pinned: foldersAbove(writable, [...kept, ...ofProject, ...ownDoors, ...closed]),
    closed,
    reopened: reopenedPlaces(opened, closed),
    shown: visible,
    binds,
    home: inHome,
    tmp: tmpFor(inHome.tmp, [root.path, ...visible, ...binds.map(([, to]) => to)]),
    // Covers among it are gone as soon as the last box that may write has ended: where nothing may be written, none is named.
    readOnly: [...new Set([...found.readOnly.filter(inWritable), ...kept])],
    secretFiles: secret.filter((place) => !isFolder(place)),
    secretFolders: secret.filter(isFolder),
  };
  const known = { ...env, ...inHome.env, ...chains.env, HOME: BOX_HOME };
  return { box, env: shown === null ? known : withDoor(known, shown.env) };
}

function chainsOf({ chains, options }: Parts, env: Environment, hidden: readonly string[]): Chains {
  const key = [env['PATH'] ?? '', ...hidden].join(path.delimiter);
  const known = chains.get(key);
  if (known !== undefined) return known;
  const found = toolChains(env, options.home, hidden);
  chains.set(key, found);
  return found;
}

/** What lies in a hidden folder is not there to be covered, but for what the project holds and what a rule opens. */
const isSeen = (place: string, hidden: readonly string[], open: readonly string[]): boolean =>
  open.some((folder) => isInside(folder, place)) || !['/tmp', ...hidden].some((folder) => isInside(folder, place));

// Why there is no sandbox, in words for a person: what bubblewrap said when it was tried.

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
    return `bubblewrap can't make its own /proc (${said}): Mimir seems to run inside another sandbox or container`;
  if (/namespace|uid map|gid map|clone|unshare|No space left/i.test(said))
    return `bubblewrap is there, but this system refuses it new namespaces (${said}): they are switched off or used up, or Mimir runs inside another sandbox`;
  return `bubblewrap is there, but does not work${said === '' ? '' : ` (${said})`}`;
}

// Folders that are there for the time of a box, since a mount needs something to stand on.

/** Makes `absent` (absolute, the upper ones first), then the box. What nothing was put in is gone when the box has ended. */
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
  /** Real places that nobody may read. */
  readonly denied: readonly string[];
}

/**
 * Of these places, those that can be shown, real. None that holds the home, the project or Mimir's state, none of these
 * but the home's own parts, and none that a rule hides.
 */
function openPlaces(places: readonly string[], around: Surroundings): readonly string[] {
  const [home, root, stateDir] = [around.home, around.root, around.stateDir].map(
    (place) => realPlace(place)[0] ?? place,
  );
  const kept = [home, root, stateDir].filter((place) => place !== undefined);
  const closed = [...around.denied, ...CREDENTIALS.flatMap((name) => realPlace(path.join(around.home, name)))];
  return [...new Set(places.flatMap(realPlace))].filter(
    (place) =>
      !kept.some((other) => isInside(place, other)) &&
      ![root, stateDir, '/proc', '/dev'].some((other) => other !== undefined && isInside(other, place)) &&
      !closed.some((other) => isInside(other, place)),
  );
}

/** What in these open places stays hidden: where credentials lie, and what rules hide. */
const closedIn = (open: readonly string[], { home, denied }: Surroundings): readonly string[] =>
  open.length === 0
    ? []
    : [...denied, ...CREDENTIALS.flatMap((name) => realPlace(path.join(home, name)))].filter((place) =>
        open.some((folder) => isInside(folder, place)),
      );
