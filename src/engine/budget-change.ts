/** More or less for an agent or the run while it goes on, within what the rules allow. */
import type { Budget } from '../domain/budget.ts';
import { tightest } from '../domain/budget.ts';
import type { AgentId } from '../domain/ids.ts';
import { ROOT } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import { budgetOf } from './choices.ts';
import type { RunParts } from './parts.ts';

/** Limits that `budget` leaves out stay; none goes above what the rules allow an agent of this role, or the run. */
export function setBudget({ recorder, options }: RunParts, agent: AgentId, budget: Budget): Result<string, string> {
  const state = recorder.state();
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  const most = agent === ROOT ? options.rules.runBudget.value : budgetOf(options, one.role);
  const now = agent === ROOT ? state.budget : one.budget;
  recorder.record({ type: 'budget.changed', agent, budget: tightest({ ...now, ...budget }, most), by: 'person' });
  return ok(`the budget of ${one.name} has changed`);
}
