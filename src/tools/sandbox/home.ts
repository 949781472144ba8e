/** The home and `/tmp` of commands: an empty home with the packages of the person's toolchains, for agents that write also the
 * caches of the project's private home, and a `/tmp` of the agent's own. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ToolContext } from '../../ports/tool.ts';
import { isFolder } from '../paths/root.ts';
import { type Environment, keepFile } from '../process/environment.ts';
import { bytesIn, copyInto, type Helpers, removeFolder } from '../process/kept-folders.ts';
import type { Found, ToolchainPlaces, Toolchain } from '../toolchains/toolchains.ts';
import { SANDBOX_HOME, isUsedBy, packagesOf, toolchainsOn } from '../toolchains/toolchains.ts';
import { agentFolders, TMP_BYTES } from './socket-mount.ts';
import type { Bind, HomeParts } from './mounts.ts';

export interface HomeRequest {
  readonly box: Exclude<ToolContext['sandbox'], 'none'>;
  readonly env: Environment;
  /** The agent whose `/tmp` it gets. */
  readonly agent: string;
  /** Nothing that other commands have written is shown to who judges work. */
  readonly judges?: boolean | undefined;
}

export interface Homes {
  forCommand(wish: HomeRequest): Promise<HomeParts>;
  /** Removes the `/tmp` of an ended agent, or of all agents (null). */
  ended(agent: string | null): Promise<void>;
  tidy(): Promise<void>;
}

export interface HomeOptions extends ToolchainPlaces {
  readonly stateDir: string;
  readonly environment: Environment;
  readonly bubblewrap: string;
  readonly bounds?: Bounds | undefined;
}

/** The sizes in bytes above which a folder is emptied. */
export type Bounds = Readonly<Record<'home' | 'tmp', number>>;

/** The mounts while the sandbox is probed, before any home is set up. */
export const NO_HOME: HomeParts = {
  tmp: null,
  binds: [],
  kept: [],
  shown: [],
  covered: [],
  env: {},
  note: null,
  end: () => undefined,
};

export function openHomes(options: HomeOptions): Homes {
  const { stateDir, root, environment, bubblewrap, bounds = { home: HOME_BYTES, tmp: TMP_BYTES } } = options;
  const helpers = { bubblewrap, environment };
  // Found at the first command, to keep the start fast.
  let known: readonly Toolchain[] | null = null;
  const chainsHere = (): readonly Toolchain[] => (known ??= toolchainsOn(environment));
  const home = privateHome(homeFolder(stateDir, root), chainsHere, { helpers, ground: options });
  const folders = agentFolders(stateDir, root, helpers);
  const shared = bounded(bounds.home, home.bytes, home.empty, SHARED_WORDS);
  const own = new Map<string, Bounded>();
  const ownOf = (agent: string): Bounded => {
    const [bytes, empty] = [() => folders.bytes(agent), () => folders.remove(agent)];
    const limit = own.get(agent) ?? bounded(bounds.tmp, bytes, empty, TMP_WORDS);
    own.set(agent, limit);
    return limit;
  };
  return {
    async forCommand({ box, env, agent, judges }) {
      const chains = chainsHere();
      const keeps = box === 'read-write' && judges !== true;
      const limits = [...(keeps ? [shared] : []), ownOf(agent)];
      const notes: string[] = [];
      for (const limit of limits) notes.push(...(await limit.begin()));
      const { kept, copied } = keeps ? await home.binds() : { kept: [], copied: [] };
      const packages = mountsOf(chains, options, copied);
      const cargo = chains.some(({ name }) => name === 'cargo') ? await cargoParts(options) : { binds: [], shown: [] };
      return {
        tmp: folders.of(agent),
        binds: [...packages.binds, ...cargo.binds],
        kept,
        shown: cargo.shown,
        covered: packages.covered,
        env: envOf(chains, { box, env, root }),
        note: notes.length === 0 ? null : notes.join(' '),
        end: () => {
          for (const limit of limits) limit.end();
        },
      };
    },
    async ended(agent) {
      if (agent === null) own.clear();
      else own.delete(agent);
      await folders.remove(agent);
    },
    tidy: () => folders.tidy(),
  };
}

