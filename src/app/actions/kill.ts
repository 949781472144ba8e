/** Ends one agent and its whole living branch permanently. */
import { type AgentId, isBelow, ROOT } from '../../domain/ids.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { type AgentAction, whyNotAgent } from './action.ts';

/** What decides whether an agent ends with another. */
export interface Killable {
  readonly id: AgentId;
  readonly hasEnded: boolean;
  /** Of an agent that has not begun: the agents whose results it needs first. Null: it has begun. */
  readonly needs: readonly AgentId[] | null;
}

/**
 * Every agent that a kill of `top` ends, `top` first: all of its living branch, however deep. Of a task that has not begun also the
 * tasks that need it, since they are skipped with it.
 */
export function endedByKill(agents: readonly Killable[], top: AgentId): readonly AgentId[] {
  const living = agents.filter(({ id, hasEnded }) => !hasEnded && id !== top);
  const ended = new Set([top, ...living.filter(({ id }) => isBelow(id, top)).map(({ id }) => id)]);
  const isSkipped = agents.some(({ id, hasEnded, needs }) => id === top && !hasEnded && needs !== null);
  return isSkipped ? [...withBlocked(living, ended)] : [...ended];
}

/** Each round adds the tasks that need one that was added before. */
function withBlocked(living: readonly Killable[], ended: ReadonlySet<AgentId>): ReadonlySet<AgentId> {
  const blocked = living.filter(({ id, needs }) => !ended.has(id) && needs?.some((need) => ended.has(need)) === true);
  return blocked.length === 0 ? ended : withBlocked(living, new Set([...ended, ...blocked.map(({ id }) => id)]));
}

/** The same of a run that is followed. */
export function killedAgents({ agents }: Pick<RunState, 'agents'>, top: AgentId): readonly AgentState[] {
  const all = [...agents.values()].map(({ id, outcome, status, dependsOn }) => ({
    id,
    hasEnded: outcome !== null,
    needs: status === 'pending' ? dependsOn : null,
  }));
  return endedByKill(all, top).flatMap((id) => agents.get(id) ?? []);
}

export const killAgent: AgentAction = {
  id: 'run.kill',
  name: 'Kill agent',
  help: 'Kill the agent and every agent below it, after a question that names them.',
  hint: 'kill',
  keys: ['x'],
  word: 'kill',
  short: ['x'],
  whyNot: (state, { agent }) => whyNotAgent(state, agent, whyNotKill),
  confirm: (state, { agent }) => {
    const names = killedAgents(state, agent).map(({ name }) => name);
    return {
      title: `Kill ${names[0] ?? agent}?`,
      lines: [endWords(names), 'What is recorded stays in the log; changed files stay changed.'],
      yes: 'kill',
      no: 'keep it running',
      word: '',
    };
  },
  command: (_, { agent }) => ({ do: 'kill', agent }),
};

function whyNotKill(agent: AgentState): string | null {
  if (agent.id === ROOT) return 'main ends with the run: stop the run instead.';
  return agent.outcome !== null ? `${agent.name} has ended already.` : null;
}

const endWords = (names: readonly string[]): string =>
  names.length === 1
    ? `${names.join('')} will be stopped permanently: it cannot be resumed.`
    : `${names.length} agents will be stopped permanently: ${names.join(', ')}. They cannot be resumed.`;
