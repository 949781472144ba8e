/** Where a child session stands, by the log and by whether a process still carries its run. */
import type { AgentOutcome, AgentStatus, Lifecycle } from '../../domain/agents/agent.ts';
import type { Millis } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { AgentState, RunState } from '../state.ts';

/** At which moment it is looked at. */
export interface Moment {
  readonly now: Millis;
  /** A living process carries the run. */
  readonly alive: boolean;
  /** `childAgents.autoComplete.idleTimeout`; 0: nobody becomes idle by time. */
  readonly idleTimeout: Millis;
}

/** What an end is called. */
export const OF_OUTCOME: Readonly<Record<AgentOutcome, Lifecycle>> = {
  completed: 'completed',
  // Marked as partial, and told all the same.
  partial: 'completed',
  failed: 'error',
  killed: 'killed',
  abandoned: 'abandoned',
  // Somebody decided that it is not to be.
  skipped: 'killed',
};

const OF_STATUS: Readonly<Record<Exclude<AgentStatus, 'running' | 'waiting'>, Lifecycle>> = {
  pending: 'spawned',
  initializing: 'starting',
  completed: 'completed',
  failed: 'error',
  // A person stopped it, and a person lets it go on.
  interrupted: 'waiting_input',
};

export function lifecycleOf(agent: AgentState, state: RunState, moment: Moment): Lifecycle {
  if (agent.outcome !== null) return OF_OUTCOME[agent.outcome];
  if (state.finished?.status === 'stopped') return 'waiting_input';
  if (state.finished !== null || !moment.alive) return 'abandoned';
  if (agent.status === 'waiting') return waitingFor(agent, state);
  if (agent.status !== 'running') return OF_STATUS[agent.status];
  const quiet = moment.now - activeAt(agent, state);
  return moment.idleTimeout > 0 && quiet >= moment.idleTimeout ? 'idle' : 'running';
}

function waitingFor(agent: AgentState, { approvals, phase }: RunState): Lifecycle {
  const asked = approvals.some((one) => one.agent === agent.id) || (agent.id === ROOT && phase === 'approving');
  if (asked) return 'waiting_input';
  // It waits for its provider, and nobody has to do anything.
  return agent.pause === null ? 'idle' : 'running';
}

/** When it last did something; who waits in a call for a child does what the child does. */
export function activeAt(agent: AgentState, { agents }: Pick<RunState, 'agents'>): Millis {
  const called = agent.children.flatMap((id) => {
    const child = agents.get(id);
    return child === undefined || child.call === null ? [] : [activeAt(child, { agents })];
  });
  return Math.max(agent.lastAt, ...called);
}
