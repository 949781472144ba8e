/**
 * An approved plan changed while it runs: what it would be after some edits, and the change itself. Only what has not begun can be
 * other; the rest is judged by the rules of now. Which agents follow from a plan is planned.ts's, when they start the scheduler's.
 */
import { MAIN } from '../../domain/agents/role.ts';
import type { Budget } from '../../domain/budget.ts';
import { permissionsOf, PERMITTED } from '../../domain/plan/permissions.ts';
import { applyEdit } from '../../domain/plan/apply-edit.ts';
import type { PlanContext } from '../../domain/plan/check-plan.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { ModelOption, PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import { jsonDigest, planDigest } from '../../domain/digest.ts';
import { writesText } from '../../domain/plan/writes.ts';
import { modeFor } from '../../events/modes.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { Command, PlanChange, PlanPreview } from '../../ports/controls.ts';
import { redactedPlan } from '../gate/redaction.ts';
import { nodesAfter } from '../reviews/nodes.ts';
import type { RunParts } from '../run/parts.ts';
import { planContextOf } from './context.ts';
import { choicesOf } from './model-selection.ts';
import { agentsByTask, hasNotBegun, inLine, plannedAgents } from './plan-agents.ts';

/** The plan in force after `edits`, one after the other, judged by the rules of now; nothing is done. */
export function previewPlan(parts: RunParts, edits: readonly PlanEdit[]): Result<PlanPreview, string> {
  const state = parts.recorder.state();
  const before = planInForce(parts, state);
  if (!before.ok) return before;
  const after = planAfter(parts, state, before.value, edits);
  if (!after.ok) return after;
  const plan = redactedPlan(after.value, parts.options.redactor);
  const changes = changesBetween(before.value, plan, (state.choices ?? choicesOf(parts.options)).models);
  return ok({ plan, digest: planDigest(plan), base: planDigest(before.value), changes });
}

type Amendment = Omit<Extract<Command, { readonly do: 'amend plan' }>, 'do'>;

/** The change that the person was shown: `base` and `digest` are those of the preview. In the log before anything follows. */
export function amendPlan(parts: RunParts, { edits, base, digest }: Amendment): Result<string, string> {
  const { options, recorder, scheduling } = parts;
  const preview = previewPlan(parts, edits);
  if (!preview.ok) return preview;
  const { plan, changes } = preview.value;
  if (base !== preview.value.base || digest !== preview.value.digest)
    return fail('the plan has changed meanwhile: look at it again');
  if (base === digest) return fail('nothing would change');
  const state = recorder.state();
  const before = state.plan ?? plan;
  const agents = plannedAgents(options, plan, state);
  // In one piece: a run that is cut off has all of it or nothing.
  recorder.record(
    { type: 'plan.amended', plan, digest, changes: changes.map(({ text }) => text), by: 'person' },
    ...inLine(parts, state, agents, { before, now: plan }),
  );
  scheduling.amend?.();
  // What it allows by now needs no answer any more.
  parts.approvals.release((agent) => modeFor(recorder.state(), agent), 'the changed plan');
  return ok(receiptOf(changes));
}

function receiptOf(changes: readonly PlanChange[]): string {
  const counts = (['added', 'changed', 'dropped'] as const).flatMap((is) => {
    const count = changes.filter((one) => one.is === is).length;
    return count === 0 ? [] : [`${count} ${is}`];
  });
  return `plan changed: ${counts.join(', ') || 'its order'}`;
}

/** The approved plan, where it may be amended now; else why not. */
function planInForce({ signal, scheduling }: RunParts, state: RunState): Result<SoundPlan, string> {
  const { plan, approvedDigest, finished, phase } = state;
  if (finished !== null) return fail('the run has ended: its plan is done');
  if (signal.aborted) return fail('the run is being stopped: its plan can be changed once it was resumed');
  if (plan === null || approvedDigest === null) return fail('no plan is approved yet: change the one on the table');
  if (planDigest(plan) !== approvedDigest) return fail('the stored plan is not the one that was approved');
  if (scheduling.amend !== null) return ok(plan);
  return fail(
    phase === 'merging' || scheduling.now !== null
      ? 'all its tasks have ended and the report is being written: nothing can be changed any more'
      : 'its agents are just being made: try again',
  );
}

