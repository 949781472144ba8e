/**
 * The limits that hold for an agent: its own, those of all above it, the run's, and by the day those of the rules. What of
 * each is used, when its time is over, and what is said of it. Pure; what a call may take of them is in reserve.ts.
 */
import type { Budget } from '../../../domain/budget.ts';
import { WARNED_AT_ESTIMATE } from '../../../domain/plan/estimate.ts';
import { type AgentId, type Millis, parentOf, ROOT, toMicro } from '../../../domain/ids.ts';
import { type Reason, reasonText } from '../../../domain/reason.ts';
import type { EventBody } from '../../../events/event.ts';
import { committed, elapsedOf, estimateKey, tokensOfAgent } from '../../../events/queries.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import { keptBack } from '../../reviews/record.ts';

/** At this part of a limit people are told. */
const WARN_AT = 0.8;
/** A clock that is set right by less than this has not gone backwards. */
const CLOCK_SLACK: Millis = 1000;

export type Exhausted = Extract<EventBody, { type: 'budget.exhausted' }>;

/** A limit on all runs of a day, or on a model by the day, and what is used and promised of it now. */
export interface DayLimitNow {
  readonly scope: 'day' | 'model';
  /** Of a model's limit: which, as the rule names it. */
  readonly model: string | null;
  readonly budget: Budget;
  readonly used: { readonly tokens: number; readonly cost: number };
  readonly from: Reason;
}

export interface Limit {
  readonly agent: AgentId;
  readonly scope: Exhausted['scope'];
  readonly budget: Budget;
  /** Part of it that is kept for forced agents: for this agent it is not there. */
  readonly kept: Budget;
  /** Of a day's limit: it is counted elsewhere. */
  readonly day?: DayLimitNow;
}

/** Budget of the agent, of those above it, of the run, and by the day: all of them hold. */
export function limitsAbove(state: RunState, agent: AgentId, days: readonly DayLimitNow[] = []): Limit[] {
  const limits: Limit[] = [];
  for (let at: AgentId | null = agent; at !== null && at !== ROOT; at = parentOf(at)) {
    const budget = state.agents.get(at)?.budget;
    if (budget) limits.push({ agent: at, scope: 'agent', budget, kept: NOTHING });
  }
  limits.push({ agent: ROOT, scope: 'run', budget: state.budget, kept: keptFrom(state, agent) });
  for (const day of days) limits.push({ agent, scope: day.scope, budget: day.budget, kept: NOTHING, day });
  return limits;
}

const NOTHING: Budget = {};

/** What the run keeps back for forced agents, for those that are not one, nor below one. */
function keptFrom(state: RunState, agent: AgentId): Budget {
  if ((state.plan?.forced ?? []).length === 0 && !state.gates.some(({ due }) => due !== undefined)) return NOTHING;
  for (let at: AgentId | null = agent; at !== null && at !== ROOT; at = parentOf(at))
    if ((state.agents.get(at)?.forced ?? null) !== null) return NOTHING;
  return keptBack(state, agent);
}

export const isCounted = ({ maxTokens, maxCost }: Budget): boolean => maxTokens !== undefined || maxCost !== undefined;

/** Used and promised, of the limit's agent and all below it, or of the day. */
export const usedOf = (state: RunState, { agent, day }: Limit): { readonly tokens: number; readonly cost: number } =>
  day === undefined ? countedOf(state, agent) : day.used;

function countedOf(state: RunState, agent: AgentId): { readonly tokens: number; readonly cost: number } {
  const { limitTokens, cost } = committed(state, agent);
  return { tokens: limitTokens, cost };
}

/** What a step may use of limits on time: all of it, or less what its agent needs for its closing answer. */
export type TimeFor = 'whole' | 'closing kept';

/** Milliseconds of a limit that are kept for the closing answer: a fifth, a minute at most. */
const closingTime = (maxDuration: Millis, time: TimeFor): Millis =>
  time === 'whole' ? 0 : Math.min(60_000, Math.floor(maxDuration / 5));

/** The limit on time that is over, or null. A clock that went backwards tells nothing: the time is treated as spent. */
export function timeOver(
  state: RunState,
  { agent, scope, budget, kept, day }: Limit,
  now: Millis,
  time: TimeFor = 'whole',
): Exhausted | null {
  const { maxDuration } = budget;
  if (maxDuration === undefined || day !== undefined) return null;
  const spent = timeOf(state, agent, now);
  return spent < maxDuration - (kept.maxDuration ?? 0) - closingTime(maxDuration, time)
    ? null
    : { type: 'budget.exhausted', agent, scope, what: 'time', spent: timeSaid(spent, maxDuration), limit: maxDuration };
}

