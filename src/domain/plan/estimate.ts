/** Estimates before anything ran: tokens, cost, time, and the resulting budgets. The numbers are simple, so that a person can check them. */
import { type Budget, tightest, withoutAbsent } from '../budget.ts';
import { fromMicro, type ModelId, type TaskId, toMicro, type Usd } from '../ids.ts';
import { type Learned, NO_RUNS, type Spread } from './calibration.ts';
import type { PlanEdit } from './plan-edit.ts';
import { type PlanTotals, totalsOf } from './plan-view.ts';
import type { ModelOption, PlanChoices, PlanTask, SoundPlan } from './plan.ts';

/** The share of an agent's tokens that is input; the rest is output. */
const INPUT_SHARE = 0.8;
/** Seconds of every task besides generating: the first answer, its tools. */
const OVERHEAD_SECONDS = 5;
const UNKNOWN_SPEED = 50;

/** Default tokens of a task by its role's capabilities; work that writes also reads more. */
export const defaultTokens = (capabilities: readonly string[]): number =>
  capabilities.includes('write') ? 400_000 : 200_000;

/** US dollars for `tokens`; null when the price is unknown, 0 when the model is free. */
export function estimatedCost(tokens: number, model: ModelOption | undefined): Usd | null {
  const price = model?.price ?? null;
  if (price === null) return null;
  // Tokens times dollars per million are micro-dollars.
  const micro = tokens * INPUT_SHARE * price.input + tokens * (1 - INPUT_SHARE) * price.output;
  return fromMicro(toMicro(fromMicro(micro)));
}

/** Whole seconds, at least one. */
export function estimatedSeconds(tokens: number, model: ModelOption | undefined): number {
  const speed = model !== undefined && model.speed > 0 ? model.speed : UNKNOWN_SPEED;
  return Math.max(1, Math.round((tokens * (1 - INPUT_SHARE)) / speed) + OVERHEAD_SECONDS);
}

/** At this multiple of its estimate a task gets a warning. It continues, because an estimate is no limit. */
export const WARNED_AT_ESTIMATE = 2;

/** The budget of a task: `asked`, with the role's own as default, within what one agent may use. Independent of the estimate. */
export const fullBudget = (asked: Budget, role: Pick<PlanChoices['roles'][number], 'budget'>, limit: Budget): Budget =>
  tightest({ ...role.budget, ...withoutAbsent(asked) }, limit);

/** The budget of a task without one of its own. */
export const defaultBudget = (role: Pick<PlanChoices['roles'][number], 'budget'>, limit: Budget): Budget =>
  fullBudget({}, role, limit);

// Ranges: what a task and a plan will probably use at least, likely and at most, from earlier runs or a wide assumption. The plan's own
// estimates stay, and ranges never forbid anything.

/** About four of five runs are between `low` and `high`; `likely` is the expected value. */
export interface Range {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
}

export interface Expected {
  readonly tokens: Range;
  /** US dollars; null when a price is unknown. */
  readonly cost: Range | null;
  readonly seconds: Range;
  /** Number of runs behind the range; 0 where there are too few. */
  readonly runs: number;
  /** `no runs yet`, `range of 4 runs`, `learned from 7 runs`. */
  readonly because: string;
}

/** From this many runs on, an estimate is corrected, not only widened. */
const RUNS_TO_CORRECT = 5;

/** What a task will use. With five or more runs, `likely` is the estimate times their median. */
export function rangeOf(task: PlanTask, choices: Pick<PlanChoices, 'learned'>): Expected {
  const learned = learnedOf(task, choices.learned ?? []);
  const runs = learned?.runs ?? 0;
  const corrects = runs >= RUNS_TO_CORRECT;
  const range = (estimate: number, spread: Spread = NO_RUNS): Range => {
    const likely = estimate * (corrects ? spread.median : 1);
    return { low: Math.min(likely, estimate * spread.low), likely, high: Math.max(likely, estimate * spread.high) };
  };
  return {
    tokens: whole(range(task.estimatedTokens, learned?.tokens)),
    cost: task.estimatedCost === null ? null : each(range(task.estimatedCost, learned?.cost), rounded),
    seconds: whole(range(task.estimatedSeconds, learned?.seconds)),
    runs,
    because: because(runs),
  };
}

const because = (runs: number): string => (runs === 0 ? 'no history' : `from ${runs} ${runs === 1 ? 'run' : 'runs'}`);

const learnedOf = ({ role, model }: PlanTask, all: readonly Learned[]): Learned | undefined =>
  all.find((one) => one.role === role && one.model === model.used) ??
  all.find((one) => one.role === role && one.model === null) ??
  all.find((one) => one.role === null);

/** What a plan will use, with its mandatory reviews. Estimates of one run err together, so both ends are sums of all low and all high ends;
 * the seconds are the schedule under `maxParallel` with all low, likely or high times. */
