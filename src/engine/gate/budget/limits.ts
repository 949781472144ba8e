/** The limits that apply to an agent: its own, those of all its ancestors, the run's, and the rules' daily limits; how much of each is used,
 * when time is up, and the texts about them. Pure. What a call may use of them is decided in reserve.ts. */
import { type Budget, limitWords } from '../../../domain/budget.ts';
import { WARNED_AT_ESTIMATE } from '../../../domain/plan/estimate.ts';
import { type AgentId, type Millis, parentOf, ROOT } from '../../../domain/ids.ts';
import { type Reason, reasonText } from '../../../domain/reason.ts';
import * as events from '../../../events/index.ts';

/** A warning is given when this part of a limit is used. */
const WARN_AT = 0.8;
/** Clock corrections below this do not count as going backwards. */
const CLOCK_SLACK: Millis = 1000;

export type Exhausted = Extract<events.EventBody, { type: 'budget.exhausted' }>;

/** A daily limit on all runs or on one model, with what is used and reserved of it now. */
export interface DayLimitNow {
  readonly scope: 'day' | 'model';
  /** For a model's limit, the model pattern of the rule. */
  readonly model: string | null;
  readonly budget: Budget;
  readonly used: { readonly tokens: number; readonly cost: number };
  readonly from: Reason;
}

export interface Limit {
  readonly agent: AgentId;
  readonly scope: Exhausted['scope'];
  readonly budget: Budget;
  /** The part that is reserved for mandatory reviews and not available to this agent. */
  readonly reserved: Budget;
  /** For a daily limit, whose usage the ledger counts. */
  readonly day?: DayLimitNow;
}

/** All limits that apply: of the agent, its ancestors, the run and the day. */
export function limitsAbove(state: events.RunState, agent: AgentId, days: readonly DayLimitNow[] = []): Limit[] {
  const limits: Limit[] = [];
  for (let at: AgentId | null = agent; at !== null && at !== ROOT; at = parentOf(at)) {
    const budget = state.agents.get(at)?.budget;
    if (budget) limits.push({ agent: at, scope: 'agent', budget, reserved: NOTHING });
  }
  limits.push({ agent: ROOT, scope: 'run', budget: state.budget, reserved: events.reservedForReviews(state, agent) });
  for (const day of days) limits.push({ agent, scope: day.scope, budget: day.budget, reserved: NOTHING, day });
  return limits;
}

const NOTHING: Budget = {};
export const isCounted = ({ maxTokens, maxCost }: Budget): boolean => maxTokens !== undefined || maxCost !== undefined;

/** Amounts used by the limit's agent and its descendants, or on the day; `reserved`: with what calls in flight have reserved. */
export function usedOf(
  state: events.RunState,
  { agent, day }: Limit,
  how: 'reserved' | 'settled' = 'reserved',
): DayLimitNow['used'] {
  if (day !== undefined) return day.used;
  const { limitTokens: tokens, cost, reservedTokens, reservedCost } = events.committed(state, agent);
  return how === 'reserved' ? { tokens, cost } : { tokens: tokens - reservedTokens, cost: cost - reservedCost };
}

/** What a call may use of time limits: everything, or all but the time for the agent's closing answer. */
export type TimeFor = 'whole' | 'closing reserved';

/** Milliseconds of a limit reserved for the closing answer: a fifth, at most a minute. */
const closingTime = (maxDuration: Millis, time: TimeFor): Millis =>
  time === 'whole' ? 0 : Math.min(60_000, Math.floor(maxDuration / 5));

/** Milliseconds that are left of a limit; Infinity where it does not limit time. */
function leftOf(state: events.RunState, { agent, budget, reserved }: Limit, now: Millis, time: TimeFor): Millis {
  const { maxDuration: most } = budget;
  return most === undefined
    ? Infinity
    : most - (reserved.maxDuration ?? 0) - closingTime(most, time) - timeOf(state, agent, now);
}

