/** Why an agent cannot be interrupted, resumed, killed, retried or skipped, in the words that the engine and all front ends use. */
import type { AgentOutcome } from '../domain/agents/agent.ts';
import { type AgentId, ROOT } from '../domain/ids.ts';
import { type AllPermissions, ASK_ALL, permissionsOf, type PlanTask, type SoundPlan } from '../domain/plan/plan.ts';
import { isLooser, type Mode } from '../domain/reason.ts';
import { unreachable } from '../domain/result.ts';
import type { Rules } from '../policy/index.ts';
import { isFinal, isTakenOut, upwards } from './queries.ts';
import type { AgentState, RunState } from './state.ts';

export type Control = 'interrupt' | 'resume' | 'kill' | 'retry' | 'skip';

const OF_MAIN: Readonly<Record<Control, string>> = {
  interrupt: 'plans and reports: interrupt its agents, or stop the run',
  resume: 'is never interrupted: resume its agents',
  kill: 'ends with the run: stop the run instead',
  retry: 'cannot be retried: retry the agents that failed',
  skip: 'cannot be skipped: skip its agents',
};

/** The text after the agent's name. Call only where its state does not allow the control. */
export function refusedControl(control: Control, agent: AgentState): string {
  if (agent.id === ROOT) return OF_MAIN[control];
  const ended = isFinal(agent);
  switch (control) {
    case 'interrupt':
      if (ended) return 'has ended already';
      return agent.status === 'pending' ? 'has not begun: skip it, or change it in the plan' : 'is not running';
    case 'resume':
      return ended ? 'has ended: retry it where it failed' : 'is not interrupted';
    case 'kill':
      return 'has ended already';
    case 'retry':
      return whyNoRetry(agent);
    case 'skip':
      return ended ? 'has ended already' : 'has started already: kill it instead';
    default:
      return unreachable(control);
  }
}

function whyNoRetry({ outcome, taskId, status }: AgentState): string {
  if (outcome === null) return `has not failed: it ${status === 'pending' ? 'has not begun' : 'is still working'}`;
  if (outcome === 'completed') return 'has completed: there is nothing to retry';
  if (taskId === null) return 'is not in the plan: its caller can call it again';
  if (outcome === 'skipped') return 'never ran: add its task to the plan again';
  return 'cannot be retried now: its work is under review, or the run is ending';
}

interface Retry {
  /** Planned agents that failed, were ended early, had actions denied because nobody could be asked, or did not pass a blocking review. */
  readonly failed: readonly AgentId[];
  /** Planned agents that were skipped because of those, but not by a person. */
  readonly behind: readonly AgentId[];
}

/** What a retry of the run would run again, in plan order; both lists are empty when nothing failed. */
export function retryOf({ agents, gates }: RunState): Retry {
  const planned = [...agents.values()].filter((one) => one.taskId !== null && !isTakenOut(one));
  const isBlocked = ({ id }: AgentState): boolean =>
    gates.some(
      ({ agent, open, onFailure, trigger }) => agent === id && !open && onFailure === 'block' && trigger === 'on-write',
    );
  const idsOf = (which: (one: AgentState) => boolean): readonly AgentId[] => planned.filter(which).map(({ id }) => id);
  return {
    failed: idsOf(
      (one) => one.outcome !== null && (FAILED.has(one.outcome) || isBlocked(one) || (one.unanswered ?? []).length > 0),
    ),
    behind: idsOf(({ outcome, endedBy }) => outcome === 'skipped' && endedBy?.is !== 'person'),
  };
}

const FAILED: ReadonlySet<AgentOutcome> = new Set(['failed', 'killed', 'abandoned']);

export type Modes = Pick<RunState, 'mode' | 'agents'>;

/** Read at each decision and never stored, so that a change applies to all agents at once. A less strict pin has no effect. */
export function modeFor({ mode, agents }: Modes, agent: AgentId): Mode {
  let strictest = mode;
  for (const { pin } of upwards(agents, agent)) if (pin !== null && isLooser(strictest, pin)) strictest = pin;
  return strictest;
}

/** As if the run were in `mode`. */
export const withMode = (state: Modes, mode: Mode): Modes => ({ agents: state.agents, mode });

/** As if `agent` were pinned to `pin`, or not pinned (null). */
export function withPin({ mode, agents }: Modes, agent: AgentId, pin: Mode | null): Modes {
  const one = agents.get(agent);
  return { mode, agents: one === undefined ? agents : new Map([...agents, [agent, { ...one, pin }]]) };
}

/** The configured permissions: for runs without a plan, and the initial ones of plans. */
export const configuredPermissions = ({ permissions = {} }: Rules): AllPermissions => ({
  edits: permissions.edits?.value ?? ASK_ALL.edits,
  commands: permissions.commands?.value ?? ASK_ALL.commands,
});

type Planned = Pick<RunState, 'plan' | 'approvedDigest' | 'idle' | 'agents'>;

/** The agent's permissions, read from the state at each decision. A child has those of the task it works for. */
export function permissionsFor(state: Planned, agent: AgentId, rules: Rules): AllPermissions {
  if (state.idle) return configuredPermissions(rules);
  const { plan, approvedDigest } = state;
  return plan === null || approvedDigest === null ? ASK_ALL : permissionsOf(plan, taskOf(plan, state, agent));
}

function taskOf({ tasks }: SoundPlan, { agents }: Planned, agent: AgentId): PlanTask | undefined {
  for (const { taskId } of upwards(agents, agent)) {
    const task = tasks.find(({ id }) => id === taskId);
    if (task !== undefined) return task;
  }
  return undefined;
}
