/** Decides whether an agent may call a model now, for every kind of call: turns, retries, fallbacks, plans, summaries
 * and reports. Each call spends its own permit, so that rules tightened meanwhile apply to it. */
import type { ModelChoice } from '../../../domain/agents/agent.ts';
import type { Role } from '../../../domain/agents/role.ts';
import { type AgentId, type CallId, type ModelId, type RoleName, ROOT } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { type Reason, reasonText } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { EventBody } from '../../../events/index.ts';
import * as policy from '../../../policy/index.ts';
import { decide } from '../../../policy/decide.ts';
import { tighten } from '../budget/budget-change.ts';
import type { AgentSetup, RunContext } from '../context.ts';
import type { GateParts } from '../budget/parts.ts';

type Named = Pick<ModelOption, 'id' | 'price'>;

/** The rule that forbids the model, or null. */
export function ruleAgainst(rules: policy.Rules, model: Named): Reason | null {
  const decision = decideModel(rules, model);
  return decision.verdict === 'allow' ? null : decision.because;
}

/** A permit for this call; null where a rule forbids it now. */
export function permitFor(rules: policy.Rules, model: Named, agent: AgentId, call: CallId): policy.Permit | null {
  const decision = decideModel(rules, model, { agent, action: actionOf(model, call) });
  return decision.verdict === 'allow' ? (decision.permit ?? null) : null;
}

/** The action that the permit is bound to. */
export const bindingOf = (
  rules: policy.Rules,
  model: Pick<ModelOption, 'id'>,
  agent: AgentId,
  call: CallId,
): policy.Binding => ({
  agent,
  action: actionOf(model, call),
  policyHash: rules.policyHash,
});

/** Mode and capabilities play no part: turns in human mode are asked for before. */
const decideModel = (
  rules: policy.Rules,
  { id, price }: Named,
  binds?: { readonly agent: string; readonly action: string },
): policy.Decision =>
  decide({ is: 'model', model: id, price }, rules, {
    mode: rules.mode,
    interactive: false,
    sandbox: 'none',
    capabilities: [],
    ...(binds === undefined ? {} : { binds }),
  });

const actionOf = ({ id }: Pick<ModelOption, 'id'>, call: CallId): string => `model ${id} ${call}`;
type Denied = Pick<Extract<EventBody, { type: 'policy.decided' }>, 'agent' | 'subject' | 'action'>;

/** The event that a rule denied something to an agent. */
export const deniedEvent = (rules: policy.Rules, what: Denied, reason: Reason): EventBody => ({
  type: 'policy.decided',
  decision: 'deny',
  ...what,
  ...reason,
  ...policy.namesOf(rules),
});

export const recordDenied = (parts: Pick<RunContext, 'recorder' | 'rules'>, what: Denied, reason: Reason): void =>
  void parts.recorder.record(deniedEvent(parts.rules(), what, reason));

/** Runs only when the rules changed. Tighter limits apply now; looser ones are only reported. */
export function keepToRules(parts: GateParts): void {
  const { limits, recorder } = parts;
  const rules = parts.rules();
  if (limits.rules === rules) return;
  limits.rules = rules;
  tighten(recorder, rules);
  const looser = { agent: ROOT, subject: 'a looser policy', action: 'rules' };
  for (const rule of parts.options.policyWatcher?.notes?.() ?? [])
    recordDenied(parts, looser, { rule, layer: 'managed', file: null, line: null });
}

/** A model for an agent of `role`, or the reason why there is none. `substituted` names the rule when it is not the requested model. */
export function modelFor(
  options: AgentSetup,
  role: Role,
  asked: string | null,
): Result<{ readonly choice: ModelChoice; readonly substituted: Reason | null }, string> {
  const chosen = policy.chooseModel({ ...selectionOf(options, role), asked });
  if (chosen.ok) return ok({ choice: chosen.value.choice, substituted: chosen.value.reason });
  const rulesText = chosen.fault.reasons.map(reasonText).join('; ');
  return fail(rulesText === '' ? chosen.fault.text : `${chosen.fault.text}: ${rulesText}`);
}

export const modelNamesOf = (
  { rules, models, offlineOnly }: Pick<AgentSetup, 'rules' | 'models' | 'offlineOnly'>,
  role: Role,
): readonly string[] => policy.modelsOfRole(role, { rules, models: models.models(), offlineOnly });

/** Models that may replace `used` when it cannot be reached. */
export const fallbacksFor = (options: AgentSetup, role: Role, used: ModelId): readonly ModelId[] =>
  policy.fallbackModels({ ...selectionOf(options, role), used });

const selectionOf = (options: AgentSetup, role: Role): Omit<Parameters<typeof policy.fallbackModels>[0], 'used'> => ({
  role: role.name,
  fallbacks: modelNamesOf(options, role),
  rules: options.rules,
  models: options.models.models(),
  offlineOnly: options.offlineOnly,
  words: policy.wordsOf(role),
});

/** The limits on an agent of `role` besides those of its plan task. */
export const budgetOf = (options: AgentSetup, role: RoleName | string): ReturnType<typeof policy.agentBudget> =>
  policy.agentBudget(role, options.rules);

/** The models that the role of this name asks for, as written; empty where there is no such role. */
export function modelsOf(options: AgentSetup, name: string): readonly string[] {
  const role = policy.roleNamed(name, options.roles);
  return role === null ? [] : modelNamesOf(options, role);
}

/** Models that may replace the one `asked` for, in order, as the present rules allow. */
export function fallbacksOfRole(options: AgentSetup, name: string, asked: string): readonly ModelId[] {
  const role = policy.roleNamed(name, options.roles);
  const model = role === null ? null : modelFor(options, role, asked);
  return role === null || !model?.ok ? [] : fallbacksFor(options, role, model.value.choice.used);
}
