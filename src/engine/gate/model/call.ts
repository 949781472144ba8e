/** One call of a model: reserve, record, act, settle. When a call may start is decided in provider-queue.ts; what follows a fault in retry.ts. */
import { limitTokens, type Usage } from '../../../domain/budget.ts';
import { CallId, fromMicro } from '../../../domain/ids.ts';
import { cappedEffort, FREE, withEffort, worstRates } from '../../../domain/models/provider.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { reasonText } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import { answerProblem, Permit } from '../../../policy/index.ts';
import type { ModelFault, ModelRequest } from '../../../ports/model.ts';
import type { World } from '../../../ports/world.ts';
import * as budgets from '../budget/budgets.ts';
import type { LimitMet } from '../budget/limit.ts';
import { type Asked as AskedOf, type Reservation, reserve, settle } from '../budget/reserve.ts';
import { isReviewer, orAborted, type Question, stopped } from '../context.ts';
import type { GateParts } from '../budget/parts.ts';
import { decodeReply, encodeRequest } from '../text-protocol.ts';
import { type GateFault, type Step, stepSignal, warn, whileWaiting, whyEnded } from './call-scope.ts';
import { jsonSchemaOf, specOf } from './context-budget.ts';
import { bindingOf, keepToRules, permitFor } from './model.ts';
import type { Ticket } from '../provider-queue.ts';

export interface Asking {
  readonly parts: GateParts;
  readonly question: Question;
  readonly model: ModelOption;
  readonly signal: AbortSignal;
}

export interface BrokenCall {
  readonly is: 'broken';
  readonly fault: ModelFault;
  readonly call: CallId;
}

type Called = Result<ModelReply, GateFault | BrokenCall>;

/** `ticket` is told as soon as a response arrives. */
export async function oneCall(asking: Asking, ticket: Ticket): Promise<Called> {
  const { parts, question, model, signal } = asking;
  if (signal.aborted) return fail(stopped(signal));
  keepToRules(parts);
  const draft = draftOf(asking);
  const step = stepSignal(parts, question.order, signal, budgets.timeFor(question));
  try {
    // Judged again for each try, because waits may have passed and rules may have been tightened.
    const permit = permitFor(parts.rules(), model, draft.agent, draft.call);
    if (permit === null) return fail({ is: 'again' });
    const bound = await boundFor(asking, draft, step.signal);
    if (step.signal.aborted) return fail(whyEnded(parts, question.order, step, signal));
    let reservation = judge(parts, bound);
    while (shouldWaitForOthers(parts, bound, reservation)) {
      const early = await waitForOthers(asking, bound);
      reservation = judge(parts, bound);
      if (early !== null || !reservation.ok) parts.inFlight.done();
      if (early !== null) return fail(early);
    }
    const reopened = parts.drain.wait(signal);
    if (reopened !== null) return fail(await waitUntilOpen(parts, reopened, signal));
    // No `await` from here to `model.started`: what was judged is what is reserved.
    if (!reservation.ok) return fail(limitMet(parts, draft, bound, reservation));
    return await startCall({ ...asking, ticket, step }, permit, draft, reservation);
  } finally {
    step.end();
    budgets.releaseDay(parts, draft.call);
  }
}

/** Waits until the hand-over is called off; then everything is judged again. */
async function waitUntilOpen(
  { inFlight }: GateParts,
  reopened: Promise<void>,
  signal: AbortSignal,
): Promise<GateFault> {
  inFlight.done();
  await reopened;
  return signal.aborted ? stopped(signal) : { is: 'again' };
}

/** What a reservation is judged by, except the moment. */
type Bound = Omit<AskedOf, 'now' | 'days'>;

/** The bound by bytes or, where that does not fit, by the provider's count. `signal`: of the step. */
async function boundFor({ parts, question, model }: Asking, draft: ModelRequest, signal: AbortSignal): Promise<Bound> {
  const reserves = budgets.closingReserves(parts, question, model);
  const byBytes = { agent: draft.agent, model, inputBound: budgets.inputBound(parts.prefixes, draft), ...reserves };
  const room = budgets.prepareDay(parts, model, draft.call, byBytes.inputBound);
  if (room !== undefined) await orAborted(room, signal, undefined);
  const first = judge(parts, byBytes);
  if (first.ok || first.exhausted.what === 'time') return byBytes;
  const exact = await countedInput(parts, draft, signal);
  return exact === null ? byBytes : { ...byBytes, inputBound: Math.min(byBytes.inputBound, exact) };
}

/** With `others` ended, as if calls in flight had reserved nothing. */
function judge(parts: GateParts, bound: Bound, others: 'counted' | 'ended' = 'counted'): Reservation {
  const { recorder, world, inFlight } = parts;
  const state = others === 'counted' ? recorder.state() : inFlight.without(recorder.state());
  return reserve(state, { ...bound, now: world.now(), days: budgets.dayLimitsFor(parts, bound.model.id, others) });
}

