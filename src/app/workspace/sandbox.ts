/** Opens the sandbox of a project under its rules, the environment of its commands, and the tools that run in it. */
import type { Places } from '../../config/index.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Rule, Rules } from '../../policy/index.ts';
import type { RepositoryPort, TreePort } from '../../ports/tree.ts';
import type { ToolPort } from '../../ports/tool.ts';
import type { TransportPort, WorkspacePort } from '../../ports/workspace.ts';
import type { Environment, ProjectTools as OpenTools, PathRules, Sandbox } from '../../tools/index.ts';
import { checkRoot, listProject, openRepository, openSandbox, openTools, openTrees } from '../../tools/index.ts';
import { toolEnvironment } from '../../tools/index.ts';
import { EXIT, Exit, ownProgram, wrongUse } from '../process/index.ts';
import type { ProjectPlace } from './place.ts';

export interface TriedSandbox {
  readonly sandbox: Sandbox;
  readonly environment: Environment;
  readonly paths: PathRules;
}

/** Tries the sandbox. Throws an `Exit` (3) if only the rules' hidden paths make it fail, because such rules must never weaken the sandbox. */
export async function trySandbox({ root, places }: ProjectPlace, rules: Rules): Promise<TriedSandbox> {
  const passed = rules.box?.passthrough ?? [];
  const granted = passed.filter(({ from }) => from.layer === 'managed');
  const environment = toolEnvironment(root, undefined, ruleValues(passed), ruleValues(granted));
  const own = { program: ownProgram(), hide: [places.runtime] };
  const place = { root, home: places.home, stateDir: places.state, environment, ...own };
  const paths = pathsOf(rules.box, places);
  const sandbox = await openSandbox({ ...place, paths });
  if (sandbox.state.is === 'none' && rules.box !== undefined)
    await refuseIfPathsFail(sandbox.state.because, place, paths);
  return { sandbox, environment, paths };
}

const NO_PATHS: PathRules = { denyRead: [], denyWrite: [], allowWrite: [] };

async function refuseIfPathsFail(
  because: string,
  place: Parameters<typeof openSandbox>[0],
  paths: PathRules,
): Promise<void> {
  if ((await openSandbox({ ...place, paths: { ...NO_PATHS, own: paths.own ?? [] } })).state.is === 'none') return;
  const all = [...paths.denyRead, ...paths.denyWrite, ...paths.allowWrite].map(({ rule }) => `\n  ${rule}`);
  throw new Exit(EXIT.refused, `no sandbox works with the paths of these rules (${because})${all.join('')}`);
}

export interface ProjectTools {
  readonly tools: ToolPort;
  readonly repository: RepositoryPort;
  readonly trees: TreePort;
  readonly workspaces: WorkspacePort;
  readonly transport: TransportPort;
  readonly foreign: OpenTools['foreign'];
  /** The names of the project's files that rules allow to be read. */
  readonly listing: (signal: AbortSignal) => Promise<readonly string[]>;
}

const MOST_FILES = 100_000;

/** Opens the tools, the repository and the work trees of a project, all in one sandbox. Throws an `Exit` on failure. */
export function openProjectTools(
  { root, places }: ProjectPlace,
  { sandbox, environment, paths }: TriedSandbox,
): ProjectTools {
  const place = { root, home: places.home, stateDir: places.state, hide: [places.runtime] };
  const checked = checkRoot(root, { home: places.home, state: places.state, rules: paths });
  if (!checked.ok) throw wrongUse(checked.fault);
  const trees = openTrees({ root: checked.value, stateDir: places.state });
  const tools = openTools({ ...place, environment, sandbox, paths, program: ownProgram(), snapshots: trees });
  if (!tools.ok) throw wrongUse(tools.fault);
  const { workspaces, transport, foreign, ...port } = tools.value;
  return {
    tools: port,
    workspaces,
    transport,
    foreign,
    repository: openRepository(checked.value, { environment, sandbox }),
    trees,
    listing: async (signal) => (await listProject(checked.value, MOST_FILES, signal)).files,
  };
}

/** The sandbox in words for the screens. */
export const sandboxText = ({ sandbox: { state } }: TriedSandbox): string =>
  state.is === 'none' ? `none (${state.because})` : state.is;

const ruleValues = (rules: readonly Rule<string>[]): readonly string[] => rules.map(({ value }) => value);

/** The path rules of the sandbox, each with the text of its refusal. */
export const pathsOf = (box: Rules['box'], { own = [] }: Pick<Places, 'own'>): PathRules => ({
  own,
  denyRead: (box?.denyRead ?? []).map(({ value, from }) => ({ path: value, rule: reasonText(from) })),
  denyWrite: (box?.denyWrite ?? []).map(({ value, from }) => ({ path: value, rule: reasonText(from) })),
  allowRead: (box?.allowRead ?? []).map(({ value, from }) => ({ path: value, rule: reasonText(from) })),
  allowWrite: (box?.allowWrite ?? []).map(({ value, from }) => ({ paths: value, rule: reasonText(from) })),
});
