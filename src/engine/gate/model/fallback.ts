/**
 * What follows when a model has been tried in vain: the next one in the order, at most one hop per cause in
 * one turn; else the end of the agent, in words for people; else, where nobody can be reached at all, a pause of the run.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { type ModelId, providerOf, type RoleName } from '../../../domain/ids.ts';
import { PROVIDERS_FAULTS } from '../../../domain/models/provider.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { type Reason, reasonText } from '../../../domain/reason.ts';
import { resolveModel } from '../../../policy/models.ts';
import type { ModelPort } from '../../../ports/model.ts';
import type { Cause } from './backoff.ts';
import { recordDenied, ruleAgainst } from './model.ts';
import type { GaveUp } from './retry.ts';
import { optionFor } from '../budget/reserve.ts';
import type { RunContext } from '../context.ts';
import type { AskFault, Question } from '../question.ts';
import type { Lines } from './provider-queue.ts';

/** What the run says of the models of a role. */
export interface RoleModels {
  /** Their names, in order of preference, as written; empty where there is no such role. */
  readonly modelsOf: (role: RoleName) => readonly string[];
  /** Models to go on with when the one that `asked` stands for can't be reached, in order, as the rules of now allow. */
  readonly fallbacksFor: (role: RoleName, asked: string) => readonly ModelId[];
}

export interface FallbackParts extends RunContext {
  readonly models: Pick<ModelPort, 'models'>;
  readonly lines: Lines;
  readonly roles: RoleModels;
  /** Does a person wait for the plan, so that they can go on without a planner? */
  readonly planByHand: boolean;
}

/** Of the faults of a provider, those that every model of the same provider would meet. */
const OTHER_PROVIDER: ReadonlySet<Cause> = new Set<Cause>(['unreachable', 'unauthorised', 'no credit']);

/** Models and causes of one turn: no model is tried again in it, and no cause leads on twice. */
export interface Tried {
  readonly models: Set<ModelId>;
  readonly causes: Set<Cause>;
}

/** Null: the agent has its next model. Otherwise why it ends. */
export function afterGivingUp(
  parts: FallbackParts,
  question: Question,
  model: ModelOption,
  gaveUp: GaveUp,
  tried: Tried,
): AskFault | null {
  const { order } = question;
  const { fault } = gaveUp;
  // A person gave it another one meanwhile: that is the next.
  const now = parts.recorder.state().agents.get(order.agent)?.model.used;
  if (now !== undefined && now !== model.id && fault.is !== 'mismatch') return null;
  const text = `${model.label}: ${gaveUpText(gaveUp)}`;
  if (fault.is === 'mismatch') return pause(parts, order, `model_mismatch: ${text}`, 'denied');
  if (fault.is === 'too long') return { is: 'too long', text };
  if (!PROVIDERS_FAULTS.has(fault.is)) return { is: 'model', text };
  parts.lines.giveUp(providerOf(model.id));
  tried.models.add(model.id);
  const next = nextModel(parts, order, model.id, fault.is, tried);
  tried.causes.add(fault.is);
  if (next === undefined) return nothingLeft(parts, question, { from: model.id, cause: fault.is, tried, text });
  fallBack(parts, order, model.id, next, gaveUp);
  return null;
}

const gaveUpText = ({ fault, tries }: GaveUp): string =>
  `${fault.message}${tries > 1 ? ` (tried ${tries} times)` : ''}`;

interface DeadEnd {
  readonly from: ModelId;
  readonly cause: Cause;
  readonly tried: Tried;
  readonly text: string;
}

function nothingLeft(
  parts: FallbackParts,
  { order, purpose }: Question,
  { from, cause, tried, text }: DeadEnd,
): AskFault {
  const barred = barredBy(parts, order, from, cause, tried);
  if (barred !== null) return denied(parts, order, barred, text);
  // A report that can't be written takes nothing away: the work is done, and merge.ts hands it over as it is. Nor does a draft.
  if (purpose?.is === 'merge' || purpose?.is === 'draft' || !parts.lines.allDown()) return { is: 'model', text };
  const nobody = `no model could be reached. ${text}`;
  // Who waits for the plan may go on by hand, or have it made again.
  if (purpose?.is === 'plan' && parts.planByHand) return { is: 'model', text: nobody };
  return pause(parts, order, nobody, 'model');
}

