/** Which status of an agent is shown, and how many agents have which: for every header, card, graph, list and line. Pure. */
import { ROOT } from '../../domain/ids.ts';
import type { WaitingFor } from '../../events/event.ts';
import { isTakenOut } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';

/**
 * `queued`: it waits for its turn, for other tasks or for a free slot; nothing of it runs. `held`: it waits for a provider.
 * `waiting`: for a person, for its children or for a review.
 */
export const SHOWN = ['running', 'waiting', 'held', 'queued', 'completed', 'failed', 'interrupted'] as const;
export type ShownStatus = (typeof SHOWN)[number];

export function shownStatus(agent: AgentState): ShownStatus {
  if (isHeld(agent)) return 'held';
  return agent.status === 'pending' || agent.status === 'initializing' ? 'queued' : agent.status;
}

/** Does it wait for a provider, or for what others leave of a budget? */
export const isHeld = ({ outcome, pause, waitingFor }: AgentState): boolean =>
  outcome === null && (pause !== null || waitingFor?.is === 'provider' || waitingFor?.is === 'budget');

const RESTS: ReadonlySet<string> = new Set(['message', 'children', 'review', 'limit'] satisfies WaitingFor['is'][]);

/** Has it nothing to do until something comes: a message, its children, a verdict, an answer about a limit? */
export const isResting = ({ outcome, waitingFor }: AgentState): boolean =>
  outcome === null && waitingFor !== null && RESTS.has(waitingFor.is);

export interface AgentCounts extends Readonly<Record<ShownStatus, number>> {
  /** Main is left out, and so are tasks that an amendment took out of the plan. */
  readonly all: number;
}

/** The sum over the seven statuses is `all`. */
export function countsOf({ agents }: Pick<RunState, 'agents'>): AgentCounts {
  const known = KNOWN.get(agents) ?? counted(agents);
  KNOWN.set(agents, known);
  return known;
}

/** Every frame asks several times. */
const KNOWN = new WeakMap<RunState['agents'], AgentCounts>();

function counted(agents: RunState['agents']): AgentCounts {
  const counts = { running: 0, waiting: 0, held: 0, queued: 0, completed: 0, failed: 0, interrupted: 0, all: 0 };
  for (const agent of agents.values()) {
    if (agent.id === ROOT || isTakenOut(agent)) continue;
    counts[shownStatus(agent)] += 1;
    counts.all += 1;
  }
  return counts;
}

/** How many agents may run at once. */
export const parallelOf = ({ choices, maxParallel }: Pick<RunState, 'choices' | 'maxParallel'>): number =>
  choices?.limits.maxParallel ?? maxParallel;

/** `4 running`, `36 queued (4 at once)`, `1 waiting`: those that there are, in the order of `SHOWN`. Running is always told. */
export function countWords(state: RunState): readonly string[] {
  const counts = countsOf(state);
  const words = { held: 'waiting for a provider', queued: `queued (${parallelOf(state)} at once)` } as const;
  return SHOWN.flatMap((status) =>
    counts[status] === 0 && status !== 'running'
      ? []
      : [`${counts[status]} ${status === 'held' || status === 'queued' ? words[status] : status}`],
  );
}
