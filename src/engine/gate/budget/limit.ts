/**
 * At a limit a choice: a person is asked once for each limit, however many agents meet it, and all of them wait for the
 * one answer; then each decides and reserves again. Where nobody answers, the rules say. What may be chosen is
 * limit-offers.ts's.
 */
import { worstRates } from '../../../domain/models/price.ts';
import type { AgentId, Usd } from '../../../domain/ids.ts';
import { ROOT } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { Reason } from '../../../domain/reason.ts';
import { reasonText } from '../../../domain/reason.ts';
import { unreachable } from '../../../domain/result.ts';
import { agentCeiling, priceProblem, runCeiling } from '../../../policy/budgets.ts';
import { modelProblem, OFFLINE } from '../../../policy/models.ts';
import type { Rules } from '../../../policy/rules.ts';
import { builtIn } from '../../../policy/rules.ts';
import type { Answer } from '../tools/approvals.ts';
import { providerOf } from '../model/backoff.ts';
import { optionFor } from './reserve.ts';
import type { Reservation } from './reserve.ts';
import { stopped } from '../model/call-scope.ts';
import { canSpeak } from '../text-protocol/text-model.ts';
import type { AskFault, GateParts, LimitMet, Question } from '../gate.ts';
import type { Choice, Offers } from './limit-offers.ts';
import { addition, choiceFrom, limitKey, MOST, requestFor } from './limit-offers.ts';
import type { Exhausted } from './limits.ts';
import { exhaustedText, keyOf, limitText, timeOf } from './limits.ts';

/** Nobody chose: the asker was stopped, nobody answered in time, or the limit was changed meanwhile. */
type Ended = Choice | { readonly is: 'gone' | 'nobody' | 'changed' };

/** Open questions of one run, and limits that were given up. */
export interface LimitBook {
  readonly open: Map<string, { readonly agent: AgentId; readonly ended: Promise<Ended>; change(): void }>;
  /** Nobody is asked again of a limit that ended somebody, as long as it stays as it is. */
  readonly given: Set<string>;
  /** Those that the budgets were last compared with. */
  rules: Rules | null;
}

export const openLimitBook = (): LimitBook => ({ open: new Map(), given: new Set(), rules: null });

/** The limits of `agent` were changed from outside: whoever is asked of one of them looks again. */
export function limitChanged(book: LimitBook, agent: AgentId): void {
  for (const asked of book.open.values()) if (asked.agent === agent) asked.change();
}

/** Null: the call is judged again. Otherwise how the agent ends. */
export async function atLimit(
  parts: GateParts,
  question: Question,
  met: LimitMet,
  signal: AbortSignal,
): Promise<AskFault | null> {
  if (signal.aborted) return stopped(signal);
  // Its last turn: there is nothing left to choose.
  if (question.closing === true) return finish(parts, question, met);
  const key = keyFor(met);
  if (parts.limits.given.has(key)) return finish(parts, question, met);
  if (!parts.person) return byRule(parts, question, met);
  const before = parts.limits.open.get(key);
  const ended = await (before === undefined
    ? asking(parts, question, met, signal)
    : waiting(parts, question, met, before.ended, signal));
  if (signal.aborted) return stopped(signal);
  switch (ended.is) {
    case 'finish':
      return finish(parts, question, met);
    case 'stop':
      return stop(parts, question, met);
    case 'nobody':
      return byRule(parts, question, met);
    case 'cheaper':
      // Each by its own model and its own conversation: what is cheaper for one may not be for another.
      goOnCheaper(parts, question, before === undefined ? ended.model : cheaperFor(parts, question, met)?.model);
      return null;
    case 'add':
    case 'gone':
    case 'changed':
      return null;
    default:
      return unreachable(ended);
  }
}

/** Two rules may set the same figure for two models. */
const keyFor = ({ exhausted, from }: LimitMet): string =>
  `${limitKey(exhausted)}${from === undefined ? '' : `:${from.rule}`}`;

