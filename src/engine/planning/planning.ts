/** The plan of a run: making it, agreeing on it, amending it, and its agents. */
import { planDigest } from '../../domain/digest.ts';
import { type AgentId, ROOT, type TaskId } from '../../domain/ids.ts';
import { applyEdit, editText } from '../../domain/plan/apply-edit.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { ModelOption, PlanChoices, PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { mustBeApart } from '../../domain/plan/writes.ts';
import { reasonText } from '../../domain/reason.ts';
import { plural } from '../../domain/lists.ts';
import { memoize } from '../../domain/memoize.ts';
import { fail, messageOf, ok, type Result } from '../../domain/result.ts';
import { type AgentState, isFinal } from '../../events/index.ts';
import { roleNamed } from '../../policy/index.ts';
import { type Job, type NewAgent, workOrderFor } from '../agents/index.ts';
import { modelFor, optionFor, orAborted, ruleAgainst } from '../gate/index.ts';
import { type Amendment, amendPlan, type PlanningParts, previewPlan } from './amend.ts';
import { choicesOf, planContextOf } from './context.ts';
import { hasNotBegun, reconcile, plannedAgents } from './plan-agents.ts';
import { makePlan } from './planner.ts';

export type Planning = ReturnType<typeof openPlanning>;

export function openPlanning(modules: Omit<PlanningParts, 'amending'>) {
  const parts: Deciding = { ...modules, amending: { now: null }, deciding: { now: null }, trial: { now: null } };
  return {
    make: (before: SoundPlan | null, choices: PlanChoices, hint: string) =>
      makePlan({ ...parts, choices, hint, before }),
    /** Resolves when the plan is decided. No agent starts before `plan.approved` is in the log. */
    agree: () => agreeOnPlan(parts),
    /** The person's decision; refused where no plan waits for one. */
    decide(decision: PlanDecision, words: string): Result<string, string> {
      if (parts.deciding.now === null) return fail('there is no plan waiting for you');
      parts.deciding.now(decision);
      return ok(words);
    },
    approve: (digest: string) => approveShown(parts, digest),
    tryChecks: (digest: string) => tryChecks(parts, digest),
    stopChecks: () => stopChecks(parts),
    edit: (edit: PlanEdit) => editPlan(parts, edit),
    preview: (edits: readonly PlanEdit[]) => previewPlan(parts, edits),
    amend: (amendment: Amendment) => amendPlan(parts, amendment),
    setModel: (agent: AgentId, asked: string) => setModel(parts, agent, asked),
    table: () => openTable(parts),
  };
}

// Another model for a running agent, chosen by a person. Checked by the same rules as in a plan, but without fallback.

/** Changes the model from the agent's next turn on; the conversation is kept. `asked` as in a plan; empty means the role's first model. */
function setModel(parts: PlanningParts, agent: AgentId, asked: string): Result<string, string> {
  const { recorder, gate } = parts;
  const one = recorder.state().agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  const problem = notNow(parts, one);
  if (problem !== null) return fail(`${one.name} ${problem}`);
  const found = modelOf(parts, one, asked.trim());
  if (!found.ok) return found;
  const { option, name } = found.value;
  if (option.id === one.model.used) return fail(`${one.name} already uses ${option.label}`);
  recorder.record({ type: 'agent.model', agent, model: { asked: name, used: option.id, because: null } });
  gate.modelChanged(agent);
  const free = option.price === null ? '; its price is unknown' : '';
  return ok(`${one.name} uses ${option.label} from its next turn${free}`);
}

function notNow({ signal, schedule }: PlanningParts, one: AgentState): string | null {
  if (isFinal(one)) return 'has ended and uses no model';
  if (one.forced !== null) return 'is a mandatory reviewer: policy sets its model';
  if (one.taskId !== null && hasNotBegun(one) && !(schedule.now()?.hasBegun(one.id) ?? false))
    return 'has not begun: change its model in the plan';
  return signal.aborted ? 'is being stopped with the run: `mimir resume` continues it' : null;
}

function modelOf(
  { options }: PlanningParts,
  { name, role: roleName }: AgentState,
  asked: string,
): Result<{ readonly option: ModelOption; readonly name: string }, string> {
  const role = roleNamed(roleName, options.roles);
  if (role === null) return fail(`role ${roleName} no longer exists`);
  const found = modelFor(options, role, asked === '' ? null : asked);
  if (!found.ok) return found;
  const { used, because, asked: as } = found.value.choice;
  if (because !== null) return fail(`${name} cannot use ${as}: ${because}`);
  const option = optionFor(options.models.models(), used);
  if (option === undefined) return fail(`${name} cannot use ${as}: no provider for ${used}`);
  const rule = ruleAgainst(options.rules, option);
  return rule === null ? ok({ option, name: as }) : fail(`${name} cannot use ${as}: ${reasonText(rule)}`);
}

