/**
 * The agents of a run, from the start of each to its one final state: slots, interrupt and resume, kill, the last word
 * in the log. Which agent starts when is the scheduler's; what an agent does is the loop's.
 */
import type { AgentOutcome, WorkOrder, WorkOutcome } from '../domain/agent.ts';
import { statusOfOutcome } from '../domain/agent.ts';
import type { AgentId } from '../domain/ids.ts';
import { unreachable } from '../domain/result.ts';
import type { EventBody } from '../events/event.ts';
import { elapsedOf, isFinal, tokensOfAgent } from '../events/queries.ts';
import { turnsOf } from '../events/turns.ts';
import type { Executor } from '../ports/executor.ts';
import type { World } from '../ports/world.ts';
import type { Recorder } from './recorder.ts';
import type { Slots } from './slots.ts';

/** Why an agent's signal was aborted. */
export type StopCause = 'interrupt' | 'kill' | 'run stopped' | 'parent ended';

export interface Crew {
  /** Runs an agent that was created to its end. `null`: the run was stopped first, and a resume goes on with it. */
  run(order: WorkOrder, parent?: AbortSignal): Promise<AgentOutcome | null>;
  /** Each returns false when the agent's state doesn't allow it. */
  interrupt(agent: AgentId): boolean;
  resume(agent: AgentId): boolean;
  kill(agent: AgentId): boolean;
  /** Stops every agent without an end: a resumed run goes on with them. */
  stopAll(): void;
  /** Gives the agent's slot back while it waits for a child; resolves with what takes one again. */
  lend(agent: AgentId): () => Promise<void>;
  /** The final state of an agent, with its metrics, for the log. */
  finished(agent: AgentId, outcome: AgentOutcome, summary: string, error: string | null): EventBody;
}

interface Seat {
  control: AbortController;
  /** Set while the agent is interrupted. */
  wake: ((what: 'resume' | 'kill' | 'run stopped') => void) | null;
  release: () => void;
}

export interface CrewParts {
  readonly recorder: Recorder;
  readonly executor: Executor;
  readonly slots: Slots;
  readonly world: World;
}

export const openCrew = (parts: CrewParts): Crew => new LocalCrew(parts);

class LocalCrew implements Crew {
  private readonly parts: CrewParts;
  private readonly seats = new Map<AgentId, Seat>();
  private over = false;

  constructor(parts: CrewParts) {
    this.parts = parts;
  }

  async run(order: WorkOrder, parent?: AbortSignal): Promise<AgentOutcome | null> {
    const { recorder } = this.parts;
    const seat: Seat = { control: new AbortController(), wake: null, release: () => {} };
    this.seats.set(order.agent, seat);
    const orphan = (): void => stop(seat, parent?.reason === 'kill' ? 'kill' : 'parent ended');
    parent?.addEventListener('abort', orphan, { once: true });
    this.status(order.agent, 'initializing', '');
    try {
      for (let turns = order.turns; ; turns = turnsOf(recorder.stored(), order.agent)) {
        if (this.over) stop(seat, 'run stopped');
        const outcome = await this.stretch({ ...order, turns }, seat);
        if (outcome.is !== 'stopped') return close(this.parts, order.agent, outcome);
        const cause = String(seat.control.signal.reason);
        const what = cause === 'interrupt' ? await this.whileInterrupted(order.agent, seat) : cause;
        if (what !== 'resume') return closeStopped(this.parts, order.agent, what);
        seat.control = new AbortController();
      }
    } finally {
      parent?.removeEventListener('abort', orphan);
      this.seats.delete(order.agent);
    }
  }

  interrupt(agent: AgentId): boolean {
    const seat = this.seats.get(agent);
    if (!seat || seat.wake !== null) return false;
    stop(seat, 'interrupt');
    return true;
  }

  resume(agent: AgentId): boolean {
    const seat = this.seats.get(agent);
    return seat !== undefined && wakeUp(seat, 'resume');
  }

  kill(agent: AgentId): boolean {
    const seat = this.seats.get(agent);
    if (!seat) return false;
    if (!wakeUp(seat, 'kill')) stop(seat, 'kill');
    return true;
  }

  stopAll(): void {
    this.over = true;
    for (const seat of this.seats.values()) if (!wakeUp(seat, 'run stopped')) stop(seat, 'run stopped');
  }

