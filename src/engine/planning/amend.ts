/** Amends an approved plan while it runs: the preview of some edits, and the change itself. Only tasks that have not begun can change, under
 * the present rules. plan-agents.ts derives the agents of a plan; the scheduler starts them. */
import { firstLine } from '../../domain/text/text.ts';
import { MAIN } from '../../domain/agents/role.ts';
import { type Budget, LIMITS, limitWords } from '../../domain/budget.ts';
import { type ModelOption, permissionsOf, PERMITTED, type PlanTask, type SoundPlan } from '../../domain/plan/plan.ts';
import { applyEdit } from '../../domain/plan/apply-edit.ts';
import type { PlanContext } from '../../domain/plan/check-plan.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import { named } from '../../domain/plan/reshape.ts';
import { checksText } from '../../domain/plan/task-checks.ts';
import { reasonText } from '../../domain/reason.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { jsonDigest, planDigest } from '../../domain/digest.ts';
import { treeText, writesText } from '../../domain/plan/writes.ts';
import { type AgentState, isFinal, modeFor, type RunState } from '../../events/index.ts';
import type { Command, PlanChange, PlanPreview } from '../../ports/controls.ts';
import { type AgentSetup, redactedPlan } from '../gate/index.ts';
import { nodesAfter } from '../reviews/index.ts';
import { choicesOf, planContextOf, type PlanTerms } from './context.ts';
import { agentsByTask, hasNotBegun, reconcile, plannedAgents } from './plan-agents.ts';
import type { AgentModules } from '../agents/index.ts';

/** The collaborators of making, approving and amending plans. */
export interface PlanningParts extends AgentModules {
  readonly options: AgentSetup & PlanTerms;
  /** Reconciles the agents with the plan in force; set while the plan may be amended. */
  readonly amending: { now: (() => void) | null };
}

/** The plan after `edits`, applied in order and checked against the present rules; nothing is changed. */
export function previewPlan(parts: PlanningParts, edits: readonly PlanEdit[]): Result<PlanPreview, string> {
  const state = parts.recorder.state();
  const before = planInForce(parts, state);
  if (!before.ok) return before;
  const after = planAfter(parts, state, before.value, edits);
  if (!after.ok) return after;
  const plan = redactedPlan(after.value, parts.options.redactor);
  const changes = changesBetween(before.value, plan, (state.choices ?? choicesOf(parts.options)).models);
  return ok({ plan, digest: planDigest(plan), base: planDigest(before.value), changes });
}

export type Amendment = Omit<Extract<Command, { readonly do: 'amend plan' }>, 'do'>;

/** Makes the change that the person was shown: `base` and `digest` are those of the preview. Recorded before anything follows from it. */
export function amendPlan(parts: PlanningParts, { edits, base, digest }: Amendment): Result<string, string> {
  const { options, recorder, amending } = parts;
  const preview = previewPlan(parts, edits);
  if (!preview.ok) return preview;
  const { plan, changes } = preview.value;
  if (base !== preview.value.base || digest !== preview.value.digest)
    return fail('the plan has changed meanwhile: look at it again');
  if (base === digest) return fail('no change');
  const state = recorder.state();
  const before = state.plan ?? plan;
  const agents = plannedAgents(options, plan, state);
  // One batch, so that a run that is cut off has all of the change or nothing.
  recorder.record(
    { type: 'plan.amended', plan, digest, changes: changes.map(({ text }) => text), by: 'person' },
    ...reconcile(parts, state, agents, { before, now: plan }),
  );
  amending.now?.();
  // Questions that the changed plan answers are withdrawn as allowed.
  parts.gate.approvals.release((agent) => modeFor(recorder.state(), agent), 'the changed plan');
  return ok(receiptOf(changes));
}

function receiptOf(changes: readonly PlanChange[]): string {
  const counts = (['added', 'changed', 'dropped'] as const).flatMap((is) => {
    const count = changes.filter((one) => one.is === is).length;
    return count === 0 ? [] : [`${count} ${is}`];
  });
  return `plan changed: ${counts.join(', ') || 'its order'}`;
}

/** The approved plan if it may be amended now; otherwise why not. */
function planInForce({ signal, schedule, amending }: PlanningParts, state: RunState): Result<SoundPlan, string> {
  const { plan, approvedDigest, finished, phase } = state;
  if (finished !== null) return fail('the run has ended: its plan is done');
  if (signal.aborted) return fail('the run is being stopped: resume it to change its plan');
  if (plan === null || approvedDigest === null) return fail('no plan is approved yet: edit the proposed plan');
  if (planDigest(plan) !== approvedDigest) return fail('the stored plan is not the one that was approved');
  if (amending.now !== null) return ok(plan);
  return fail(
    phase === 'merging' || schedule.now() !== null
      ? 'all its tasks have ended and the report is being written: the plan can no longer be changed'
      : 'its agents are being created: try again',
  );
}

