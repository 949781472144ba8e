/**
 * Asking a model: human mode's turn, the rules on the model, its tries, and the next model in the order of fallback.
 * How one is tried is in retry.ts and call.ts, what follows from its faults in fallback.ts.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { ModelId } from '../../../domain/ids.ts';
import { CallId } from '../../../domain/ids.ts';
import type { Mode } from '../../../domain/mode.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { Reason } from '../../../domain/reason.ts';
import { reasonText } from '../../../domain/reason.ts';
import type { Result } from '../../../domain/result.ts';
import { fail, ok } from '../../../domain/result.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import { modeFor } from '../../../events/modes.ts';
import { decide } from '../../../policy/decide.ts';
import { namesOf } from '../../../policy/rules.ts';
import type { Decision } from '../../../policy/rules.ts';
import { atLimit } from '../budget/limit.ts';
import { optionFor } from '../budget/reserve.ts';
import type { AskFault, GateFault, GateParts, Question } from '../gate.ts';
import { hasWords, withPatience } from '../text-protocol/text-model.ts';
import type { ModeOf } from '../tools/approvals.ts';
import { useTools } from '../tools/use.ts';
import type { Cause } from './backoff.ts';
import { stopped } from './call-scope.ts';
import type { Tried } from './fallback.ts';
import { afterGivingUp, nextModel } from './fallback.ts';
import { ruleAgainst } from './model.ts';
import type { GaveUp } from './retry.ts';
import { tryModel } from './retry.ts';

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

// Human mode: each model turn waits for the person, who lets it go on, says something, or runs a command in its place.

/** Null: it goes on. Refused by the person, the agent stops and can be resumed; `told`: look at the inbox and ask again. */
async function personsTurn(parts: GateParts, order: WorkOrder, signal: AbortSignal): Promise<AskFault | null> {
  const decision = judged(parts, order, modeFor(parts.recorder.state(), order.agent));
  if (decision.verdict === 'allow') return null;
  if (decision.verdict === 'deny') return { is: 'denied', text: reasonText(decision.because) };
  const runs = (modeOf: ModeOf): boolean => judged(parts, order, modeOf(order.agent)).verdict === 'allow';
  const answer = await parts.approvals.ask(
    order,
    null,
    {
      action: 'turn',
      title: 'its next turn',
      exact: 'It goes on, with a message of yours where you send one; a line with ! is run as a command in its place.',
      options: [],
      unsandboxed: false,
      because: reasonText(decision.because),
    },
    signal,
    { runs },
  );
  if (answer.is === 'denied' && answer.by !== 'person') return { is: 'stopped', text: answer.text };
  const text = answer.text.trim();
  if (text === '') return answer.is === 'allowed' ? null : { is: 'stopped', text: 'its turn was refused' };
  parts.inbox.send({
    from: 'person',
    sender: null,
    to: order.agent,
    kind: 'request',
    delivery: 'important',
    content: text.startsWith('!') ? await ranByPerson(parts, order, text.slice(1).trim(), signal) : text,
  });
  return { is: 'told' };
}

const judged = ({ rules, person }: GateParts, { capabilities }: WorkOrder, mode: Mode): Decision =>
  decide({ is: 'turn' }, rules, { mode, interactive: person, sandbox: 'none', capabilities, granted: false });

async function ranByPerson(parts: GateParts, order: WorkOrder, command: string, signal: AbortSignal): Promise<string> {
  const call = { id: CallId.parse(parts.callId(order.agent)), tool: 'bash', input: { command } };
  const [result] = await useTools(parts, order, [call], signal, 'person');
  return `The person ran this command in your place:\n${command}\n\nIts result:\n${result?.text ?? ''}`;
}
