/** One call of a model: reserve, record, act, settle. Who may call when: provider-queue.ts; what follows a fault: retry.ts. */
import { limitTokens, type Usage } from '../../../domain/budget.ts';
import { CallId } from '../../../domain/ids.ts';
import { cappedEffort, withEffort } from '../../../domain/models/effort.ts';
import { FREE, worstRates } from '../../../domain/models/price.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { reasonText } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import { Permit } from '../../../policy/permit.ts';
import { answerProblem } from '../../../policy/same-model.ts';
import type { Tick } from '../../../ports/controls.ts';
import type { ModelFault, ModelPort, ModelRequest } from '../../../ports/model.ts';
import type { ToolPort } from '../../../ports/tool.ts';
import type { World } from '../../../ports/world.ts';
import { isReviewer } from '../../reviews/verdict-turn.ts';
import { ENOUGH_OUTPUT, isWorthWaiting } from '../budget/budget-queue.ts';
import type { Budgets } from '../budget/budgets.ts';
import { keepingFor, timeFor } from '../budget/closing-reserve.ts';
import { daysFor, promiseDay, settleDay } from '../budget/daily-budget.ts';
import { type Reservation, reserve, settle } from '../budget/reserve.ts';
import { inputBound } from '../budget/tokens.ts';
import type { LimitMet } from '../budget/limit.ts';
import type { Hold } from '../drain-latch.ts';
import { type Question, stopped } from '../question.ts';
import { asHeard, asSpoken } from '../text-protocol/text-model.ts';
import { type GateFault, type Step, stepSignal, warn, whyEnded } from './call-scope.ts';
import { bindingOf, keepToRules, permitFor, type RulesParts } from './model.ts';
import type { Pass } from './provider-queue.ts';
import { type WaitParts, whileWaiting } from './provider-wait.ts';
import { jsonSchemaOf, specOf } from './tool-specs.ts';

/** What a call is made with. */
export interface CallParts extends WaitParts, RulesParts {
  readonly models: ModelPort;
  readonly tools: ToolPort;
  /** Stands before each call while the run is handed over. */
  readonly hold: Pick<Hold, 'wait' | 'begin'>;
  readonly tick: (tick: Tick) => void;
}

/** A call that failed for a fault of the model or its provider. */
export interface BrokenCall {
  readonly is: 'broken';
  readonly fault: ModelFault;
  readonly call: CallId;
}

/** `pass` is told as soon as something comes back. */
export async function oneCall(
  parts: CallParts,
  question: Question,
  model: ModelOption,
  pass: Pass,
  signal: AbortSignal,
): Promise<Result<ModelReply, GateFault | BrokenCall>> {
  if (signal.aborted) return fail(stopped(signal));
  const step = stepSignal(parts, question.order, signal, timeFor(question));
  try {
    keepToRules(parts);
    const draft = draftOf(parts, question, model);
    // Judged anew for each try: others may have been waited for, and rules tightened meanwhile.
    const permit = permitFor(parts.rules(), model, draft.agent, draft.call);
    if (permit === null) return fail({ is: 'again' });
    const asked = await askingFor(parts, question, draft, { model, signal: step.signal });
    if (step.signal.aborted) return fail(whyEnded(parts, question.order, step, signal));
    let promise = judge(parts.budgets, asked);
    while (waitsForOthers(parts.budgets, asked, promise)) {
      const early = await othersEnd(parts, question, asked, signal);
      promise = judge(parts.budgets, asked);
      if (early !== null || !promise.ok) parts.budgets.underWay.done();
      if (early !== null) return fail(early);
    }
    const held = parts.hold.wait(signal);
    if (held !== null) return fail(await whenOpened(parts, held, signal));
    // From here to `model.started` nothing is waited for: what was judged is what is promised.
    if (!promise.ok) return fail(limitMet(parts.budgets, draft, asked, promise));
    return await act({ parts, question, model, pass, signal, step, permit }, draft, promise);
  } finally {
    step.end();
  }
}

