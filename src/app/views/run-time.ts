/** How long a run and its agents have worked: the same number on the screen, in lines and in reports. Pure. */
import { ROOT } from '../../domain/ids.ts';
import type { Millis } from '../../domain/ids.ts';
import { elapsedOf } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';

/**
 * Milliseconds that an agent has worked. Without `now` it is as of the last event: a log without an end belongs to a process that
 * ended there.
 */
export const agentTime = (agent: AgentState, { lastAt }: Pick<RunState, 'lastAt'>, now: Millis = lastAt): Millis =>
  elapsedOf(agent, now);

/** Milliseconds of the run: those of main, whose clock stands while the run is stopped and while a plan waits for a person. */
export function runTime(state: RunState, now: Millis = state.lastAt): Millis {
  const main = state.agents.get(ROOT);
  return main === undefined ? 0 : agentTime(main, state, now);
}

/** Milliseconds from the start of the run to `at`, the stretches left out in which no process carried it: for axes of time. */
export function sinceStart({ startedAt, stops }: Pick<RunState, 'startedAt' | 'stops'>, at: Millis): Millis {
  const stopped = stops.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(at, to) - from), 0);
  return startedAt === 0 ? 0 : Math.max(0, at - startedAt - stopped);
}