const timeSaid = (spent: Millis, limit: Millis): Millis => (Number.isFinite(spent) ? spent : limit);

/** Of an agent and the children it waited for meanwhile, its own clock standing still. The run has one clock for all. */
export function timeOf(state: RunState, agent: AgentId, now: Millis): Millis {
  const one = state.agents.get(agent);
  if (one === undefined) return 0;
  if (isBackwards(one, now)) return Infinity;
  const below = agent === ROOT ? [] : one.children;
  return below.reduce((sum, child) => sum + timeOf(state, child, now), elapsedOf(one, now));
}

const isBackwards = ({ runningSince }: AgentState, now: Millis): boolean =>
  !(now >= (runningSince ?? -Infinity) - CLOCK_SLACK);

/** Milliseconds that the agent and all above it still may run; Infinity without a limit on time. */
export function timeLeft(state: RunState, agent: AgentId, now: Millis, time: TimeFor = 'whole'): Millis {
  const lefts = limitsAbove(state, agent).map(({ agent: at, budget: { maxDuration }, kept }) =>
    maxDuration === undefined
      ? Infinity
      : maxDuration - (kept.maxDuration ?? 0) - closingTime(maxDuration, time) - timeOf(state, at, now),
  );
  return Math.max(0, Math.min(...lefts));
}

/** Milliseconds until the next limit on time is to be warned of; Infinity when there is none. */
export function timeToWarning(state: RunState, agent: AgentId, now: Millis): Millis {
  const lefts = limitsAbove(state, agent).flatMap((limit) => {
    const { maxDuration } = limit.budget;
    if (maxDuration === undefined || state.warned.includes(warnedKey(limit, 'time'))) return [];
    return [maxDuration * WARN_AT - timeOf(state, limit.agent, now)];
  });
  return Math.min(Infinity, ...lefts);
}

/** The limit on time that ended `agent`, for the record. */
export function timeExhausted(state: RunState, agent: AgentId, now: Millis, time: TimeFor = 'whole'): Exhausted | null {
  for (const limit of limitsAbove(state, agent)) {
    const over = timeOver(state, limit, now, time);
    if (over) return over;
  }
  return null;
}

/** How the fold remembers a warning: once for each limit, until it is changed. */
const warnedKey = ({ agent, scope, day }: Limit, what: Exhausted['what']): string =>
  `${day?.model ?? (scope === 'agent' ? agent : scope)}:${what}`;

/** The word that a task has used twice the tokens of its estimate, once: it goes on. */
export function estimateWarning(state: RunState, agent: AgentId): readonly EventBody[] {
  const one = state.agents.get(agent);
  const task = state.plan?.tasks.find(({ id }) => id === one?.taskId);
  if (one === undefined || task === undefined || state.warned.includes(estimateKey(agent))) return [];
  const limit = task.estimatedTokens * WARNED_AT_ESTIMATE;
  const spent = tokensOfAgent(one);
  if (limit === 0 || spent < limit) return [];
  return [{ type: 'budget.warned', agent, scope: 'agent', what: 'tokens', spent, limit, estimate: true }];
}

/** `budget.warned` events for limits whose 80 % were passed and that were not warned of before. */
export function warnings(
  state: RunState,
  agent: AgentId,
  now: Millis,
  days: readonly DayLimitNow[] = [],
): readonly EventBody[] {
  return limitsAbove(state, agent, days).flatMap((limit) => {
    const { agent: at, scope, budget, day } = limit;
    if (budget.maxDuration === undefined && !isCounted(budget)) return [];
    const used = day === undefined ? settledOf(state, at) : day.used;
    const time = day === undefined && budget.maxDuration !== undefined ? timeOf(state, at, now) : 0;
    const rows = [
      { what: 'tokens', spent: used.tokens, limit: budget.maxTokens },
      { what: 'cost', spent: used.cost, limit: budget.maxCost },
      { what: 'time', spent: time, limit: day === undefined ? budget.maxDuration : undefined },
    ] as const;
    return rows.flatMap(({ what, spent, limit: most }): EventBody[] =>
      most === undefined || most === 0 || spent < most * WARN_AT || state.warned.includes(warnedKey(limit, what))
        ? []
        : [
            {
              type: 'budget.warned',
              agent: at,
              ...ofModel(day),
              scope,
              what,
              spent: timeSaid(spent, most),
              limit: most,
            },
          ],
    );
  });
}

