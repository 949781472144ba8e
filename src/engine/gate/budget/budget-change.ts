/** More or less for an agent or the run while it goes on, within what the rules allow. It answers an open question of that limit. */
import { type Budget, tightest, withoutAbsent } from '../../../domain/budget.ts';
import { type AgentId, ROOT } from '../../../domain/ids.ts';
import { reasonText } from '../../../domain/reason.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { EventBody } from '../../../events/event.ts';
import { isFinal } from '../../../events/queries.ts';
import type { AgentState } from '../../../events/state.ts';
import { agentCeiling, type Ceiling, runCeiling } from '../../../policy/budgets.ts';
import type { Rules } from '../../../policy/rules.ts';
import { type LimitBook, limitChanged } from './limit.ts';
import { amountText } from './limits.ts';
import type { Recorder } from '../../run/recorder.ts';

interface ChangeParts {
  readonly recorder: Recorder;
  readonly rules: Rules;
  readonly limits: LimitBook;
  /** Why an agent that has ended goes on at no message; null where it would. */
  readonly whyOver: (one: AgentState) => string | null;
}

/**
 * Of an agent that has ended as well, where a message could let it go on. Limits that `budget` leaves out stay; none goes above what the rules allow an agent of this role, or the run: then the
 * receipt names the rule. Below what is used already, a limit is met at once.
 */
export function setBudget(parts: ChangeParts, agent: AgentId, budget: Budget): Result<string, string> {
  const { recorder, rules, limits, whyOver } = parts;
  const state = recorder.state();
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (agent !== ROOT && isFinal(one) && whyOver(one) !== null)
    return fail(`${one.name} has ended and uses nothing any more`);
  const now = agent === ROOT ? state.budget : one.budget;
  const next = tightest({ ...now, ...budget }, ceilings(rules, one));
  const bounds = ROWS.filter(({ key }) => (budget[key] ?? 0) > (next[key] ?? Infinity)).map(
    ({ key, what }) => `at most ${amountText(what, next[key] ?? 0)}: ${reasonText(ceilingOf(rules, one, key).rule)}`,
  );
  if (ROWS.every(({ key }) => now[key] === next[key])) return fail(['nothing would change', ...bounds].join('; '));
  recorder.record({ type: 'budget.changed', agent, budget: next, by: 'person' });
  limitChanged(limits, agent);
  const words = ROWS.flatMap(({ key, what }) => (now[key] === next[key] ? [] : [amountText(what, next[key] ?? 0)]));
  const whose = agent === ROOT ? 'the run' : one.name;
  return ok([`${whose} may use ${words.join(', ')}`, ...bounds].join('; '));
}

const ROWS = [
  { key: 'maxTokens', what: 'tokens' },
  { key: 'maxCost', what: 'cost' },
  { key: 'maxDuration', what: 'time' },
] as const;

/**
 * Rules that were tightened, while the run went on or before it was resumed, hold from now on: what stands above them is
 * lowered. Not that of a forced agent, which the rules themselves give.
 */
export function tighten(recorder: Recorder, rules: Rules): void {
  const { agents, budget: ofRun } = recorder.state();
  const lowered = [...agents.values()].flatMap((one): EventBody[] => {
    if (isFinal(one) || one.forced !== null) return [];
    const now = one.id === ROOT ? ofRun : one.budget;
    const next = tightest(now, ceilings(rules, one));
    const same = ROWS.every(({ key }) => now[key] === next[key]);
    return same ? [] : [{ type: 'budget.changed', agent: one.id, budget: next, by: 'rules' }];
  });
  if (lowered.length > 0) recorder.record(...lowered);
}

const ceilingOf = (rules: Rules, { id, role }: Pick<AgentState, 'id' | 'role'>, key: keyof Budget): Ceiling =>
  id === ROOT ? runCeiling(key, rules) : agentCeiling(role, key, rules);

const ceilings = (rules: Rules, one: Pick<AgentState, 'id' | 'role'>): Budget =>
  withoutAbsent(Object.fromEntries(ROWS.map(({ key }) => [key, ceilingOf(rules, one, key).most])));
