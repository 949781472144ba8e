/** Asks a model: the person's turn in human mode, the rules on models, the tries of one model, and the next model in the
 * fallback order. How one model is tried is in retry.ts and call.ts. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { type ModelId, providerOf } from '../../../domain/ids.ts';
import { PROVIDERS_FAULTS } from '../../../domain/models/provider.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { type Mode, type Reason, reasonText } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import { modeFor, modelNow } from '../../../events/index.ts';
import { decide } from '../../../policy/decide.ts';
import { type Decision, resolveModel } from '../../../policy/index.ts';
import { atLimit } from '../budget/limit.ts';
import { optionFor } from '../budget/reserve.ts';
import { type AskFault, type Question, stopped } from '../context.ts';
import type { GateParts } from '../budget/parts.ts';
import { checkProtocol, limitUnreadable } from '../text-protocol.ts';
import type { Cause, GateFault } from './call-scope.ts';
import { type Asking, newCall } from './call.ts';
import { fallbacksOfRole, modelsOf, recordDenied, ruleAgainst } from './model.ts';
import { type GaveUp, tryModel } from './retry.ts';

export async function askModel(
  parts: GateParts,
  question: Question,
  signal: AbortSignal,
): Promise<Result<ModelReply, AskFault>> {
  const { order } = question;
  if (signal.aborted) return fail(stopped(signal));
  const refusal = await askForTurn(parts, order, signal);
  if (refusal !== null) return fail(refusal);
  const tried: Tried = { models: new Set(), causes: new Set() };
  for (;;) {
    if (signal.aborted) return fail(stopped(signal));
    const model = modelOf(parts, order);
    if (!model.ok) return model;
    const refusal = checkProtocol(parts, question, model.value);
    if (!refusal.ok) return refusal;
    const asking: Asking = { parts, question, model: model.value, signal };
    const reply = await tryModel({ ...asking, hasFallback: (cause) => nextModel(asking, cause, tried) !== undefined });
    if (reply.ok) return limitUnreadable(question, reply.value);
    const end = await afterFault(asking, reply.fault, tried);
    if (end !== null) return fail(end);
  }
}

/** Null: ask again, with whatever model the agent has by then. */
async function afterFault(asking: Asking, fault: GateFault | GaveUp, tried: Tried): Promise<AskFault | null> {
  const { parts, question, signal } = asking;
  if (fault.is === 'again') return null;
  if (fault.is !== 'limit' && fault.is !== 'gave up') return fault;
  if (signal.aborted) return stopped(signal);
  return fault.is === 'limit' ? atLimit(parts, question, fault, signal) : afterGivingUp(asking, fault, tried);
}

/** The agent's present model (its first one or a fallback), if the rules still allow it. */
function modelOf(parts: GateParts, order: WorkOrder): Result<ModelOption, AskFault> {
  const { recorder, models } = parts;
  const used = modelNow(recorder.state(), order);
  const option = optionFor(models.models(), used);
  // A resumed run may have fewer providers than it began with.
  if (!option) return fail({ is: 'denied', text: `no provider for ${used} is configured any more` });
  const problem = ruleAgainst(parts.rules(), option);
  if (problem === null) return ok(option);
  recordDenied(parts, { agent: order.agent, subject: used, action: 'model' }, problem);
  return fail({ is: 'denied', text: `model ${used} is not allowed: ${reasonText(problem)}` });
}

// In human mode each model turn waits for the person, who lets it continue, sends a message, or runs a command in its place.

/** Null: the turn may start. If the person refuses, the agent stops and can be resumed; `told`: read the inbox and ask again. */
async function askForTurn(parts: GateParts, order: WorkOrder, signal: AbortSignal): Promise<AskFault | null> {
  const decision = decideTurn(parts, order, modeFor(parts.recorder.state(), order.agent));
  if (decision.verdict === 'allow') return null;
  if (decision.verdict === 'deny') return { is: 'denied', text: reasonText(decision.because) };
  const request = {
    action: 'turn',
    title: 'its next turn',
    exact:
      'Starts the turn, with your message if you write one. A line that starts with ! is run as a command instead.',
    options: [],
    unsandboxed: false,
    because: reasonText(decision.because),
  } as const;
  const answer = await parts.approvals.ask(order, null, request, signal, {
    runs: (modeOf) => decideTurn(parts, order, modeOf(order.agent)).verdict === 'allow',
  });
  if (answer.is === 'denied' && answer.by !== 'person') return { is: 'stopped', text: answer.text };
  const text = answer.text.trim();
  if (text === '') return answer.is === 'allowed' ? null : { is: 'stopped', text: 'its turn was refused' };
  const content = text.startsWith('!') ? await runForPerson(parts, order, text.slice(1).trim(), signal) : text;
  parts.inbox.send({ from: 'person', to: order.agent, content });
  return { is: 'told' };
}

const decideTurn = ({ rules, options }: GateParts, { capabilities }: WorkOrder, mode: Mode): Decision =>
  decide({ is: 'turn' }, rules(), { mode, interactive: options.person, sandbox: 'none', capabilities });

async function runForPerson(parts: GateParts, order: WorkOrder, command: string, signal: AbortSignal): Promise<string> {
  const call = { id: newCall(parts.world), tool: 'bash', input: { command } };
  const result = await parts.useForPerson(order, call, signal);
  return `The person ran this command in your place:\n${command}\n\nIts result:\n${result?.text ?? ''}`;
}

