/**
 * Asking a model: human mode's turn, the rules on the model, its tries, and the next model in the order of fallback.
 * How one is tried is in retry.ts and call.ts, what follows from its faults in fallback.ts.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { AgentId } from '../../../domain/ids.ts';
import type { Mode } from '../../../domain/mode.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { reasonText } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModelReply, ToolCall, ToolResult } from '../../../domain/turn.ts';
import { modeFor } from '../../../events/modes.ts';
import { decide } from '../../../policy/decide.ts';
import type { Decision } from '../../../policy/rules.ts';
import { atLimit, type LimitParts } from '../budget/limit.ts';
import { optionFor } from '../budget/reserve.ts';
import type { ModeOf } from '../approvals.ts';
import { type AskFault, type Question, stopped } from '../question.ts';
import { hasWords, withPatience } from '../text-protocol/text-model.ts';
import type { Cause } from './backoff.ts';
import { newCall } from './call.ts';
import type { GateFault } from './call-scope.ts';
import { afterGivingUp, type FallbackParts, nextModel, type Tried } from './fallback.ts';
import { recordDenied, ruleAgainst } from './model.ts';
import { type GaveUp, tryModel, type TryParts } from './retry.ts';

/** What models are asked with. */
export interface ModelParts extends TryParts, FallbackParts, Omit<LimitParts, 'budgets' | 'lines'> {
  readonly models: TryParts['models'];
  /** A person's message to the agent. */
  readonly personSays: (agent: AgentId, text: string) => void;
  /** Runs a command that a person typed in place of a turn of the agent. */
  readonly useForPerson: (order: WorkOrder, call: ToolCall, signal: AbortSignal) => Promise<ToolResult | undefined>;
}

export async function askModel(
  parts: ModelParts,
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
  parts: ModelParts,
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
function modelOf(parts: ModelParts, order: WorkOrder): Result<ModelOption, AskFault> {
  const { recorder, models } = parts;
  const used = recorder.state().agents.get(order.agent)?.model.used ?? order.model.used;
  const option = optionFor(models.models(), used);
  // A run that is resumed may find less than it began with.
  if (!option) return fail({ is: 'denied', text: `no provider for ${used} is configured any more` });
  const problem = ruleAgainst(parts.rules(), option);
  if (problem === null) return ok(option);
  recordDenied(parts, { agent: order.agent, subject: used, action: 'model' }, problem);
  return fail({ is: 'denied', text: `model ${used} is not allowed: ${reasonText(problem)}` });
}

// Human mode: each model turn waits for the person, who lets it go on, says something, or runs a command in its place.

/** Null: it goes on. Refused by the person, the agent stops and can be resumed; `told`: look at the inbox and ask again. */
async function personsTurn(parts: ModelParts, order: WorkOrder, signal: AbortSignal): Promise<AskFault | null> {
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
  const said = text.startsWith('!') ? await ranByPerson(parts, order, text.slice(1).trim(), signal) : text;
  parts.personSays(order.agent, said);
  return { is: 'told' };
}

const judged = ({ rules, person }: ModelParts, { capabilities }: WorkOrder, mode: Mode): Decision =>
  decide({ is: 'turn' }, rules(), { mode, interactive: person, sandbox: 'none', capabilities, granted: false });

async function ranByPerson(parts: ModelParts, order: WorkOrder, command: string, signal: AbortSignal): Promise<string> {
  const call = { id: newCall(parts.world), tool: 'bash', input: { command } };
  const result = await parts.useForPerson(order, call, signal);
  return `The person ran this command in your place:\n${command}\n\nIts result:\n${result?.text ?? ''}`;
}
