/** State about the limits of one run that is not in its log: calls in flight, counted prompts, reserves for closing answers, the daily ledger. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { tokensOf, type Usage } from '../../../domain/budget.ts';
import { type AgentId, type CallId, fromMicro, type ModelId, toMicro, type Usd } from '../../../domain/ids.ts';
import { FREE, worstRates } from '../../../domain/models/provider.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { Turn } from '../../../domain/turn.ts';
import type { RunState } from '../../../events/index.ts';
import { entryHolds, type Rules } from '../../../policy/index.ts';
import type { DayCall, DayLedger, DayLimit } from '../../../ports/daily-budget.ts';
import type { ModelPort, ModelRequest } from '../../../ports/model.ts';
import type { Question, RunContext } from '../context.ts';
import { type DayLimitNow, limitsAbove, type TimeFor, usedOf } from './limits.ts';
import { CLOSING_OUTPUT, type ClosingNeed, ClosingReserves, optionFor, type Reservation } from './reserve.ts';

export interface Budgets extends RunContext {
  readonly models: Pick<ModelPort, 'models'>;
  readonly day: DayLedger | undefined;
  readonly limits: LimitBook;
  readonly prefixes: ReturnType<typeof openPrefixBook>;
  readonly inFlight: ReturnType<typeof openBudgetQueue>;
  /** What each agent's closing answer may need after its last call. Not stored: it is known again after the next call. */
  readonly closings: {
    readonly needs: ClosingReserves;
    /** Agents that end because of a limit that is already in the log. */
    readonly ended: Set<AgentId>;
  };
}

export const openBudgets = (): Pick<Budgets, 'limits' | 'prefixes' | 'inFlight' | 'closings'> => ({
  limits: { open: new Map(), exhausted: new Set(), watchers: new Set(), rules: null },
  prefixes: openPrefixBook(),
  inFlight: openBudgetQueue(),
  closings: { needs: new ClosingReserves(), ended: new Set() },
});

/** What a person may choose at a limit. */
export type Choice =
  | { readonly is: 'add'; readonly to: number }
  | { readonly is: 'finish' | 'stop' }
  | { readonly is: 'cheaper'; readonly model: ModelOption };

/** `gone`: the asking agent was stopped; `nobody`: no answer in time; `changed`: the limit was changed meanwhile. */
export type Chosen = Choice | { readonly is: 'gone' | 'nobody' | 'changed' };

/** Open questions about limits of one run, and limits that ended an agent. */
export interface LimitBook {
  readonly open: Map<string, { readonly agent: AgentId; readonly ended: Promise<Chosen>; onChange(): void }>;
  /** Nobody is asked again about these limits as long as they stay unchanged. */
  readonly exhausted: Set<string>;
  /** Called when any limit has changed: they watch the time of steps in progress. */
  readonly watchers: Set<() => void>;
  /** The rules that the budgets were last compared with. */
  rules: Rules | null;
}

/** Call when the limits of `agent` were changed from outside: open questions about them are withdrawn and judged again. */
export function limitChanged(book: LimitBook, agent: AgentId): void {
  for (const asked of book.open.values()) if (asked.agent === agent) asked.onChange();
}

// Calls in flight reserve part of shared limits. Calls that fit once others have ended wait in one queue, first come, first served.

interface Waiter {
  readonly ready: () => boolean;
  readonly go: () => void;
}

function openBudgetQueue() {
  const calls = new Set<CallId>();
  const queue = new Set<Waiter>();
  let turnOf: Waiter | null = null;
  const advance = (): void => {
    const [first] = queue;
    if (first === undefined || turnOf !== null || !first.ready()) return;
    turnOf = first;
    first.go();
  };
  const done = (): void => {
    turnOf = null;
    advance();
  };
  return {
    /** Call when the waiter whose turn it was has begun, or never will. */
    done,
    /** Registers a call that has its reservation; returns the function that ends it. */
    begin(call: CallId): () => void {
      calls.add(call);
      return () => {
        calls.delete(call);
        advance();
      };
    },
    /** Resolves when `ready` returns true and every earlier waiter has begun, or when `signal` is aborted. */
    turn: (ready: () => boolean, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const go = (): void => {
          queue.delete(waiter);
          signal.removeEventListener('abort', go);
          resolve();
          if (turnOf !== waiter) advance();
        };
        const waiter: Waiter = { ready, go };
        queue.add(waiter);
        signal.addEventListener('abort', go, { once: true });
        if (signal.aborted) go();
        else advance();
      }),
    /** The state without the reservations of calls in flight. Reservations that a crash left open stay. */
    without: (state: RunState): RunState => ({
      ...state,
      agents: new Map(
        [...state.agents].map(([id, one]) => [
          id,
          one.open.some(({ call }) => calls.has(call))
            ? { ...one, open: one.open.filter(({ call }) => !calls.has(call)) }
            : one,
        ]),
      ),
    }),
  };
}