type PlanDecision =
  | { readonly is: 'approved' }
  | { readonly is: 'rejected' }
  | { readonly is: 'again'; readonly hint: string };

interface Deciding extends PlanningParts {
  readonly deciding: { now: ((decision: PlanDecision) => void) | null };
  /** The checks that are being tried. */
  readonly trial: { now: { readonly stop: AbortController; readonly done: Promise<void> } | null };
}

const APPROVED_BY = {
  flag: '--yes',
  config: 'agentOrchestration.promptForApproval: false',
  direct: 'person (main was asked directly)',
} as const;

async function agreeOnPlan(parts: Deciding): Promise<PlanDecision> {
  const { options, recorder } = parts;
  const { approval } = options;
  if (approval === 'nobody') return reject(parts, 'not approved: nobody can be asked');
  if (approval !== 'person') return compareFirst(parts).then(() => approve(parts, APPROVED_BY[approval]));
  recorder.record({ type: 'agent.status', agent: ROOT, status: 'waiting', reason: '', waitingFor: { is: 'person' } });
  const over = new AbortController();
  const watch = guarded(parts, watchProject(parts, over.signal));
  const decision = await decisionOf(parts);
  over.abort('decided');
  parts.trial.now?.stop.abort('decided');
  await Promise.all([watch, parts.trial.now?.done]);
  if (decision.is === 'approved') await compareFirst(parts);
  if (parts.signal.aborted) return decision;
  recorder.record({ type: 'agent.status', agent: ROOT, status: 'running', reason: '' });
  return decision.is === 'rejected' ? reject(parts, 'User rejected plan') : decision;
}

/** The first decision counts; a second one at the same moment finds nothing to decide. */
async function decisionOf({ deciding, signal }: Deciding): Promise<PlanDecision> {
  const { promise, resolve } = Promise.withResolvers<PlanDecision>();
  deciding.now = (decision) => {
    deciding.now = null;
    resolve(decision);
  };
  const decision = await orAborted(promise, signal, { is: 'rejected' });
  deciding.now = null;
  return decision;
}

function approve({ recorder }: PlanningParts, by: string): PlanDecision {
  recorder.record({ type: 'plan.approved', digest: recorder.state().planDigest, by });
  return { is: 'approved' };
}

function reject({ recorder }: PlanningParts, reason: string): PlanDecision {
  recorder.record({ type: 'plan.rejected', reason });
  return { is: 'rejected' };
}

/** Approves the plan that was shown; the digest must match the proposed plan's. */
function approveShown(parts: Deciding, digest: string): Result<string, string> {
  const state = parts.recorder.state();
  if (parts.deciding.now === null) return fail('there is no plan to approve');
  if (digest !== state.planDigest) return fail('the plan has changed meanwhile: look at it again');
  approve(parts, 'person');
  parts.deciding.now({ is: 'approved' });
  return ok('plan approved');
}

function editPlan(parts: Deciding, edit: PlanEdit): Result<string, string> {
  const { options, recorder } = parts;
  const state = recorder.state();
  if (parts.deciding.now === null || state.plan === null)
    return fail('the plan can be changed only before it is approved');
  const edited = applyEdit(state.plan, edit, planContextOf(options, state.choices ?? choicesOf(options)));
  if (!edited.ok) return fail(edited.fault);
  const words = editText(edit, state.plan, edited.value);
  recorder.record({ type: 'plan.edited', plan: edited.value, edit: words, digest: planDigest(edited.value) });
  return ok(words);
}

// Checks that run before the plan is approved, because a person asks for it.

/** The request is the approval of exactly the commands of this plan. The decision about the plan ends what still runs. */
function tryChecks(parts: Deciding, digest: string): Result<string, string> {
  const { recorder, signal, trial } = parts;
  if (parts.deciding.now === null) return fail('there is no plan waiting for you');
  if (digest !== recorder.state().planDigest) return fail('the plan has changed meanwhile: look at it again');
  if (trial.now !== null) return fail('the checks are being tried already');
  const calls = firstCalls(parts);
  if (calls.length === 0) return fail('the plan has no checks');
  const stop = new AbortController();
  const done = guarded(parts, runFirst(parts, calls, AbortSignal.any([signal, stop.signal])));
  trial.now = { stop, done };
  return ok(`trying ${plural(calls.length, 'check')} on the project as it is`);
}

function stopChecks({ trial }: Deciding): Result<string, string> {
  trial.now?.stop.abort('stopped');
  return trial.now === null ? fail('no checks are being tried') : ok('stopping the checks');
}