/** The time limit that is used up, or null. When the clock went backwards, the time counts as used up. */
export function timeOver(state: events.RunState, limit: Limit, now: Millis, time: TimeFor = 'whole'): Exhausted | null {
  if (leftOf(state, limit, now, time) > 0) return null;
  const { agent, scope, budget } = limit;
  const { maxDuration: most = 0 } = budget;
  const spent = reportedTime(timeOf(state, agent, now), most);
  return { type: 'budget.exhausted', agent, scope, what: 'time', spent, limit: most };
}

const reportedTime = (spent: Millis, limit: Millis): Millis => (Number.isFinite(spent) ? spent : limit);

/** Running time of an agent plus that of all its descendants, also while they ran beside it. The run has a single clock. */
export function timeOf(state: events.RunState, agent: AgentId, now: Millis): Millis {
  const one = state.agents.get(agent);
  if (one === undefined) return 0;
  if (isBackwards(one, now)) return Infinity;
  const below = agent === ROOT ? [] : one.children;
  return below.reduce((sum, child) => sum + timeOf(state, child, now), events.elapsedOf(one, now));
}

const isBackwards = ({ runningSince }: events.AgentState, now: Millis): boolean =>
  !(now >= (runningSince ?? -Infinity) - CLOCK_SLACK);

/** Milliseconds that the agent and its ancestors may still run; Infinity without a time limit. */
export const timeLeft = (state: events.RunState, agent: AgentId, now: Millis, time: TimeFor = 'whole'): Millis =>
  Math.max(0, Math.min(...limitsAbove(state, agent).map((limit) => leftOf(state, limit, now, time))));

/** Milliseconds until the next time warning is due; Infinity when there is none. */
export function timeToWarning(state: events.RunState, agent: AgentId, now: Millis): Millis {
  const remaining = limitsAbove(state, agent).flatMap((limit) => {
    const { maxDuration } = limit.budget;
    if (maxDuration === undefined || state.warned.includes(warnedKey(limit, 'time'))) return [];
    return [maxDuration * WARN_AT - timeOf(state, limit.agent, now)];
  });
  return Math.min(Infinity, ...remaining);
}

/** The time limit that ended `agent`, as an event. */
export function timeExhausted(
  state: events.RunState,
  agent: AgentId,
  now: Millis,
  time: TimeFor = 'whole',
): Exhausted | null {
  const over = limitsAbove(state, agent).map((limit) => timeOver(state, limit, now, time));
  return over.find((one) => one !== null) ?? null;
}

/** The fold's key of a warning: once for each limit until the limit changes. */
const warnedKey = ({ agent, scope, day }: Limit, what: Exhausted['what']): string =>
  `${day?.model ?? (scope === 'agent' ? agent : scope)}:${what}`;

/** The warning that a task has used twice the tokens of its estimate, once. The task continues. */
export function estimateWarning(state: events.RunState, agent: AgentId): readonly events.EventBody[] {
  const agentState = state.agents.get(agent);
  const task = state.plan?.tasks.find(({ id }) => id === agentState?.taskId);
  if (agentState === undefined || task === undefined || state.warned.includes(events.estimateKey(agent))) return [];
  const limit = task.estimatedTokens * WARNED_AT_ESTIMATE;
  const spent = events.tokensOfAgent(agentState);
  if (limit === 0 || spent < limit) return [];
  return [{ type: 'budget.warned', agent, scope: 'agent', what: 'tokens', spent, limit, estimate: true }];
}

/** Warnings for limits of which 80 % are used and that have no warning yet. */
export const warnings = (
  state: events.RunState,
  agent: AgentId,
  now: Millis,
  days: readonly DayLimitNow[] = [],
): readonly events.EventBody[] =>
  limitsAbove(state, agent, days).flatMap((limit) =>
    WHATS.flatMap((what): events.EventBody[] => {
      const { agent: at, scope, budget, day } = limit;
      const most = budget[KEYS[what]] ?? 0;
      if (most === 0 || state.warned.includes(warnedKey(limit, what))) return [];
      const spent = what === 'time' ? timeOf(state, at, now) : usedOf(state, limit, 'settled')[what];
      if (spent < most * WARN_AT) return [];
      const warning = {
        agent: at,
        ...(typeof day?.model === 'string' ? { of: day.model } : {}),
        scope,
        what,
        spent: reportedTime(spent, most),
        limit: most,
      };
      return [{ type: 'budget.warned', ...warning }];
    }),
  );