/** Shorter answers would be cut off too often. */
export const ENOUGH_OUTPUT = 4096;

/** Whether waiting for other calls to end would allow a longer answer. `later`: the reservation possible then. */
export const isWorthWaiting = (now: Reservation, later: () => Reservation): boolean => {
  if (now.ok ? now.maxOutput >= ENOUGH_OUTPUT : now.exhausted.what === 'time') return false;
  const then = later();
  return then.ok && (!now.ok || then.maxOutput > now.maxOutput);
};

// Upper bound of a request's tokens: the counted prefix plus one token per byte since, which no tokenizer exceeds. Forgetting a prefix is safe.

interface Prefix {
  readonly model: ModelId;
  /** Number of turns that the count covers, including the reply. */
  readonly turns: number;
  readonly tokens: number;
  /** The part that the provider read from its cache or wrote to it; the next request probably reads it. */
  readonly cached: number;
}

/** Bytes of a string in UTF-8; of any other value, of its JSON text. */
export const bytesOf = (value: unknown): number =>
  Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

type PrefixBook = Budgets['prefixes'];

export function openPrefixBook() {
  const prefixes = new Map<AgentId, Prefix>();
  return {
    /** The prefix of `turns`; undefined when another conversation or another model was counted. */
    of: (agent: AgentId, model: ModelId, turns: readonly Turn[]): Prefix | undefined => {
      const prefix = prefixes.get(agent);
      // A prefix ends with the counted reply. Without one, this is another conversation: ROOT's plan and its report, or an agent that was restarted.
      return prefix?.model === model && turns[prefix.turns - 1]?.by === 'model' ? prefix : undefined;
    },
    learn: (agent: AgentId, model: ModelId, turnsAsked: number, usage: Usage): void => {
      const cached = usage.cacheRead + usage.cacheWrite;
      prefixes.set(agent, { model, turns: turnsAsked + 1, tokens: tokensOf(usage), cached });
    },
    last: (agent: AgentId) => prefixes.get(agent),
    forget: (agent: AgentId): void => void prefixes.delete(agent),
  };
}

/** The most tokens that a request can send: the counted prefix, plus one token for each byte since. */
export function inputBound(prefixes: PrefixBook, { agent, model, turns, system, tools, format }: ModelRequest): number {
  const prefix = prefixes.of(agent, model, turns);
  if (prefix !== undefined) return prefix.tokens + bytesOf(turns.slice(prefix.turns));
  return bytesOf(system) + bytesOf(tools) + bytesOf(turns) + bytesOf(format ?? '');
}

// Limits keep a reserve for closing answers, so that each agent that has begun can report its work when a limit ends it.

/** Whether the agent should still be able to answer after this call. An agent without any reply has nothing to report. */
const isOrdinary = ({ purpose, closing, turns }: Question): boolean =>
  (purpose === undefined || purpose.is === 'work') && closing !== true && turns.some(({ by }) => by === 'model');

export const timeFor = (question: Question): TimeFor => (isOrdinary(question) ? 'closing reserved' : 'whole');

/** The reserves that this call must leave. A summary also leaves the agent's own reserve. */
export function closingReserves(
  { closings, recorder, prefixes }: Budgets,
  question: Question,
  model: ModelOption,
): { readonly reserves: (limit: AgentId) => ClosingNeed; readonly closing?: { readonly cached: number } } {
  const { agents } = recorder.state();
  const { agent } = question.order;
  const isOwnWork = question.purpose === undefined || question.purpose.is === 'work';
  for (const id of closings.needs.agents()) if ((agents.get(id)?.outcome ?? null) !== null) closings.needs.delete(id);
  const reserves = (limit: AgentId) => closings.needs.below(limit, isOwnWork ? agent : null);
  if (question.closing !== true) closings.ended.delete(agent);
  if (!isOrdinary(question)) return { reserves };
  return { reserves, closing: { cached: prefixes.of(agent, model.id, question.turns)?.cached ?? 0 } };
}