/** Not begun while the run is handed over: all is judged again then. */
async function whenOpened(
  { budgets: { underWay } }: CallParts,
  held: Promise<void>,
  signal: AbortSignal,
): Promise<GateFault> {
  underWay.done();
  await held;
  return signal.aborted ? stopped(signal) : { is: 'again' };
}

/** What is asked for: by bytes, or as the provider counts where that does not fit. */
async function askingFor(
  parts: CallParts,
  question: Question,
  draft: ModelRequest,
  { model, signal }: { readonly model: ModelOption; readonly signal: AbortSignal },
): Promise<Asking> {
  const kept = keepingFor(parts.budgets, question, model);
  const byBytes = { agent: draft.agent, model, inputBound: inputBound(parts.budgets.prefixes, draft), ...kept };
  const first = judge(parts.budgets, byBytes);
  if (first.ok || first.exhausted.what === 'time') return byBytes;
  const exact = await counted(parts, draft, signal);
  return exact === null ? byBytes : { ...byBytes, inputBound: Math.min(byBytes.inputBound, exact) };
}

type Asking = Omit<Parameters<typeof reserve>[1], 'now' | 'days'>;

/** With `others` ended, as if calls that are under way had been promised nothing. */
function judge(budgets: Budgets, asked: Asking, others: 'counted' | 'ended' = 'counted'): Reservation {
  const { recorder, world, underWay } = budgets;
  const state = others === 'counted' ? recorder.state() : underWay.without(recorder.state());
  return reserve(state, { ...asked, now: world.now(), days: daysFor(budgets, asked.model.id, others) });
}

/** Does it fit as soon as calls that are under way have ended? */
const waitsForOthers = (budgets: Budgets, asked: Asking, now: Reservation): boolean =>
  isWorthWaiting(now, () => judge(budgets, asked, 'ended'));

/** The limit, and what can be said of the call for the choice that follows. */
function limitMet(
  budgets: Budgets,
  draft: ModelRequest,
  asked: Asking,
  { exhausted, from }: Extract<Reservation, { ok: false }>,
): LimitMet {
  const { input, output } = worstRates(asked.model.price ?? FREE, asked.inputBound);
  const cost = Math.ceil(asked.inputBound * input + ENOUGH_OUTPUT * output) / 1_000_000;
  return {
    is: 'limit',
    exhausted,
    ...(from === undefined ? {} : { from }),
    call: {
      need: { tokens: asked.inputBound + ENOUGH_OUTPUT, cost },
      judge: (model) => {
        const bound = inputBound(budgets.prefixes, { ...draft, model: model.id });
        return judge(budgets, { ...asked, model, inputBound: bound, ...(asked.closing && { closing: { cached: 0 } }) });
      },
    },
  };
}

/** Waits for its turn. Why the agent may not go on, null when it may. */
async function othersEnd(
  parts: CallParts,
  { order }: Question,
  asked: Asking,
  signal: AbortSignal,
): Promise<GateFault | null> {
  const { budgets } = parts;
  // It may have had its turn before, and not have fitted after all.
  budgets.underWay.done();
  const ready = (): boolean => !waitsForOthers(budgets, asked, judge(budgets, asked));
  const { early } = await whileWaiting(parts, order, signal, (say, ended) => {
    const reason = 'the budget is promised to calls of others; in line for what they leave';
    say({ reason, waitingFor: { is: 'budget' } });
    return budgets.underWay.turn(ready, ended);
  });
  return early;
}

/** A call id that is unique in the session. */
export const newCall = (world: World): CallId => CallId.parse(`call-${world.name(10)}`);

