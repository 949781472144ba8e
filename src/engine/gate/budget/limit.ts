/** Asks a person what to do when a limit is reached: once for each limit, however many agents wait for the answer. After
 * the answer each agent decides and reserves again. If nobody answers, the rules decide. */
import { type AgentId, providerOf, ROOT, type Usd } from '../../../domain/ids.ts';
import { typedLimit } from '../../../domain/budget.ts';
import { worstRates } from '../../../domain/models/provider.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { type Reason, reasonText } from '../../../domain/reason.ts';
import { unreachable } from '../../../domain/result.ts';
import { type ApprovalRequest, isForced, modelNow } from '../../../events/index.ts';
import * as policy from '../../../policy/index.ts';
import { type AskFault, orAborted, type Question, stopped } from '../context.ts';
import type { GateParts } from './parts.ts';
import type { Answer } from '../approvals.ts';
import type { Choice, Chosen } from './budgets.ts';
import { amountText, type Exhausted, exhaustedText, KEYS, limitText, OWNERS, timeOf } from './limits.ts';
import { optionFor, type Reservation } from './reserve.ts';
import { canUseModel } from '../text-protocol.ts';

/** A limit that was reached, before a choice is made. */
export interface LimitMet {
  readonly is: 'limit';
  readonly exhausted: Exhausted;
  readonly from?: Reason;
  /** The call that did not fit: its worst case, and a test whether it would fit with another model. */
  readonly call?: {
    readonly need: { readonly tokens: number; readonly cost: Usd };
    judge(model: ModelOption): Reservation;
  };
}

interface LimitContext {
  readonly parts: GateParts;
  readonly question: Question;
  readonly met: LimitMet;
  readonly signal: AbortSignal;
}

/** Null: the call is judged again. Otherwise how the agent ends. */
export async function atLimit(
  parts: GateParts,
  question: Question,
  met: LimitMet,
  signal: AbortSignal,
): Promise<AskFault | null> {
  const at: LimitContext = { parts, question, met, signal };
  if (signal.aborted) return stopped(signal);
  const key = keyFor(met);
  // In its last turn the agent has nothing left to choose.
  if (question.closing === true || parts.limits.exhausted.has(key)) return finish(at);
  if (!parts.options.person) return byRule(at);
  const openQuestion = parts.limits.open.get(key);
  const choice = await (openQuestion === undefined ? askPerson(at) : waitForAnswer(at, openQuestion.ended));
  if (signal.aborted) return stopped(signal);
  switch (choice.is) {
    case 'finish':
      return finish(at);
    case 'stop':
      return stop(at);
    case 'nobody':
      return byRule(at);
    case 'cheaper':
      // Each agent has its own model and conversation: a cheaper model for one may not be cheaper for another.
      switchToCheaper(at, openQuestion === undefined ? choice.model : cheaperFor(at)?.model);
      return null;
    case 'add':
    case 'gone':
    case 'changed':
      return null;
    default:
      return unreachable(choice);
  }
}

/** The rule is part of the key because two rules may set the same figure for two models. */
const keyFor = ({ exhausted, from }: LimitMet): string =>
  `${limitKey(exhausted)}${from === undefined ? '' : `:${from.rule}`}`;

/** Asks for all agents at this limit and carries out the part of the answer that concerns them all. */
async function askPerson(at: LimitContext): Promise<Chosen> {
  const { parts, met } = at;
  const { limits } = parts;
  const rules = parts.rules();
  const key = keyFor(met);
  const { promise, resolve, reject } = Promise.withResolvers<Chosen>();
  const changed = new AbortController();
  // Waiting agents learn of a fault of the log from this agent's own failure.
  promise.catch(() => undefined);
  limits.open.set(key, { agent: ownerOf(met.exhausted), ended: promise, onChange: () => changed.abort('changed') });
  try {
    const choice = await askUntilAnswered(at, changed.signal);
    if (choice.is === 'add') raiseLimit(parts, met.exhausted, choice.to);
    const finishes = choice.is === 'nobody' && rules.atLimit?.value !== 'stop';
    if (choice.is === 'finish' || finishes) limits.exhausted.add(key);
    resolve(choice);
    return choice;
  } catch (error) {
    reject(error);
    throw error;
  } finally {
    limits.open.delete(key);
  }
}