/** Bytes that each of `calls` results may have so that the closing answer still fits. At least 500. */
export function closingBytes({ recorder, prefixes, models }: Budgets, { agent }: WorkOrder, calls: number): number {
  const prefix = prefixes.last(agent);
  const model = prefix && optionFor(models.models(), prefix.model);
  if (prefix === undefined || model === undefined) return Infinity;
  const state = recorder.state();
  const { input, output } = worstRates(model.price ?? FREE, prefix.tokens);
  const remaining = limitsAbove(state, agent).map((limit) => {
    const used = usedOf(state, limit);
    const { maxTokens = Infinity, maxCost } = limit.budget;
    const tokens = maxTokens - (limit.reserved.maxTokens ?? 0) - used.tokens - CLOSING_OUTPUT;
    if (maxCost === undefined || input === 0) return tokens;
    const micro =
      toMicro(maxCost) - toMicro(limit.reserved.maxCost ?? 0) - toMicro(used.cost) - CLOSING_OUTPUT * output;
    return Math.min(tokens, micro / input);
  });
  // A token has at least one byte, so this many bytes certainly fit.
  return Math.max(500, Math.floor((Math.min(...remaining) - prefix.tokens) / Math.max(1, calls)));
}

// Daily limits, on all runs or on a model, are counted in a ledger that all processes share. Without such a rule there is no ledger.

const NONE: readonly DayLimitNow[] = [];

/** The daily limits on `model`; with `others` ended, as if this run's calls in flight had cost nothing. */
export function dayLimitsFor(
  { day, recorder, rules, inFlight }: Budgets,
  model: ModelId,
  others: 'counted' | 'ended' = 'counted',
): readonly DayLimitNow[] {
  if (day === undefined) return NONE;
  const state = others === 'counted' ? null : recorder.state();
  return matchingLimits(rules(), model).map(({ scope, from, limit, matches }) => {
    const used = day.today(matches, limit);
    const returned =
      state === null ? { tokens: 0, cost: 0 } : reservedInFlight(state, inFlight.without(state), matches);
    const cost = fromMicro(toMicro(used.cost) - toMicro(returned.cost));
    return {
      scope,
      from,
      model: limit.model,
      budget: limit.budget,
      used: { tokens: used.tokens - returned.tokens, cost },
    };
  });
}

interface MatchingLimit extends Pick<DayLimitNow, 'scope' | 'from'> {
  readonly limit: DayLimit;
  readonly matches?: (model: ModelId) => boolean;
}

function matchingLimits({ dayBudget, modelBudgets = [] }: Rules, model: ModelId): readonly MatchingLimit[] {
  const own = modelBudgets.flatMap(({ model: entry, budget }): MatchingLimit[] => {
    if (!entryHolds(entry, model)) return [];
    const limit = { model: entry.pattern, budget: budget.value };
    return [{ scope: 'model', from: budget.from, limit, matches: (id) => entryHolds(entry, id) }];
  });
  if (dayBudget === undefined) return own;
  return [{ scope: 'day', from: dayBudget.from, limit: { model: null, budget: dayBudget.value } }, ...own];
}

/** What `now` reserves and `without` does not, for models that match. */
function reservedInFlight(
  now: RunState,
  without: RunState,
  matches: ((model: ModelId) => boolean) | undefined,
): { readonly tokens: number; readonly cost: Usd } {
  let [tokens, micro] = [0, 0];
  for (const { id, open } of now.agents.values()) {
    if (open.length === 0) continue;
    const remaining = new Set(without.agents.get(id)?.open.map(({ call }) => call));
    for (const call of open) {
      if (remaining.has(call.call) || matches?.(call.model) === false) continue;
      tokens += call.tokens;
      micro += toMicro(call.cost);
    }
  }
  return { tokens, cost: fromMicro(micro) };
}

type DayReservation = Omit<DayCall, 'session'>;

/** Makes room for a call of at most this size where the day is shared with other machines; undefined where it is not. */
export function prepareDay(
  { day, rules }: Budgets,
  { id, price, outputLimit }: ModelOption,
  call: CallId,
  inputBound: number,
): Promise<void> | undefined {
  if (day?.prepare === undefined) return undefined;
  const { input, output } = worstRates(price ?? FREE, inputBound);
  const cost = Math.ceil(inputBound * input + outputLimit * output) / 1_000_000;
  const limits = matchingLimits(rules(), id).map(({ limit }) => limit);
  return day.prepare({ call, model: id, tokens: inputBound + outputLimit, cost }, limits);
}

/** Keeps no room any more for a call that is reserved or not made. */
export const releaseDay = ({ day }: Budgets, call: CallId): void => day?.release?.(call);

/** Reserves a call against the day; false when another process used up the limit first. Throws `LogFault`: without a ledger no call is made. */
export function reserveDay({ day, recorder, rules }: Budgets, reservation: DayReservation): boolean {
  if (day === undefined) return true;
  const limits = matchingLimits(rules(), reservation.model).map(({ limit }) => limit);
  return day.reserve({ session: recorder.session, ...reservation }, limits) === null;
}

/** Replaces a reservation by the true cost; otherwise the reservation stays charged. Throws `LogFault`. */
export const settleDay = ({ day, recorder }: Budgets, spent: Omit<DayReservation, 'model'>): void =>
  day?.settle({ session: recorder.session, ...spent });