const ofModel = (day: DayLimitNow | undefined): { readonly of?: string } =>
  typeof day?.model === 'string' ? { of: day.model } : {};

function settledOf(state: RunState, agent: AgentId): { readonly tokens: number; readonly cost: number } {
  const used = committed(state, agent);
  return { tokens: used.limitTokens - used.reservedTokens, cost: used.cost - used.reservedCost };
}

/**
 * Why an agent that has ended could make no call if it went on: a limit of its own, of an agent above it or of the run is spent,
 * or left no room for its last step. Null: there is room, or the limit was raised since.
 */
export function spentLimit(state: RunState, agent: AgentId, now: Millis): string | null {
  for (const limit of limitsAbove(state, agent)) {
    const met = exhaustedNow(state, limit, agent) ?? overNow(state, limit) ?? timeOver(state, limit, now);
    if (met !== null) return spentWords(state, limit, met);
  }
  return null;
}

function spentWords(state: RunState, { agent, scope, budget }: Limit, { what, spent }: Met): string {
  const name = scope === 'run' ? 'main' : (state.agents.get(agent)?.name ?? agent);
  const whose = scope === 'run' ? "the run's" : `${name}'s`;
  const used = `${amountText(what, spent)} of ${amountText(what, budget[KEYS[what]] ?? spent)}`;
  return `${whose} budget is spent (${used}): give it more first (\`budget ${name} …\` in lines, b on its card), then send again`;
}

type Met = Pick<Exhausted, 'what' | 'spent'>;

/** What was met when the limit's own agent, or this one, ended; it counts while the limit is the same. */
function exhaustedNow(state: RunState, { agent: at, budget }: Limit, agent: AgentId): Met | null {
  const met = state.agents.get(at)?.exhausted;
  if (met === undefined || budget[KEYS[met.what]] !== met.limit) return null;
  return at === agent || state.agents.get(agent)?.error?.startsWith(EXCEEDED) === true ? met : null;
}

function overNow(state: RunState, { agent, budget: { maxTokens, maxCost } }: Limit): Met | null {
  const used = settledOf(state, agent);
  if (maxTokens !== undefined && used.tokens >= maxTokens) return { what: 'tokens', spent: used.tokens };
  return maxCost !== undefined && used.cost >= maxCost ? { what: 'cost', spent: used.cost } : null;
}

/** An amount of what a limit counts, for people. */
export function amountText(what: Exhausted['what'], amount: number): string {
  if (what === 'cost') return `$${amount.toFixed(toMicro(amount) % 10_000 === 0 ? 2 : 4)}`;
  return what === 'time' ? `${Math.round(amount / 1000)} s` : `${amount} tokens`;
}

const OWNER = {
  run: "the run's",
  agent: "the agent's",
  day: "the day's",
  model: "the model's daily",
} as const satisfies Readonly<Record<Exhausted['scope'], string>>;

/** Whose limit it is, on what: `the run's cost`. */
export const limitText = ({ scope, what }: Pick<Exhausted, 'scope' | 'what'>): string => `${OWNER[scope]} ${what}`;

const EXCEEDED = 'Budget exceeded';

/** In words for the model, the card and the result: whose limit, the rule where it is known, what to do. O092 */
export function exhaustedText(exhausted: Exhausted, from?: Reason): string {
  const { what, spent, limit } = exhausted;
  const used = `${amountText(what, spent)} of ${amountText(what, limit)} used, and the next step does not fit`;
  return `${EXCEEDED}: ${limitText(exhausted)} (${used}); ${whatToDo(exhausted, from)}`;
}

const KEYS = { tokens: 'maxTokens', cost: 'maxCost', time: 'maxDuration' } as const;
const FLAGS = { tokens: '--max-tokens', cost: '--max-cost', time: '--max-duration' } as const;

function whatToDo({ scope, what }: Exhausted, from: Reason | undefined): string {
  const where = from === undefined || from.layer === 'default' ? '' : `, set by ${reasonText(from)}`;
  if (scope === 'day' || scope === 'model') return `it is free again tomorrow${where}`;
  if (scope === 'run') return `${FLAGS[what]} or budgets.run.${KEYS[what]} sets it${where}`;
  return `the plan's task or budgets.agent.${KEYS[what]} sets it${where}`;
}

/** The limit of a budget that `what` names. */
export const keyOf = (what: Exhausted['what']): keyof Budget => KEYS[what];
