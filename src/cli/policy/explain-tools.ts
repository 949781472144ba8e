/** `mimir policy explain` for tools, paths and commands: the circumstances are put together as the gate has them. */
import { TOOL_NAMES, capabilitiesOf } from '../../config/schema/tool-names.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { CAPABILITIES, type Capability } from '../../domain/agents/role.ts';
import type { Action, Circumstances } from '../../policy/decide.ts';
import { type Reason, reasonText } from '../../domain/reason.ts';
import { changePlace, type Explanation } from '../../policy/explain/explain.ts';
import { explainAction } from '../../policy/explain/action.ts';
import { builtIn } from '../../policy/rules.ts';
import { checkRoot, readingLook, toolsFor } from '../../tools/tools.ts';
import { type Access, insideName } from '../../tools/paths/path-rules.ts';
import { realName } from '../../tools/workspace.ts';
import { type Box, openBox, pathsOf } from '../../app/project/sandbox.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Asker } from './explain-who.ts';
import { ofCapability } from './explain-who.ts';

/** A public name such as `file_operations` may stand for several capabilities: one answer each. */
export async function explainTool(tool: string, asker: Asker): Promise<readonly Explanation[]> {
  const capabilities = standsFor(tool);
  const context = await contextOf(asker, capabilities.includes('shell'));
  return capabilities.map((capability) => {
    const subject = capabilities.length > 1 ? `tool ${tool} (${capability ?? ''})` : `tool ${tool}`;
    return explainAction(subject, actionOf(tool, capability, asker), asker.config.rules, context);
  });
}

export async function explainCommand(command: string, asker: Asker): Promise<Explanation> {
  const action: Action = { is: 'tool', tool: 'bash', capability: 'shell', command };
  return explainAction(`command ${command}`, action, asker.config.rules, await contextOf(asker, true, command));
}

/** For reading and for writing: by the name, and by what it leads to. */
export async function explainPath(path: string, asker: Asker): Promise<readonly Explanation[]> {
  const context = await contextOf(asker, false);
  return (['read', 'write'] as const).map((access) => {
    const subject = `${access === 'read' ? 'reading' : 'writing'} ${path}`;
    const problem = problemOf(path, access, asker);
    if (problem !== null) return refusedPath(subject, problem, asker);
    const tool = access === 'read' ? 'read_file' : 'write_file';
    return explainAction(subject, actionOf(tool, access, asker), asker.config.rules, context);
  });
}

function problemOf(path: string, access: Access, { project, config }: Asker): string | null {
  const { root: folder, places } = project;
  const root = checkRoot(folder, { home: places.home, state: places.state, rules: pathsOf(config.rules.box, places) });
  if (!root.ok) return root.fault;
  const name = insideName(root.value.path, path, { folder: access === 'read' });
  if (!name.ok) return name.fault;
  const real = realName(root.value, name.value, access);
  return real.ok ? null : real.fault;
}

function refusedPath(subject: string, problem: string, { config }: Asker): Explanation {
  const { denyRead = [], denyWrite = [], allowWrite = [] } = config.rules.box ?? {};
  const rule = [...denyRead, ...denyWrite, ...allowWrite].find(({ from }) => problem.endsWith(reasonText(from)));
  const because: Reason = rule?.from ?? builtIn(problem);
  return {
    subject,
    decision: 'deny',
    because,
    rules: [{ reason: because, says: 'deny', decides: true }],
    change: [rule === undefined ? BUILT_IN : changePlace(because)],
    resolved: [],
    used: null,
  };
}

const BUILT_IN = 'nothing: it is built in, whatever the mode';

const actionOf = (tool: string, capability: Capability | null, { spawns }: Asker): Action =>
  capability === 'spawn' ? { is: 'spawn', ...spawns } : { is: 'tool', tool, capability };

/** The tool's own name, a capability's, or a name that role files use; null for what every agent has. */
function standsFor(tool: string): readonly (Capability | null)[] {
  if (toolsFor([]).includes(tool)) return [null];
  const own = CAPABILITIES.filter((one) => one === tool || ofCapability(one).includes(tool));
  if (own.length > 0) return own;
  const named = tool === '*' ? [] : capabilitiesOf([tool], { writes: true, root: true, commits: true });
  if (named.length > 0) return named;
  const known = [...new Set([...toolsFor(CAPABILITIES), ...TOOL_NAMES])];
  throw new Exit(EXIT.wrongUse, `there is no tool "${tool}"\n  ${suggestion(tool, known)}`);
}

/** With a person to ask, as on a screen. The sandbox is tried out only where a shell needs it. */
async function contextOf(
  { project, config, mode, capabilities, permissions }: Asker,
  shell: boolean,
  command: string | null = null,
): Promise<Circumstances> {
  const opened = shell ? await openBox(project, config.rules) : null;
  const boxed = opened !== null && opened.sandbox.state.is !== 'none';
  const kind = capabilities.includes('write') ? 'read-write' : 'read-only';
  const reading = boxed && command !== null ? await readingIn(project, opened, command) : undefined;
  const sandbox = boxed ? kind : 'none';
  return { mode, interactive: true, sandbox, capabilities, permissions, granted: false, reading };
}

async function readingIn(
  { root: folder, places }: Asker['project'],
  { environment, sandbox, paths }: Box,
  command: string,
): Promise<Circumstances['reading']> {
  const root = checkRoot(folder, { home: places.home, state: places.state, rules: paths });
  if (!root.ok) return undefined;
  const look = readingLook({ root: root.value, environment, sandbox }, command);
  return { place: look.place, obstacle: await look.obstacle() };
}
