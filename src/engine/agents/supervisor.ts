/**
 * The agents of a run, from the start of each to its one final state: slots, interrupt and resume, kill, the last word
 * in the log. Which agent starts when is the scheduler's; what an agent does is the loop's.
 */
import type { AgentOutcome, AgentStatus, WorkOrder, WorkOutcome } from '../../domain/agents/agent.ts';
import { type AgentId, isBelow } from '../../domain/ids.ts';
import type { EventBody, WaitingFor } from '../../events/event.ts';
import type { RunState } from '../../events/state.ts';
import type { Standing } from '../../events/turns.ts';
import type { Executor } from '../../ports/executor.ts';
import { LogFault } from '../../ports/log.ts';
import { WAITS } from '../messaging/child-end.ts';
import type { Conversations } from './conversations.ts';
import type { EndCause, Ending, EndReason, Killed } from './agent-end.ts';
import { close, closeStopped, finishedEvent, INTERRUPTED, KILLED_BY_PERSON, killedBy } from './agent-end.ts';
import { hasMail } from '../messaging/inbox.ts';
import type { Slots } from './slots.ts';

export interface Crew {
  /**
   * Runs an agent that was created to its end. `null`: the run was stopped first, and a resume goes on with it. `before`: what it
   * has answered in an earlier stretch of its life.
   */
  run(order: WorkOrder, parent?: AbortSignal, before?: string): Promise<AgentOutcome | null>;
  /** Each returns false when the agent's state doesn't allow it. */
  interrupt(agent: AgentId): boolean;
  resume(agent: AgentId): boolean;
  /** With everything below it. `by`: the agent that wants it; a person when left out. */
  kill(agent: AgentId, by?: AgentId): boolean;
  /** Ends one whose parent has ended. */
  abandon(agent: AgentId): void;
  /** Is it in the run, and at no work now: does it wait for a slot, for mail, or for its person? */
  rests(agent: AgentId): boolean;
  /** Aborted when the agent is stopped or has ended; null of one that doesn't work. */
  signal(agent: AgentId): AbortSignal | null;
  /** Stops every agent without an end: a resumed run goes on with them. */
  stopAll(): void;
  /** Gives the agent's slot back while it waits for a child; resolves with what takes one again. */
  lend(agent: AgentId): () => Promise<void>;
  /** The final state of an agent, with its metrics, for the log. */
  finished(agent: AgentId, outcome: AgentOutcome, summary: string, why: string | null | EndReason): EventBody;
}

interface Seat {
  control: AbortController;
  /** Set once the agent must end, whatever it does at that moment. */
  end: EndCause | null;
  killed: Killed;
  /** In a stretch of work. */
  works: boolean;
  /** Set while the agent is interrupted: what goes on with it. */
  wake: (() => void) | null;
  release: () => void;
}

export interface CrewParts extends Ending {
  readonly executor: Executor;
  readonly slots: Slots;
  readonly conversations: Conversations;
}

export const openCrew = (parts: CrewParts): Crew => new LocalCrew(parts);

class LocalCrew implements Crew {
  private readonly parts: CrewParts;
  private readonly seats = new Map<AgentId, Seat>();
  private over = false;

  constructor(parts: CrewParts) {
    this.parts = parts;
  }

  async run(order: WorkOrder, parent?: AbortSignal, before = ''): Promise<AgentOutcome | null> {
    const seat = newSeat();
    this.seats.set(order.agent, seat);
    this.parts.conversations.keep(order.agent, order.turns.length === 0);
    const orphan = (): void => endSeat(seat, parent?.reason === 'kill' ? 'kill' : 'parent ended');
    parent?.addEventListener('abort', orphan, { once: true });
    if (parent?.aborted) orphan();
    if (this.over) endSeat(seat, 'run stopped');
    try {
      return await this.toItsEnd(order, seat, before);
    } catch (error) {
      if (error instanceof LogFault) throw error;
      // A bug takes its agent with it, not the run: the others go on.
      const reason = `a bug in Mimir: ${error instanceof Error ? error.message : String(error)}`;
      return close(this.parts, order.agent, { is: 'failed', reason }, '');
    } finally {
      parent?.removeEventListener('abort', orphan);
      // Nothing of an agent that has ended goes on: not a call of a model, not a tool.
      seat.control.abort('ended');
      this.leave(order.agent, seat);
    }
  }

