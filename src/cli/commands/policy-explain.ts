/** `mimir policy explain`: calls the policy functions of a run and prints the decision, the rules and what would change it. */
import { type Arguments, EXIT, type Io, wrongUse } from '../../app/process/index.ts';
import { escapeHidden } from '../../app/views/index.ts';
import { projectConfigOf, agentNamed, modeFrom, projectOf, type ProjectPlace } from '../../app/workspace/index.ts';
import { portOf } from '../../app/workspace/model-port.ts';
import { pathsOf, type TriedSandbox, trySandbox } from '../../app/workspace/sandbox.ts';
import { capabilitiesOf, type Loaded, modelNames, TOOL_NAMES } from '../../config/index.ts';
import { CAPABILITIES, type Capability, type Role } from '../../domain/agents/role.ts';
import { depthOf } from '../../domain/ids.ts';
import type { AllPermissions } from '../../domain/plan/plan.ts';
import { type Mode, type Reason, reasonText } from '../../domain/reason.ts';
import { suggestion } from '../../domain/text/text.ts';
import type { AgentState, RunState } from '../../events/index.ts';
import { configuredPermissions, isFinal, modeFor, permissionsFor } from '../../events/index.ts';
import { builtIn, modelsOfRole, roleNamed, wordsOf } from '../../policy/index.ts';
import type { Action, Circumstances } from '../../policy/decide.ts';
import { explainAction } from '../../policy/explain/action.ts';
import { changePlace, explainModel, explainRole, type Explanation } from '../../policy/explain/explain.ts';
import { type Access, checkRoot, insideName, readingLook, realName } from '../../tools/index.ts';
import { toolsFor } from '../../domain/agents/tool-facts.ts';
import { tell } from '../verb.ts';

const QUESTIONS = ['model', 'tool', 'path', 'command', 'role'] as const;

/** The exit code is 0 whatever the decision. */
export async function explainPolicy(args: Arguments, io: Io): Promise<number> {
  const asked = QUESTIONS.filter((name) => args.has(name));
  const [question, ...more] = asked.length > 1 ? asked.filter((name) => name !== 'role') : asked;
  if (question === undefined || more.length > 0)
    throw wrongUse(`one question at a time: ${QUESTIONS.map((name) => `--${name}`).join(', ')}`);
  const asker = askerOf(args, io, question !== 'role');
  const explained = await explain(question, args.get(question) ?? '', asker);
  const as = asWords(question, asker);
  for (const one of explained) tell(args, io, { ...one, as }, linesOf(one, as, io));
  return EXIT.done;
}

async function explain(
  question: (typeof QUESTIONS)[number],
  subject: string,
  asker: Asker,
): Promise<readonly Explanation[]> {
  if (question === 'model') return [model(subject, asker)];
  if (question === 'role') return [role(subject, asker)];
  if (question === 'tool') return explainTool(subject, asker);
  return question === 'path' ? explainPath(subject, asker) : [await explainCommand(subject, asker)];
}

function role(asked: string, { config: { rules, roles } }: Asker): Explanation {
  const explained = explainRole(asked, rules, roles);
  if (roleNamed(asked, roles) !== null) return explained;
  const known = roles.map(({ name }) => name);
  return { ...explained, change: [suggestion(asked, known)] };
}

function model(asked: string, { config, role }: Asker): Explanation {
  const models = portOf(config, new Map(), 'none').models();
  const here = { rules: config.rules, models, offlineOnly: !config.providers.some(({ configured }) => configured) };
  const explained = explainModel({
    asked,
    role: role.name,
    fallbacks: modelsOfRole(role, here),
    ...here,
    words: wordsOf(role),
  });
  if (explained.resolved.some(({ written }) => written === asked)) return explained;
  return { ...explained, change: [suggestion(asked, modelNames(config.models))] };
}

function asWords(question: string, { role, mode, agent }: Asker): string | null {
  if (question === 'role') return null;
  const who = agent === null ? `role ${role.name}` : `agent ${agent}, role ${role.name}`;
  return question === 'model' ? who : `${who}, mode ${mode}`;
}

function linesOf(
  { subject, decision, rules, change, resolved, used }: Explanation,
  as: string | null,
  { paint }: Io,
): readonly string[] {
  const words = {
    allow: paint.green('allow'),
    ask: paint.yellow('ask'),
    deny: paint.red('deny'),
    substitute: paint.yellow('substitute'),
  };
  const line = (name: string, text: string): string => `  ${name.padEnd(15)} ${escapeHidden(text)}`;
  return [
    `${words[decision]}  ${paint.bold(escapeHidden(subject))}`,
    ...(as === null ? [] : [line('as', as)]),
    ...rules.map(({ reason, says, decides }) => line(decides ? 'decided by' : `also ${says}`, reasonText(reason))),
    ...(used === null ? [] : [line('used', used)]),
    ...[...new Set(resolved.map(({ written, id }) => `${written} is ${id}`))].map((text) => line('means', text)),
    ...change.map((text) => line('to change', text)),
  ];
}

// Explains tools, paths and commands in the same circumstances as the gate's.

