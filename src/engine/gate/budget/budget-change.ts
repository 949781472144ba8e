/** Changes the budget of an agent or of the run while it is running, within the rules. A change answers an open question about that limit. */
import { type Budget, tightest, withoutAbsent } from '../../../domain/budget.ts';
import { type AgentId, ROOT } from '../../../domain/ids.ts';
import { reasonText } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import { type AgentState, type EventBody, isFinal } from '../../../events/index.ts';
import { agentCeiling, type Ceiling, type Rules, runCeiling } from '../../../policy/index.ts';
import { type LimitBook, limitChanged } from './budgets.ts';
import { amountText, KEYS, WHATS } from './limits.ts';
import type { Recorder } from '../recorder.ts';
import type { RunContext } from '../context.ts';

interface ChangeParts extends Pick<RunContext, 'recorder' | 'rules'> {
  readonly limits: LimitBook;
  /** Why a message could not revive an agent that has ended; null if it could. */
  readonly whyNotRevivable: (one: AgentState) => string | null;
}

/** Sets limits of a running agent, or of an ended one that a message could revive. Limits that `budget` omits stay. No limit exceeds what
 * the rules allow; the receipt then names the rule. A limit below the amount already used is reached at once. */
export function setBudget(parts: ChangeParts, agent: AgentId, budget: Budget): Result<string, string> {
  const { recorder, limits, whyNotRevivable } = parts;
  const rules = parts.rules();
  const state = recorder.state();
  const agentState = state.agents.get(agent);
  if (agentState === undefined) return fail(`there is no agent ${agent}`);
  if (agent !== ROOT && isFinal(agentState) && whyNotRevivable(agentState) !== null)
    return fail(`${agentState.name} has ended and cannot use a budget`);
  const now = agent === ROOT ? state.budget : agentState.budget;
  const next = tightest({ ...now, ...budget }, ceilings(rules, agentState));
  const amountOf = (what: What): string => amountText(what, next[KEYS[what]] ?? 0);
  const bounds = WHATS.filter((what) => (budget[KEYS[what]] ?? 0) > (next[KEYS[what]] ?? Infinity)).map(
    (what) => `at most ${amountOf(what)}: ${reasonText(ceilingOf(rules, agentState, KEYS[what]).rule)}`,
  );
  const changed = changedLimits(now, next);
  if (changed.length === 0) return fail(['no change', ...bounds].join('; '));
  recorder.record({ type: 'budget.changed', agent, budget: next, by: 'person' });
  limitChanged(limits, agent);
  const owner = agent === ROOT ? 'the run' : agentState.name;
  return ok([`${owner} may use ${changed.map(amountOf).join(', ')}`, ...bounds].join('; '));
}

type What = keyof typeof KEYS;

const changedLimits = (now: Budget, next: Budget): readonly What[] =>
  WHATS.filter((what) => now[KEYS[what]] !== next[KEYS[what]]);

/** Applies tightened rules to all running agents: limits above the rules are lowered. Budgets of mandatory reviews stay,
 * because the rules themselves set them. */
export function tighten(recorder: Recorder, rules: Rules): void {
  const { agents, budget: runBudget } = recorder.state();
  const lowered = [...agents.values()].flatMap((one): EventBody[] => {
    if (isFinal(one) || one.forced !== null) return [];
    const now = one.id === ROOT ? runBudget : one.budget;
    const next = tightest(now, ceilings(rules, one));
    return changedLimits(now, next).length === 0
      ? []
      : [{ type: 'budget.changed', agent: one.id, budget: next, by: 'rules' }];
  });
  if (lowered.length > 0) recorder.record(...lowered);
}

const ceilingOf = (rules: Rules, { id, role }: Pick<AgentState, 'id' | 'role'>, key: keyof Budget): Ceiling =>
  id === ROOT ? runCeiling(key, rules) : agentCeiling(role, key, rules);

const ceilings = (rules: Rules, one: Pick<AgentState, 'id' | 'role'>): Budget =>
  withoutAbsent(Object.fromEntries(Object.values(KEYS).map((key) => [key, ceilingOf(rules, one, key).most])));