const shouldWaitForOthers = (parts: GateParts, bound: Bound, now: Reservation): boolean =>
  budgets.isWorthWaiting(now, () => judge(parts, bound, 'ended'));

/** The limit, with the facts about the call that the question needs. */
function limitMet(
  parts: GateParts,
  draft: ModelRequest,
  bound: Bound,
  { exhausted, from }: Extract<Reservation, { ok: false }>,
): LimitMet {
  const { input, output } = worstRates(bound.model.price ?? FREE, bound.inputBound);
  const cost = Math.ceil(bound.inputBound * input + budgets.ENOUGH_OUTPUT * output) / 1_000_000;
  const need = { tokens: bound.inputBound + budgets.ENOUGH_OUTPUT, cost };
  const judgeFor = (model: ModelOption): Reservation => {
    const inputBound = budgets.inputBound(parts.prefixes, { ...draft, model: model.id });
    return judge(parts, { ...bound, model, inputBound, ...(bound.closing && { closing: { cached: 0 } }) });
  };
  return { is: 'limit', exhausted, ...(from && { from }), call: { need, judge: judgeFor } };
}

/** Waits until other calls leave enough budget. Returns why the agent may not continue, or null. */
async function waitForOthers({ parts, question, signal }: Asking, bound: Bound): Promise<GateFault | null> {
  // The call may have had its turn before without fitting after all.
  parts.inFlight.done();
  const ready = (): boolean => !shouldWaitForOthers(parts, bound, judge(parts, bound));
  const { early } = await whileWaiting(parts, question.order, signal, (onWait, ended) => {
    const reason = 'waiting: the remaining budget is reserved by other calls';
    onWait({ reason, waitingFor: { is: 'budget' } });
    return parts.inFlight.turn(ready, ended);
  });
  return early;
}

/** A call id that is unique in the session. */
export const newCall = (world: World): CallId => CallId.parse(`call-${world.name(10)}`);

/** The request, apart from the length of the answer. */
function draftOf({ parts, question, model }: Asking): ModelRequest {
  const { order, turns, purpose, format } = question;
  const draft: ModelRequest = {
    model: model.id,
    agent: order.agent,
    call: newCall(parts.world),
    purpose: purpose ?? { is: 'work', task: order.task, role: order.role, findings: order.findings },
    system: order.system,
    tools: order.tools.flatMap((name) => specOf(parts.tools.tools, name)),
    // A copy, because the conversation grows while a provider may still hold the request.
    turns: [...turns],
    maxOutputTokens: model.outputLimit,
    // The effort is limited by the present rules; a model that is known to take no effort gets none.
    ...withEffort(model.effort === false ? undefined : cappedEffort(order.effort, parts.rules().maxEffort?.value)),
    format: format === undefined ? null : jsonSchemaOf(format),
    ...(question.closing === true && !isReviewer(order) ? { toolChoice: 'none' as const } : {}),
  };
  return encodeRequest(parts, question, model, draft);
}

/** Vendors call their count an estimate; they may bill slightly more. */
const COUNT_MARGIN = 1.02;

/** The input tokens as counted by the provider; null where it cannot count. The caller judges again afterwards, because
 * others may have used the budget meanwhile. */
async function countedInput(parts: GateParts, draft: ModelRequest, signal: AbortSignal): Promise<number | null> {
  const tokens = (await parts.models.count?.(draft, signal)) ?? null;
  return tokens !== null && Number.isSafeInteger(tokens) && tokens > 0 ? Math.ceil(tokens * COUNT_MARGIN) : null;
}

interface Calling extends Asking {
  readonly ticket: Ticket;
  readonly step: Step;
}

/** Spending the permit, reserving and recording `model.started` happen without an `await` between them. */
async function startCall(
  calling: Calling,
  permit: Permit,
  draft: ModelRequest,
  promise: Extract<Reservation, { ok: true }>,
): Promise<Called> {
  const { parts, model } = calling;
  const isValid = Permit.spend(permit, bindingOf(parts.rules(), model, draft.agent, draft.call)).ok;
  if (!isValid || !budgets.reserveDay(parts, { ...promise, call: draft.call, model: model.id })) {
    parts.inFlight.done();
    return fail({ is: 'again' });
  }
  const request = { ...draft, maxOutputTokens: promise.maxOutput };
  const { agent, call, effort } = request;
  const reserved = { tokens: promise.tokens, cost: promise.cost };
  const what = { model: model.id, purpose: request.purpose.is, reserved };
  parts.recorder.record({ type: 'model.started', agent, call, ...what, ...withEffort(effort) });
  if (promise.closing) parts.closings.needs.set(agent, promise.closing);
  const endReservation = parts.inFlight.begin(call);
  const endDrain = parts.drain.begin(`a reply for ${agent}`);
  parts.inFlight.done();
  try {
    return await performCall(calling, { parts, request, model, reserved });
  } finally {
    endReservation();
    endDrain();
  }
}