export function totalRange(plan: SoundPlan, choices: Pick<PlanChoices, 'learned'>, maxParallel: number): Expected {
  const ranges = plan.tasks.map((task) => rangeOf(task, choices));
  const at = (end: keyof Range): ReturnType<typeof totalsOf> => totalsOf(planAt(plan, ranges, end), maxParallel);
  const [low, likely, high] = [at('low'), at('likely'), at('high')];
  const over = (of: (totals: PlanTotals) => number): Range => ({ low: of(low), likely: of(likely), high: of(high) });
  const [fewest, some] = [Math.min(...ranges.map(({ runs }) => runs)), ranges.some(({ runs }) => runs > 0)];
  return {
    tokens: over(({ tokens }) => tokens),
    cost: likely.cost === null ? null : over(({ knownCost }) => knownCost),
    seconds: over(({ seconds }) => seconds),
    runs: fewest,
    because: some && fewest === 0 ? 'no history for some tasks' : because(fewest),
  };
}

const taskAt = (task: PlanTask, { tokens, cost, seconds }: Expected, end: keyof Range): PlanTask => ({
  ...task,
  estimatedTokens: tokens[end],
  estimatedCost: cost?.[end] ?? null,
  estimatedSeconds: seconds[end],
});

/** The task with its likely use as its estimates. */
export const likelyTask = (task: PlanTask, choices: Pick<PlanChoices, 'learned'>): PlanTask =>
  taskAt(task, rangeOf(task, choices), 'likely');

/** The plan with likely use as its estimates: for display only, never run or stored. The same object where no estimate is corrected. */
export function likelyPlan(plan: SoundPlan, choices: Pick<PlanChoices, 'learned'>): SoundPlan {
  const ranges = plan.tasks.map((task) => rangeOf(task, choices));
  return ranges.some(({ runs }) => runs >= RUNS_TO_CORRECT) ? planAt(plan, ranges, 'likely') : plan;
}

/** The plan with one end of every range as its estimates, for sums only. */
const planAt = (plan: SoundPlan, ranges: readonly Expected[], end: keyof Range): SoundPlan => ({
  ...plan,
  tasks: plan.tasks.map((task, index) => {
    const range = ranges[index];
    return range === undefined ? task : taskAt(task, range, end);
  }),
  forced: (plan.forced ?? []).map((node) => {
    const share = end === 'likely' ? 1 : NO_RUNS[end];
    return {
      ...node,
      estimatedTokens: Math.round(node.estimatedTokens * share),
      estimatedCost: node.estimatedCost === null ? null : rounded(node.estimatedCost * share),
      estimatedSeconds: Math.round(node.estimatedSeconds * share),
    };
  }),
});

/** Whether a budget suffices: for the whole range, for the likely use, or probably not. Without a price only tokens count. */
export function fitOf({ cost, tokens }: Expected, budget: Budget): 'fits' | 'may not fit' | 'does not fit' {
  const pairs = [
    { range: cost, most: budget.maxCost },
    { range: tokens, most: budget.maxTokens },
  ];
  const isOver = (end: 'likely' | 'high'): boolean =>
    pairs.some(({ range, most }) => range !== null && most !== undefined && range[end] > most);
  if (isOver('likely')) return 'does not fit';
  return isOver('high') ? 'may not fit' : 'fits';
}

const rounded = (usd: Usd): Usd => fromMicro(toMicro(usd));
const each = ({ low, likely, high }: Range, to: (amount: number) => number): Range => ({
  low: to(low),
  likely: to(likely),
  high: to(high),
});
const whole = (range: Range): Range => each(range, Math.round);

// The same plan with other models, priced before anything runs: cheap, balanced and best. Only the models of tasks change. The choices say
// which models may be used; the person decides about the edit.

export type VariantName = 'cheap' | 'balanced' | 'best';

/** One choice of models for the plan. */
export interface Variant {
  readonly name: VariantName;
  readonly meaning: string;
  readonly same: boolean;
  /** In plan order. `from` and `to` are the models' short names. */
  readonly changes: readonly { readonly task: TaskId; readonly from: string; readonly to: string }[];
  /** The edit that applies it; without effect if `same`. */
  readonly edit: Extract<PlanEdit, { readonly is: 'models' }>;
  /** The resulting plan, for display: priced anew, otherwise unchanged. */
  readonly plan: SoundPlan;
  readonly totals: PlanTotals;
  /** Tasks that would probably exceed their cost budget, in plan order. */
  readonly overBudget: readonly TaskId[];
}

const MEANINGS: Readonly<Record<VariantName, string>> = {
  cheap: 'Cheapest allowed model for each task',
  balanced: 'Default model of each role',
  best: 'Strongest allowed model for each task',
};