  lend(agent: AgentId): () => Promise<void> {
    const seat = this.seats.get(agent);
    seat?.release();
    return async () => {
      if (seat) seat.release = await this.parts.slots.take(seat.control.signal);
    };
  }

  finished(agent: AgentId, outcome: AgentOutcome, summary: string, error: string | null): EventBody {
    return finishedEvent(this.parts, agent, outcome, summary, error);
  }

  /** One stretch of work: until it ends or is stopped. */
  private async stretch(order: WorkOrder, seat: Seat): Promise<WorkOutcome> {
    const { signal } = seat.control;
    seat.release = await this.parts.slots.take(signal);
    try {
      if (signal.aborted) return { is: 'stopped', reason: String(signal.reason) };
      this.status(order.agent, 'running', '');
      return await this.parts.executor.run(order, signal);
    } finally {
      seat.release();
    }
  }

  /** Waits until the person resumes or kills an interrupted agent. */
  private async whileInterrupted(agent: AgentId, seat: Seat): Promise<'resume' | 'kill' | 'run stopped'> {
    this.status(agent, 'interrupted', 'interrupted by you');
    if (this.over) return 'run stopped';
    const what = await new Promise<'resume' | 'kill' | 'run stopped'>((resolve) => (seat.wake = resolve));
    seat.wake = null;
    return what;
  }

  private status(agent: AgentId, status: 'initializing' | 'running' | 'interrupted', reason: string): void {
    this.parts.recorder.record({ type: 'agent.status', agent, status, reason });
  }
}

function stop(seat: Seat, cause: StopCause): void {
  seat.control.abort(cause);
}

function wakeUp(seat: Seat, what: 'resume' | 'kill' | 'run stopped'): boolean {
  if (seat.wake === null) return false;
  seat.wake(what);
  return true;
}

function close(parts: CrewParts, agent: AgentId, outcome: Exclude<WorkOutcome, { is: 'stopped' }>): AgentOutcome {
  const end = (how: AgentOutcome, summary: string, error: string | null): AgentOutcome => {
    parts.recorder.record(finishedEvent(parts, agent, how, summary, error));
    return how;
  };
  switch (outcome.is) {
    case 'completed':
      return end('completed', outcome.summary, null);
    case 'partial':
      return end('partial', outcome.summary, outcome.reason);
    case 'failed':
      // "Failed: <message>" is what the result says (CONTRACT O098).
      return end('failed', `Failed: ${outcome.reason}`, outcome.reason);
    default:
      return unreachable(outcome);
  }
}

/** Killed and abandoned are final; a stopped run leaves the agent for a resume. */
function closeStopped(parts: CrewParts, agent: AgentId, cause: string): AgentOutcome | null {
  const { recorder } = parts;
  const state = recorder.state().agents.get(agent);
  if (state === undefined || isFinal(state)) return state?.outcome ?? null;
  if (cause === 'run stopped') {
    recorder.record({ type: 'agent.status', agent, status: 'interrupted', reason: 'the run was stopped' });
    return null;
  }
  const outcome = cause === 'kill' ? 'killed' : 'abandoned';
  const lastWords = state.blocks.findLast(({ is }) => is === 'said');
  const said = lastWords?.is === 'said' ? lastWords.text : '';
  const why = outcome === 'killed' ? 'killed by you' : 'its parent ended';
  recorder.record(finishedEvent(parts, agent, outcome, said, why));
  return outcome;
}

function finishedEvent(
  { recorder, world }: CrewParts,
  agent: AgentId,
  outcome: AgentOutcome,
  summary: string,
  error: string | null,
): EventBody {
  const state = recorder.state();
  const one = state.agents.get(agent);
  if (!one) throw new Error(`${agent} was never created`);
  const now = world.now();
  const metrics = {
    startTime: new Date(one.firstRunAt ?? now).toISOString(),
    endTime: new Date(now).toISOString(),
    duration: elapsedOf(one, now),
    tokensUsed: tokensOfAgent(one),
    cost: one.cost,
    iterations: one.iterations,
    toolCalls: one.toolCalls,
  };
  return { type: 'agent.finished', agent, status: statusOfOutcome(outcome), outcome, summary, error, metrics };
}