/** Why an ended agent could make no call if it were revived: its own limit, an ancestor's or the run's is used up, or
 * was too small for its last step. Null when there is room, or the limit was raised since. */
export function spentLimit(state: events.RunState, agent: AgentId, now: Millis): string | null {
  for (const limit of limitsAbove(state, agent)) {
    const met = exhaustedNow(state, limit, agent) ?? overNow(state, limit) ?? timeOver(state, limit, now);
    if (met !== null) return spentText(state, limit, met);
  }
  return null;
}

function spentText(state: events.RunState, { agent, scope, budget }: Limit, { what, spent }: Met): string {
  const name = scope === 'run' ? 'main' : (state.agents.get(agent)?.name ?? agent);
  const whose = scope === 'run' ? "the run's" : `${name}'s`;
  const used = `${amountText(what, spent)} of ${amountText(what, budget[KEYS[what]] ?? spent)}`;
  return `${whose} budget is spent (${used}): give it more first (\`budget ${name} …\` in line mode, b on its card), then send again`;
}

type Met = Pick<Exhausted, 'what' | 'spent'>;

/** The limit that ended its own agent or this one; it counts while the limit is unchanged. */
function exhaustedNow(state: events.RunState, { agent: at, budget }: Limit, agent: AgentId): Met | null {
  const met = state.agents.get(at)?.exhausted;
  if (met === undefined || budget[KEYS[met.what]] !== met.limit) return null;
  return at === agent || state.agents.get(agent)?.endedBy?.is === 'limit' ? met : null;
}

function overNow(state: events.RunState, limit: Limit): Met | null {
  const used = usedOf(state, limit, 'settled');
  const what = (['tokens', 'cost'] as const).find((one) => used[one] >= (limit.budget[KEYS[one]] ?? Infinity));
  return what === undefined ? null : { what, spent: used[what] };
}

export const amountText = (what: Exhausted['what'], amount: number): string => limitWords(KEYS[what], amount);

export const OWNERS = {
  run: "the run's",
  agent: "the agent's",
  day: "the day's",
  model: "the model's daily",
} as const satisfies Readonly<Record<Exhausted['scope'], string>>;

/** The owner and kind of a limit: `the run's cost`. */
export const limitText = ({ scope, what }: Pick<Exhausted, 'scope' | 'what'>): string => `${OWNERS[scope]} ${what}`;

/** Text for the model, the card and the result: whose limit, the rule if known, and what to do. */
export function exhaustedText(exhausted: Exhausted, from?: Reason): string {
  const { what, spent, limit } = exhausted;
  const used = `${amountText(what, spent)} of ${amountText(what, limit)} used, and the next step does not fit`;
  return `Budget exceeded: ${limitText(exhausted)} (${used}); ${whatToDo(exhausted, from)}`;
}

export const WHATS = ['tokens', 'cost', 'time'] as const;
/** The budget key that each `what` stands for. */
export const KEYS = { tokens: 'maxTokens', cost: 'maxCost', time: 'maxDuration' } as const;
const FLAGS = { tokens: '--max-tokens', cost: '--max-cost', time: '--max-duration' } as const;

function whatToDo({ scope, what }: Exhausted, from: Reason | undefined): string {
  const where = from === undefined || from.layer === 'default' ? '' : `, set by ${reasonText(from)}`;
  if (scope === 'day' || scope === 'model') return `it is free again tomorrow${where}`;
  if (scope === 'run') return `${FLAGS[what]} or budgets.run.${KEYS[what]} sets it${where}`;
  return `the plan's task or budgets.agent.${KEYS[what]} sets it${where}`;
}
