/**
 * At a limit a choice: a person is asked once for each limit, however many agents meet it, and all of them wait for the
 * one answer; then each decides and reserves again. Where nobody answers, the rules say.
 */
import { type AgentId, providerOf, ROOT, type Usd } from '../../../domain/ids.ts';
import { worstRates } from '../../../domain/models/price.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { type Reason, reasonText } from '../../../domain/reason.ts';
import { unreachable } from '../../../domain/result.ts';
import type { ApprovalRequest } from '../../../events/event.ts';
import { agentCeiling, priceProblem, runCeiling } from '../../../policy/budgets.ts';
import { modelProblem, OFFLINE } from '../../../policy/models.ts';
import { builtIn, type Rules } from '../../../policy/rules.ts';
import type { RunContext } from '../context.ts';
import type { Answer, Approvals } from '../approvals.ts';
import { type AskFault, type Question, stopped } from '../question.ts';
import { canSpeak } from '../text-protocol/text-model.ts';
import type { Budgets } from './budgets.ts';
import { amountText, type Exhausted, exhaustedText, keyOf, limitText, timeOf } from './limits.ts';
import { optionFor, type Reservation } from './reserve.ts';

/** A limit that was met, before a choice is made. */
export interface LimitMet {
  readonly is: 'limit';
  readonly exhausted: Exhausted;
  /** The rule, of a limit that one names. */
  readonly from?: Reason;
  /** The call that did not fit: what it may use at worst, and whether it would fit with another model. */
  readonly call?: {
    readonly need: { readonly tokens: number; readonly cost: Usd };
    judge(model: ModelOption): Reservation;
  };
}

