/**
 * How a child beyond the plan is made: whether it may be is policy's, and a person's where that
 * says so; what it is made of is drawn from the wish, the rules and its parent, never more than that has.
 */
import { tightest } from '../../domain/budget.ts';
import type { AgentId } from '../../domain/ids.ts';
import { childOf, depthOf, ROOT } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { Capability, Role } from '../../domain/agents/role.ts';
import { MAIN, onlyReads } from '../../domain/agents/role.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { SpawnWish } from '../../domain/agents/spawn.ts';
import { WHOLE_PROJECT } from '../../domain/plan/writes.ts';
import type { EventBody, Spawned } from '../../events/event.ts';
import { modeFor } from '../../events/modes.ts';
import { sessionName } from '../../events/sessions/name.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { spokenModel } from '../../policy/aliases.ts';
import { childRules } from '../../policy/children.ts';
import { decide } from '../../policy/decide.ts';
import { roleNamed, roleProblem } from '../../policy/roles.ts';
import { type Decision, namesOf } from '../../policy/rules.ts';
import { openBelow } from './child-end.ts';
import { budgetOf, modelFor } from '../planning/model-selection.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import { capabilitiesOf, createdEvent, writesIn } from '../agents/agent-spec.ts';
import type { RunParts } from '../run/parts.ts';
import type { RunOptions } from '../run/run-options.ts';

export type SpawnParts = Pick<RunParts, 'options' | 'recorder' | 'approvals' | 'crew' | 'signal' | 'root'>;

/** What is asked for: of whom, and by whom; null: a person. */
export interface Wanted {
  readonly parent: AgentId;
  readonly wish: SpawnWish;
  readonly by: AgentId | null;
}

/**
 * A child that is in the log as created and was begun by `begin` in the same step, or why there is none: nobody meets one that
 * nobody carries. Waits for a person where the rules say so.
 */
export async function made(
  parts: SpawnParts,
  wanted: Wanted,
  begin: (child: NewAgent) => void,
): Promise<Result<NewAgent, string>> {
  const folder = await folderFor(parts, wanted);
  if (!folder.ok) return folder;
  for (let answered = false; ; answered = true) {
    if (parts.signal.aborted) return fail('the run is being stopped: nothing new is begun');
    const draft = draftOf(parts, wanted, folder.value);
    if (!draft.ok) return draft;
    const reads = onlyReads(draft.value.one.capabilities);
    const decision = judged(parts, wanted, { answered, reads });
    if (decision.verdict === 'deny') return fail(denied(parts, wanted, decision));
    if (decision.verdict === 'allow') {
      // In one step with the decision: of many that ask at once none is counted as absent by the others.
      parts.recorder.record(draft.value.created);
      begin(draft.value.one);
      return ok(draft.value.one);
    }
    const problem = await asked(parts, wanted, draft.value.one, decision);
    if (problem !== null) return fail(problem);
  }
}

/** What the child is to be, drawn up again after each wait: the world has moved. */
function draftOf(
  { options, recorder, root }: SpawnParts,
  { parent, wish, by }: Wanted,
  workingDir: string,
): Result<{ readonly one: NewAgent; readonly created: EventBody }, string> {
  const state = recorder.state();
  const above = state.agents.get(parent);
  if (above === undefined) return fail(`there is no agent ${parent}`);
  const unfit = whyNoParent(above);
  if (unfit !== null) return fail(unfit);
  const role = roleFor(options, wish, capabilitiesIn(options, root, state, above));
  if (!role.ok) return role;
  const called = wish.name ?? nameFrom(options, wish);
  const asked = wish.model ?? childRules(options.rules).defaultModel;
  const model = modelFor(options, role.value, asked === null ? null : spokenModel(asked));
  if (!model.ok) return model;
  const spawned: Spawned = { by: by ?? 'person', friendly: freeName(state, called), wait: wish.wait, workingDir };
  const agent = childOf(parent, above.children.length + 1);
  const identity = { id: agent, name: role.value.name, role: role.value.name, spawned };
  const one: NewAgent = {
    agent,
    parent,
    role: role.value,
    name: sessionName(identity, recorder.session, childRules(options.rules).naming),
    task: wish.prompt,
    taskId: null,
    model: model.value.choice,
    capabilities: childCapabilities(options, role.value, agent, capabilitiesIn(options, root, state, above)),
    budget: tightest(role.value.budget ?? {}, budgetOf(options, role.value.name)),
    ...writesIn(above),
    dependsOn: [],
  };
  return ok({ one, created: { ...createdEvent(options, one), spawned } });
}

