/** The providers that agents of a run wait for, made once for each state of the agents. */
import { isHeld } from '../../../../app/views/agent-counts.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { RunState } from '../../../../events/state.ts';
import { waitOf } from '../../../../app/views/agents/wait-reason.ts';

/** A provider that agents wait for, main as well. */
export interface Weather {
  readonly provider: string;
  readonly waiting: number;
  /** When the first of them tries again; null where nobody said. */
  readonly until: Millis | null;
}

/** Those with the most waits first. */
export function weatherOf({ agents }: Pick<RunState, 'agents'>): readonly Weather[] {
  const known = KNOWN.get(agents) ?? made(agents);
  KNOWN.set(agents, known);
  return known;
}

const KNOWN = new WeakMap<RunState['agents'], readonly Weather[]>();

function made(agents: RunState['agents']): readonly Weather[] {
  const weather = new Map<string, Weather>();
  for (const agent of agents.values()) {
    if (!isHeld(agent)) continue;
    const provider = (agent.pause?.model ?? agent.model.used).split('/')[0] ?? '';
    const { waiting, until } = weather.get(provider) ?? { waiting: 0, until: null };
    // What is left from the beginning of time is the time itself.
    weather.set(provider, {
      provider,
      waiting: waiting + 1,
      until: earlier(until, waitOf(agent, 0)?.left ?? null),
    });
  }
  return [...weather.values()].sort((a, b) => b.waiting - a.waiting);
}

const earlier = (a: Millis | null, b: Millis | null): Millis | null =>
  a === null ? b : b === null ? a : Math.min(a, b);