  /** A message may have given it another seat already. */
  private leave(agent: AgentId, seat: Seat): void {
    if (this.seats.get(agent) === seat) this.seats.delete(agent);
    this.parts.ties.left(agent);
    if (!this.seats.has(agent)) this.parts.conversations.drop(agent);
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

  kill(agent: AgentId, by?: AgentId): boolean {
    const seat = this.seats.get(agent);
    if (!seat) return false;
    const { agents } = this.parts.recorder.state();
    const why = killedBy(agents, by ?? null);
    for (const [one, other] of this.seats) {
      if (one !== agent && !isBelow(one, agent)) continue;
      // Whose parent ends as well, or has wanted it, needs no word of it.
      other.killed = { why, silent: one !== agent || by !== undefined };
      endSeat(other, 'kill');
    }
    return true;
  }

  abandon(agent: AgentId): void {
    const seat = this.seats.get(agent);
    if (seat) endSeat(seat, 'parent ended');
  }

  rests(agent: AgentId): boolean {
    return this.seats.get(agent)?.works === false;
  }

  signal(agent: AgentId): AbortSignal | null {
    return this.seats.get(agent)?.control.signal ?? null;
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

  readonly finished: Crew['finished'] = (...end) => finishedEvent(this.parts, ...end);

  /** Stretches of work, with an interruption or a wait for children between them each time. */
  private async toItsEnd(order: WorkOrder, seat: Seat, before: string): Promise<AgentOutcome | null> {
    const { recorder, slots, conversations } = this.parts;
    const { agent } = order;
    if (hasSaidItsEnd(recorder.state(), agent)) this.waits(agent, FOR_A_SLOT);
    else this.status(agent, 'initializing', '');
    for (let now: Partial<Standing> = {}; ; now = conversations.of(agent)) {
      seat.release = isReviewOfIdle(recorder.state(), agent) ? NO_SLOT : await slots.take(seat.control.signal);
      // The slot is given back when the end is recorded: in the log no two share one.
      try {
        const outcome = await this.stretch({ ...order, ...now }, seat);
        if (outcome.is === 'completed' && this.goesOn(agent)) {
          await this.untilNews(agent, seat);
          if (!seat.control.signal.aborted) continue;
        } else if (outcome.is !== 'stopped') return close(this.parts, agent, outcome, before);
        if (seat.end !== null) return closeStopped(this.parts, agent, { end: seat.end, killed: seat.killed });
      } finally {
        seat.release();
      }
      await this.whileInterrupted(agent, seat);
      if (seat.end !== null) return closeStopped(this.parts, agent, { end: seat.end, killed: seat.killed });
      seat.control = new AbortController();
    }
  }

  /** Its turn is over, but not its work: it was written to in that very moment, or waits for children. Its own word of its end is the last. */
  private goesOn(agent: AgentId): boolean {
    const { recorder, ties } = this.parts;
    const state = recorder.state();
    return state.agents.get(agent)?.signalled === null && (hasMail(state, agent) || ties.isOwed(agent));
  }

  /** Waits for mail without a slot; resolves at once where there is some. */
  private async untilNews(agent: AgentId, seat: Seat): Promise<void> {
    const { recorder, ties } = this.parts;
    const { signal } = seat.control;
    if (signal.aborted) return;
    seat.release();
    // It takes a slot again, behind others who wait for one: until then it does not run.
    if (hasMail(recorder.state(), agent)) return this.waits(agent, FOR_A_SLOT);
    this.waits(agent, WAITS);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        unheard();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const unheard = ties.onMail(agent, done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** One stretch of work: until it ends or is stopped. */
  private async stretch(order: WorkOrder, seat: Seat): Promise<WorkOutcome> {
    const { signal } = seat.control;
    if (signal.aborted) return { is: 'stopped', reason: String(signal.reason) };
    this.status(order.agent, 'running', '');
    seat.works = true;
    try {
      return await this.parts.executor.run(order, signal);
    } finally {
      seat.works = false;
    }
  }

  /** Waits until the person resumes an interrupted agent, or something ends it. */
  private async whileInterrupted(agent: AgentId, seat: Seat): Promise<void> {
    // Aborted here as well when the agent stopped by itself: its turn was refused by the person.
    seat.control.abort('interrupt');
    this.parts.recorder.record({ type: 'agent.status', agent, ...INTERRUPTED });
    await new Promise<void>((resolve) => (seat.wake = resolve));
    seat.wake = null;
  }

  private waits(agent: AgentId, why: { readonly reason: string; readonly waitingFor: WaitingFor }): void {
    this.parts.recorder.record({ type: 'agent.status', agent, status: 'waiting', ...why });
  }

  private status(
    agent: AgentId,
    status: Exclude<AgentStatus, 'pending' | 'waiting' | 'interrupted' | 'completed' | 'failed'>,
    reason: string,
  ): void {
    this.parts.recorder.record({ type: 'agent.status', agent, status, reason });
  }
}

const FOR_A_SLOT = { reason: '', waitingFor: { is: 'slot' } } as const;

const newSeat = (): Seat => ({
  control: new AbortController(),
  end: null,
  works: false,
  killed: { why: KILLED_BY_PERSON, silent: false },
  wake: null,
  release: () => {},
});

/** It had said that its work ends when the run was cut off: it is not begun anew, that holds. */
function hasSaidItsEnd({ agents }: RunState, agent: AgentId): boolean {
  const one = agents.get(agent);
  return one !== undefined && one.signalled !== null && one.outcome === null;
}

/** Who judges work of a run without a plan, which may never end, waits for no slot of that. One review is made at a time. */
const isReviewOfIdle = ({ idle, agents }: RunState, agent: AgentId): boolean =>
  idle && (agents.get(agent)?.forced ?? null) !== null;
const NO_SLOT = (): void => {};

/** Ends an agent that works, waits or is interrupted. A kill is the stronger word; otherwise the first one stays. */
function endSeat(seat: Seat, cause: EndCause): void {
  if (seat.end === null || cause === 'kill') seat.end = cause;
  seat.control.abort(cause);
  seat.wake?.();
}