/** Cheap, balanced and best, in this order, each deterministic for equal plans and choices.
 *
 * - **cheap**: the model that costs least for the estimated tokens of the task. Among equal prices the present model stays, then
 *   the higher grade, then the first of the choices. A task whose model has no known price keeps it.
 * - **balanced**: the default model of the role, which weighs price and grade as configured.
 * - **best**: the highest grade, in the order deep, usual, unknown, fast; within a known grade the first of the choices (the catalogue
 *   lists the newest first), within the unknown grade the most expensive.
 *
 * No task gets a model that is denied or not served here, that has no tool calls or no known price (a variant promises a price), or the
 * offline analyst, which is only a substitute. */
export function variantsOf(plan: SoundPlan, choices: PlanChoices, maxParallel: number): readonly Variant[] {
  const models = new Map(choices.models.map((model) => [model.id, model]));
  const fit = choices.models.filter(isFit);
  const roles = new Map(choices.roles.map(({ name, model }) => [name, model.used]));
  const best = [...fit].sort(byGrade)[0];
  const pick: Readonly<Record<VariantName, (task: PlanTask) => ModelOption | undefined>> = {
    cheap: (task) => cheapest(task, fit, models.get(task.model.used)),
    balanced: ({ role }) => fit.find(({ id }) => id === roles.get(role)),
    best: () => best,
  };
  const names: readonly VariantName[] = ['cheap', 'balanced', 'best'];
  return names.map((name) => variant(plan, name, { pick: pick[name], models, maxParallel, choices }));
}

const isFit = ({ id, usable, tools, price }: ModelOption): boolean =>
  usable.yes && tools !== false && price !== null && !id.startsWith('offline/');

const GRADES = { deep: 3, usual: 2, unknown: 1, fast: 0 } as const;
const gradeOf = ({ grade }: ModelOption): number => GRADES[grade ?? 'unknown'];

/** Negative where `a` is better. Equal ones keep the order of the choices. */
function byGrade(a: ModelOption, b: ModelOption): number {
  const higher = gradeOf(b) - gradeOf(a);
  if (higher !== 0 || a.grade !== undefined) return higher;
  return (estimatedCost(PER_MILLION, b) ?? 0) - (estimatedCost(PER_MILLION, a) ?? 0);
}
const PER_MILLION = 1_000_000;

function cheapest(
  { estimatedTokens }: PlanTask,
  fit: readonly ModelOption[],
  present: ModelOption | undefined,
): ModelOption | undefined {
  // A minimum, so that a task without tokens is not decided by chance.
  const tokens = Math.max(1000, estimatedTokens);
  const costOf = (model: ModelOption): number => estimatedCost(tokens, model) ?? Number.POSITIVE_INFINITY;
  if (present === undefined || present.price === null) return present;
  return [...fit]
    .sort((a, b) => costOf(a) - costOf(b) || gradeOf(b) - gradeOf(a))
    .reduce((least, model) => (costOf(model) < costOf(least) ? model : least), present);
}

interface Making {
  readonly pick: (task: PlanTask) => ModelOption | undefined;
  readonly models: ReadonlyMap<ModelId, ModelOption>;
  readonly maxParallel: number;
  readonly choices: Pick<PlanChoices, 'learned'>;
}

function variant(plan: SoundPlan, name: VariantName, { pick, models, maxParallel, choices }: Making): Variant {
  const moves = plan.tasks.flatMap((task) => {
    const to = pick(task);
    return to === undefined || to.id === task.model.used ? [] : [{ task, to }];
  });
  const targets = new Map(moves.map(({ task, to }) => [task.id, to]));
  const tasks = plan.tasks.map((task) => moved(task, targets.get(task.id)));
  const after: SoundPlan = moves.length === 0 ? plan : { ...plan, tasks };
  return {
    name,
    meaning: MEANINGS[name],
    same: moves.length === 0,
    changes: moves.map(({ task, to }) => ({ task: task.id, from: nameOf(task, models), to: askedName(to) })),
    edit: { is: 'models', models: moves.map(({ task, to }) => ({ task: task.id, model: askedName(to) })) },
    plan: after,
    totals: totalsOf(likelyPlan(after, choices), maxParallel),
    overBudget: tasks.filter(isOver).map(({ id }) => id),
  };
}

function moved(task: PlanTask, to: ModelOption | undefined): PlanTask {
  if (to === undefined) return task;
  return {
    ...task,
    model: { asked: askedName(to), used: to.id, because: null },
    estimatedCost: estimatedCost(task.estimatedTokens, to),
    estimatedSeconds: estimatedSeconds(task.estimatedTokens, to),
  };
}

const isOver = ({ estimatedCost: cost, budget }: PlanTask): boolean =>
  cost !== null && budget.maxCost !== undefined && cost > budget.maxCost;

/** The name by which people and plans ask for a model. */
export const askedName = ({ aliases, id }: ModelOption): string => aliases[0] ?? id;

function nameOf({ model }: PlanTask, models: ReadonlyMap<ModelId, ModelOption>): string {
  const option = models.get(model.used);
  return option === undefined ? model.used : askedName(option);
}
