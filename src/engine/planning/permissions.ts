/** What the approved plan lets agents do without asking: where a plan's permissions come from, and which hold for an agent. */
import type { AgentId } from '../../domain/ids.ts';
import type { AllPermissions, Permitted } from '../../domain/plan/permissions.ts';
import type { DraftPlan, Permission, PlanChoices, PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { ASK_ALL, PERMITTED, permissionsOf, plainPermissions, tasksThatAsk } from '../../domain/plan/permissions.ts';
import type { RunState } from '../../events/state.ts';
import type { Rules } from '../../policy/rules.ts';
import type { RunOptions } from '../run/run-options.ts';

/** A planner's answer is text of a model: it allows nothing, and commits nothing. */
export function withoutPermissions(draft: DraftPlan): DraftPlan {
  const { permissions: _ofPlan, commit: _commit, ...rest } = draft;
  const tasks = rest.tasks.map((task) => {
    const { permissions: _ofTask, ...one } = task;
    return one;
  });
  return { ...rest, tasks };
}

/**
 * The plan with what it starts with: what the person decided on the plan `before`, else what was typed for this run, else what the
 * plan's file says, else the person's configuration. Never what a rule holds at `ask`.
 */
export function startingPermissions(plan: SoundPlan, options: RunOptions, before: SoundPlan | null): SoundPlan {
  const { permissions: _, ...rest } = plan;
  const decided = before === null ? null : permissionsOf(before);
  const { permissionsHeld: held = {} } = options.rules;
  const chosen: Partial<Record<Permitted, Permission>> = {};
  for (const what of PERMITTED)
    chosen[what] = held[what] === undefined ? (decided?.[what] ?? startOf(options, what)) : 'ask';
  const permissions = plainPermissions(chosen, true);
  return permissions === null ? rest : { ...rest, permissions };
}

function startOf({ rules, plan: file }: RunOptions, what: Permitted): Permission {
  const configured = rules.permissions?.[what];
  if (configured?.from.layer === 'command line') return configured.value;
  return file?.draft.permissions?.[what] ?? configured?.value ?? 'ask';
}

/** Tasks whose acts will be denied, since nobody can be asked; null where somebody can, where nothing asks, and where there are none. */
export function deniedUnattended(
  { person, approval, mode, rules }: Pick<RunOptions, 'person' | 'approval' | 'mode' | 'rules'>,
  plan: SoundPlan,
  choices: PlanChoices,
): ReturnType<typeof tasksThatAsk> | null {
  if (person || approval === 'nobody' || (mode === 'yolo' && rules.maxMode.value === 'yolo')) return null;
  const tasks = tasksThatAsk(plan, choices);
  return PERMITTED.some((what) => tasks[what].length > 0) ? tasks : null;
}

/** What the person configured: for runs without a plan, and what plans start with. */
export const configuredPermissions = ({ permissions = {} }: Rules): AllPermissions => ({
  edits: permissions.edits?.value ?? ASK_ALL.edits,
  commands: permissions.commands?.value ?? ASK_ALL.commands,
});

type Planned = Pick<RunState, 'plan' | 'approvedDigest' | 'idle' | 'agents'>;

/** Read from the log at each decision. A child has those of the task that it works for. */
export function permissionsFor(state: Planned, agent: AgentId, rules: Rules): AllPermissions {
  if (state.idle) return configuredPermissions(rules);
  const { plan, approvedDigest } = state;
  return plan === null || approvedDigest === null ? ASK_ALL : permissionsOf(plan, taskOf(plan, state, agent));
}

/** The task that the agent, or the nearest agent above it that has one, works for. */
function taskOf({ tasks }: SoundPlan, { agents }: Planned, agent: AgentId): PlanTask | undefined {
  const seen = new Set<AgentId>();
  for (let at = agents.get(agent); at !== undefined && !seen.has(at.id); ) {
    seen.add(at.id);
    const { taskId, parent } = at;
    const task = tasks.find(({ id }) => id === taskId);
    if (task !== undefined) return task;
    at = parent === null ? undefined : agents.get(parent);
  }
  return undefined;
}
