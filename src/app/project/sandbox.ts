/** The sandbox of a project under its rules, what commands may know of the environment, and the tools that work in it. */
import type { Places } from '../../config/files/paths.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Rule, Rules } from '../../policy/rules.ts';
import type { RepositoryPort } from '../../ports/repository.ts';
import type { ToolPort } from '../../ports/tool.ts';
import type { TreePort } from '../../ports/tree.ts';
import {
  checkRoot,
  type Environment,
  listProject,
  openRepository,
  openSandbox,
  openTools,
  openTrees,
  type PathRules,
  type Sandbox,
  toolEnvironment,
} from '../../tools/tools.ts';
import { EXIT, Exit } from '../process/exit.ts';
import { ownProgram } from '../process/own-program.ts';
import type { ProjectPlace } from './project.ts';

export interface Box {
  readonly sandbox: Sandbox;
  readonly environment: Environment;
  /** For the sandbox and for every tool. */
  readonly paths: PathRules;
}

/** Tries the sandbox out. Ends with 3 where it only doesn't work for paths that rules hide: those never mean less of a box. */
export async function openBox({ root, places }: ProjectPlace, rules: Rules): Promise<Box> {
  const passed = rules.box?.passthrough ?? [];
  const granted = passed.filter(({ from }) => from.layer === 'managed');
  const environment = toolEnvironment(root, undefined, valuesOf(passed), valuesOf(granted));
  const own = { program: ownProgram(), hide: [places.runtime] };
  const place = { root, home: places.home, stateDir: places.state, environment, ...own };
  const paths = pathsOf(rules.box, places);
  const sandbox = await openSandbox({ ...place, paths });
  if (sandbox.state.is === 'none' && rules.box !== undefined)
    await refuseIfByPaths(sandbox.state.because, place, paths);
  return { sandbox, environment, paths };
}

const NO_PATHS: PathRules = { denyRead: [], denyWrite: [], allowWrite: [] };

async function refuseIfByPaths(
  because: string,
  place: Parameters<typeof openSandbox>[0],
  paths: PathRules,
): Promise<void> {
  if ((await openSandbox({ ...place, paths: { ...NO_PATHS, own: paths.own ?? [] } })).state.is === 'none') return;
  const all = [...paths.denyRead, ...paths.denyWrite, ...paths.allowWrite].map(({ rule }) => `\n  ${rule}`);
  throw new Exit(EXIT.refused, `no sandbox works with the paths of these rules (${because})${all.join('')}`);
}

export interface Project {
  readonly tools: ToolPort;
  readonly repository: RepositoryPort;
  readonly trees: TreePort;
  /** The project's files by name, as far as rules let them be read. */
  readonly listing: (signal: AbortSignal) => Promise<readonly string[]>;
}

/** More names than anybody looks for. */
const MOST_FILES = 100_000;

/** What a run does in a project, all in one box; ends with an exit code of its own where it can't be opened. */
export function openProject({ root, places }: ProjectPlace, { sandbox, environment, paths }: Box): Project {
  const place = { root, home: places.home, stateDir: places.state };
  const tools = openTools({ ...place, environment, sandbox, paths, program: ownProgram() });
  const checked = checkRoot(root, { home: places.home, state: places.state, rules: paths });
  if (!tools.ok || !checked.ok) throw new Exit(EXIT.wrongUse, tools.ok ? 'the project cannot be opened' : tools.fault);
  return {
    tools: tools.value,
    repository: openRepository(checked.value, { environment, sandbox }),
    trees: openTrees({ root: checked.value, stateDir: places.state }),
    listing: async (signal) => (await listProject(checked.value, MOST_FILES, signal)).files,
  };
}

/** What the screens say of it. */
export const sandboxWords = ({ sandbox: { state } }: Box): string =>
  state.is === 'none' ? `none (${state.because})` : state.is;

const valuesOf = (rules: readonly Rule<string>[]): readonly string[] => rules.map(({ value }) => value);

/** Each with the words that refusals say of it. */
export const pathsOf = (box: Rules['box'], { own = [] }: Pick<Places, 'own'>): PathRules => ({
  own,
  denyRead: (box?.denyRead ?? []).map(({ value, from }) => ({ path: value, rule: reasonText(from) })),
  denyWrite: (box?.denyWrite ?? []).map(({ value, from }) => ({ path: value, rule: reasonText(from) })),
  allowRead: (box?.allowRead ?? []).map(({ value, from }) => ({ path: value, rule: reasonText(from) })),
  allowWrite: (box?.allowWrite ?? []).map(({ value, from }) => ({ paths: value, rule: reasonText(from) })),
});
