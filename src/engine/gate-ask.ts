/**
 * Asking a model: human mode's turn, the model rule, the reservation, the call, the settlement, and the next model in
 * the order of fallback after a classified fault (at most one hop per cause, CONTRACT D4).
 */
import type { WorkOrder } from '../domain/agent.ts';
import type { CallId, ModelId } from '../domain/ids.ts';
import { CallId as CallIdSchema } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan.ts';
import type { Reason } from '../domain/reason.ts';
import { reasonText } from '../domain/reason.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { ModelReply, ToolCall } from '../domain/turn.ts';
import { priceProblem } from '../policy/budgets.ts';
import { modelProblem } from '../policy/models.ts';
import type { ModelFault, ModelRequest, ToolSpec } from '../ports/model.ts';
import { jsonSchemaOf, specOf } from './gate-specs.ts';
import type { AskFault, GateParts, Question } from './gate.ts';
import { exhaustedText, optionFor, reserve, settle, timeExhausted, warnings } from './gate-reserve.ts';
import { stepSignal } from './gate-step.ts';
import { bytesOf } from './gate-tokens.ts';
import { personsTurn } from './gate-turn.ts';

/** Faults after which another model may do: not those that the request itself caused. */
const FALL_BACK_AFTER: ReadonlySet<ModelFault['is']> = new Set([
  'rate limited',
  'overloaded',
  'unreachable',
  'unauthorised',
]);

/** A fault of the model itself: the next one in the order of fallback may do. */
type CallFault = AskFault | { readonly is: 'fault'; readonly fault: ModelFault };

export async function askModel(
  parts: GateParts,
  question: Question,
  signal: AbortSignal,
): Promise<Result<ModelReply, AskFault>> {
  const { order } = question;
  if (signal.aborted) return fail(stopped(signal));
  const turn = await personsTurn(parts, order, signal);
  if (turn !== null) return fail(turn);
  const tried: Tried = { models: new Set(), causes: new Set() };
  for (;;) {
    if (signal.aborted) return fail(stopped(signal));
    const model = modelOf(parts, order);
    if (!model.ok) return model;
    const reply = await oneCall(parts, question, model.value, signal);
    if (reply.ok) return reply;
    if (reply.fault.is !== 'fault') return fail(reply.fault);
    const { fault } = reply.fault;
    const next = nextModel(order, model.value.id, fault.is, tried);
    if (next === undefined) return fail({ is: 'model', text: `${model.value.label}: ${fault.message}` });
    fallBack(parts, order, model.value.id, next, fault);
  }
}

interface Tried {
  readonly models: Set<ModelId>;
  readonly causes: Set<ModelFault['is']>;
}

/** The next in the order of fallback, or none: at most one hop per cause in one turn. */
function nextModel(order: WorkOrder, model: ModelId, cause: ModelFault['is'], tried: Tried): ModelId | undefined {
  tried.models.add(model);
  if (!FALL_BACK_AFTER.has(cause) || tried.causes.has(cause)) return undefined;
  tried.causes.add(cause);
  return order.fallbacks.find((id) => !tried.models.has(id));
}

/** The model the agent has now, its first one or the one it fell back to, if the rules still allow it. */
function modelOf(parts: GateParts, order: WorkOrder): Result<ModelOption, AskFault> {
  const { recorder, models, rules } = parts;
  const used = recorder.state().agents.get(order.agent)?.model.used ?? order.model.used;
  const option = optionFor(models.models(), used);
  // A run that is resumed may find less than it began with.
  if (!option) return fail({ is: 'denied', text: `no provider for ${used} is configured any more` });
  const problem = modelProblem(used, rules) ?? priceProblem(option.price, rules);
  return problem === null ? ok(option) : fail(denied(parts, order, used, problem));
}

/** Reserve, record, act, record: the promise and `model.started` are one step. */
async function oneCall(
  parts: GateParts,
  question: Question,
  model: ModelOption,
  signal: AbortSignal,
): Promise<Result<ModelReply, CallFault>> {
  const { order } = question;
  const { recorder, world } = parts;
  const tools = order.tools.flatMap((name) => specOf(parts.tools, name));
  const inputBound = boundOf(parts, question, model, tools);
  const promise = reserve(recorder.state(), {
    agent: order.agent,
    model,
    inputBound,
    now: world.now(),
  });
  if (!promise.ok) {
    recorder.record(promise.exhausted);
    return fail({ is: 'budget', text: exhaustedText(promise.exhausted) });
  }
  const call = CallIdSchema.parse(parts.callId(order.agent));
  const purpose = question.purpose ?? { is: 'work', task: order.task, role: order.role, findings: order.findings };
  const reserved = { tokens: promise.tokens, cost: promise.cost };
  recorder.record({ type: 'model.started', agent: order.agent, call, model: model.id, purpose: purpose.is, reserved });
  const request: ModelRequest = {
    model: model.id,
    agent: order.agent,
    call,
    purpose,
    system: order.system,
    tools,
    // A copy: the conversation grows while a provider may still hold the request.
    turns: [...question.turns],
    maxOutputTokens: promise.maxOutput,
    format: question.format === undefined ? null : jsonSchemaOf(question.format),
  };
  return act(parts, question, model, request, reserved, signal);
}