/** Waits for the answer that another agent asked for. Like that agent's, its clock is paused. */
async function waitForAnswer({ parts, question, met, signal }: LimitContext, ended: Promise<Chosen>): Promise<Chosen> {
  const { recorder } = parts;
  const { agent } = question.order;
  const reason = `waiting for the answer about ${limitText(met.exhausted)} limit`;
  recorder.record({ type: 'agent.status', agent, status: 'waiting', reason, waitingFor: { is: 'limit' } });
  const value = await orAborted(ended, signal, { is: 'gone' });
  if (!signal.aborted) recorder.record({ type: 'agent.status', agent, status: 'running', reason: '' });
  return value;
}

/** Asks until the answer is one of the options, time is up, or the question has become pointless. */
async function askUntilAnswered(at: LimitContext, changed: AbortSignal): Promise<Chosen> {
  const { parts, question, met, signal } = at;
  const { approvals, world } = parts;
  const { order } = question;
  const [late, done] = [new AbortController(), new AbortController()];
  const within = parts.rules().answerWithin?.value ?? Infinity;
  const began = world.elapsed();
  if (within !== Infinity) void world.sleep(within, done.signal).then(() => late.abort('late'));
  const either = AbortSignal.any([signal, changed, late.signal]);
  const ownerName = ownerNameOf(at);
  try {
    for (let complaint = ''; ; ) {
      const offers = offersFor(at);
      const answer = await approvals.ask(order, null, requestFor(met.exhausted, ownerName, offers, complaint), either);
      if (changed.aborted) return { is: 'changed' };
      // The approval that times out at the same moment is recorded as denied; it is no denial by a person.
      if (late.signal.aborted || world.elapsed() - began >= within) return { is: 'nobody' };
      const choice = choiceOf(answer, met.exhausted, offers);
      if (typeof choice !== 'string') return choice;
      complaint = choice;
    }
  } finally {
    done.abort('answered');
  }
}

const ownerNameOf = ({ parts, question, met }: LimitContext): string =>
  parts.recorder.state().agents.get(met.exhausted.agent)?.name ?? question.order.role;

function choiceOf(answer: Answer, exhausted: Exhausted, offers: Offers): Chosen | string {
  if (answer.is === 'withdrawn') return { is: 'gone' };
  return answer.is === 'denied' ? { is: 'finish' } : choiceFrom(answer.text, exhausted, offers);
}

const ownerOf = ({ scope, agent }: Exhausted): AgentId => (scope === 'run' ? ROOT : agent);

/** The least time to add, in milliseconds; with less, the question would come back at once. */
const SOME_TIME = 60_000;
/** An addition pays for at least this many calls. */
const SOME_CALLS = 2;

function offersFor(at: LimitContext): Offers {
  const { exhausted, from, call } = at.met;
  const { what } = exhausted;
  const cheaper = cheaperFor(at);
  const ceiling = ceilingOf(at.parts, exhausted, from);
  const need = what === 'time' || call === undefined ? SOME_TIME : SOME_CALLS * call.need[what];
  return { add: addition(exhausted, need, ceiling.most), rule: ceiling.rule, cheaper };
}

/** The most that the rules allow, and the rule; null where nothing may ever be added. */
function ceilingOf(
  { rules, recorder }: GateParts,
  { scope, agent, what }: Exhausted,
  from: Reason = policy.builtIn('a limit by the day'),
): { readonly most: number | null; readonly rule: Reason } {
  const key = KEYS[what];
  if (scope === 'day' || scope === 'model') return { most: null, rule: from };
  const role = recorder.state().agents.get(agent)?.role ?? '';
  const { most = MOST[what], rule } =
    scope === 'run' ? policy.runCeiling(key, rules()) : policy.agentCeiling(role, key, rules());
  return { most, rule };
}

function raiseLimit(parts: GateParts, exhausted: Exhausted, asked: number): void {
  const { recorder, world } = parts;
  const agent = ownerOf(exhausted);
  const state = recorder.state();
  // The run's clock continues while a person thinks; the added time counts from the answer.
  const meanwhile = exhausted.what === 'time' ? timeOf(state, agent, world.now()) - exhausted.spent : 0;
  const to = Math.min(ceilingOf(parts, exhausted).most ?? asked, asked + Math.max(0, meanwhile));
  const now = agent === ROOT ? state.budget : (state.agents.get(agent)?.budget ?? {});
  recorder.record({ type: 'budget.changed', agent, budget: { ...now, [KEYS[exhausted.what]]: to }, by: 'person' });
}

