/** Kills one agent with all its running descendants, permanently. */
import { type AgentId, isBelow, ROOT } from '../../domain/ids.ts';
import { type AgentState, refusedControl, type RunState } from '../../events/index.ts';
import { type AgentAction, rowOf, whyNotAgent } from './action.ts';

/** What determines whether an agent ends together with another one. */
export interface KillCandidate {
  readonly id: AgentId;
  readonly hasEnded: boolean;
  /** The agents whose results a pending agent needs; null if the agent has started. */
  readonly needs: readonly AgentId[] | null;
}

/** All agents that killing `top` ends, `top` first: running descendants, and of a pending task those that depend on it. */
export function endedByKill(agents: readonly KillCandidate[], top: AgentId): readonly AgentId[] {
  const living = agents.filter(({ id, hasEnded }) => !hasEnded && id !== top);
  const ended = new Set([top, ...living.filter(({ id }) => isBelow(id, top)).map(({ id }) => id)]);
  const isSkipped = agents.some(({ id, hasEnded, needs }) => id === top && !hasEnded && needs !== null);
  return isSkipped ? [...withBlocked(living, ended)] : [...ended];
}

/** Adds pending tasks that depend on an ended one, until no more are found. */
function withBlocked(living: readonly KillCandidate[], ended: ReadonlySet<AgentId>): ReadonlySet<AgentId> {
  const blocked = living.filter(({ id, needs }) => !ended.has(id) && needs?.some((need) => ended.has(need)) === true);
  return blocked.length === 0 ? ended : withBlocked(living, new Set([...ended, ...blocked.map(({ id }) => id)]));
}

/** `endedByKill` for the state of a run. */
export function killedAgents({ agents }: Pick<RunState, 'agents'>, top: AgentId): readonly AgentState[] {
  const all = [...agents.values()].map(({ id, outcome, status, dependsOn }) => ({
    id,
    hasEnded: outcome !== null,
    needs: status === 'pending' ? dependsOn : null,
  }));
  return endedByKill(all, top).flatMap((id) => agents.get(id) ?? []);
}

export const killAgent: AgentAction = {
  ...rowOf('run.kill'),
  whyNot: (state, { agent }) => whyNotAgent(state, agent, whyNotKill),
  confirm: (state, { agent }) => {
    const names = killedAgents(state, agent).map(({ name }) => name);
    return {
      title: `Kill ${names[0] ?? agent}?`,
      lines: [endWords(names), 'Its log and its file changes are kept.'],
      yes: 'kill',
      no: 'keep it running',
      word: '',
    };
  },
  command: (_, { agent }) => ({ do: 'kill', agent }),
};

const whyNotKill = (agent: AgentState): string | null =>
  agent.id === ROOT || agent.outcome !== null ? `${agent.name} ${refusedControl('kill', agent)}.` : null;

const endWords = (names: readonly string[]): string =>
  names.length === 1
    ? 'It can be retried, not resumed.'
    : `${names.length} agents: ${names.join(', ')}. They can be retried, not resumed.`;
