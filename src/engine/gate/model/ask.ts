/**
 * Asking a model: human mode's turn, the rules on the model, its tries, and the next model in the order of fallback.
 * How one is tried is in retry.ts and call.ts, what follows from its faults in fallback.ts.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { ModelId } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { Reason } from '../../../domain/reason.ts';
import { reasonText } from '../../../domain/reason.ts';
import type { Result } from '../../../domain/result.ts';
import { fail, ok } from '../../../domain/result.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import { namesOf } from '../../../policy/rules.ts';
import type { Cause } from './backoff.ts';
import type { Tried } from './fallback.ts';
import { afterGivingUp, nextModel } from './fallback.ts';
import { atLimit } from '../budget/limit.ts';
import { ruleAgainst } from './model.ts';
import { optionFor } from '../budget/reserve.ts';
import type { GaveUp } from './retry.ts';
import { tryModel } from './retry.ts';
import { stopped } from './call-scope.ts';
import { hasWords, withPatience } from '../text-protocol/text-model.ts';
import { personsTurn } from './turn.ts';
import type { AskFault, GateFault, GateParts, Question } from '../gate.ts';

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
    const words = hasWords(parts, question, model.value);
    if (!words.ok) return words;
    const mayLeave = (cause: Cause): boolean => nextModel(parts, order, model.value.id, cause, tried) !== undefined;
    const reply = await tryModel(parts, { question, model: model.value, mayLeave }, signal);
    if (reply.ok) return withPatience(question, reply.value);
    const end = await afterFault(parts, question, model.value, reply.fault, tried, signal);
    if (end !== null) return fail(end);
  }
}

/** Null: another turn of the same question, with whatever model the agent has by then. */
async function afterFault(
  parts: GateParts,
  question: Question,
  model: ModelOption,
  fault: GateFault | GaveUp,
  tried: Tried,
  signal: AbortSignal,
): Promise<AskFault | null> {
  if (fault.is === 'again') return null;
  if (fault.is !== 'limit' && fault.is !== 'gave up') return fault;
  if (signal.aborted) return stopped(signal);
  return fault.is === 'limit'
    ? await atLimit(parts, question, fault, signal)
    : afterGivingUp(parts, question, model, fault, tried);
}

/** The model the agent has now, its first one or the one it fell back to, if the rules still allow it. */
function modelOf(parts: GateParts, order: WorkOrder): Result<ModelOption, AskFault> {
  const { recorder, models } = parts;
  const used = recorder.state().agents.get(order.agent)?.model.used ?? order.model.used;
  const option = optionFor(models.models(), used);
  // A run that is resumed may find less than it began with.
  if (!option) return fail({ is: 'denied', text: `no provider for ${used} is configured any more` });
  const problem = ruleAgainst(parts, option);
  return problem === null ? ok(option) : fail(denied(parts, order, used, problem));
}

function denied({ recorder, rules }: GateParts, order: WorkOrder, model: ModelId, reason: Reason): AskFault {
  recorder.record({
    type: 'policy.decided',
    agent: order.agent,
    subject: model,
    action: 'model',
    decision: 'deny',
    ...reason,
    ...namesOf(rules),
  });
  return { is: 'denied', text: `model ${model} is not allowed: ${reasonText(reason)}` };
}
