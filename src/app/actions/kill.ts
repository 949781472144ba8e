/** Which agents end when one is killed or skipped, and the questions before it. */
import { type AgentId, isBelow } from '../../domain/ids.ts';
import type { AgentState, Control, RunState } from '../../events/index.ts';
import type { AgentAction } from './action.ts';

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

/** The questions before controls that end agents. */
export const END_QUESTIONS: Readonly<Partial<Record<Control, NonNullable<AgentAction['confirm']>>>> = {
  kill: (state, { agent }) => {
    const names = killedAgents(state, agent).map(({ name }) => name);
    return {
      title: `Kill ${names[0] ?? agent}?`,
      lines: [endWords(names), 'Its log and its file changes are kept.'],
      yes: 'kill',
      no: 'keep it running',
      word: '',
    };
  },
  skip: (state, { agent }) => {
    const [first = agent, ...others] = killedAgents(state, agent).map(({ name }) => name);
    return {
      title: `Skip ${first}?`,
      lines: [
        others.length === 0 ? 'It never runs.' : `It never runs, nor do ${others.join(', ')}, which depend on it.`,
      ],
      yes: 'skip',
      no: 'keep it in the plan',
      word: '',
    };
  },
};

const endWords = (names: readonly string[]): string =>
  names.length === 1
    ? 'It can be retried, not resumed.'
    : `${names.length} agents: ${names.join(', ')}. They can be retried, not resumed.`;