function planAfter(
  parts: PlanningParts,
  state: RunState,
  before: SoundPlan,
  edits: readonly PlanEdit[],
): Result<SoundPlan, string> {
  const begun = begunIn(parts, state, before);
  const strict = contextOf(parts, state);
  const context = withBegun(strict, [...begun.values()]);
  let plan = before;
  for (const edit of edits) {
    const known = namedIn(edit).find((id) => begun.has(id));
    if (known !== undefined) return fail(refusal(before, begun, known));
    const next = applyEdit(plan, edit, context);
    if (!next.ok) return next;
    plan = next.value;
  }
  const after = { ...plan, tasks: plan.tasks.map((task) => asItWas(begun.get(task.id), task)) };
  const problem = touched(before, after, begun) ?? barred(after, begun, strict) ?? tooMany(parts, state, before, after);
  if (problem !== null) return fail(problem);
  const forced = nodesAfter(parts.options, before, after);
  return ok(forced.length === 0 ? after : { ...after, forced });
}

interface StartedTask {
  readonly task: PlanTask;
  readonly agent: AgentState | undefined;
}

type StartedTasks = ReadonlyMap<string, StartedTask>;

/** Tasks that an amendment cannot change: begun, ended, or skipped. */
function begunIn({ schedule }: PlanningParts, state: RunState, plan: SoundPlan): StartedTasks {
  const agents = agentsByTask(state);
  return new Map(
    plan.tasks.flatMap((task): [string, StartedTask][] => {
      const agent = agents.get(task.id);
      if (agent === undefined) return [];
      // While the tree is examined before an agent's start, the log has nothing of that agent yet.
      const isFree = hasNotBegun(agent) && !(schedule.now()?.hasBegun(agent.id) ?? false);
      return isFree ? [] : [[task.id, { task, agent }]];
    }),
  );
}

/** The choices sent with the plan, with the tighter of the old and new limits. */
function contextOf({ options }: PlanningParts, state: RunState): PlanContext {
  const choices = state.choices ?? choicesOf(options);
  const { limits } = choices;
  const maxTasks = Math.min(limits.maxTasks, options.rules.maxTasksPerPlan.value);
  const context = planContextOf(options, { ...choices, limits: { ...limits, maxTasks } });
  // An id is never reused, because a new task would inherit the agent of the removed one.
  return { ...context, taken: [...agentsByTask(state).keys()] };
}

/** Tasks that have begun stay as approved, whatever the present rules are; stopping them is not this check's task. */
const withBegun = (context: PlanContext, begun: readonly StartedTask[]): PlanContext => ({
  ...context,
  mainHasBegun: begun.some(({ task }) => task.role === MAIN),
  roleProblem: (role) => (begun.some(({ task }) => task.role === role) ? null : context.roleProblem(role)),
  resolveModel(asked, role) {
    const found = context.resolveModel(asked, role);
    const known = begun.find(({ task }) => task.role === role && task.model.asked === asked);
    return found.ok || known === undefined ? found : ok(known.task.model);
  },
});

/** Why a task that has not begun is not allowed by the present rules. */
function barred({ tasks }: SoundPlan, begun: StartedTasks, context: PlanContext): string | null {
  for (const { id, role, model } of tasks) {
    if (begun.has(id)) continue;
    const problem = context.roleProblem(role);
    if (problem !== null) return `${id}: ${problem}`;
    const found = context.resolveModel(model.asked, role);
    if (!found.ok) return `${id}: ${found.fault}`;
  }
  return null;
}

/** The task as approved, where its text is unchanged, without re-evaluating it under the present rules. */
const asItWas = (begun: StartedTask | undefined, task: PlanTask): PlanTask =>
  begun === undefined || !isWrittenSame(begun, task)
    ? task
    : withPermissionsOf(task, { ...begun.task, dependsOn: task.dependsOn, ...defined({ after: task.after }) });

function withPermissionsOf({ permissions }: PlanTask, begun: PlanTask): PlanTask {
  const { permissions: _, ...task } = begun;
  return permissions === undefined ? task : { ...task, permissions };
}

function isWrittenSame({ task: old, agent }: StartedTask, now: PlanTask): boolean {
  // A skipped task waits for nothing, so its dependencies may be gone.
  const needs = agent?.outcome === 'skipped' ? [] : [old.dependsOn, now.dependsOn].map((ids) => ids.toSorted().join());
  return needs[0] === needs[1] && jsonDigest(written(old)) === jsonDigest(written(now));
}

