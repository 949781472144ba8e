/** Which mode holds for an agent: that of the run, kept at ROOT, or a stricter one that it or one above it is held to. */
import type { AgentId } from '../domain/ids.ts';
import { isLooser, type Mode } from '../domain/mode.ts';
import type { RunState } from './state.ts';

export type Modes = Pick<RunState, 'mode' | 'agents'>;

/** Read at each decision, never copied: a change of mode reaches everybody at once. A looser pin changes nothing. */
export function modeFor({ mode, agents }: Modes, agent: AgentId): Mode {
  let strictest = mode;
  const seen = new Set<AgentId>();
  for (let at: AgentId | null = agent; at !== null && !seen.has(at); at = agents.get(at)?.parent ?? null) {
    seen.add(at);
    const pin: Mode | null = agents.get(at)?.pin ?? null;
    if (pin !== null && isLooser(strictest, pin)) strictest = pin;
  }
  return strictest;
}

/** As if the run were in `mode`. */
export const withMode = (state: Modes, mode: Mode): Modes => ({ agents: state.agents, mode });

/** As if `agent` were held to `pin`, or no longer held (null). */
export function withPin({ mode, agents }: Modes, agent: AgentId, pin: Mode | null): Modes {
  const one = agents.get(agent);
  return { mode, agents: one === undefined ? agents : new Map([...agents, [agent, { ...one, pin }]]) };
}
