/**
 * The same plan with other models, priced before anything runs: cheap, balanced and best. Only the models of tasks change; what
 * rules add stays as it is. Which models may be used is said by the choices; whether the edit is made, by the person.
 */
import { estimatedCost, estimatedSeconds } from './estimate.ts';
import type { ModelId, TaskId } from '../ids.ts';
import type { PlanEdit } from './plan-edit.ts';
import { totalsOf } from './plan-view.ts';
import { likelyPlan } from './estimate-range.ts';
import type { PlanTotals } from './plan-view.ts';
import type { ModelOption, PlanChoices, PlanTask, SoundPlan } from './plan.ts';

export type VariantName = 'cheap' | 'balanced' | 'best';

/** One way to staff the plan. */
export interface Variant {
  readonly name: VariantName;
  /** What it means, in a line for people. */
  readonly meaning: string;
  /** True where it is the plan as it is: nothing would change. */
  readonly same: boolean;
  /** In plan order. `from` and `to` are names by which people ask for models. */
  readonly changes: readonly { readonly task: TaskId; readonly from: string; readonly to: string }[];
  /** What makes it; changes nothing where `same`. */
  readonly edit: Extract<PlanEdit, { readonly is: 'models' }>;
  /** The plan after that, to be looked at: priced anew, otherwise the plan as it is. */
  readonly plan: SoundPlan;
  readonly totals: PlanTotals;
  /** Tasks that would probably need more dollars than their budget has, in plan order. */
  readonly overBudget: readonly TaskId[];
}

const MEANINGS: Readonly<Record<VariantName, string>> = {
  cheap: 'each task on the cheapest model that may be used',
  balanced: 'each task on the model that its role is set up with',
  best: 'each task on the strongest model that may be used',
};

/**
 * Cheap, balanced and best, in this order, each the same whenever plan and choices are.
 *
 * - **cheap**: what costs least for the tokens that the task is estimated at. Of equal prices the model that it has stays, then
 *   the higher grade, then the first of the choices. Where the price of the present model isn't known, it stays.
 * - **balanced**: the model its role gets when nothing else is asked for: the configuration's own weighing of price and grade.
 * - **best**: the highest grade, deep before usual before unknown before fast; within a known grade the first of the choices,
 *   whose catalogue has the newest first, within the unknown one the dearest.
 *
 * No task gets a model that can't be used here, whether a rule denies it or nothing serves it, one that takes no tool calls, one
 * without a known price (a variant is a promise about prices) or the offline analyst, which only stands in.
 */
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

/** Made by nobody's model: it stands in where there is none. */
const isOffline = (id: ModelId): boolean => id.startsWith('offline/');

const isFit = ({ id, usable, tools, price }: ModelOption): boolean =>
  usable.yes && tools !== false && price !== null && !isOffline(id);

const GRADES = { deep: 3, usual: 2, unknown: 1, fast: 0 } as const;
const gradeOf = ({ grade }: ModelOption): number => GRADES[grade ?? 'unknown'];

/** Negative where `a` is the better one. Equal ones stay in the order of the choices. */
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
  // Per token, so that a task without tokens isn't moved by chance.
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

/** The name by which a model is asked for: people's name where it has one. */
const askedName = ({ aliases, id }: ModelOption): string => aliases[0] ?? id;

function nameOf({ model }: PlanTask, models: ReadonlyMap<ModelId, ModelOption>): string {
  const option = models.get(model.used);
  return option === undefined ? model.used : askedName(option);
}
