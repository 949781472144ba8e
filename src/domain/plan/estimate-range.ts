/**
 * Estimates as ranges: what a task and a plan will use at least, likely and at most, from what was learned of earlier runs here,
 * or an honest wide guess. The estimate in the plan stays what the planner or the person wrote; nothing is refused by a range.
 */
import type { Budget } from '../budget.ts';
import { fromMicro, toMicro, type Usd } from '../ids.ts';
import { type Learned, NO_RUNS, type Spread } from './calibration.ts';
import { totalsOf } from './plan-view.ts';
import type { PlanChoices, PlanTask, SoundPlan } from './plan.ts';

/** `low` to `high` holds in about four runs of five; `likely` is what to expect. */
export interface Range {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
}

export interface Expected {
  readonly tokens: Range;
  /** US dollars; null when a price is not known. */
  readonly cost: Range | null;
  readonly seconds: Range;
  /** Runs that it was learned from; 0 where there are too few to say anything. */
  readonly runs: number;
  /** `no runs yet`, `range of 4 runs`, `learned from 7 runs`. */
  readonly because: string;
}

/** So many runs are enough to correct an estimate, not only to say how far off it may be. */
const RUNS_TO_CORRECT = 5;

/** What a task will use. Where five runs or more are known, `likely` is its estimate times their median. */
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
    cost: task.estimatedCost === null ? null : money(range(task.estimatedCost, learned?.cost)),
    seconds: whole(range(task.estimatedSeconds, learned?.seconds)),
    runs,
    because: because(runs, corrects),
  };
}

function because(runs: number, corrects: boolean): string {
  if (runs === 0) return 'no runs yet';
  return corrects ? `learned from ${runs} runs` : `range of ${runs} runs`;
}

/** The most particular that is known. */
const learnedOf = ({ role, model }: PlanTask, all: readonly Learned[]): Learned | undefined =>
  all.find((one) => one.role === role && one.model === model.used) ??
  all.find((one) => one.role === role && one.model === null) ??
  all.find((one) => one.role === null);

/**
 * What a plan will use, what rules add counted in. Estimates of one run err together, so its ends are the sums of all low and all
 * high ones; its seconds are the schedule under `maxParallel` if every task took its low, likely or high time.
 */
export function totalRange(plan: SoundPlan, choices: Pick<PlanChoices, 'learned'>, maxParallel: number): Expected {
  const ranges = plan.tasks.map((task) => rangeOf(task, choices));
  const at = (end: keyof Range): ReturnType<typeof totalsOf> => totalsOf(planAt(plan, ranges, end), maxParallel);
  const [low, likely, high] = [at('low'), at('likely'), at('high')];
  const priced = likely.cost !== null;
  const [fewest, some] = [Math.min(...ranges.map(({ runs }) => runs)), ranges.some(({ runs }) => runs > 0)];
  const learned = ranges.filter(({ because: why }) => why.startsWith('learned')).length;
  return {
    tokens: { low: low.tokens, likely: likely.tokens, high: high.tokens },
    cost: priced ? { low: low.knownCost, likely: likely.knownCost, high: high.knownCost } : null,
    seconds: { low: low.seconds, likely: likely.seconds, high: high.seconds },
    runs: fewest,
    because: some && fewest === 0 ? 'no runs yet for some tasks' : because(fewest, learned === ranges.length),
  };
}

/** The task with what is likely as its estimates. */
export function likelyTask(task: PlanTask, choices: Pick<PlanChoices, 'learned'>): PlanTask {
  const { tokens, cost, seconds } = rangeOf(task, choices);
  return {
    ...task,
    estimatedTokens: tokens.likely,
    estimatedCost: cost?.likely ?? null,
    estimatedSeconds: seconds.likely,
  };
}

/** The plan with what is likely as its estimates: to be shown, never to be run or kept. The same plan where no estimate is corrected. */
export function likelyPlan(plan: SoundPlan, choices: Pick<PlanChoices, 'learned'>): SoundPlan {
  const ranges = plan.tasks.map((task) => rangeOf(task, choices));
  return ranges.some(({ runs }) => runs >= RUNS_TO_CORRECT) ? planAt(plan, ranges, 'likely') : plan;
}

/** The plan with one end of every range as its estimates: only to be summed up. */
function planAt(plan: SoundPlan, ranges: readonly Expected[], end: keyof Range): SoundPlan {
  return {
    ...plan,
    tasks: plan.tasks.map((task, index) => {
      const range = ranges[index];
      if (range === undefined) return task;
      const { tokens, cost, seconds } = range;
      return {
        ...task,
        estimatedTokens: tokens[end],
        estimatedCost: cost?.[end] ?? null,
        estimatedSeconds: seconds[end],
      };
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
  };
}

/** Whether a budget will do: for the whole range, for what is likely, or probably not. What isn't priced counts by tokens alone. */
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

const whole = ({ low, likely, high }: Range): Range => ({
  low: Math.round(low),
  likely: Math.round(likely),
  high: Math.round(high),
});
const rounded = (usd: Usd): Usd => fromMicro(toMicro(usd));
const money = ({ low, likely, high }: Range): Range => ({
  low: rounded(low),
  likely: rounded(likely),
  high: rounded(high),
});