function written(task: PlanTask): unknown {
  const { id: _id, dependsOn: _needs, after: _after, permissions: _may, model, alongside = [], ...rest } = task;
  const { estimatedCost: _cost, estimatedSeconds: _seconds, ...own } = rest;
  return {
    ...own,
    description: task.description.replaceAll(UNKEPT, ''),
    asked: model.asked,
    tools: task.tools.toSorted(),
    alongside: alongside.toSorted(),
  };
}

/** Characters that screens show differently or drop, so that a plan returned from one lacks them. */
const UNKEPT = /[\s\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/** The tasks that an edit changes; the order of tasks may always change. */
function namedIn(edit: PlanEdit): readonly string[] {
  switch (edit.is) {
    case 'join':
      return [edit.task, edit.other];
    // Unchanged parts of a whole plan, or of a change of all models, do not count.
    case 'replace':
    case 'models':
    case 'add':
    case 'move':
    case 'permissions':
    case 'commit':
      return [];
    default:
      return [edit.task];
  }
}

/** The refusal for the first task that has begun and would change. */
function touched(before: SoundPlan, after: SoundPlan, begun: StartedTasks): string | null {
  const other = before.tasks.find(({ id }) => {
    const [one, now] = [begun.get(id), after.tasks.find((task) => task.id === id)];
    return one !== undefined && (now === undefined || !isWrittenSame(one, now));
  });
  return other === undefined ? null : refusal(before, begun, other.id);
}

/** `#2 finder has begun: only tasks that have not started can be changed` */
function refusal(plan: SoundPlan, begun: StartedTasks, id: string): string {
  const { agent } = begun.get(id) ?? {};
  const how = agent !== undefined && isFinal(agent) ? 'has ended' : 'has started';
  return `${named(plan, id)} ${how}: only tasks that have not started can be changed`;
}

function tooMany({ options }: PlanningParts, state: RunState, before: SoundPlan, after: SoundPlan): string | null {
  const known = agentsByTask(state);
  const come = after.tasks.filter(({ id }) => !known.has(id)).length;
  const { value, from } = options.rules.maxAgentsPerRun;
  const agents = state.agents.size - 1;
  if (come === 0 || before === after || agents + come <= value) return null;
  return `the run has ${agents === 1 ? '1 agent' : `${agents} agents`} already, and at most ${value} are allowed: ${reasonText(from)}`;
}

/** Added and changed tasks in the order of `after`, each after the dropped tasks that preceded it. Tasks in both plans are named by their
 * position in `before`, which the person knows. Estimates alone are no difference; the order counts only if nothing else changed. */
function changesBetween(before: SoundPlan, after: SoundPlan, models: readonly ModelOption[]): readonly PlanChange[] {
  const look: PlanComparison = { before, after, models };
  const lines = after.tasks.flatMap((task): readonly Placed[] => {
    const at = before.tasks.findIndex(({ id }) => id === task.id);
    const old = before.tasks[at];
    if (old === undefined) return [{ at: null, change: addedLine(look, task) }];
    const words = wordsOf(look, old, task).join(', ');
    return words === ''
      ? []
      : [{ at, change: { is: 'changed', task: task.id, text: `${nameIn(look, old.id)}: ${words}` } }];
  });
  const gone = before.tasks.flatMap((task, at): readonly Placed[] => {
    if (after.tasks.some(({ id }) => id === task.id)) return [];
    return [{ at, change: { is: 'dropped', task: task.id, text: `${nameIn(look, task.id)}: dropped` } }];
  });
  const all = [...merged(lines, gone), ...commitChange(look)];
  return all.length === 0 ? movesIn(look) : all;
}

/** Concerns the whole plan; the line is attached to the last task. */
function commitChange({ before, after }: PlanComparison): readonly PlanChange[] {
  const last = after.tasks.at(-1);
  if (before.commit === after.commit || last === undefined) return [];
  const text = after.commit === true ? 'main commits the work at the end' : 'nothing is committed at the end';
  return [{ is: 'changed', task: last.id, text }];
}

interface PlanComparison {
  readonly before: SoundPlan;
  readonly after: SoundPlan;
  readonly models: readonly ModelOption[];
}

interface Placed {
  /** Its position in `before`; null for a new task. */
  readonly at: number | null;
  readonly change: PlanChange;
}

function merged(lines: readonly Placed[], gone: readonly Placed[]): readonly PlanChange[] {
  const left = [...gone];
  const all: PlanChange[] = [];
  for (const { at, change } of lines) {
    while (at !== null && (left[0]?.at ?? at) < at) all.push(...left.splice(0, 1).map((one) => one.change));
    all.push(change);
  }
  return [...all, ...left.map((one) => one.change)];
}

/** `#4 tester` */
function nameIn({ before, after }: Pick<PlanComparison, 'before' | 'after'>, id: string): string {
  const plan = [before, after].find(({ tasks }) => tasks.some((task) => task.id === id)) ?? after;
  return named(plan, id);
}

function addedLine(look: PlanComparison, { id, model, dependsOn, description }: PlanTask): PlanChange {
  const needs = dependsOn.length === 0 ? '' : `, depends on ${namesIn(look, dependsOn)}`;
  const text = `${named(look.after, id)}: added on ${labelOf(look, model.used)}${needs}: ${firstLine(description)}`;
  return { is: 'added', task: id, text };
}

const namesIn = (look: PlanComparison, ids: readonly string[]): string => ids.map((id) => nameIn(look, id)).join(', ');
const labelOf = ({ models }: PlanComparison, used: string): string =>
  models.find(({ id }) => id === used)?.label ?? used;

function wordsOf(look: PlanComparison, old: PlanTask, task: PlanTask): readonly string[] {
  const [come, gone] = [missing(task.dependsOn, old.dependsOn), missing(old.dependsOn, task.dependsOn)];
  return [
    old.role === task.role ? '' : `role ${old.role} -> ${task.role}`,
    modelWords(look, old, task),
    old.description === task.description ? '' : 'description changed',
    come.length === 0 ? '' : `${gone.length < old.dependsOn.length ? 'also ' : ''}depends on ${namesIn(look, come)}`,
    gone.length === 0 ? '' : `no longer depends on ${namesIn(look, gone)}`,
    toolWords(old, task),
    effortWords(old, task),
    budgetWords(old.budget, task.budget),
    isSame(old.writes, task.writes) ? '' : `may change ${writesText(task.writes)}`,
    ...permissionWords(look, old, task),
    checksText(old) === checksText(task) ? '' : `checks are now ${checksText(task)}`,
    ...orderWords(look, old, task),
    old.maySpawn === task.maySpawn ? '' : `may ${task.maySpawn ? '' : 'no longer '}spawn child agents`,
  ].filter((one) => one !== '');
}

function permissionWords({ before, after }: PlanComparison, old: PlanTask, task: PlanTask): readonly string[] {
  const [was, is] = [permissionsOf(before, old), permissionsOf(after, task)];
  return PERMITTED.map((what) =>
    was[what] === is[what] ? '' : is[what] === 'allow' ? `${what} run without approval` : `${what} need approval`,
  );
}

/** Where it works, tasks that it must now follow, and tasks with which it now takes turns. */
function orderWords(look: PlanComparison, old: PlanTask, task: PlanTask): readonly string[] {
  const [before, now] = [old.after ?? [], task.after ?? []];
  const come = now.filter((one) => !before.some((other) => other.task === one.task));
  const beside = missing(task.alongside ?? [], old.alongside ?? []);
  return [
    old.tree === task.tree ? '' : `works ${treeText(task)}`,
    ...come.map((one) => `waits for ${nameIn(look, one.task)}: ${one.because}`),
    beside.length === 0 ? '' : `takes turns with ${namesIn(look, beside)}`,
  ];
}

function modelWords(look: PlanComparison, old: PlanTask, { model }: PlanTask): string {
  const [from, to] = [labelOf(look, old.model.used), labelOf(look, model.used)];
  if (old.model.used !== model.used) {
    const why = model.because === null ? '' : ` (requested ${model.asked}; ${model.because})`;
    return `model ${from} -> ${to}${why}`;
  }
  if (old.model.asked === model.asked) return '';
  return `model requested as ${model.asked}, still ${to}${model.because === null ? '' : ` (${model.because})`}`;
}

const effortWords = (old: PlanTask, { effort }: PlanTask): string =>
  old.effort === effort ? '' : `effort is now ${effort ?? "the provider's own"}`;

function toolWords(old: PlanTask, task: PlanTask): string {
  if (old.role !== task.role) return '';
  return isSame(old.tools, task.tools) ? '' : `tools are now ${task.tools.join(', ') || 'none'}`;
}

function budgetWords(old: Budget, now: Budget): string {
  const parts = LIMITS.filter((limit) => old[limit] !== now[limit]).map((limit) => limitWords(limit, now[limit]));
  return parts.length === 0 ? '' : `budget is now ${parts.join(', ')}`;
}

const missing = <T>(from: readonly T[], others: readonly T[]): readonly T[] =>
  from.filter((one) => !others.includes(one));
const isSame = <T>(a: readonly T[], b: readonly T[]): boolean =>
  missing(a, b).length === 0 && missing(b, a).length === 0;

/** The tasks whose position changed, where only the order differs. */
const movesIn = (look: PlanComparison): readonly PlanChange[] =>
  look.after.tasks.flatMap(({ id }, at): readonly PlanChange[] => {
    if (look.before.tasks[at]?.id === id) return [];
    return [{ is: 'changed', task: id, text: `${nameIn(look, id)}: moved to position ${at + 1}` }];
  });
