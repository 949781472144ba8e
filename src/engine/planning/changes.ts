/** What differs between two plans, a line for each task, as the person is asked about it. Pure. */
import type { Budget } from '../../domain/budget.ts';
import { PERMITTED, permissionsOf } from '../../domain/permissions.ts';
import type { ModelOption, PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { writesText } from '../../domain/writes.ts';
import type { PlanChange } from '../../ports/controls.ts';

/**
 * Added and changed tasks in the order of `after`, each behind the dropped ones that stood before it. Tasks that are in both are
 * named by their place in `before`, as the person knows them. Estimates alone are no difference, the order only where it is all.
 */
export function changesBetween(
  before: SoundPlan,
  after: SoundPlan,
  models: readonly ModelOption[],
): readonly PlanChange[] {
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