/** The cheapest model beside the agent's own that may be used and whose call fits; null when there is none. */
function cheaperFor({ parts, question: { order }, met: { call } }: LimitContext): Offers['cheaper'] {
  const { models, recorder, providers } = parts;
  const rules = parts.rules();
  const state = recorder.state();
  // A model that a rule sets is never replaced, nor any model when fallback is denied.
  if (call === undefined || rules.modelFallback.value === 'deny' || isForced(state, order.agent)) return null;
  const known = models.models();
  const own = optionFor(known, modelNow(state, order));
  const fitting = known.flatMap((model): { model: ModelOption; worst: Usd }[] => {
    if (!model.usable.yes || !canUseModel(order, model) || model.id === policy.OFFLINE || !isCheaper(model, own))
      return [];
    if (providers.of(providerOf(model.id)).isClosed()) return [];
    if ((policy.modelProblem(model.id, rules) ?? policy.priceProblem(model.price, rules)) !== null) return [];
    const reservation: Reservation = call.judge(model);
    return reservation.ok ? [{ model, worst: reservation.cost }] : [];
  });
  return fitting.toSorted((a, b) => a.worst - b.worst)[0] ?? null;
}

function isCheaper({ id, price }: ModelOption, own: ModelOption | undefined): boolean {
  if (own === undefined || id === own.id || price === null || own.price === null) return false;
  const [a, b] = [worstRates(price, 0), worstRates(own.price, 0)];
  return a.input <= b.input && a.output <= b.output && a.input + a.output < b.input + b.output;
}

/** `to` is undefined when no cheaper model fits this agent; it then reaches the limit again and is asked about itself. */
function switchToCheaper(
  { parts: { recorder }, question: { order } }: LimitContext,
  to: ModelOption | undefined,
): void {
  const from = modelNow(recorder.state(), order);
  if (to === undefined || to.id === from) return;
  const rule = 'chosen by a person at a limit';
  recorder.record({ type: 'model.fallback', agent: order.agent, from, to: to.id, cause: 'budget', rule });
}

/** Decides by the rules when nobody can be asked or nobody answered. */
function byRule(at: LimitContext): AskFault {
  const { atLimit: rule } = at.parts.rules();
  return rule?.value === 'stop' ? stop(at, reasonText(rule.from)) : finish(at);
}

/** Ends the agent with its partial result. The limit is recorded once, whether or not a closing answer still fits. */
function finish({ parts, question, met: { exhausted, from } }: LimitContext): AskFault {
  const { recorder, closings } = parts;
  const { agent } = question.order;
  if (!closings.ended.has(agent)) recorder.record(exhausted);
  closings.ended.add(agent);
  return { is: 'budget', text: exhaustedText(exhausted, from) };
}

/** Stops the run, and the agent with it, so that it can be resumed. */
function stop({ parts, question, met: { exhausted, from } }: LimitContext, rule = 'chosen by a person'): AskFault {
  const { agent } = question.order;
  const reason = exhaustedText(exhausted, from);
  const text = `${reason} (stopped: ${rule})`;
  const endedBy = { is: 'limit' } as const;
  parts.recorder.record(exhausted, { type: 'agent.status', agent, status: 'interrupted', reason, endedBy });
  parts.fail(text, 'budget');
  return { is: 'stopped', text };
}

interface Offers {
  /** The limit before and after the offer, and the highest that an amount in the answer may make it; null when nothing may be added. */
  readonly add: { readonly from: number; readonly to: number; readonly most: number } | null;
  readonly rule: Reason;
  readonly cheaper: { readonly model: ModelOption; readonly worst: Usd } | null;
}

const MOST = { cost: 1e6, tokens: 1e12, time: 1e10 } as const satisfies Readonly<Record<Exhausted['what'], number>>;

/** `need`: the worst case of the call that did not fit. `most`: null where nothing may ever be added. */
function addition(exhausted: Exhausted, need: number, most: number | null): Offers['add'] {
  const { limit, spent } = exhausted;
  const from = Math.max(limit, spent);
  if (most === null || most <= limit) return null;
  const step = STEPS[exhausted.what];
  // Rounded up to whole cents, thousands or seconds, which are easier to judge.
  const to = Math.ceil((from + Math.max(limit, need)) / step - 1e-9) * step;
  return { from: limit, to: Math.min(most, Number(to.toFixed(6))), most };
}

const STEPS = { cost: 0.01, tokens: 1000, time: 1000 } as const;

