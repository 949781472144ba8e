/** Inspects toolchains and the caches of a project for `mimir doctor`, starting each tool in the sandbox as commands are. */
import { checkRoot, type PathRules, realPlace } from '../paths/root.ts';
import { type Environment, ownVariables, programOn } from '../process/environment.ts';
import { bytesIn } from '../process/kept-folders.ts';
import { packagesOf, PLACE_VARIABLES, toolchainsOn } from '../toolchains/toolchains.ts';
import { emptyHome, HOME_BYTES, homeFolder } from './home.ts';
import { findBubblewrap } from './places.ts';
import { runSandboxed, type Sandbox } from './sandbox.ts';

export interface LookPlace {
  readonly root: string;
  readonly home: string;
  readonly stateDir: string;
  readonly environment: Environment;
}

export interface ToolchainState {
  readonly name: string;
  /** Null: it does not start in the sandbox, and `said` are its last words. */
  readonly version: string | null;
  readonly said: string;
  readonly packages: readonly string[];
  /** False if the toolchain has no packages in the home. */
  readonly takesPackages: boolean;
}

const START_MS = 20_000;

/** Starts the toolchains whose main program is on the PATH, each without network in the read-only sandbox. */
export async function lookAtToolchains(
  sandbox: Sandbox,
  { root, home, stateDir, environment }: LookPlace,
  paths: PathRules,
): Promise<readonly ToolchainState[]> {
  const checked = checkRoot(root, { home, state: stateDir, rules: paths });
  if (!checked.ok) return [];
  const denied = checked.value.rules.denyRead.flatMap((rule) => realPlace(rule.path));
  const ground = { home, root: checked.value.path, variables: ownVariables(PLACE_VARIABLES), denied };
  const looks = toolchainsOn(environment).map(async (chain): Promise<ToolchainState | null> => {
    const file = programOn(environment, chain.programs[0] ?? '');
    if (file === null) return null;
    const spec = { box: 'read-only', file, args: chain.version, cwd: checked.value.path, env: environment } as const;
    const end = await runSandboxed(sandbox, spec, { timeLimit: START_MS });
    const text = `${end.stdout}\n${end.stderr}`;
    const version = /\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? null;
    return {
      name: chain.name,
      version: end.is === 'exited' && end.exit === 0 ? version : null,
      said: text.trim().split('\n').at(-1) ?? '',
      packages: packagesOf(chain, ground).map(({ place }) => place),
      takesPackages: chain.packages.length > 0,
    };
  });
  const found = await Promise.all(looks);
  return found.filter((look) => look !== null);
}

/** Measures the private home of a project, then empties it if `clear` is set. `bytes`: null if there are too many files to count. `cleared`:
 * null if not requested; false if a part could not be removed. */
export async function lookAtCaches({ root, stateDir, environment }: LookPlace, { clear }: { readonly clear: boolean }) {
  const [real = root] = realPlace(root);
  const folder = homeFolder(stateDir, real);
  const helpers = { bubblewrap: findBubblewrap(real, environment), environment };
  const bytes = await bytesIn(helpers, realPlace(folder));
  return { folder, bytes, most: HOME_BYTES, cleared: clear ? await emptyHome(helpers, folder) : null };
}