async function act(
  parts: GateParts,
  { order, turns }: Question,
  model: ModelOption,
  request: ModelRequest,
  reserved: { readonly tokens: number; readonly cost: number },
  signal: AbortSignal,
): Promise<Result<ModelReply, CallFault>> {
  const { recorder, world } = parts;
  const began = world.elapsed();
  const step = stepSignal(parts, order, signal);
  const reply = await parts.models
    .call(request, step.signal, ({ is, text }) => parts.tick({ agent: order.agent, is, delta: text }))
    .finally(step.end);
  if (!reply.ok) {
    recorder.record({
      type: 'model.failed',
      agent: order.agent,
      call: request.call,
      model: model.id,
      cause: reply.fault.is,
      message: reply.fault.message,
    });
    if (reply.fault.is !== 'aborted') return fail({ is: 'fault', fault: reply.fault });
    return fail(whyAborted(parts, order, step.why(), signal));
  }
  const settled = settle(model, reply.value.usage, reserved);
  const calls = uniqueCalls(reply.value.calls);
  recorder.record(
    {
      type: 'model.finished',
      agent: order.agent,
      call: request.call,
      model: reply.value.model,
      usage: settled.usage,
      cost: settled.cost,
      priced: settled.priced,
      ...(settled.bounded ? { bounded: true } : {}),
      stopReason: reply.value.stopReason,
      ms: Math.round(world.elapsed() - began),
      calls,
      ...(reply.value.opaque === undefined ? {} : { opaque: reply.value.opaque }),
    },
    ...(reply.value.text === ''
      ? []
      : [{ type: 'agent.message' as const, agent: order.agent, call: request.call, text: reply.value.text }]),
  );
  const warned = warnings(recorder.state(), order.agent);
  if (warned.length > 0) recorder.record(...warned);
  parts.prefixes.learn(order.agent, model.id, turns.length, settled.usage);
  return ok({ ...reply.value, calls });
}

/** Two calls with one id in a reply (SECURITY H07) could not be told apart: the later one is given an id of its own. */
function uniqueCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<CallId>();
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; seen.has(id); n += 1) id = CallIdSchema.parse(`${call.id}-${n}`);
    seen.add(id);
    return id === call.id ? call : { ...call, id };
  });
}

function boundOf(
  { prefixes }: GateParts,
  { order, turns, format }: Question,
  model: ModelOption,
  tools: readonly ToolSpec[],
): number {
  const prefix = prefixes.get(order.agent);
  if (prefix?.model === model.id && prefix.turns <= turns.length)
    return prefix.tokens + bytesOf(turns.slice(prefix.turns));
  return (
    bytesOf(order.system) + bytesOf(tools) + bytesOf(turns) + bytesOf(format === undefined ? '' : jsonSchemaOf(format))
  );
}

function whyAborted(parts: GateParts, order: WorkOrder, why: 'message' | 'time' | null, signal: AbortSignal): AskFault {
  if (signal.aborted) return stopped(signal);
  if (why === 'message') return { is: 'told' };
  const over = timeExhausted(parts.recorder.state(), order.agent, parts.world.now());
  if (over) parts.recorder.record(over);
  return { is: 'budget', text: over ? exhaustedText(over) : 'Budget exceeded: time' };
}

function denied({ recorder, rules }: GateParts, order: WorkOrder, model: ModelId, reason: Reason): AskFault {
  recorder.record({
    type: 'policy.decided',
    agent: order.agent,
    subject: model,
    action: 'model',
    decision: 'deny',
    ...reason,
    policyHash: rules.policyHash,
  });
  return { is: 'denied', text: `model ${model} is not allowed: ${reasonText(reason)}` };
}

function fallBack(
  { recorder, rules }: GateParts,
  order: WorkOrder,
  from: ModelId,
  to: ModelId,
  fault: ModelFault,
): void {
  const rule = reasonText(rules.modelFallback.from);
  recorder.record({
    type: 'model.fallback',
    agent: order.agent,
    from,
    to,
    cause: `${fault.is}: ${fault.message}`,
    rule,
  });
}

const stopped = (signal: AbortSignal): AskFault => ({ is: 'stopped', text: String(signal.reason) });