// When a model has failed: the next one in the fallback order, once for each cause in a turn; otherwise the agent ends or the run pauses.

/** Faults that every model of the same provider would meet. */
const OTHER_PROVIDER: ReadonlySet<Cause> = new Set<Cause>(['unreachable', 'unauthorised', 'no credit']);

/** Models and causes of one turn: no model is tried twice, and no cause leads to two fallbacks. */
interface Tried {
  readonly models: Set<ModelId>;
  readonly causes: Set<Cause>;
}

/** Null: the agent has its next model. Otherwise why the agent ends. */
function afterGivingUp(asking: Asking, gaveUp: GaveUp, tried: Tried): AskFault | null {
  const { parts, question, model } = asking;
  const { agent } = question.order;
  const { fault, tries } = gaveUp;
  // A person chose another model meanwhile; it is tried next.
  const now = parts.recorder.state().agents.get(agent)?.model.used;
  if (now !== undefined && now !== model.id && fault.is !== 'mismatch') return null;
  const detail = `${fault.message}${tries > 1 ? ` (${tries} attempts)` : ''}`;
  const text = `${model.label}: ${detail}`;
  if (fault.is === 'mismatch') return pause(asking, `model_mismatch: ${text}`, 'denied');
  if (fault.is === 'too long') return { is: 'too long', text };
  if (!PROVIDERS_FAULTS.has(fault.is)) return { is: 'model', text };
  parts.providers.of(providerOf(model.id)).giveUp();
  tried.models.add(model.id);
  const next = nextModel(asking, fault.is, tried);
  tried.causes.add(fault.is);
  if (next === undefined) return endWithoutModel(asking, fault.is, tried, text);
  const rule = reasonText(parts.rules().modelFallback.from);
  const cause = `${fault.is}: ${detail}`;
  parts.recorder.record({ type: 'model.fallback', agent, from: model.id, to: next, cause, rule });
  return null;
}

function endWithoutModel(asking: Asking, cause: Cause, tried: Tried, text: string): AskFault {
  const { parts, question } = asking;
  const { order, purpose } = question;
  const blocked = blockedBy(asking, cause, tried);
  if (blocked !== null) {
    recordDenied(parts, { agent: order.agent, subject: blocked.model, action: 'model' }, blocked.reason);
    return { is: 'denied', text: `${text}; no other model is allowed: ${reasonText(blocked.reason)}` };
  }
  // The run continues without a report (run/report.ts hands over the results as they are) or a draft, so it is not paused for them.
  if (purpose?.is === 'merge' || purpose?.is === 'draft' || !parts.providers.allDown()) return { is: 'model', text };
  const nobody = `no model could be reached: ${text}`;
  // The person who waits for the plan can plan manually or retry.
  if (purpose?.is === 'plan' && parts.options.approval === 'person') return { is: 'model', text: nobody };
  return pause(asking, nobody, 'model');
}

/** The next model in the fallback order that may be called now; undefined when the cause has already led to a fallback. */
function nextModel(asking: Asking, cause: Cause, tried: Tried): ModelId | undefined {
  const { parts, question, model } = asking;
  if (tried.causes.has(cause)) return undefined;
  return fallbacksOf(parts, question.order).find((id) => {
    const option = id === model.id ? undefined : optionFor(parts.models.models(), id);
    return option && mayFollow(asking, option, cause, tried) && ruleAgainst(parts.rules(), option) === null;
  });
}

function fallbacksOf(parts: GateParts, order: WorkOrder): readonly ModelId[] {
  const asked = parts.recorder.state().agents.get(order.agent)?.model.asked ?? order.model.asked;
  return asked === order.model.asked ? order.fallbacks : fallbacksOfRole(parts.options, order.role, asked);
}

function mayFollow({ parts, model }: Asking, { id, usable }: ModelOption, cause: Cause, tried: Tried): boolean {
  if (!usable.yes || tried.models.has(id) || parts.providers.of(providerOf(id)).isClosed()) return false;
  return !OTHER_PROVIDER.has(cause) || providerOf(id) !== providerOf(model.id);
}

interface BlockedModel {
  readonly model: ModelId;
  readonly reason: Reason;
}

/** The first other model of the role that only a rule excludes, with that rule; null when some model was left out for another cause. */
function blockedBy(asking: Asking, cause: Cause, tried: Tried): BlockedModel | null {
  const { parts, question } = asking;
  const rules = parts.rules();
  const known = parts.models.models();
  const all = modelsOf(parts.options, question.order.role).flatMap((name) => {
    const id = resolveModel(name, known);
    const option = id === null ? undefined : optionFor(known, id);
    return option !== undefined && mayFollow(asking, option, cause, tried) ? [option] : [];
  });
  const off = rules.modelFallback.value === 'deny' ? rules.modelFallback.from : null;
  const rulesOf = all.flatMap((option): BlockedModel[] => {
    const reason = off ?? ruleAgainst(rules, option);
    return reason === null ? [] : [{ model: option.id, reason }];
  });
  return rulesOf.length === all.length ? (rulesOf[0] ?? null) : null;
}

/** Stops the run, and the agent with it, so that it can be resumed. */
function pause({ parts, question }: Asking, text: string, is: 'model' | 'denied'): AskFault {
  const { agent } = question.order;
  parts.recorder.record({ type: 'agent.status', agent, status: 'interrupted', reason: text, endedBy: { is: 'model' } });
  parts.fail(text, is);
  return { is: 'stopped', text };
}