/** What a choice at a limit is made with. */
export interface LimitParts extends RunContext {
  readonly budgets: Pick<Budgets, 'models' | 'closings'>;
  readonly limits: LimitBook;
  readonly approvals: Pick<Approvals, 'ask'>;
  /** Can a person be asked? */
  readonly person: boolean;
  /** Which providers are called no more. */
  readonly lines: { isClosed(provider: string): boolean };
}

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
  parts: LimitParts,
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
async function asking(parts: LimitParts, question: Question, met: LimitMet, signal: AbortSignal): Promise<Ended> {
  const { limits } = parts;
  const rules = parts.rules();
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
  { recorder }: LimitParts,
  { order }: Question,
  { exhausted }: LimitMet,
  ended: Promise<Ended>,
  signal: AbortSignal,
): Promise<Ended> {
  const { agent } = order;
  const reason = `waits for the answer about ${limitText(exhausted)} limit`;
  recorder.record({ type: 'agent.status', agent, status: 'waiting', reason, waitingFor: { is: 'limit' } });
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
  parts: LimitParts,
  question: Question,
  met: LimitMet,
  { signal, changed }: Ends,
): Promise<Ended> {
  const { approvals, world } = parts;
  const { order } = question;
  const [late, done] = [new AbortController(), new AbortController()];
  const within = parts.rules().answerWithin?.value ?? Infinity;
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

const nameOf = ({ recorder }: LimitParts, { role }: Question['order'], { agent }: Exhausted): string =>
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

function offersFor(parts: LimitParts, question: Question, met: LimitMet): Offers {
  const { exhausted, from, call } = met;
  const { what } = exhausted;
  const cheaper = cheaperFor(parts, question, met);
  const ceiling = ceilingOf(parts, exhausted, from);
  const need = what === 'time' || call === undefined ? SOME_TIME : SOME_CALLS * call.need[what];
  return { add: addition(exhausted, need, ceiling.most), rule: ceiling.rule, cheaper };
}

/** What the rules allow at most; null where nothing may ever be added. */
function ceilingOf(
  { rules, recorder }: LimitParts,
  { scope, agent, what }: Exhausted,
  from: Reason = builtIn('a limit by the day'),
): { readonly most: number | null; readonly rule: Reason } {
  const key = keyOf(what);
  if (scope === 'day' || scope === 'model') return { most: null, rule: from };
  const role = recorder.state().agents.get(agent)?.role ?? '';
  const { most = MOST[what], rule } = scope === 'run' ? runCeiling(key, rules()) : agentCeiling(role, key, rules());
  return { most, rule };
}

/** More for whom the limit is of, from the moment it is written down. */
function add(parts: LimitParts, exhausted: Exhausted, asked: number): void {
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
function cheaperFor(parts: LimitParts, { order }: Question, { call }: LimitMet): Offers['cheaper'] {
  const { budgets, recorder, lines } = parts;
  const rules = parts.rules();
  const one = recorder.state().agents.get(order.agent);
  // Nothing takes the place of a model that a rule gives, and nothing where substitution is off.
  if (call === undefined || rules.modelFallback.value === 'deny' || (one?.forced ?? null) !== null) return null;
  const known = budgets.models.models();
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
function goOnCheaper({ recorder }: LimitParts, { order }: Question, to: ModelOption | undefined): void {
  const from = recorder.state().agents.get(order.agent)?.model.used ?? order.model.used;
  if (to === undefined || to.id === from) return;
  const rule = 'chosen by a person at a limit';
  recorder.record({ type: 'model.fallback', agent: order.agent, from, to: to.id, cause: 'budget', rule });
}

/** Nobody can be asked, or nobody answered. */
function byRule(parts: LimitParts, question: Question, met: LimitMet): AskFault {
  const { atLimit: rule } = parts.rules();
  return rule?.value === 'stop' ? stop(parts, question, met, reasonText(rule.from)) : finish(parts, question, met);
}

/** The agent ends with what it has. The limit is recorded once, whether its closing answer fits or not. */
function finish(
  { recorder, budgets: { closings } }: LimitParts,
  { order }: Question,
  { exhausted, from }: LimitMet,
): AskFault {
  if (!closings.ended.has(order.agent)) recorder.record(exhausted);
  closings.ended.add(order.agent);
  return { is: 'budget', text: exhaustedText(exhausted, from) };
}

/** The run stops so that it can be resumed, the agent with it. */
function stop(
  parts: LimitParts,
  { order }: Question,
  { exhausted, from }: LimitMet,
  rule = 'chosen by a person',
): AskFault {
  const text = `${exhaustedText(exhausted, from)} (stopped: ${rule})`;
  const reason = exhaustedText(exhausted, from);
  const endedBy = { is: 'limit' } as const;
  parts.recorder.record(exhausted, {
    type: 'agent.status',
    agent: order.agent,
    status: 'interrupted',
    reason,
    endedBy,
  });
  parts.fail(text, 'budget');
  return { is: 'stopped', text };
}

// What a person may choose at a limit, in words, and what an answer means. Pure.

interface Offers {
  /** The limit as it would be, and the most that an amount in the answer may make of it; null when nothing may be added. */
  readonly add: { readonly from: number; readonly to: number; readonly most: number } | null;
  /** Why no more may be added than that. */
  readonly rule: Reason;
  readonly cheaper: { readonly model: ModelOption; readonly worst: Usd } | null;
}

/** As much as a budget can say. */
const MOST = { cost: 1e6, tokens: 1e12, time: 1e10 } as const satisfies Readonly<Record<Exhausted['what'], number>>;

type Choice =
  | { readonly is: 'add'; readonly to: number }
  | { readonly is: 'finish' }
  | { readonly is: 'stop' }
  | { readonly is: 'cheaper'; readonly model: ModelOption };

/** `need`: what the call that did not fit may use at worst. `most`: null where nothing may ever be added. */
function addition(exhausted: Exhausted, need: number, most: number | null): Offers['add'] {
  const { limit, spent } = exhausted;
  const from = Math.max(limit, spent);
  if (most === null || most <= limit) return null;
  const step = STEPS[exhausted.what];
  // Whole cents, thousands and seconds: an odd sum is hard to agree to.
  const to = Math.ceil((from + Math.max(limit, need)) / step - 1e-9) * step;
  return { from: limit, to: Math.min(most, Number(to.toFixed(6))), most };
}

const STEPS = { cost: 0.01, tokens: 1000, time: 1000 } as const;

/** The question, whole: whose limit, what is used of it, and the answers that there are. The first one spends nothing. */
function requestFor(exhausted: Exhausted, owner: string, offers: Offers, note: string): ApprovalRequest {
  const { what, spent, limit, scope, agent } = exhausted;
  const rule = reasonText(offers.rule);
  const options = [
    'finish: hand over what there is',
    ...(offers.add === null ? [] : [addText(what, offers.add)]),
    ...(offers.cheaper === null ? [] : [cheaperText(offers.cheaper)]),
    'stop: end the run; mimir resume goes on',
  ];
  const used = `${amountText(what, spent)} of ${amountText(what, limit)} are ${what === 'time' ? 'used' : 'used or promised'}, and the next step does not fit.`;
  return {
    action: 'budget',
    title: `${WHOSE[scope](owner)} limit of ${amountText(what, limit)} is met`,
    exact: [...(note === '' ? [] : [note]), used, ceilingText(what, offers), ...options].join('\n'),
    options,
    unsandboxed: false,
    because: rule,
    same: `budget:${limitKey({ scope, agent, what, limit })}`,
  };
}

/** In front of `limit of $2.00`; `owner` is the name of the agent whose budget it is. */
const WHOSE = {
  run: () => "the run's",
  agent: (owner: string) => `${owner}'s`,
  day: () => "the day's",
  model: () => "the model's daily",
} as const satisfies Readonly<Record<Exhausted['scope'], (owner: string) => string>>;

/** One limit, as it stands now: raised, it is another one. */
const limitKey = ({ scope, agent, what, limit }: Pick<Exhausted, 'scope' | 'agent' | 'what' | 'limit'>): string =>
  `${scope === 'agent' ? agent : scope}:${what}:${limit}`;

function ceilingText(what: Exhausted['what'], { add, rule }: Offers): string {
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  return add.most < MOST[what]
    ? `At most ${amountText(what, add.most)}: ${reasonText(rule)}.`
    : 'No rule says how much.';
}

const addText = (what: Exhausted['what'], { from, to }: NonNullable<Offers['add']>): string =>
  `add: ${amountText(what, to - from)} more, ${amountText(what, to)} in all (or type an amount)`;

function cheaperText({ model, worst }: NonNullable<Offers['cheaper']>): string {
  const price =
    model.price === null ? '' : ` ($${model.price.input} in, $${model.price.output} out per million tokens)`;
  return `cheaper: go on with ${model.label}${price}, at most ${amountText('cost', worst)} for the next call`;
}

/** What an answer means; a text when it means nothing that is offered. An answer without words is the first option. */
function choiceFrom(text: string, exhausted: Exhausted, offers: Offers): Choice | string {
  const said = text.trim();
  const [word = '', amount = ''] = said.toLowerCase().split(/[\s:]+/);
  switch (word) {
    case '':
    case 'finish':
      return { is: 'finish' };
    case 'stop':
      return { is: 'stop' };
    case 'cheaper':
      return offers.cheaper === null
        ? 'No cheaper model may be used and fits.'
        : { is: 'cheaper', model: offers.cheaper.model };
    case 'add':
      return added(said, amount, exhausted, offers);
    default:
      return typed(said, word, exhausted, offers);
  }
}

/** The offer's own words hold an amount as well: they are the offer, whatever it says. */
function added(said: string, amount: string, exhausted: Exhausted, offers: Offers): Choice | string {
  const { add, rule } = offers;
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  const isOffer = amount === '' || said === addText(exhausted.what, add);
  return isOffer ? { is: 'add', to: add.to } : typed(said, amount, exhausted, offers);
}

/** An amount of the person's own, within what the rules allow. */
function typed(said: string, amount: string, exhausted: Exhausted, { add, rule }: Offers): Choice | string {
  const { what, limit, spent } = exhausted;
  const asked = amountFrom(what, amount);
  if (asked === null || asked <= 0) return `"${said}" is none of the answers.`;
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  const to = Math.max(limit, spent) + asked;
  if (to <= add.most) return { is: 'add', to };
  return `${amountText(what, asked)} more would be above ${amountText(what, add.most)}: ${reasonText(rule)}.`;
}

const UNITS = {
  cost: { '': 1 },
  tokens: { '': 1, k: 1000, m: 1_000_000 },
  time: { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000 },
} as const satisfies Readonly<Record<Exhausted['what'], Readonly<Record<string, number>>>>;

/** `2.00`, `$2`, `200k`, `5m`: in dollars, tokens, milliseconds. Null when it is no amount. */
function amountFrom(what: Exhausted['what'], text: string): number | null {
  const [, digits, unit = ''] = /^\$?(\d{1,12}(?:\.\d{1,6})?)([a-z]*)$/.exec(text) ?? [];
  const units: Readonly<Record<string, number>> = UNITS[what];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (digits === undefined || factor === undefined) return null;
  const amount = Number(digits) * factor;
  return what === 'cost' ? amount : Math.round(amount);
}
