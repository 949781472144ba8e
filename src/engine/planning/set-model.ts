/** Another model for an agent at work, as a person says. Judged by the rules as in a plan, but nothing takes its place. */
import type { AgentId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { roleNamed } from '../../policy/roles.ts';
import { modelFor } from './model-selection.ts';
import { limitChanged } from '../gate/budget/limit.ts';
import { ruleAgainst } from '../gate/model/model.ts';
import { optionFor } from '../gate/budget/reserve.ts';
import type { RunParts } from '../run/parts.ts';
import { hasNotBegun } from './plan-agents.ts';

/** From the agent's next turn on, its conversation kept. `asked` as in a plan; empty: the first one of its role. */
export function setModel(parts: RunParts, agent: AgentId, asked: string): Result<string, string> {
  const { recorder, limits, switches } = parts;
  const one = recorder.state().agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  const problem = notNow(parts, one);
  if (problem !== null) return fail(`${one.name} ${problem}`);
  const found = modelOf(parts, one, asked.trim());
  if (!found.ok) return found;
  const { option, name } = found.value;
  if (option.id === one.model.used) return fail(`${one.name} uses ${option.label} already`);
  recorder.record({ type: 'agent.model', agent, model: { asked: name, used: option.id, because: null } });
  // Whoever is asked of its limit looks again: another model may fit.
  limitChanged(limits, agent);
  switches.switched(agent);
  const free = option.price === null ? '; its price is not known' : '';
  return ok(`${one.name} goes on with ${option.label} from its next turn${free}`);
}

function notNow({ signal, scheduling }: RunParts, one: AgentState): string | null {
  if (isFinal(one)) return 'has ended and asks no model any more';
  if (one.forced !== null) return 'judges work: the rules say on which model';
  if (one.taskId !== null && hasNotBegun(one) && !(scheduling.now?.hasBegun(one.id) ?? false))
    return 'has not begun: change its model in the plan';
  return signal.aborted ? 'is being stopped with the run: `mimir resume` goes on with it' : null;
}

interface Found {
  readonly option: ModelOption;
  /** As it was asked for. */
  readonly name: string;
}

function modelOf({ options }: RunParts, { name, role: roleName }: AgentState, asked: string): Result<Found, string> {
  const role = roleNamed(roleName, options.roles);
  if (role === null) return fail(`there is no role ${roleName} any more`);
  const found = modelFor(options, role, asked === '' ? null : asked);
  if (!found.ok) return found;
  const { used, because, asked: as } = found.value.choice;
  if (because !== null) return fail(`${name} can't use ${as}: ${because}`);
  const option = optionFor(options.models.models(), used);
  if (option === undefined) return fail(`${name} can't use ${as}: no provider for ${used}`);
  const rule = ruleAgainst(options.rules, option);
  return rule === null ? ok({ option, name: as }) : fail(`${name} can't use ${as}: ${reasonText(rule)}`);
}