/** A public name such as `file_operations` covers several capabilities; each gets an answer. */
async function explainTool(tool: string, asker: Asker): Promise<readonly Explanation[]> {
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

/** Explains reading and writing, by the name and by the target of a link. */
async function explainPath(path: string, asker: Asker): Promise<readonly Explanation[]> {
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

const BUILT_IN = 'nothing: it is built in and applies in every mode';

const actionOf = (tool: string, capability: Capability | null, { spawns }: Asker): Action =>
  capability === 'spawn' ? { is: 'spawn', ...spawns } : { is: 'tool', tool, capability };

/** The capabilities of a tool, a capability's own name, or a name in role files; null for tools of every agent. */
function standsFor(tool: string): readonly (Capability | null)[] {
  if (toolsFor([]).includes(tool)) return [null];
  const own = CAPABILITIES.filter((one) => one === tool || ofCapability(one).includes(tool));
  if (own.length > 0) return own;
  const named = tool === '*' ? [] : capabilitiesOf([tool], { writes: true, root: true, commits: true });
  if (named.length > 0) return named;
  const known = [...new Set([...toolsFor(CAPABILITIES), ...TOOL_NAMES])];
  throw wrongUse(`there is no tool "${tool}"\n  ${suggestion(tool, known)}`);
}

/** As on a screen, with a person to ask. The sandbox is probed only for a shell. */
async function contextOf(
  { project, config, mode, capabilities, permissions }: Asker,
  shell: boolean,
  command: string | null = null,
): Promise<Circumstances> {
  const opened = shell ? await trySandbox(project, config.rules) : null;
  const boxed = opened !== null && opened.sandbox.state.is !== 'none';
  const kind = capabilities.includes('write') ? 'read-write' : 'read-only';
  const reading = boxed && command !== null ? await readingIn(project, opened, command) : undefined;
  const sandbox = boxed ? kind : 'none';
  return { mode, interactive: true, sandbox, capabilities, permissions, reading };
}

async function readingIn(
  { root: folder, places }: Asker['project'],
  { environment, sandbox, paths }: TriedSandbox,
  command: string,
): Promise<Circumstances['reading']> {
  const root = checkRoot(folder, { home: places.home, state: places.state, rules: paths });
  if (!root.ok) return undefined;
  const look = readingLook({ root: root.value, environment, sandbox }, command);
  return { place: look.place, obstacle: await look.obstacle() };
}

interface Asker {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly role: Role;
  readonly mode: Mode;
  readonly capabilities: readonly Capability[];
  readonly agent: string | null;
  /** What its plan permits without approval; without an agent, the initial permissions of plans. */
  readonly permissions: AllPermissions;
  /** The depth of its next child, the number of agents in the run, and of unfinished siblings. */
  readonly spawns: Spawns;
}

type Spawns = Readonly<Record<'depth' | 'agents' | 'siblings', number>>;
const FIRST: Spawns = { depth: 1, agents: 0, siblings: 0 };

/** With `withRole`, `--role` chooses the role and is not the question itself. */
function askerOf(args: Arguments, io: Io, withRole: boolean): Asker {
  const project = projectOf(args, io);
  const { config } = projectConfigOf(project, io, {}, 'look');
  const named = args.get('agent');
  const given = withRole ? args.get('role') : undefined;
  const common = {
    project,
    config,
    mode: modeFrom(args) ?? config.rules.mode,
    permissions: configuredPermissions(config.rules),
    agent: null,
    spawns: FIRST,
  };
  if (named === undefined) {
    const role = roleOf(given ?? 'main', config.roles);
    return { ...common, role, capabilities: role.capabilities };
  }
  const { state, one } = agentNamed(project, named);
  const mode = modeFrom(args) ?? modeFor(state, one.id);
  const role = roleOf(given ?? one.role, config.roles);
  const permissions = permissionsFor(state, one.id, config.rules);
  const capabilities = capabilitiesOfAgent(one);
  return { ...common, role, mode, permissions, capabilities, agent: one.id, spawns: spawnsOf(state, one) };
}

function spawnsOf({ agents }: RunState, { id }: AgentState): Spawns {
  const siblings = [...agents.values()].filter(
    (one) => one.parent === id && (one.spawned !== null || one.call !== null) && !isFinal(one),
  );
  return { depth: depthOf(id) + 1, agents: agents.size - 1, siblings: siblings.length };
}

/** By the agent's own tools, which may be fewer than its role's. */
const capabilitiesOfAgent = ({ tools }: AgentState): readonly Capability[] =>
  CAPABILITIES.filter((capability) => ofCapability(capability).some((tool) => tools.includes(tool)));

const ofCapability = (capability: Capability): readonly string[] =>
  toolsFor([capability]).filter((tool) => !toolsFor([]).includes(tool));

function roleOf(name: string, roles: readonly Role[]): Role {
  const role = roleNamed(name, roles);
  if (role !== null) return role;
  const known = roles.map((one) => one.name);
  throw wrongUse(`there is no role "${name}"\n  ${suggestion(name, known)}`);
}
