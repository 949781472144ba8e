/** Creates children outside of the plan. Policy, and a person where it says so, decides whether; the request, the rules and the parent
 * decide what the child is made of, never with more rights than its parent. */
import { tightest } from '../../domain/budget.ts';
import { type AgentId, childOf, depthOf, ROOT } from '../../domain/ids.ts';
import { type Mode, type Reason, reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { type Capability, MAIN, onlyReads, type Role } from '../../domain/agents/role.ts';
import { nearest } from '../../domain/text/text.ts';
import { SpawnRequest } from '../../domain/agents/agent.ts';
import { WHOLE_PROJECT } from '../../domain/plan/writes.ts';
import * as events from '../../events/index.ts';
import { childRules, type Decision, roleNamed, roleProblem, spokenModel } from '../../policy/index.ts';
import { decide } from '../../policy/decide.ts';
import { type AgentModules, capabilitiesOf, createdEvent, type NewAgent, writesIn } from '../agents/index.ts';
import type { MessageStore } from '../../ports/log.ts';
import { type AgentSetup, budgetOf, deniedEvent, modelFor, type ModeOf } from '../gate/index.ts';
import type { MandatoryReviews } from '../reviews/index.ts';
import { treeOfChild, type Workspaces } from '../workspaces/index.ts';

/** The collaborators of everything about messages and children. */
export interface FamilyParts extends AgentModules {
  readonly reviews: MandatoryReviews;
  readonly workspaces: Workspaces;
  /** Missing where messages cannot be stored. */
  readonly messageStore: MessageStore | undefined;
}

/** A request for a child of `parent`; `by`: the asking agent, null for a person. */
interface SpawnOrder extends FamilyParts {
  readonly parent: AgentId;
  readonly wish: SpawnRequest;
  readonly by: AgentId | null;
}

/** Records the child and starts it by `begin` in the same step, so that every recorded child is running; or why there is none. Waits for a
 * person where policy says so. */
export async function made(wanted: SpawnOrder, begin: (child: NewAgent) => void): Promise<Result<NewAgent, string>> {
  const folder = await folderFor(wanted);
  if (!folder.ok) return folder;
  for (let answered = false; ; answered = true) {
    if (wanted.signal.aborted) return fail('the run is being stopped: nothing new is begun');
    const draft = draftOf(wanted, folder.value);
    if (!draft.ok) return draft;
    const { one, created } = draft.value;
    const decision = judged(wanted, one, { answered });
    if (decision.verdict === 'deny') return fail(denied(wanted, decision.because));
    if (decision.verdict === 'allow') {
      // Without an `await` after the decision, so that of many requests at once each counts the others.
      wanted.recorder.record(created);
      begin(one);
      return ok(one);
    }
    const problem = await asked(wanted, one, decision.because);
    if (problem !== null) return fail(problem);
  }
}

/** The child's spec, drafted again after each wait because the state may have changed. */
function draftOf(
  { options, recorder, root, parent, wish, by }: SpawnOrder,
  workingDir: string,
): Result<{ readonly one: NewAgent; readonly created: events.EventBody }, string> {
  const state = recorder.state();
  const above = state.agents.get(parent);
  if (above === undefined) return fail(`there is no agent ${parent}`);
  const unfit = whyNoParent(above);
  if (unfit !== null) return fail(unfit);
  const { defaultModel, naming } = childRules(options.rules);
  const may = capabilitiesIn(options, root, state, above);
  const found = roleFor(options, wish, may);
  if (!found.ok) return found;
  const role = found.value;
  const model = modelFor(options, role, modelWished(wish.model ?? defaultModel));
  if (!model.ok) return model;
  const tree = treeOfChild({ options, recorder }, parent, role);
  if (!tree.ok) return tree;
  const friendly = freeName(state, wish.name ?? nameFrom(options, wish));
  const spawned: events.Spawned = { by: by ?? 'person', friendly, wait: wish.wait, workingDir };
  const agent = childOf(parent, above.children.length + 1);
  const one: NewAgent = {
    agent,
    parent,
    role,
    name: events.sessionName({ id: agent, name: role.name, role: role.name, spawned }, recorder.session, naming),
    task: wish.prompt,
    taskId: null,
    model: model.value.choice,
    capabilities: childCapabilities(options, role, agent, may),
    budget: tightest(role.budget ?? {}, budgetOf(options, role.name)),
    ...writesIn(above),
    ...tree.value,
    dependsOn: [],
  };
  return ok({ one, created: { ...createdEvent(options, one), spawned } });
}

const modelWished = (name: string | null): string | null => (name === null ? null : spokenModel(name));

/** Names with another meaning wherever agents are addressed. */
const NOT_NAMES = ['all', 'orchestrator', 'person'];

/** A unique name: `scout`, `scout 2`, `scout 3` …, so that a message to a name reaches one agent. Case is ignored. */
function freeName({ agents }: events.RunState, wanted: string | null): string | null {
  if (wanted === null) return null;
  const taken = new Set(NOT_NAMES);
  for (const { name, spawned } of agents.values())
    for (const known of [name, spawned?.friendly ?? name]) taken.add(known.trim().toLowerCase());
  let name = wanted;
  for (let number = 2; taken.has(name.trim().toLowerCase()); number += 1) name = `${wanted} ${number}`;
  return name;
}

function whyNoParent({ name, outcome, status, forced }: events.AgentState): string | null {
  if (forced !== null) return `${name} is a reviewer and cannot have children`;
  if (outcome !== null) return `${name} has ended: spawn a child of main instead`;
  return status === 'pending' ? `${name} has not begun and cannot have children yet` : null;
}

/** The role for any case and spelling. A word that is no role is a name: the child then writes code, or explores where its parent only
 * reads. A word close to a role's name is probably a typing error and is refused. */
function roleFor(options: AgentSetup, wish: SpawnRequest, above: readonly Capability[]): Result<Role, string> {
  if (wish.role === null) return roleUnsaid(options, wish.prompt);
  const role = namedIn(options, wish.role);
  if (role !== null) return allowedRole(options, role.name);
  const near = nearest(
    wish.role.trim(),
    options.roles.flatMap(({ name }) => (name === MAIN ? [] : [name])),
  );
  if (near === null) return allowedRole(options, onlyReads(above) ? 'explore' : 'code');
  return fail(
    `There is no role '${wish.role}'. Did you mean "${near}"?\n  a name that does not resemble a role starts a child with role code`,
  );
}

function roleUnsaid(options: AgentSetup, prompt: string): Result<Role, string> {
  const named = namedIn(options, prompt);
  if (named === null) return allowedRole(options, 'code');
  return fail(`"${prompt.trim()}" is a role; the task is missing\n  mimir spawn ${named.name} "…"`);
}

export function allowedRole({ rules, roles }: AgentSetup, name: string): Result<Role, string> {
  const problem = roleProblem(name, rules, roles);
  const role = roleNamed(name, roles);
  if (problem !== null) return fail(`${problem.text} — ${reasonText(problem.reason)}`);
  return role === null ? fail(`There is no role ${name}.`) : ok(role);
}

/** The child's name from a word that is no role, in lower case; null where it is not a valid name. */
function nameFrom(options: AgentSetup, { role }: SpawnRequest): string | null {
  if (role === null || namedIn(options, role) !== null) return null;
  const name = role.trim().toLowerCase();
  return SpawnRequest.shape.name.safeParse(name).success ? name : null;
}

/** The note about a word that was taken as a name; empty for others. */
export const namedWords = (options: AgentSetup, { role }: SpawnRequest, child: NewAgent): string =>
  role === null || namedIn(options, role) !== null
    ? ''
    : `there is no role ${role}, so it is a name: ${child.name} works as ${child.role.name}`;

const namedIn = ({ roles }: AgentSetup, written: string): Role | null =>
  roleNamed(written.trim(), roles) ??
  roles.find(({ name }) => name.toLowerCase() === written.trim().toLowerCase()) ??
  null;

/** The folder of the child's commands, relative to the project: as requested, otherwise its parent's. */
async function folderFor({ options, recorder, parent, wish }: SpawnOrder): Promise<Result<string, string>> {
  if (wish.workingDir === null)
    return childRules(options.rules).workingDir === 'specify'
      ? fail('childAgents.workingDir: specify: name its working directory (--working-dir)')
      : ok(events.workingDirOf(recorder.state(), parent));
  const { tools } = options;
  if (tools.folder === undefined)
    return fail(`${wish.workingDir}: cannot check whether that is a folder of the project`);
  return tools.folder(wish.workingDir);
}

/** `mode`: a mode to assume instead of the present one. */
function judged(
  { options, recorder, root, parent, by }: SpawnOrder,
  child: NewAgent,
  { answered, mode }: { readonly answered: boolean; readonly mode?: Mode },
): Decision {
  const state = recorder.state();
  const above = state.agents.get(parent);
  const siblings = events.openBelow(state, parent).length;
  const agents = state.agents.size - 1;
  const reads = onlyReads(child.capabilities);
  const asker = by === null ? { by: 'person' as const } : {};
  return decide({ is: 'spawn', depth: depthOf(parent) + 1, agents, siblings, reads, ...asker }, options.rules, {
    mode: mode ?? events.modeFor(state, parent),
    interactive: options.person,
    sandbox: 'none',
    capabilities: above === undefined ? [] : capabilitiesIn(options, root, state, above),
    answered,
  });
}

function denied({ options, recorder, parent: agent }: SpawnOrder, because: Reason): string {
  recorder.record(deniedEvent(options.rules, { agent, subject: 'mimir spawn', action: 'spawn' }, because));
  return `Denied: ${reasonText(because)}`;
}

/** An agent cannot ask for more children at a time than it may have. */
function whyNoMoreAsked({ options, recorder, parent }: SpawnOrder): string | null {
  const { maxPerParent } = childRules(options.rules);
  const state = recorder.state();
  const asked = state.approvals.filter(({ agent, request }) => agent === parent && request.action === 'spawn').length;
  return asked + events.openBelow(state, parent).length < maxPerParent.value
    ? null
    : `Denied: ${reasonText({ ...maxPerParent.from, rule: `${maxPerParent.from.rule}: the person is asked for ${asked} already` })}`;
}

/** Null: approved. The question is withdrawn when the parent ends or is stopped. */
async function asked(wanted: SpawnOrder, child: NewAgent, because: Reason): Promise<string | null> {
  const { recorder, gate, supervisor, signal, parent, wish } = wanted;
  const full = whyNoMoreAsked(wanted);
  if (full !== null) return full;
  const of = recorder.state().agents.get(parent)?.role ?? '';
  const folder = wish.workingDir === null ? '' : ` in ${wish.workingDir}`;
  const request = {
    action: 'spawn',
    title: `${of}: spawn ${child.role.name} ${child.name}`,
    exact: `${child.role.name} ${child.name}, ${child.model.used}${folder}:\n\n${wish.prompt}`,
    options: [],
    unsandboxed: false,
    because: reasonText(because),
  } as const;
  const ends = supervisor.signal(parent);
  const either = ends === null ? signal : AbortSignal.any([signal, ends]);
  const runs = (modeOf: ModeOf): boolean =>
    judged(wanted, child, { answered: false, mode: modeOf(parent) }).verdict === 'allow';
  const answer = await gate.approvals.ask({ agent: parent }, null, request, either, { runs });
  if (answer.is === 'allowed') return null;
  if (answer.is === 'withdrawn') return 'not spawned: the question was withdrawn';
  return answer.by === 'person'
    ? `the person denied this${answer.text === '' ? '' : `: ${answer.text}`}`
    : `not spawned: ${answer.text}`;
}

/** Capabilities by position: ROOT and planned agents have their own, children never more than their parent. */
export function capabilitiesIn(
  options: AgentSetup,
  root: NewAgent,
  state: events.RunState,
  one: events.AgentState,
): readonly Capability[] {
  if (one.id === ROOT) return root.capabilities;
  const role = roleNamed(one.role, options.roles);
  if (role === null) return [];
  const task = state.plan?.tasks.find(({ id }) => id === one.taskId);
  if (task !== undefined) return capabilitiesOf(task, role, one.writes ?? WHOLE_PROJECT);
  const parent = one.parent === null ? undefined : state.agents.get(one.parent);
  if (parent === undefined) return [];
  const above = capabilitiesIn(options, root, state, parent);
  // Children of the Task tool have no children of their own, except in the text protocol.
  return one.spawned === null && one.protocol !== 'text'
    ? role.capabilities.filter((each) => each !== 'spawn' && above.includes(each))
    : childCapabilities(options, role, one.id, above);
}

/** The role's capabilities, limited to its parent's. `spawn` is passed down as far as the nesting limit allows. */
export const childCapabilities = (
  { rules }: AgentSetup,
  role: Role,
  agent: AgentId,
  above: readonly Capability[],
): readonly Capability[] => {
  const own = role.capabilities.filter((each) => each !== 'spawn' && above.includes(each));
  return above.includes('spawn') && depthOf(agent) < rules.maxNestingDepth.value ? [...own, 'spawn'] : own;
};
