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
import type { AgentState, RunState } from '../events/state.ts';
import type { Standing } from '../events/turns.ts';
import { standingsOf } from '../events/turns.ts';
import type { Executor } from '../ports/executor.ts';
import { LogFault } from '../ports/log.ts';
import type { World } from '../ports/world.ts';
import type { Recorder } from './recorder.ts';
import type { Slots } from './slots.ts';

/** Why an agent was ended from outside. An interrupt is none of them: it can be resumed. */
type EndCause = 'kill' | 'run stopped' | 'parent ended';

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
  /** Set once the agent must end, whatever it does at that moment. */
  end: EndCause | null;
  /** Set while the agent is interrupted: what goes on with it. */
  wake: (() => void) | null;
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
    const seat: Seat = { control: new AbortController(), end: null, wake: null, release: () => {} };
    this.seats.set(order.agent, seat);
    const orphan = (): void => endSeat(seat, parent?.reason === 'kill' ? 'kill' : 'parent ended');
    parent?.addEventListener('abort', orphan, { once: true });
    if (parent?.aborted) orphan();
    if (this.over) endSeat(seat, 'run stopped');
    try {
      return await this.toItsEnd(order, seat);
    } catch (error) {
      if (error instanceof LogFault) throw error;
      // A bug takes its agent with it, not the run: the others go on.
      const reason = `a bug in Mimir: ${error instanceof Error ? error.message : String(error)}`;
      return close(this.parts, order.agent, { is: 'failed', reason });
    } finally {
      parent?.removeEventListener('abort', orphan);
      // Nothing of an agent that has ended goes on: not a call of a model, not a tool.
      seat.control.abort('ended');
      this.seats.delete(order.agent);
    }
  }

  interrupt(agent: AgentId): boolean {
    const seat = this.seats.get(agent);
    if (!seat || seat.control.signal.aborted) return false;
    seat.control.abort('interrupt');
    return true;
  }

  resume(agent: AgentId): boolean {
    const wake = this.seats.get(agent)?.wake;
    wake?.();
    return Boolean(wake);
  }

  kill(agent: AgentId): boolean {
    const seat = this.seats.get(agent);
    if (!seat) return false;
    endSeat(seat, 'kill');
    return true;
  }

  stopAll(): void {
    this.over = true;
    for (const seat of this.seats.values()) endSeat(seat, 'run stopped');
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

  /** Stretches of work, with an interruption between them each time. */
  private async toItsEnd(order: WorkOrder, seat: Seat): Promise<AgentOutcome | null> {
    const { recorder, slots } = this.parts;
    this.status(order.agent, 'initializing', '');
    const standing = (): Partial<Standing> => standingsOf(recorder.stored(), [order.agent]).get(order.agent) ?? {};
    for (let now: Partial<Standing> = {}; ; now = standing()) {
      seat.release = await slots.take(seat.control.signal);
      // The slot is given back when the end is recorded: in the log no two share one.
      try {
        const outcome = await this.stretch({ ...order, ...now }, seat);
        // Written to in the very moment of its end: it reads that, and works on.
        if (outcome.is === 'completed' && hasMail(recorder.state(), order.agent)) continue;
        if (outcome.is !== 'stopped') return close(this.parts, order.agent, outcome);
        if (seat.end !== null) return closeStopped(this.parts, order.agent, seat.end);
      } finally {
        seat.release();
      }
      await this.whileInterrupted(order.agent, seat);
      if (seat.end !== null) return closeStopped(this.parts, order.agent, seat.end);
      seat.control = new AbortController();
    }
  }

  /** One stretch of work: until it ends or is stopped. */
  private async stretch(order: WorkOrder, { control: { signal } }: Seat): Promise<WorkOutcome> {
    if (signal.aborted) return { is: 'stopped', reason: String(signal.reason) };
    this.status(order.agent, 'running', '');
    return this.parts.executor.run(order, signal);
  }

  /** Waits until the person resumes an interrupted agent, or something ends it. */
  private async whileInterrupted(agent: AgentId, seat: Seat): Promise<void> {
    // Aborted here as well when the agent stopped by itself: its turn was refused by the person.
    seat.control.abort('interrupt');
    this.status(agent, 'interrupted', 'interrupted by you');
    await new Promise<void>((resolve) => (seat.wake = resolve));
    seat.wake = null;
  }

  private status(agent: AgentId, status: 'initializing' | 'running' | 'interrupted', reason: string): void {
    this.parts.recorder.record({ type: 'agent.status', agent, status, reason });
  }
}

const hasMail = ({ messages }: RunState, agent: AgentId): boolean =>
  messages.some(({ to, delivered }) => to === agent && !delivered);

/** Ends an agent that works, waits or is interrupted. A kill is the stronger word; otherwise the first one stays. */
function endSeat(seat: Seat, cause: EndCause): void {
  if (seat.end === null || cause === 'kill') seat.end = cause;
  seat.control.abort(cause);
  seat.wake?.();
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
function closeStopped(parts: CrewParts, agent: AgentId, cause: EndCause): AgentOutcome | null {
  const { recorder } = parts;
  const state = recorder.state().agents.get(agent);
  if (state === undefined || isFinal(state)) return state?.outcome ?? null;
  if (cause === 'run stopped') return leftForResume(parts, state);
  const outcome = cause === 'kill' ? 'killed' : 'abandoned';
  const lastWords = state.blocks.findLast(({ is }) => is === 'said');
  const said = lastWords?.is === 'said' ? lastWords.text : '';
  const why = outcome === 'killed' ? 'killed by you' : 'its parent stopped';
  recorder.record(finishedEvent(parts, agent, outcome, said, why));
  return outcome;
}

/** Who stopped the run may have said why already. */
function leftForResume({ recorder }: CrewParts, { id, status }: AgentState): null {
  if (status !== 'interrupted')
    recorder.record({ type: 'agent.status', agent: id, status: 'interrupted', reason: 'the run was stopped' });
  return null;
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
