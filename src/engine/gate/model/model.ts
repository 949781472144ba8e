/**
 * May this agent call this model now? Asked in one place for whatever is asked of a model: turns, tries, the next in the
 * order, plans, summaries, reports. Each call spends a permit of its own, so that rules tightened meanwhile hold for it.
 */
import { type AgentId, type CallId, ROOT } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { Reason } from '../../../domain/reason.ts';
import { decide } from '../../../policy/decide.ts';
import type { Binding, Permit } from '../../../policy/permit.ts';
import { type Decision, namesOf } from '../../../policy/rules.ts';
import { tighten } from '../budget/budget-change.ts';
import type { GateParts } from '../gate.ts';

type Named = Pick<ModelOption, 'id' | 'price'>;

/** The rule against it, or null. */
export function ruleAgainst(parts: Pick<GateParts, 'rules'>, model: Named): Reason | null {
  const decision = decided(parts, model);
  return decision.verdict === 'allow' ? null : decision.because;
}

/** For this one call; null where a rule has come up against it. */
export function permitFor(parts: Pick<GateParts, 'rules'>, model: Named, agent: AgentId, call: CallId): Permit | null {
  const decision = decided(parts, model, { agent, action: actionOf(model, call) });
  return decision.verdict === 'allow' ? (decision.permit ?? null) : null;
}

/** What is about to be done, as the permit for it is bound. */
export const bindingOf = (
  { rules }: Pick<GateParts, 'rules'>,
  model: Pick<ModelOption, 'id'>,
  agent: AgentId,
  call: CallId,
): Binding => ({ agent, action: actionOf(model, call), policyHash: rules.policyHash });

/** The mode and what the agent can do have no part in it: human mode's turns are asked for before. */
const decided = (
  { rules }: Pick<GateParts, 'rules'>,
  { id, price }: Named,
  binds?: { readonly agent: string; readonly action: string },
): Decision =>
  decide({ is: 'model', model: id, price }, rules, {
    mode: rules.mode,
    interactive: false,
    sandbox: 'none',
    capabilities: [],
    granted: false,
    ...(binds === undefined ? {} : { binds }),
  });

const actionOf = ({ id }: Pick<ModelOption, 'id'>, call: CallId): string => `model ${id} ${call}`;

/** Looked at again only where the rules are others than before: what is tighter holds now, what is looser is told of. */
export function keepToRules(parts: GateParts): void {
  const { limits, recorder, rules } = parts;
  if (limits.rules === rules) return;
  limits.rules = rules;
  tighten(recorder, rules);
  const refused = { type: 'policy.decided', agent: ROOT, subject: 'a looser policy', action: 'rules' } as const;
  const where = { layer: 'managed', file: null, line: null } as const;
  for (const rule of parts.notes())
    recorder.record({ ...refused, decision: 'deny', rule, ...where, ...namesOf(rules) });
}