/** The request, but for how long the answer may be. */
function draftOf(parts: CallParts, question: Question, model: ModelOption): ModelRequest {
  const { order, turns, purpose, format } = question;
  const draft: ModelRequest = {
    model: model.id,
    agent: order.agent,
    call: newCall(parts.world),
    purpose: purpose ?? { is: 'work', task: order.task, role: order.role, findings: order.findings },
    system: order.system,
    tools: order.tools.flatMap((name) => specOf(parts.tools.tools, name)),
    // A copy: the conversation grows while a provider may still hold the request.
    turns: [...turns],
    maxOutputTokens: model.outputLimit,
    // Rules that were tightened meanwhile hold for the next call; a model that is known to take no effort is told of none.
    ...withEffort(model.effort === false ? undefined : cappedEffort(order.effort, parts.rules().maxEffort?.value)),
    format: format === undefined ? null : jsonSchemaOf(format),
    ...(question.closing === true && !isReviewer(order) ? { toolChoice: 'none' as const } : {}),
  };
  return asSpoken(parts, question, model, draft);
}

/** Vendors call their count an estimate: what they bill may be a little more. */
const COUNT_MARGIN = 1.02;

type Promised = Extract<Reservation, { ok: true }>;

/**
 * The input as the provider counts it, where a bound by bytes does not fit the limits; null where it can't say. Whoever
 * counted judges again: meanwhile others may have taken what was left.
 */
async function counted(parts: CallParts, draft: ModelRequest, signal: AbortSignal): Promise<number | null> {
  const tokens = (await parts.models.count?.(draft, signal)) ?? null;
  return tokens !== null && Number.isSafeInteger(tokens) && tokens > 0 ? Math.ceil(tokens * COUNT_MARGIN) : null;
}

interface Act {
  readonly parts: CallParts;
  readonly question: Question;
  readonly model: ModelOption;
  readonly pass: Pass;
  readonly signal: AbortSignal;
  readonly step: Step;
  readonly permit: Permit;
}

/** The permit, the promise and `model.started` are one step. */
async function act(
  { parts, question, model, pass, signal, step, permit }: Act,
  draft: ModelRequest,
  promise: Promised,
): Promise<Result<ModelReply, GateFault | BrokenCall>> {
  const { recorder, budgets } = parts;
  const held = Permit.spend(permit, bindingOf(parts.rules(), model, draft.agent, draft.call)).ok;
  if (!held || !promiseDay(budgets, { ...promise, call: draft.call, model: model.id })) {
    budgets.underWay.done();
    return fail({ is: 'again' });
  }
  const request = { ...draft, maxOutputTokens: promise.maxOutput };
  const asked = { parts, request, model, reserved: { tokens: promise.tokens, cost: promise.cost } };
  const { agent, call, effort } = request;
  const what = { model: model.id, purpose: request.purpose.is, reserved: asked.reserved };
  recorder.record({ type: 'model.started', agent, call, ...what, ...withEffort(effort) });
  if (promise.closing) budgets.closings.needs.set(agent, promise.closing);
  const end = budgets.underWay.begin(call);
  const ended = parts.hold.begin(`a reply for ${agent}`);
  budgets.underWay.done();
  try {
    return await answered(asked, { question, pass, signal, step });
  } finally {
    end();
    ended();
  }
}

/** The call itself, and what it cost. */
async function answered(
  asked: Asked,
  { question, pass, signal, step }: Pick<Act, 'question' | 'pass' | 'signal' | 'step'>,
): Promise<Result<ModelReply, GateFault | BrokenCall>> {
  const { parts, request, model } = asked;
  const { agent, call } = request;
  const { world } = parts;
  const began = world.elapsed();
  const reply = await parts.models.call(request, step.signal, (delta) => {
    pass.through();
    const named = delta.is === 'call' ? { tool: delta.tool } : {};
    parts.tick({ agent, is: delta.is, delta: delta.text, ...named });
  });
  if (!reply.ok) {
    broken(asked, reply.fault);
    if (reply.fault.is === 'aborted') return fail(whyEnded(parts, question.order, step, signal));
    return fail({ is: 'broken', fault: reply.fault, call });
  }
  pass.through();
  const why = otherModel(parts, model, reply.value);
  if (why !== null) {
    const fault = mismatch(model, reply.value, why);
    broken(asked, fault);
    return fail({ is: 'broken', fault, call });
  }
  const heard = asHeard(question, model, call, reply.value);
  return ok(finished(asked, heard, Math.round(world.elapsed() - began)));
}