/** Words that stand for somebody else wherever agents are written to. */
const NOT_NAMES = ['all', 'orchestrator', 'person'];

/** `scout`, `scout 2`, `scout 3` … as agents of a plan: what is written to a name reaches one. In any case of letters. */
function freeName({ agents }: RunState, wanted: string | null): string | null {
  if (wanted === null) return null;
  const taken = new Set(NOT_NAMES);
  for (const { name, spawned } of agents.values())
    for (const known of [name, spawned?.friendly ?? name]) taken.add(known.trim().toLowerCase());
  let name = wanted;
  for (let number = 2; taken.has(name.trim().toLowerCase()); number += 1) name = `${wanted} ${number}`;
  return name;
}

function whyNoParent({ name, outcome, status, forced }: AgentState): string | null {
  if (forced !== null) return `${name} judges work, and has no children`;
  if (outcome !== null) return `${name} has ended: what should work on its own is a child of main`;
  return status === 'pending' ? `${name} has not begun, and has no children yet` : null;
}

/**
 * In any case and spelling. A word that is no role is a name (S030): then the child implements, or explores where its parent only
 * reads. A word that is near the name of a role is probably meant as one, and refused.
 */
function roleFor(options: RunOptions, wish: SpawnWish, above: readonly Capability[]): Result<Role, string> {
  if (wish.role === null) return roleUnsaid(options, wish.prompt);
  const role = namedIn(options, wish.role);
  if (role !== null) return allowedRole(options, role.name);
  const near = nearest(wish.role.trim(), subAgents(options));
  if (near === null) return allowedRole(options, onlyReads(above) ? 'explore' : 'code');
  return fail(
    `There is no role '${wish.role}'. Did you mean "${near}"?\n  a name that is not near to a role's works as code`,
  );
}

function roleUnsaid(options: RunOptions, prompt: string): Result<Role, string> {
  const named = namedIn(options, prompt);
  if (named === null) return allowedRole(options, 'code');
  return fail(`"${prompt.trim()}" is a role, and what it should do is missing\n  mimir spawn ${named.name} "…"`);
}

function allowedRole({ rules, roles }: RunOptions, name: string): Result<Role, string> {
  const problem = roleProblem(name, rules, roles);
  const role = roleNamed(name, roles);
  if (problem !== null) return fail(`${problem.text} — ${reasonText(problem.reason)}`);
  return role === null ? fail(`There is no role '${name}'`) : ok(role);
}

const subAgents = ({ roles }: RunOptions): readonly string[] =>
  roles.flatMap(({ name }) => (name === MAIN ? [] : [name]));

/** The name of a child whose word before the prompt is no role: in small letters, as far as it can be a name. */
function nameFrom(options: RunOptions, { role }: SpawnWish): string | null {
  if (role === null || namedIn(options, role) !== null) return null;
  const name = role.trim().toLowerCase();
  return SpawnWish.shape.name.safeParse(name).success ? name : null;
}

/** What a person and an agent are told of a child whose word before the prompt is no role; empty for others. */
export const namedWords = (options: RunOptions, { role }: SpawnWish, child: NewAgent): string =>
  role === null || namedIn(options, role) !== null
    ? ''
    : `there is no role ${role}, so it is a name: ${child.name} works as ${child.role.name}`;

const namedIn = ({ roles }: RunOptions, written: string): Role | null =>
  roleNamed(written.trim(), roles) ??
  roles.find(({ name }) => name.toLowerCase() === written.trim().toLowerCase()) ??
  null;

/** Where it starts its commands, relative to the project: what was said, else its parent's. */
async function folderFor({ options, recorder }: SpawnParts, { parent, wish }: Wanted): Promise<Result<string, string>> {
  if (wish.workingDir === null) {
    return childRules(options.rules).workingDir === 'specify'
      ? fail('childAgents.workingDir: specify: say in which folder it works (--working-dir)')
      : ok(workingDirOf(recorder.state(), parent));
  }
  const { tools } = options;
  if (tools.folder === undefined)
    return fail(`${wish.workingDir}: nothing here can tell whether that is a folder of the project`);
  return tools.folder(wish.workingDir);
}

/** Of whoever was spawned with one: itself, or the nearest above it. Relative to the root, which is empty. */
export function workingDirOf({ agents }: RunState, agent: AgentId): string {
  for (let at = agents.get(agent); at !== undefined; at = at.parent === null ? undefined : agents.get(at.parent))
    if (at.spawned !== null) return at.spawned.workingDir;
  return '';
}