/** Asks, as the only one, and carries out what concerns all. */
async function asking(parts: GateParts, question: Question, met: LimitMet, signal: AbortSignal): Promise<Ended> {
  const { limits, rules } = parts;
  const key = keyFor(met);
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const changed = new AbortController();
  // Who waits hears of a fault of the log from this agent's own failure.
  promise.catch(() => undefined);
  limits.open.set(key, { agent: ownerOf(met.exhausted), ended: promise, change: () => changed.abort('changed') });
  try {
    const ended = await answerOf(parts, question, met, { signal, changed: changed.signal });
    if (ended.is === 'add') add(parts, met.exhausted, ended.to);
    const finishes = ended.is === 'nobody' && rules.atLimit?.value !== 'stop';
    if (ended.is === 'finish' || finishes) limits.given.add(key);
    resolve(ended);
    return ended;
  } catch (error) {
    reject(error);
    throw error;
  } finally {
    limits.open.delete(key);
  }
}

/** Waits for the answer that another agent asked for; its clock stands still like that one's. */
async function waiting(
  { recorder }: GateParts,
  { order }: Question,
  { exhausted }: LimitMet,
  ended: Promise<Ended>,
  signal: AbortSignal,
): Promise<Ended> {
  const { agent } = order;
  const reason = `waits for the answer about ${limitText(exhausted)} limit`;
  recorder.record({ type: 'agent.status', agent, status: 'waiting', reason });
  const left = Promise.withResolvers<Ended>();
  const leave = (): void => left.resolve({ is: 'gone' });
  signal.addEventListener('abort', leave, { once: true });
  try {
    const value = await Promise.race([ended, left.promise]);
    if (!signal.aborted) recorder.record({ type: 'agent.status', agent, status: 'running', reason: '' });
    return value;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

interface Ends {
  readonly signal: AbortSignal;
  readonly changed: AbortSignal;
}

/** Asks until the answer is one of those offered, nobody answers, or the question is of no use any more. */
async function answerOf(
  parts: GateParts,
  question: Question,
  met: LimitMet,
  { signal, changed }: Ends,
): Promise<Ended> {
  const { approvals, rules, world } = parts;
  const { order } = question;
  const [late, done] = [new AbortController(), new AbortController()];
  const within = rules.answerWithin?.value ?? Infinity;
  const began = world.elapsed();
  if (within !== Infinity) void world.sleep(within, done.signal).then(() => late.abort('late'));
  const either = AbortSignal.any([signal, changed, late.signal]);
  const owner = nameOf(parts, order, met.exhausted);
  try {
    for (let note = ''; ; ) {
      const offers = offersFor(parts, question, met);
      const answer = await approvals.ask(order, null, requestFor(met.exhausted, owner, offers, note), either);
      if (changed.aborted) return { is: 'changed' };
      // Who answers in place of a person, when the time for it is over, says no.
      if (late.signal.aborted || world.elapsed() - began >= within) return { is: 'nobody' };
      const choice = choiceOf(answer, met.exhausted, offers);
      if (typeof choice !== 'string') return choice;
      note = choice;
    }
  } finally {
    done.abort('answered');
  }
}

const nameOf = ({ recorder }: GateParts, { role }: Question['order'], { agent }: Exhausted): string =>
  recorder.state().agents.get(agent)?.name ?? role;

function choiceOf(answer: Answer, exhausted: Exhausted, offers: Offers): Ended | string {
  if (answer.is === 'withdrawn') return { is: 'gone' };
  return answer.is === 'denied' ? { is: 'finish' } : choiceFrom(answer.text, exhausted, offers);
}

/** Whose budget is the limit. */
const ownerOf = ({ scope, agent }: Exhausted): AgentId => (scope === 'run' ? ROOT : agent);

/** Time to add, at least: less than a minute would be asked of again at once. */
const SOME_TIME = 60_000;
/** Calls that an addition should pay for, at least. */
const SOME_CALLS = 2;

function offersFor(parts: GateParts, question: Question, met: LimitMet): Offers {
  const { exhausted, from, call } = met;
  const { what } = exhausted;
  const cheaper = cheaperFor(parts, question, met);
  const ceiling = ceilingOf(parts, exhausted, from);
  const need = what === 'time' || call === undefined ? SOME_TIME : SOME_CALLS * call.need[what];
  return { add: addition(exhausted, need, ceiling.most), rule: ceiling.rule, cheaper };
}

/** What the rules allow at most; null where nothing may ever be added. */
function ceilingOf(
  { rules, recorder }: GateParts,
  { scope, agent, what }: Exhausted,
  from: Reason = builtIn('a limit by the day'),
): { readonly most: number | null; readonly rule: Reason } {
  const key = keyOf(what);
  if (scope === 'day' || scope === 'model') return { most: null, rule: from };
  const role = recorder.state().agents.get(agent)?.role ?? '';
  const { most = MOST[what], rule } = scope === 'run' ? runCeiling(key, rules) : agentCeiling(role, key, rules);
  return { most, rule };
}

/** More for whom the limit is of, from the moment it is written down. */
function add(parts: GateParts, exhausted: Exhausted, asked: number): void {
  const { recorder, world } = parts;
  const agent = ownerOf(exhausted);
  const state = recorder.state();
  // The run's clock goes on while a person thinks: the time that was given is from the answer on.
  const meanwhile = exhausted.what === 'time' ? timeOf(state, agent, world.now()) - exhausted.spent : 0;
  const to = Math.min(ceilingOf(parts, exhausted).most ?? asked, asked + Math.max(0, meanwhile));
  const now = agent === ROOT ? state.budget : (state.agents.get(agent)?.budget ?? {});
  recorder.record({ type: 'budget.changed', agent, budget: { ...now, [keyOf(exhausted.what)]: to }, by: 'person' });
}

/** The cheapest model beside the agent's own that may be used and whose call fits; null when there is none. */
function cheaperFor(parts: GateParts, { order }: Question, { call }: LimitMet): Offers['cheaper'] {
  const { models, rules, recorder, lines } = parts;
  const one = recorder.state().agents.get(order.agent);
  // Nothing takes the place of a model that a rule gives, and nothing where substitution is off.
  if (call === undefined || rules.modelFallback.value === 'deny' || (one?.forced ?? null) !== null) return null;
  const known = models.models();
  const own = optionFor(known, one?.model.used ?? order.model.used);
  const fitting = known.flatMap((model): { model: ModelOption; worst: Usd }[] => {
    if (!model.usable.yes || !canSpeak(order, model) || model.id === OFFLINE || !isCheaper(model, own)) return [];
    if (lines.isClosed(providerOf(model.id))) return [];
    if ((modelProblem(model.id, rules) ?? priceProblem(model.price, rules)) !== null) return [];
    const promise: Reservation = call.judge(model);
    return promise.ok ? [{ model, worst: promise.cost }] : [];
  });
  return fitting.toSorted((a, b) => a.worst - b.worst)[0] ?? null;
}

function isCheaper({ id, price }: ModelOption, own: ModelOption | undefined): boolean {
  if (own === undefined || id === own.id || price === null || own.price === null) return false;
  const [a, b] = [worstRates(price, 0), worstRates(own.price, 0)];
  return a.input <= b.input && a.output <= b.output && a.input + a.output < b.input + b.output;
}

/** `to` is undefined where this agent has none: it meets the limit again, and is asked by itself. */
function goOnCheaper({ recorder }: GateParts, { order }: Question, to: ModelOption | undefined): void {
  const from = recorder.state().agents.get(order.agent)?.model.used ?? order.model.used;
  if (to === undefined || to.id === from) return;
  const rule = 'chosen by a person at a limit';
  recorder.record({ type: 'model.fallback', agent: order.agent, from, to: to.id, cause: 'budget', rule });
}

/** Nobody can be asked, or nobody answered. */
function byRule(parts: GateParts, question: Question, met: LimitMet): AskFault {
  const { atLimit: rule } = parts.rules;
  return rule?.value === 'stop' ? stop(parts, question, met, reasonText(rule.from)) : finish(parts, question, met);
}

/** The agent ends with what it has. The limit is recorded once, whether its closing answer fits or not. */
function finish({ recorder, closings }: GateParts, { order }: Question, { exhausted, from }: LimitMet): AskFault {
  if (!closings.ended.has(order.agent)) recorder.record(exhausted);
  closings.ended.add(order.agent);
  return { is: 'budget', text: exhaustedText(exhausted, from) };
}

/** The run stops so that it can be resumed, the agent with it. */
function stop(
  parts: GateParts,
  { order }: Question,
  { exhausted, from }: LimitMet,
  rule = 'chosen by a person',
): AskFault {
  const text = `${exhaustedText(exhausted, from)} (stopped: ${rule})`;
  const reason = exhaustedText(exhausted, from);
  parts.recorder.record(exhausted, { type: 'agent.status', agent: order.agent, status: 'interrupted', reason });
  parts.pause(text, 'budget');
  return { is: 'stopped', text };
}