/** Why a reply in another model's name may not be used, behind a sentence; null when it may. */
function otherModel({ models, rules }: CallParts, { id }: ModelOption, { model }: ModelReply): string | null {
  const terms = models.termsOf?.(id) ?? null;
  const problem = answerProblem(id, model, terms, rules());
  if (problem === null) return null;
  if (problem !== 'another model') return `, which is not allowed: ${reasonText(problem)}`;
  return terms === null ? '' : ` (if that is right, allow it by answersAs of the provider)`;
}

// How a call of a model ends in the log: with its reply, or broken. What it really used takes the place of what had been promised,
// and is never more than that.

/** A call that was asked, with what had been promised for it. */
interface Asked {
  readonly parts: CallParts;
  readonly request: ModelRequest;
  readonly model: ModelOption;
  readonly reserved: { readonly tokens: number; readonly cost: number };
}

/** Another model than the one that was asked: paid for, and nothing of it is used. `why`: what forbids it, or what allows it. */
const mismatch = ({ id }: ModelOption, { model, usage }: ModelReply, why: string): ModelFault => ({
  is: 'mismatch',
  message: `asked ${id}, but ${model} answered${why}; nothing of the answer was used`,
  spent: usage,
});

/** The end of a call without a reply: what had been promised is free again but for what was spent. */
function broken({ parts, request, model, reserved: promised }: Asked, fault: ModelFault): void {
  const { recorder, budgets } = parts;
  const { agent, call } = request;
  const settled =
    fault.spent === undefined ? null : settle(model, withinBound(fault.spent, request, promised), promised);
  recorder.record({
    type: 'model.failed',
    agent,
    call,
    model: model.id,
    cause: fault.is,
    message: fault.message,
    ...(settled === null ? {} : { usage: settled.usage, cost: settled.cost, priced: settled.priced }),
  });
  settleDay(budgets, { call, tokens: settled === null ? 0 : limitTokens(settled.usage), cost: settled?.cost ?? 0 });
  if (settled !== null) warn(budgets, agent);
}

/** Adapters bound the input by bytes; the gate knows better how much of it was counted before. */
function withinBound(spent: Usage, request: ModelRequest, promised: Asked['reserved']): Usage {
  const most = promised.tokens - request.maxOutputTokens;
  return spent.cacheRead + spent.cacheWrite > 0 ? spent : { ...spent, input: Math.min(spent.input, most) };
}

/** The reply, when its true price stands in place of what had been promised. */
function finished({ parts, request, model, reserved: promised }: Asked, reply: ModelReply, ms: number): ModelReply {
  const { recorder, budgets } = parts;
  const { agent, call } = request;
  const settled = settle(model, reply.usage, promised);
  recorder.record(
    {
      type: 'model.finished',
      agent,
      call,
      model: reply.model,
      usage: settled.usage,
      cost: settled.cost,
      priced: settled.priced,
      ...(settled.bounded ? { bounded: true } : {}),
      ...(reply.estimated === true && !settled.bounded ? { estimated: true } : {}),
      stopReason: reply.stopReason,
      ms,
      calls: reply.calls,
      ...(reply.opaque === undefined ? {} : { opaque: reply.opaque }),
      ...(reply.withoutEffort === undefined ? {} : { withoutEffort: true }),
    },
    ...(reply.text === '' ? [] : [{ type: 'agent.message' as const, agent, call, text: reply.text }]),
  );
  settleDay(budgets, { call, tokens: limitTokens(settled.usage), cost: settled.cost });
  warn(budgets, agent);
  if (request.purpose.is !== 'compact') budgets.prefixes.learn(agent, model.id, request.turns.length, settled.usage);
  return reply;
}