/** Each command of the plan once, in the sandbox of the first task that has it, or of one that may change files if there is one. */
function firstCalls({ options, recorder }: Deciding) {
  const state = recorder.state();
  if (state.plan === null) return [];
  const { tasks } = state.plan;
  const calls = plannedAgents(options, state.plan, state)
    .toSorted((a, b) => Number(b.writes?.length !== 0) - Number(a.writes?.length !== 0))
    .flatMap((agent) => {
      // Nobody's work: main, which only waits, stands for it.
      const order = workOrderFor(options, { ...agent, agent: ROOT, parent: null }, []);
      return tasks.find(({ id }) => id === agent.taskId)?.checks?.map((check) => ({ order, check })) ?? [];
    });
  return calls.filter(({ check: { run } }, at) => calls.findIndex(({ check }) => check.run === run) === at);
}

async function runFirst({ gate, trial }: Deciding, calls: ReturnType<typeof firstCalls>, signal: AbortSignal) {
  for (const { order, check } of calls)
    if (!signal.aborted) await gate.check(order, { attempt: 0, check, first: true }, signal);
  trial.now = null;
}

/** Stops the run if this fails; whoever awaits it gets the fault. */
function guarded({ fail: stop }: Deciding, work: Promise<void>): Promise<void> {
  work.catch((error: unknown) => stop(messageOf(error)));
  return work;
}

/** Milliseconds between two looks at the project while a plan waits. */
const LOOK = 20_000;

async function watchProject(parts: Deciding, over: AbortSignal): Promise<void> {
  for (; !over.aborted; await parts.world.sleep(LOOK, over)) await compareFirst(parts);
}

/** Notes that the project is another one than when the first checks had ended. What these wrote themselves is no change of it. */
async function compareFirst({ recorder, gate, signal, trial }: Deciding): Promise<void> {
  const known = recorder.state().firstChecks?.map(({ end, stale }) => (stale === true ? null : (end?.tree ?? null)));
  if (trial.now !== null || known?.some((tree) => tree !== null) !== true) return;
  const tree = await gate.tree(signal);
  if (tree === null || trial.now !== null || known.includes(tree)) return;
  recorder.record({ type: 'check.compared', tree, first: true });
}

/** The agents of the plan in force, which may be amended until the report begins. */
export type PlanTable = ReturnType<typeof openTable>;

/** What the schedule of the approved plan is built from; follows amendments. */
function openTable(parts: PlanningParts) {
  const { options, recorder, schedule, amending } = parts;
  const planInForce = (): SoundPlan => {
    const { plan } = recorder.state();
    if (plan === null) throw new Error('agents without a plan');
    return plan;
  };
  const now = planInForce();
  let agents = plannedAgents(options, now, recorder.state());
  let byId = new Map(agents.map((one) => [one.agent, one]));
  const events = reconcile(parts, recorder.state(), agents, { before: now, now });
  if (events.length > 0) recorder.record(...events);
  const jobs = (): readonly Job<AgentId>[] => jobsOf(agents, planInForce());
  const taskOf = (id: AgentId): PlanTask | undefined => tasksById(planInForce()).get(byId.get(id)?.taskId ?? null);
  amending.now = () => {
    agents = plannedAgents(options, planInForce(), recorder.state());
    byId = new Map(agents.map((one) => [one.agent, one]));
    schedule.now()?.change(jobs());
  };
  return {
    agents: () => agents,
    agent: (id: AgentId) => byId.get(id),
    jobs,
    areApart(id: AgentId, other: AgentId): boolean {
      const [one, two] = [taskOf(id), taskOf(other)];
      return one !== undefined && two !== undefined && mustBeApart(one, two);
    },
    isNeeded: (id: AgentId) => agents.some(({ dependsOn }) => dependsOn.includes(id)),
    /** Call when the report begins: the plan can no longer be amended. */
    close: () => void (amending.now = null),
  };
}

/** Asked for each pair of agents, so it is looked up and not searched. */
const tasksById = memoize(
  (plan: SoundPlan) => [plan],
  ({ tasks }) => new Map<TaskId | null, PlanTask>(tasks.map((task) => [task.id, task])),
);

function jobsOf(agents: readonly NewAgent[], { tasks }: SoundPlan): readonly Job<AgentId>[] {
  const ids = new Map(agents.map(({ taskId, agent }) => [taskId, agent]));
  const orders = new Map(tasks.map(({ id, after = [] }) => [id, after.flatMap(({ task }) => ids.get(task) ?? [])]));
  return agents.map(({ agent, taskId, dependsOn }) => ({
    id: agent,
    needs: dependsOn,
    after: taskId === null ? [] : (orders.get(taskId) ?? []),
  }));
}