/** The next in the order of fallback that may be called now instead of `from`; none where the cause has led on before. */
export function nextModel(
  parts: FallbackParts,
  order: WorkOrder,
  from: ModelId,
  cause: Cause,
  tried: Tried,
): ModelId | undefined {
  if (tried.causes.has(cause)) return undefined;
  return fallbacksOf(parts, order).find((id) => {
    if (id === from) return false;
    const option = optionFor(parts.models.models(), id);
    return (
      option !== undefined &&
      mayFollow(parts, from, option, cause, tried) &&
      ruleAgainst(parts.rules(), option) === null
    );
  });
}

/** Those of the order, or of the model that a person gave the agent since. */
function fallbacksOf(parts: FallbackParts, order: WorkOrder): readonly ModelId[] {
  const asked = parts.recorder.state().agents.get(order.agent)?.model.asked ?? order.model.asked;
  return asked === order.model.asked ? order.fallbacks : parts.roles.fallbacksFor(order.role, asked);
}

function mayFollow(
  { lines }: FallbackParts,
  from: ModelId,
  { id, usable }: ModelOption,
  cause: Cause,
  tried: Tried,
): boolean {
  if (!usable.yes || tried.models.has(id) || lines.isClosed(providerOf(id))) return false;
  return !OTHER_PROVIDER.has(cause) || providerOf(id) !== providerOf(from);
}

/** Where a rule alone stands between the agent and another model of its role: the first such, and the rule. */
function barredBy(parts: FallbackParts, order: WorkOrder, from: ModelId, cause: Cause, tried: Tried): Barred | null {
  const { models, roles } = parts;
  const rules = parts.rules();
  const known = models.models();
  const all = roles.modelsOf(order.role).flatMap((name) => {
    const id = resolveModel(name, known);
    const option = id === null ? undefined : optionFor(known, id);
    return option !== undefined && mayFollow(parts, from, option, cause, tried) ? [option] : [];
  });
  const off = rules.modelFallback.value === 'deny' ? rules.modelFallback.from : null;
  const rulesOf = all.flatMap((option): Barred[] => {
    const reason = off ?? ruleAgainst(rules, option);
    return reason === null ? [] : [{ model: option.id, reason }];
  });
  // One that no rule forbids was left out for another cause.
  return rulesOf.length === all.length ? (rulesOf[0] ?? null) : null;
}

interface Barred {
  readonly model: ModelId;
  readonly reason: Reason;
}

function denied(parts: FallbackParts, { agent }: WorkOrder, { model, reason }: Barred, text: string): AskFault {
  recordDenied(parts, { agent, subject: model, action: 'model' }, reason);
  return { is: 'denied', text: `${text}; no other model may take its place: ${reasonText(reason)}` };
}

function fallBack(
  { recorder, rules }: FallbackParts,
  { agent }: WorkOrder,
  from: ModelId,
  to: ModelId,
  gaveUp: GaveUp,
): void {
  const rule = reasonText(rules().modelFallback.from);
  const cause = `${gaveUp.fault.is}: ${gaveUpText(gaveUp)}`;
  recorder.record({ type: 'model.fallback', agent, from, to, cause, rule });
}

/** The run stops so that it can be resumed, the agent with it, and says why. */
function pause(parts: FallbackParts, { agent }: WorkOrder, text: string, is: 'model' | 'denied'): AskFault {
  parts.recorder.record({ type: 'agent.status', agent, status: 'interrupted', reason: text, endedBy: { is: 'model' } });
  parts.fail(text, is);
  return { is: 'stopped', text };
}