const SHARED_WORDS = 'The build caches exceeded their limit (4 GiB) and were emptied before this command.';
const TMP_WORDS = '/tmp exceeded its limit (2 GiB) and was emptied before this command.';

interface Bounded {
  /** Call this before a command; returns notes for the agent that runs it. */
  begin(): Promise<readonly string[]>;
  /** Call this after the command; measures in the background. */
  end(): void;
}

/** How long a command waits for the measurement after the previous one. */
const WAIT_MS = 2000;

/** Emptied when it was measured over its bound, or can't be measured any more, and no command of this process uses it. */
function bounded(
  bound: number,
  bytes: () => Promise<number | null>,
  empty: () => Promise<void>,
  words: string,
): Bounded {
  let [users, isOver] = [0, false];
  // Unknown before the first measurement.
  let last = Infinity;
  let measuring: Promise<void> | null = null;
  const measure = async (): Promise<void> => {
    last = (await bytes()) ?? Infinity;
    isOver = last > bound;
    measuring = null;
  };
  return {
    async begin() {
      // A folder far below its bound needs no wait.
      if (measuring !== null && last > bound / 2)
        await Promise.race([measuring, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
      users += 1;
      if (!isOver || users > 1) return [];
      isOver = false;
      await empty();
      return [words];
    },
    end() {
      users -= 1;
      measuring ??= measure();
    },
  };
}

/** The person's packages, except those that the private home has copied. */
function mountsOf(
  chains: readonly Toolchain[],
  ground: ToolchainPlaces,
  copied: readonly string[],
): { readonly binds: readonly Bind[]; readonly covered: readonly string[] } {
  const found = chains.flatMap((chain) => packagesOf(chain, ground));
  const mounted = found.filter(({ mounted, below }) => mounted !== false && !copied.includes(below));
  return {
    binds: mounted.map(({ place, below }): Bind => [place, `${SANDBOX_HOME}/${below}`]),
    covered: mounted.flatMap(({ place, below, covered = [] }) =>
      covered.filter((name) => isFolder(path.join(place, name))).map((name) => `${SANDBOX_HOME}/${below}/${name}`),
    ),
  };
}

/** The person's Cargo sources as a configuration file of Mimir's own, named by its content. */
async function cargoParts({ home, variables, stateDir }: HomeOptions): Promise<Pick<HomeParts, 'binds' | 'shown'>> {
  const folder = variables['CARGO_HOME'] ?? path.join(home, '.cargo');
  if (!['config.toml', 'config'].some((name) => existsSync(path.join(folder, name)))) return { binds: [], shown: [] };
  const { cargoConfig } = await import('./cargo-config.ts');
  const { text, folders } = cargoConfig(folder);
  if (text === '') return { binds: [], shown: [] };
  return { binds: [[configFile(stateDir, text), `${SANDBOX_HOME}/.cargo/config.toml`]], shown: folders };
}

function configFile(stateDir: string, text: string): string {
  const name = `cargo-${createHash('sha256').update(text).digest('hex').slice(0, 24)}.toml`;
  const file = path.join(stateDir, 'homes', name);
  keepFile(file, text);
  return file;
}

function envOf(
  chains: readonly Toolchain[],
  { box, env, root }: Pick<HomeRequest, 'box' | 'env'> & { readonly root: string },
): Environment {
  const of = chains.flatMap(({ env, readOnlyEnv }) => (box === 'read-only' ? [env, readOnlyEnv] : [env]));
  const all: Environment = Object.fromEntries(of.flatMap((each) => Object.entries(each)));
  const wheels = ['wheelhouse', 'wheels'].map((name) => path.join(root, name)).find(isFolder);
  const options = env['MAVEN_OPTS'];
  const maven = all['MAVEN_OPTS'];
  return {
    ...all,
    ...(wheels === undefined || all['PIP_NO_INDEX'] === undefined ? {} : { PIP_FIND_LINKS: wheels }),
    // Variables that the person passes through override ours.
    ...env,
    ...(options === undefined || maven === undefined ? {} : { MAVEN_OPTS: `${options} ${maven}` }),
  };
}

// The private home of a project: named caches of packages and builds that commands of its agents keep, between commands and
// runs, in the state folder. Nothing else of a home is kept: start-up and configuration files would carry what one agent
// wrote into the commands of another. Above its bound it is emptied before the next command.

const GIB = 1024 * 1024 * 1024;
export const HOME_BYTES = 4 * GIB;
const COPY_BYTES = GIB;

export const homeFolder = (stateDir: string, root: string): string =>
  path.join(stateDir, 'homes', createHash('sha256').update(root).digest('hex').slice(0, 24));

interface PrivateHome {
  /** The writable mounts, created if missing; `copied` names those with a copy of the person's packages. */
  readonly binds: () => Promise<{ readonly kept: readonly Bind[]; readonly copied: readonly string[] }>;
  readonly empty: () => Promise<void>;
  /** Null if it cannot be measured in time. */
  readonly bytes: () => Promise<number | null>;
}

function privateHome(
  folder: string,
  chains: () => readonly Toolchain[],
  { helpers, ground }: { readonly helpers: Helpers; readonly ground: ToolchainPlaces },
): PrivateHome {
  /** Copied once per process: the person may have fetched packages since another process copied them. */
  const copies = new Map<string, Promise<boolean>>();
  const placeOf = (name: string): string => path.join(folder, name.replace(/^\./, '').replaceAll('/', '-'));
  const copied = ({ below, place }: Found): Promise<boolean> => {
    const known = copies.get(below) ?? copyOnce(helpers, place, placeOf(below));
    copies.set(below, known);
    return known;
  };
  return {
    async binds() {
      const kept: Bind[] = [];
      const names: string[] = [];
      for (const chain of chains()) {
        const found = packagesOf(chain, ground);
        const uses = isUsedBy(chain, ground.root);
        for (const each of found.filter(({ copied }) => copied === true && uses))
          if (await copied(each)) names.push(each.below);
        // A folder under a mount of the person's packages cannot be kept.
        const shown = found.filter(({ mounted, below }) => mounted !== false && !names.includes(below));
        for (const name of chain.kept.filter((kept) => !shown.some(({ below }) => below === kept)))
          kept.push([folderAt(placeOf(name)), `${SANDBOX_HOME}/${name}`]);
        for (const name of chain.locks) kept.push([fileAt(placeOf(name)), `${SANDBOX_HOME}/${name}`]);
      }
      return { kept, copied: names };
    },
    async empty() {
      copies.clear();
      await emptyHome(helpers, folder);
    },
    bytes: () => bytesIn(helpers, [folder]),
  };
}

/** Renames and removes the home. Running commands keep their old one, the next ones start with an empty one. False when a part remains. */
export async function emptyHome(helpers: Helpers, folder: string): Promise<boolean> {
  const gone = `${folder}.${GONE}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(folder, gone);
  } catch {
    return true;
  }
  return removeFolder(helpers, gone);
}
const GONE = 'gone';

async function copyOnce(helpers: Helpers, from: string, to: string): Promise<boolean> {
  const size = await bytesIn(helpers, [from]);
  return size !== null && size <= COPY_BYTES && (await copyInto(helpers, from, to));
}

function folderAt(place: string): string {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return place;
}

/** Creates or empties a file, whatever a command wrote into it. */
function fileAt(place: string): string {
  mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
  writeFileSync(place, '', { mode: 0o600 });
  return place;
}
