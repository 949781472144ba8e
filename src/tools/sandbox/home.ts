/**
 * What a command finds at its home and in `/tmp`: an empty home with the packages of the person's toolchains in it, for
 * agents that work the caches of the private home as well, and a `/tmp` of the agent's own.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ToolContext } from '../../ports/tool.ts';
import { isFolder } from '../paths/mounts.ts';
import { ownMark } from '../paths/process-mark.ts';
import type { Environment } from '../process/environment.ts';
import { type Ground, packagesOf, toolchainsOn } from '../toolchains/places.ts';
import { BOX_HOME, type Toolchain } from '../toolchains/toolchains.ts';
import { agentFolders, TMP_BYTES } from './agent-tmp.ts';
import type { Bind, HomeParts } from './mounts.ts';
import { HOME_BYTES, homeFolder, privateHome } from './private-home.ts';

export interface Wish {
  readonly box: Exclude<ToolContext['box'], 'none'>;
  readonly env: Environment;
  /** Whose `/tmp`. */
  readonly agent: string;
  /** Nothing that other commands have written is shown to who judges work. */
  readonly judges?: boolean | undefined;
}

export interface Homes {
  forCommand(wish: Wish): Promise<HomeParts>;
  /** This agent, or every agent (null), has ended: its `/tmp` goes. */
  ended(agent: string | null): Promise<void>;
  tidy(): Promise<void>;
}

export interface HomeOptions extends Ground {
  readonly stateDir: string;
  /** Of this machine, for commands. */
  readonly environment: Environment;
  readonly bubblewrap: string;
  readonly bounds?: Bounds | undefined;
}

/** In bytes. */
export interface Bounds {
  readonly home: number;
  readonly tmp: number;
}

/** What is mounted where nothing is known of homes yet: while the sandbox is tried out. */
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
  // Looked for with the first command: a start has no time for it.
  let known: readonly Toolchain[] | null = null;
  const chainsHere = (): readonly Toolchain[] => (known ??= toolchainsOn(environment));
  const home = privateHome(homeFolder(stateDir, root), chainsHere, { helpers, ground: options });
  const folders = agentFolders(stateDir, root, helpers);
  const shared = bounded(
    bounds.home,
    () => home.bytes(),
    () => home.empty(),
    SHARED_WORDS,
  );
  const own = new Map<string, Bounded>();
  const ownOf = (agent: string): Bounded => {
    const known = own.get(agent);
    const fresh =
      known ??
      bounded(
        bounds.tmp,
        () => folders.bytes(agent),
        () => folders.remove(agent),
        TMP_WORDS,
      );
    own.set(agent, fresh);
    return fresh;
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

const SHARED_WORDS = 'The caches of builds had grown over their bound (4 GiB): they were emptied before this command.';
const TMP_WORDS = '/tmp had grown over its bound (2 GiB): it was emptied before this command.';

interface Bounded {
  /** Before a command; what there is to say to who runs it. */
  begin(): Promise<readonly string[]>;
  /** After it: measured while others go on. */
  end(): void;
}

/** How long a command waits for the measure of what the one before it has left. */
const WAIT_MS = 2000;

/** Emptied when it was measured over its bound, or can't be measured any more, and no command of this process uses it. */
function bounded(
  bound: number,
  bytes: () => Promise<number | null>,
  empty: () => Promise<void>,
  words: string,
): Bounded {
  let [users, isOver] = [0, false];
  // Before the first measure nothing is known.
  let last = Infinity;
  let measuring: Promise<void> | null = null;
  const measure = async (): Promise<void> => {
    last = (await bytes()) ?? Infinity;
    isOver = last > bound;
    measuring = null;
  };
  return {
    async begin() {
      // Far from the bound nobody waits.
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

/** The person's packages, but for those that the private home has a copy of. */
function mountsOf(
  chains: readonly Toolchain[],
  ground: Ground,
  copied: readonly string[],
): { readonly binds: readonly Bind[]; readonly covered: readonly string[] } {
  const found = chains.flatMap((chain) => packagesOf(chain, ground));
  const mounted = found.filter(({ how, below }) => how !== 'only copy' && !copied.includes(below));
  return {
    binds: mounted.map(({ place, below }): Bind => [place, `${BOX_HOME}/${below}`]),
    covered: mounted.flatMap(({ place, below, covered = [] }) =>
      covered.filter((name) => isFolder(path.join(place, name))).map((name) => `${BOX_HOME}/${below}/${name}`),
    ),
  };
}

/** Where packages come from by the person's configuration of Cargo, as a file of Mimir's own, by its content. */
async function cargoParts({ home, variables, stateDir }: HomeOptions): Promise<Pick<HomeParts, 'binds' | 'shown'>> {
  const folder = variables['CARGO_HOME'] ?? path.join(home, '.cargo');
  if (!['config.toml', 'config'].some((name) => existsSync(path.join(folder, name)))) return { binds: [], shown: [] };
  const { cargoConfig } = await import('./cargo-config.ts');
  const { text, folders } = cargoConfig(folder);
  if (text === '') return { binds: [], shown: [] };
  return { binds: [[configFile(stateDir, text), `${BOX_HOME}/.cargo/config.toml`]], shown: folders };
}

function configFile(stateDir: string, text: string): string {
  const name = `cargo-${createHash('sha256').update(text).digest('hex').slice(0, 24)}.toml`;
  const file = path.join(stateDir, 'homes', name);
  if (existsSync(file)) return file;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${ownMark()}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, file);
  return file;
}

function envOf(
  chains: readonly Toolchain[],
  { box, env, root }: Pick<Wish, 'box' | 'env'> & { readonly root: string },
): Environment {
  const of =
    box === 'read-only'
      ? chains.flatMap(({ env, readOnlyEnv }) => [env, readOnlyEnv ?? {}])
      : chains.map((chain) => chain.env);
  const all: Environment = Object.fromEntries(of.flatMap((each) => Object.entries(each)));
  const wheels = ['wheelhouse', 'wheels'].map((name) => path.join(root, name)).find(isFolder);
  const options = env['MAVEN_OPTS'];
  return {
    ...all,
    ...(wheels === undefined || all['PIP_NO_INDEX'] === undefined ? {} : { PIP_FIND_LINKS: wheels }),
    // What the person passes on is theirs to say.
    ...env,
    ...(options === undefined || all['MAVEN_OPTS'] === undefined
      ? {}
      : { MAVEN_OPTS: `${options} ${all['MAVEN_OPTS']}` }),
  };
}