/** The whole question: whose limit, how much of it is used, and the options. The first option spends nothing. */
function requestFor(exhausted: Exhausted, owner: string, offers: Offers, note: string): ApprovalRequest {
  const { what, spent, limit, scope, agent } = exhausted;
  const rule = reasonText(offers.rule);
  const options = [
    'finish: finish with partial result',
    ...(offers.add === null ? [] : [addText(what, offers.add)]),
    ...(offers.cheaper === null ? [] : [cheaperText(offers.cheaper)]),
    'stop: stop the run (resumable)',
  ];
  const used = `${amountText(what, spent)} of ${amountText(what, limit)} ${what === 'time' ? 'used' : 'used or reserved'}; the next step does not fit.`;
  return {
    action: 'budget',
    title: `${whose(scope, owner)} budget of ${amountText(what, limit)} is used up`,
    exact: [...(note === '' ? [] : [note]), used, ceilingText(what, offers), ...options].join('\n'),
    options,
    unsandboxed: false,
    because: rule,
    ...(offers.add === null ? {} : { adds: 1 }),
    same: `budget:${limitKey({ scope, agent, what, limit })}`,
  };
}

/** The owner before `budget of $2.00`; `owner` is the agent's name. */
const whose = (scope: Exhausted['scope'], owner: string): string => (scope === 'agent' ? `${owner}'s` : OWNERS[scope]);

/** Identifies a limit at its present figure; a raised limit has another key. */
const limitKey = ({ scope, agent, what, limit }: Pick<Exhausted, 'scope' | 'agent' | 'what' | 'limit'>): string =>
  `${scope === 'agent' ? agent : scope}:${what}:${limit}`;

function ceilingText(what: Exhausted['what'], { add, rule }: Offers): string {
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  return add.most < MOST[what]
    ? `At most ${amountText(what, add.most)}: ${reasonText(rule)}.`
    : 'No upper limit is set.';
}

const addText = (what: Exhausted['what'], { from, to }: NonNullable<Offers['add']>): string =>
  `add: ${amountText(what, to - from)} more, ${amountText(what, to)} in total (or type an amount)`;

function cheaperText({ model, worst }: NonNullable<Offers['cheaper']>): string {
  const price =
    model.price === null ? '' : ` ($${model.price.input} in, $${model.price.output} out per million tokens)`;
  return `cheaper: continue with ${model.label}${price}, at most ${amountText('cost', worst)} for the next call`;
}

/** The choice that an answer means, or a complaint when it is none of the options. An empty answer is the first option. */
function choiceFrom(text: string, exhausted: Exhausted, offers: Offers): Choice | string {
  const answer = text.trim();
  const [word = '', amount = ''] = answer.split(/[\s:]+/);
  switch (word.toLowerCase()) {
    case '':
    case 'finish':
      return { is: 'finish' };
    case 'stop':
      return { is: 'stop' };
    case 'cheaper':
      return offers.cheaper === null
        ? 'No cheaper allowed model fits.'
        : { is: 'cheaper', model: offers.cheaper.model };
    case 'add':
      return addChoice(answer, amount, exhausted, offers);
    default:
      return amountChoice(answer, word, exhausted, offers);
  }
}

/** The offer's own text contains an amount too; an answer equal to it accepts the offer. */
function addChoice(answer: string, amount: string, exhausted: Exhausted, offers: Offers): Choice | string {
  const { add, rule } = offers;
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  const isOffer = amount === '' || answer === addText(exhausted.what, add);
  return isOffer ? { is: 'add', to: add.to } : amountChoice(answer, amount, exhausted, offers);
}

/** An amount that the person typed, within what the rules allow. */
function amountChoice(answer: string, amount: string, exhausted: Exhausted, { add, rule }: Offers): Choice | string {
  const { what, limit, spent } = exhausted;
  const asked = amountFrom(what, amount);
  if (asked === null || asked <= 0) return `"${answer}" is not one of the answers.`;
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  const to = Math.max(limit, spent) + asked;
  if (to <= add.most) return { is: 'add', to };
  return `${amountText(what, asked)} more would be above ${amountText(what, add.most)}: ${reasonText(rule)}.`;
}

/** Parses `2.00`, `$2`, `200k` or `5m` as dollars, tokens or milliseconds; a bare time is in seconds. Null when it is no amount. */
const amountFrom = (what: Exhausted['what'], text: string): number | null =>
  typedLimit(KEYS[what], what === 'time' && /\d$/.test(text) ? `${text}s` : text);
