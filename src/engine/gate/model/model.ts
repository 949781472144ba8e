/**
 * May this agent call this model now? Asked in one place for whatever is asked of a model: turns, tries, the next in the
 * order, plans, summaries, reports. Each call spends a permit of its own, so that rules tightened meanwhile hold for it.
 */
import { type AgentId, type CallId, ROOT } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { Reason } from '../../../domain/reason.ts';
import type { EventBody } from '../../../events/event.ts';
import { decide } from '../../../policy/decide.ts';
import type { Binding, Permit } from '../../../policy/permit.ts';
import { type Decision, namesOf, type Rules } from '../../../policy/rules.ts';
import { tighten } from '../budget/budget-change.ts';
import type { LimitBook } from '../budget/limit.ts';
import type { RunContext } from '../context.ts';

type Named = Pick<ModelOption, 'id' | 'price'>;

/** The rule against it, or null. */
export function ruleAgainst(rules: Rules, model: Named): Reason | null {
  const decision = decided(rules, model);
  return decision.verdict === 'allow' ? null : decision.because;
}

/** For this one call; null where a rule has come up against it. */
export function permitFor(rules: Rules, model: Named, agent: AgentId, call: CallId): Permit | null {
  const decision = decided(rules, model, { agent, action: actionOf(model, call) });
  return decision.verdict === 'allow' ? (decision.permit ?? null) : null;
}

/** What is about to be done, as the permit for it is bound. */
export const bindingOf = (rules: Rules, model: Pick<ModelOption, 'id'>, agent: AgentId, call: CallId): Binding => ({
  agent,
  action: actionOf(model, call),
  policyHash: rules.policyHash,
});

/** The mode and what the agent can do have no part in it: human mode's turns are asked for before. */
const decided = (
  rules: Rules,
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

type Denied = Pick<Extract<EventBody, { type: 'policy.decided' }>, 'agent' | 'subject' | 'action'>;

/** Writes down what a rule keeps an agent from. */
export const recordDenied = (parts: Pick<RunContext, 'recorder' | 'rules'>, what: Denied, reason: Reason): void =>
  void parts.recorder.record({
    type: 'policy.decided',
    decision: 'deny',
    ...what,
    ...reason,
    ...namesOf(parts.rules()),
  });

/** What follows a change of the rules. */
export interface RulesParts extends Pick<RunContext, 'recorder' | 'rules'> {
  readonly limits: LimitBook;
  /** What was written of rules since and waits for the next start: a sentence each, once each. */
  readonly notes: () => readonly string[];
}

/** Looked at again only where the rules are others than before: what is tighter holds now, what is looser is told of. */
export function keepToRules(parts: RulesParts): void {
  const { limits, recorder } = parts;
  const rules = parts.rules();
  if (limits.rules === rules) return;
  limits.rules = rules;
  tighten(recorder, rules);
  const looser = { agent: ROOT, subject: 'a looser policy', action: 'rules' };
  for (const rule of parts.notes()) recordDenied(parts, looser, { rule, layer: 'managed', file: null, line: null });
}
