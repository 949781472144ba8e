/** The controls of an agent: interrupt, resume, retry, skip, kill. Their names, when each is possible, and why not, for the engine and all front ends. */
import type { AgentOutcome } from '../domain/agents/agent.ts';
import { type AgentId, ROOT } from '../domain/ids.ts';
import { type AllPermissions, ASK_ALL, permissionsOf, type PlanTask, type SoundPlan } from '../domain/plan/plan.ts';
import { isLooser, type Mode } from '../domain/reason.ts';
import type { Rules } from '../policy/index.ts';
import { isFinal, isIdle, isTakenOut, upwards } from './queries.ts';
import type { AgentState, RunState } from './state.ts';

/** A command to a running agent without further arguments: all that it is apart from what the engine does. */
interface AgentControl {
  /** Its keys on the screen and its other words, as in `Interaction` of app/actions. Its own name is its word. */
  readonly names: {
    readonly keys: readonly string[];
    readonly short?: readonly string[];
    readonly help: string;
    readonly more?: string;
  };
  /** Why main never accepts it; follows its name, as `refused` does. Of interrupt: except during a turn of its own. */
  readonly ofMain: string;
  isPossible(agent: AgentState): boolean;
  /** Why an agent refuses it. Asked only where it is not possible. */
  refused(agent: AgentState): string;
}

const ENDED = 'has ended already';

/** The controls by name, in the order of the help. The engine carries them out in agents/agent-control.ts. */
export const CONTROLS = {
  interrupt: {
    names: { keys: ['s', 'ctrl-c'], short: ['pause'], help: 'Interrupt agent' },
    ofMain: 'plans and reports: interrupt its agents, or stop the run',
    isPossible: (agent) => isInterruptible(agent) && !isIdle(agent),
    refused: (agent) => {
      if (isFinal(agent)) return ENDED;
      return agent.status === 'pending' ? 'has not begun: skip it, or change it in the plan' : 'is not running';
    },
  },
  resume: {
    names: { keys: ['r'], short: ['r', 'continue'], help: 'Resume agent' },
    ofMain: 'is never interrupted: resume its agents',
    isPossible: ({ status, outcome }) => status === 'interrupted' && outcome === null,
    refused: (agent) => (isFinal(agent) ? 'has ended: retry it where it failed' : 'is not interrupted'),
  },
  retry: {
    names: { keys: ['R'], short: ['R'], help: 'Retry agent', more: 'After the run: retries all failed tasks.' },
    ofMain: 'cannot be retried: retry the agents that failed',
    isPossible: ({ status }) => status === 'failed',
    refused: whyNoRetry,
  },
  skip: {
    names: { keys: ['w'], help: 'Skip agent', more: 'Also skips the tasks that depend on it.' },
    ofMain: 'cannot be skipped: skip its agents',
    isPossible: ({ status, outcome }) => status === 'pending' && outcome === null,
    refused: (agent) => (isFinal(agent) ? ENDED : 'has started already: kill it instead'),
  },
  kill: {
    names: {
      keys: ['x'],
      short: ['x'],
      help: 'Kill agent',
      more: 'Also kills its children. Killed agents can be retried, not resumed.',
    },
    ofMain: 'ends with the run: stop the run instead',
    isPossible: ({ id, outcome }) => id !== ROOT && outcome === null,
    refused: () => ENDED,
  },
} as const satisfies Readonly<Record<string, AgentControl>>;

export type Control = keyof typeof CONTROLS;

/** All controls, in the order of the help. */
export const controls = (): readonly Control[] =>
  Object.keys(CONTROLS).filter((name): name is Control => name in CONTROLS);

/** The text after the agent's name. Call only where its state does not allow the control. */
export const refusedControl = (control: Control, agent: AgentState): string =>
  agent.id === ROOT ? CONTROLS[control].ofMain : CONTROLS[control].refused(agent);

/** True while the agent works or waits during its work; not while it waits for a free slot. */
export const isAtWork = (agent: AgentState): boolean =>
  !isFinal(agent) && (agent.status === 'running' || agent.status === 'waiting');

/** True if a person can interrupt the agent, which includes waiting for a free slot. */
export const isInterruptible = (agent: AgentState): boolean =>
  isAtWork(agent) || (!isFinal(agent) && agent.status === 'initializing');

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