async function performCall({ question, ticket, signal, step }: Calling, asked: Asked): Promise<Called> {
  const { parts, request, model } = asked;
  const { agent, call } = request;
  const { world } = parts;
  const began = world.elapsed();
  const reply = await parts.models.call(request, step.signal, (delta) => {
    ticket.accepted();
    const named = delta.is === 'call' ? { tool: delta.tool } : {};
    parts.tick({ agent, is: delta.is, delta: delta.text, ...named });
  });
  if (!reply.ok) {
    recordFailed(asked, reply.fault);
    if (reply.fault.is === 'aborted') return fail(whyEnded(parts, question.order, step, signal));
    return fail({ is: 'broken', fault: reply.fault, call });
  }
  ticket.accepted();
  const fault = mismatch(parts, model, reply.value);
  if (fault !== null) {
    recordFailed(asked, fault);
    return fail({ is: 'broken', fault, call });
  }
  const received = decodeReply(question, model, call, reply.value);
  return ok(recordFinished(asked, received, Math.round(world.elapsed() - began)));
}

/** The fault when a model other than the requested one answered and its reply must not be used; the reply is still paid
 * for. Null: the reply may be used. */
function mismatch({ models, rules }: GateParts, { id }: ModelOption, reply: ModelReply): ModelFault | null {
  const { model, usage: spent } = reply;
  const terms = models.termsOf?.(id) ?? null;
  const problem = answerProblem(id, model, terms, rules());
  if (problem === null) return null;
  const allowed = terms === null ? '' : ` (if that is right, allow it by answersAs of the provider)`;
  const why = problem === 'another model' ? allowed : `, which is not allowed: ${reasonText(problem)}`;
  const message = `asked ${id}, but ${model} answered${why}; the answer was discarded`;
  return { is: 'mismatch', message, spent };
}

// The end of a call in the log: the true usage replaces the reservation, which bounds it. A cost that the provider itself names has no bound.

interface Asked extends Pick<Asking, 'parts' | 'model'> {
  readonly request: ModelRequest;
  readonly reserved: { readonly tokens: number; readonly cost: number };
}

/** Records a call that ended without a reply. Its reservation is released, except for what was spent. */
function recordFailed({ parts, request, model, reserved }: Asked, fault: ModelFault): void {
  const { agent, call } = request;
  const settled =
    fault.spent === undefined ? null : settle(model, withinBound(fault.spent, request, reserved), reserved);
  const used = settled === null ? {} : { usage: settled.usage, cost: settled.cost, priced: settled.priced };
  const why = { cause: fault.is, message: fault.message };
  parts.recorder.record({ type: 'model.failed', agent, call, model: model.id, ...why, ...used });
  const tokens = settled === null ? 0 : limitTokens(settled.usage);
  budgets.settleDay(parts, { call, tokens, cost: settled?.cost ?? 0 });
  if (settled !== null) warn(parts, agent);
}

/** Adapters bound the input by bytes; the gate knows better how much was counted before. */
function withinBound(spent: Usage, request: ModelRequest, reserved: Asked['reserved']): Usage {
  const most = reserved.tokens - request.maxOutputTokens;
  return spent.cacheRead + spent.cacheWrite > 0 ? spent : { ...spent, input: Math.min(spent.input, most) };
}

function recordFinished({ parts, request, model, reserved }: Asked, reply: ModelReply, ms: number): ModelReply {
  const { agent, call } = request;
  const settled = settle(model, reply.usage, reserved);
  const { usage, bounded } = settled;
  const told = reply.cost === undefined ? null : fromMicro(Math.round(reply.cost * 1_000_000));
  const [cost, priced] = told === null ? [settled.cost, settled.priced] : [told, true];
  parts.recorder.record(
    {
      type: 'model.finished',
      agent,
      call,
      model: reply.model,
      usage,
      cost,
      priced,
      ...(bounded ? { bounded: true } : {}),
      ...(reply.estimated === true && !bounded ? { estimated: true } : {}),
      stopReason: reply.stopReason,
      ms,
      calls: reply.calls,
      ...(reply.opaque === undefined ? {} : { opaque: reply.opaque }),
      ...(reply.withoutEffort && { withoutEffort: true }),
    },
    ...(reply.text === '' ? [] : [{ type: 'agent.message' as const, agent, call, text: reply.text }]),
  );
  budgets.settleDay(parts, { call, tokens: limitTokens(usage), cost });
  warn(parts, agent);
  if (request.purpose.is !== 'compact') parts.prefixes.learn(agent, model.id, request.turns.length, usage);
  return reply;
}