interface Judging {
  readonly answered: boolean;
  /** Can the child only read? */
  readonly reads: boolean;
  /** The one that would hold; absent: the one that holds. */
  readonly mode?: Mode;
}

function judged(
  { options, recorder, root }: SpawnParts,
  { parent, by }: Wanted,
  { answered, reads, mode }: Judging,
): Decision {
  const state = recorder.state();
  const above = state.agents.get(parent);
  const siblings = openBelow(state, parent).length;
  return decide(
    {
      is: 'spawn',
      depth: depthOf(parent) + 1,
      agents: state.agents.size - 1,
      siblings,
      reads,
      ...(by === null ? { by: 'person' } : {}),
    },
    options.rules,
    {
      mode: mode ?? modeFor(state, parent),
      interactive: options.person,
      sandbox: 'none',
      capabilities: above === undefined ? [] : capabilitiesIn(options, root, state, above),
      granted: false,
      answered,
    },
  );
}

function denied(
  { options, recorder }: SpawnParts,
  { parent }: Wanted,
  { because }: Extract<Decision, { readonly verdict: 'deny' }>,
): string {
  const about = { subject: 'mimir spawn', action: 'spawn', decision: 'deny' } as const;
  recorder.record({ type: 'policy.decided', agent: parent, ...about, ...because, ...namesOf(options.rules) });
  return `Denied: ${reasonText(because)}`;
}

/** No agent asks the person for more children than it may have at a time. */
function whyNoMoreAsked({ options, recorder }: SpawnParts, { parent }: Wanted): string | null {
  const { maxPerParent } = childRules(options.rules);
  const state = recorder.state();
  const asked = state.approvals.filter(({ agent, request }) => agent === parent && request.action === 'spawn').length;
  return asked + openBelow(state, parent).length < maxPerParent.value
    ? null
    : `Denied: ${reasonText({ ...maxPerParent.from, rule: `${maxPerParent.from.rule}: the person is asked for ${asked} already` })}`;
}

/** Null: the person lets it be. Withdrawn when the parent ends or is stopped meanwhile. */
async function asked(
  parts: SpawnParts,
  wanted: Wanted,
  child: NewAgent,
  { because }: Extract<Decision, { readonly verdict: 'ask' }>,
): Promise<string | null> {
  const { recorder, approvals, crew, signal } = parts;
  const { parent, wish } = wanted;
  const full = whyNoMoreAsked(parts, wanted);
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
  const ends = crew.signal(parent);
  const answer = await approvals.ask(
    { agent: parent },
    null,
    request,
    ends === null ? signal : AbortSignal.any([signal, ends]),
    // A looser mode answers it.
    {
      runs: (modeOf) =>
        judged(parts, wanted, { answered: false, reads: onlyReads(child.capabilities), mode: modeOf(parent) })
          .verdict === 'allow',
    },
  );
  if (answer.is === 'allowed') return null;
  if (answer.is === 'withdrawn') return 'not spawned: the question was withdrawn';
  return answer.by === 'person'
    ? `the person denied this${answer.text === '' ? '' : `: ${answer.text}`}`
    : `not spawned: ${answer.text}`;
}

/** What an agent may do, by its place: of ROOT and planned agents their own, of others never more than those above them have. */
export function capabilitiesIn(
  options: RunOptions,
  root: NewAgent,
  state: RunState,
  one: AgentState,
): readonly Capability[] {
  if (one.id === ROOT) return root.capabilities;
  const role = roleNamed(one.role, options.roles);
  if (role === null) return [];
  const task = state.plan?.tasks.find(({ id }) => id === one.taskId);
  if (task !== undefined) return capabilitiesOf(task, role, one.writes ?? WHOLE_PROJECT);
  const parent = one.parent === null ? undefined : state.agents.get(one.parent);
  if (parent === undefined) return [];
  const above = capabilitiesIn(options, root, state, parent);
  // By the Task tool there is one level, by words as many as there is room for (H009).
  return one.spawned === null && one.protocol !== 'text'
    ? role.capabilities.filter((each) => each !== 'spawn' && above.includes(each))
    : childCapabilities(options, role, one.id, above);
}

/**
 * Those of its role, cut to its parent's. No role but main has `spawn` of itself: it is handed down, as far as the rules leave
 * room below.
 */
const childCapabilities = (
  { rules }: RunOptions,
  role: Role,
  agent: AgentId,
  above: readonly Capability[],
): readonly Capability[] => {
  const own = role.capabilities.filter((each) => each !== 'spawn' && above.includes(each));
  return above.includes('spawn') && depthOf(agent) < rules.maxNestingDepth.value ? [...own, 'spawn'] : own;
};
