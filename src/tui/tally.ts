/** Sums over all agents of a run that every frame shows, made once for each state of the agents: who stands where, who waits for which provider. */
import type { AgentStatus } from '../domain/agent.ts';
import { ROOT } from '../domain/ids.ts';
import type { Millis } from '../domain/ids.ts';
import type { AgentState, RunState } from '../events/state.ts';
import { isHeld, waitOf } from './waits.ts';

/** A provider that agents wait for. */
export interface Weather {
  readonly provider: string;
  readonly waiting: number;
  /** When the first of them tries again; null where nobody said. */
  readonly until: Millis | null;
}

export interface Tally {
  /** Main left out, and those that wait for a provider: they are counted by themselves, main as well. */
  readonly byStatus: Readonly<Record<AgentStatus, number>>;
  readonly held: number;
  /** Main left out. */
  readonly all: number;
  /** False when the price of some call isn't known. */
  readonly priced: boolean;
  /** Those with the most waits first. */
  readonly weather: readonly Weather[];
}

export function tallyOf({ agents }: RunState): Tally {
  const known = KNOWN.get(agents) ?? count(agents);
  KNOWN.set(agents, known);
  return known;
}

const KNOWN = new WeakMap<RunState['agents'], Tally>();

function count(agents: RunState['agents']): Tally {
  const all = [...agents.values()];
  const byStatus = { ...NONE };
  for (const agent of all) if (agent.id !== ROOT && !isHeld(agent)) byStatus[agent.status] += 1;
  const held = all.filter(isHeld);
  return {
    byStatus,
    held: held.length,
    all: all.filter(({ id }) => id !== ROOT).length,
    priced: all.every(({ priced }) => priced),
    weather: weatherOf(held),
  };
}

function weatherOf(held: readonly AgentState[]): readonly Weather[] {
  const weather = new Map<string, Weather>();
  for (const agent of held) {
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

const NONE: Readonly<Record<AgentStatus, number>> = {
  pending: 0,
  initializing: 0,
  running: 0,
  waiting: 0,
  completed: 0,
  failed: 0,
  interrupted: 0,
};