function planAfter(
  parts: RunParts,
  state: RunState,
  before: SoundPlan,
  edits: readonly PlanEdit[],
): Result<SoundPlan, string> {
  const begun = begunIn(parts, state, before);
  const strict = contextOf(parts, state);
  const context = withBegun(strict, [...begun.values()]);
  let plan = before;
  for (const edit of edits) {
    const named = namedIn(edit).find((id) => begun.has(id));
    if (named !== undefined) return fail(refusal(before, begun, named));
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

interface Begun {
  readonly task: PlanTask;
  readonly agent: AgentState | undefined;
}

type AllBegun = ReadonlyMap<string, Begun>;

/** Tasks that an amendment can't touch: begun, ended, or left out. */
function begunIn({ scheduling }: RunParts, state: RunState, plan: SoundPlan): AllBegun {
  const agents = agentsByTask(state);
  return new Map(
    plan.tasks.flatMap((task): [string, Begun][] => {
      const agent = agents.get(task.id);
      if (agent === undefined) return [];
      // Of one whose tree is looked at first nothing is in the log yet.
      const isFree = hasNotBegun(agent) && !(scheduling.now?.hasBegun(agent.id) ?? false);
      return isFree ? [] : [[task.id, { task, agent }]];
    }),
  );
}

/** The choices that were sent with the plan, and of the limits the tighter ones. */
function contextOf({ options }: RunParts, state: RunState): PlanContext {
  const choices = state.choices ?? choicesOf(options);
  const { limits } = choices;
  const maxTasks = Math.min(limits.maxTasks, options.rules.maxTasksPerPlan.value);
  const context = planContextOf(options, { ...choices, limits: { ...limits, maxTasks } });
  // A new task is nobody's: the id of one that is gone would give it that one's agent.
  return { ...context, taken: [...agentsByTask(state).keys()] };
}

/** What has begun is as it was approved, whatever the rules say by now: it is theirs to stop it, not this check's. */
const withBegun = (context: PlanContext, begun: readonly Begun[]): PlanContext => ({
  ...context,
  mainHasBegun: begun.some(({ task }) => task.role === MAIN),
  roleProblem: (role) => (begun.some(({ task }) => task.role === role) ? null : context.roleProblem(role)),
  resolveModel(asked, role) {
    const found = context.resolveModel(asked, role);
    const known = begun.find(({ task }) => task.role === role && task.model.asked === asked);
    return found.ok || known === undefined ? found : ok(known.task.model);
  },
});

/** Why a task that is still to come can't be, by the rules alone. */
function barred({ tasks }: SoundPlan, begun: AllBegun, context: PlanContext): string | null {
  for (const { id, role, model } of tasks) {
    if (begun.has(id)) continue;
    const problem = context.roleProblem(role);
    if (problem !== null) return `${id}: ${problem}`;
    const found = context.resolveModel(model.asked, role);
    if (!found.ok) return `${id}: ${found.fault}`;
  }
  return null;
}

/** As it was approved, where it is written like that: what rules of now would make of it is of no matter any more. */
const asItWas = (begun: Begun | undefined, task: PlanTask): PlanTask =>
  begun === undefined || !isWrittenSame(begun, task)
    ? task
    : withPermissionsOf(task, { ...begun.task, dependsOn: task.dependsOn, ...orderOf(task) });

const orderOf = ({ after }: PlanTask): Pick<PlanTask, 'after'> => (after === undefined ? {} : { after });

/** They are no part of the work: a person may change them of a task that has begun. */
function withPermissionsOf({ permissions }: PlanTask, begun: PlanTask): PlanTask {
  const { permissions: _, ...task } = begun;
  return permissions === undefined ? task : { ...task, permissions };
}

function isWrittenSame({ task: old, agent }: Begun, now: PlanTask): boolean {
  // Of one that was left out nobody waits for the needs: they may be gone.
  const needs = agent?.outcome === 'skipped' ? [] : [old.dependsOn, now.dependsOn].map((ids) => ids.toSorted().join());
  return needs[0] === needs[1] && jsonDigest(written(old)) === jsonDigest(written(now));
}

const written = ({
  role,
  description,
  model,
  tools,
  budget,
  estimatedTokens,
  writes,
  alongside = [],
  maySpawn,
  effort,
}: PlanTask): unknown => ({
  role,
  description: description.replaceAll(UNKEPT, ''),
  asked: model.asked,
  tools: tools.toSorted(),
  budget,
  estimatedTokens,
  writes,
  alongside: alongside.toSorted(),
  maySpawn,
  effort,
});

/** What screens show otherwise or not at all: a plan that comes back from one has lost it. */
const UNKEPT = /[\s\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/** The tasks that an edit is made to; its order may be changed of any. */
function namedIn(edit: PlanEdit): readonly string[] {
  switch (edit.is) {
    case 'join':
      return [edit.task, edit.other];
    // A whole plan, or models of all: what is as it was is no change.
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

/** Why what became of the plan can't be, for the first task that has begun and would be another. */
function touched(before: SoundPlan, after: SoundPlan, begun: AllBegun): string | null {
  const other = before.tasks.find(({ id }) => {
    const [one, now] = [begun.get(id), after.tasks.find((task) => task.id === id)];
    return one !== undefined && (now === undefined || !isWrittenSame(one, now));
  });
  return other === undefined ? null : refusal(before, begun, other.id);
}

/** `#2 finder has begun: only what has not begun can be changed` */
function refusal({ tasks }: SoundPlan, begun: AllBegun, id: string): string {
  const { task, agent } = begun.get(id) ?? {};
  const how = agent !== undefined && isFinal(agent) ? 'has ended' : 'has begun';
  const at = tasks.findIndex((one) => one.id === id) + 1;
  return `#${at} ${task?.role ?? id} ${how}: only what has not begun can be changed`;
}

function tooMany({ options }: RunParts, state: RunState, before: SoundPlan, after: SoundPlan): string | null {
  const known = agentsByTask(state);
  const come = after.tasks.filter(({ id }) => !known.has(id)).length;
  const { value, from } = options.rules.maxAgentsPerRun;
  const agents = state.agents.size - 1;
  if (come === 0 || before === after || agents + come <= value) return null;
  return `the run has ${agents === 1 ? '1 agent' : `${agents} agents`} already, and at most ${value} are allowed: ${reasonText(from)}`;
}

// What differs between two plans, a line for each task, as the person is asked about it. Pure.

/**
 * Added and changed tasks in the order of `after`, each behind the dropped ones that stood before it. Tasks that are in both are
 * named by their place in `before`, as the person knows them. Estimates alone are no difference, the order only where it is all.
 */
function changesBetween(before: SoundPlan, after: SoundPlan, models: readonly ModelOption[]): readonly PlanChange[] {
  const look: Look = { before, after, models };
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

/** It concerns the plan as a whole; the line is placed at its last task. */
function commitChange({ before, after }: Look): readonly PlanChange[] {
  const last = after.tasks.at(-1);
  if (before.commit === after.commit || last === undefined) return [];
  const text = after.commit === true ? 'main commits the work at the end' : 'nothing is committed at the end';
  return [{ is: 'changed', task: last.id, text }];
}

interface Look {
  readonly before: SoundPlan;
  readonly after: SoundPlan;
  readonly models: readonly ModelOption[];
}

interface Placed {
  /** Its place in the plan of before; null for a new one. */
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
function nameIn({ before, after }: Pick<Look, 'before' | 'after'>, id: string): string {
  for (const { tasks } of [before, after]) {
    const at = tasks.findIndex((task) => task.id === id);
    const task = tasks[at];
    if (task !== undefined) return `#${at + 1} ${task.role}`;
  }
  return id;
}

function addedLine(look: Look, { id, role, model, dependsOn, description }: PlanTask): PlanChange {
  const at = look.after.tasks.findIndex((task) => task.id === id) + 1;
  const needs = dependsOn.length === 0 ? '' : `, needs ${namesIn(look, dependsOn)}`;
  const text = `#${at} ${role}: added on ${labelOf(look, model.used)}${needs}: ${firstLine(description)}`;
  return { is: 'added', task: id, text };
}

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';
const namesIn = (look: Look, ids: readonly string[]): string => ids.map((id) => nameIn(look, id)).join(', ');
const labelOf = ({ models }: Look, used: string): string => models.find(({ id }) => id === used)?.label ?? used;

function wordsOf(look: Look, old: PlanTask, task: PlanTask): readonly string[] {
  const [come, gone] = [missing(task.dependsOn, old.dependsOn), missing(old.dependsOn, task.dependsOn)];
  return [
    old.role === task.role ? '' : `role ${old.role} -> ${task.role}`,
    modelWords(look, old, task),
    old.description === task.description ? '' : 'description changed',
    come.length === 0 ? '' : `needs ${namesIn(look, come)}${gone.length < old.dependsOn.length ? ' as well' : ''}`,
    gone.length === 0 ? '' : `no longer needs ${namesIn(look, gone)}`,
    toolWords(old, task),
    effortWords(old, task),
    budgetWords(old.budget, task.budget),
    isSame(old.writes, task.writes) ? '' : `may change ${writesText(task.writes)}`,
    ...permissionWords(look, old, task),
    ...orderWords(look, old, task),
    old.maySpawn === task.maySpawn ? '' : `may ${task.maySpawn ? '' : 'no longer '}start agents of its own`,
  ].filter((one) => one !== '');
}

function permissionWords({ before, after }: Look, old: PlanTask, task: PlanTask): readonly string[] {
  const [was, is] = [permissionsOf(before, old), permissionsOf(after, task)];
  return PERMITTED.map((what) =>
    was[what] === is[what] ? '' : is[what] === 'allow' ? `${what} are allowed without asking` : `${what} ask`,
  );
}

/** What it has to come after now, and beside what it may run by now. */
function orderWords(look: Look, old: PlanTask, task: PlanTask): readonly string[] {
  const [before, now] = [old.after ?? [], task.after ?? []];
  const come = now.filter((one) => !before.some((other) => other.task === one.task));
  const beside = missing(task.alongside ?? [], old.alongside ?? []);
  return [
    ...come.map((one) => `waits for ${nameIn(look, one.task)}: ${one.because}`),
    beside.length === 0 ? '' : `may run beside ${namesIn(look, beside)}`,
  ];
}

function modelWords(look: Look, old: PlanTask, { model }: PlanTask): string {
  const [from, to] = [labelOf(look, old.model.used), labelOf(look, model.used)];
  if (old.model.used !== model.used) {
    const why = model.because === null ? '' : ` (asked for ${model.asked}; ${model.because})`;
    return `model ${from} -> ${to}${why}`;
  }
  if (old.model.asked === model.asked) return '';
  return `model asked for as ${model.asked}, still ${to}${model.because === null ? '' : ` (${model.because})`}`;
}

const effortWords = (old: PlanTask, { effort }: PlanTask): string =>
  old.effort === effort ? '' : `effort is now ${effort ?? "the provider's own"}`;

function toolWords(old: PlanTask, task: PlanTask): string {
  if (old.role !== task.role) return '';
  return isSame(old.tools, task.tools) ? '' : `tools are now ${task.tools.join(', ') || 'none'}`;
}

function budgetWords(old: Budget, now: Budget): string {
  const parts = [
    old.maxTokens === now.maxTokens ? '' : amount(now.maxTokens, (tokens) => `${tokens} tokens`),
    old.maxCost === now.maxCost ? '' : amount(now.maxCost, (usd) => `$${usd.toFixed(4)}`),
    old.maxDuration === now.maxDuration ? '' : amount(now.maxDuration, (ms) => `${Math.round(ms / 1000)} s`),
  ].filter((one) => one !== '');
  return parts.length === 0 ? '' : `budget is now ${parts.join(', ')}`;
}

const amount = (limit: number | undefined, words: (limit: number) => string): string =>
  limit === undefined ? 'the default' : words(limit);

const missing = <T>(from: readonly T[], others: readonly T[]): readonly T[] =>
  from.filter((one) => !others.includes(one));
const isSame = <T>(a: readonly T[], b: readonly T[]): boolean =>
  missing(a, b).length === 0 && missing(b, a).length === 0;

/** Where only the order is another one: the tasks that stand elsewhere. */
function movesIn(look: Look): readonly PlanChange[] {
  return look.after.tasks.flatMap(({ id }, at): readonly PlanChange[] => {
    if (look.before.tasks[at]?.id === id) return [];
    return [{ is: 'changed', task: id, text: `${nameIn(look, id)}: now in place ${at + 1}` }];
  });
}
