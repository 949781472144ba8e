/** The running agents, from the start of each to its single final state: slots, interrupt, resume, kill, the recorded
 * end. The scheduler decides when an agent starts, the loop what it does. */
import type { AgentOutcome, WorkOrder, WorkOutcome } from '../../domain/agents/agent.ts';
import { type AgentId, isBelow, ROOT } from '../../domain/ids.ts';
import * as events from '../../events/index.ts';
import { LogFault } from '../../ports/log.ts';
import { hasMail, type OpenGate, type Recorder, type RunContext, orAborted } from '../gate/index.ts';
import * as ends from './agent-end.ts';
import * as checks from './checks.ts';
import type { Slots } from './slots.ts';
import { messageOf } from '../../domain/result.ts';

/** ROOT doing its own work, in a run without a plan or when a person talks to it. */
export interface RootAgent {
  /** Yields its slot, as `AgentSupervisor.yieldSlot` does; null where it has none. */
  readonly yieldSlot: (() => () => Promise<void>) | null;
  interrupt(): void;
}

interface RunningAgent {
  control: AbortController;
  /** Set once the agent must end. */
  end: ends.EndCause | null;
  killed: ends.Killed;
  works: boolean;
  /** Set while the agent is interrupted: resumes it. */
  wake: (() => void) | null;
  release: () => void;
}

/** Carries out one work order. Its model calls and tools may be carried out on other machines, behind the ports of the gate.
 *
 * - Resolves when the agent has ended, however it ended; a failed agent is an outcome, not a rejection.
 * - Aborting `signal` ends the agent within two seconds with `{ is: 'stopped' }`; tools are told first.
 * - Called once per start or resume of an agent. */
export type Execute = (order: WorkOrder, signal: AbortSignal) => Promise<WorkOutcome>;

interface SupervisorParts extends Omit<ends.EndParts, 'supervisor' | 'gate'>, Pick<RunContext, 'signal'> {
  readonly gate: Pick<OpenGate, 'inbox' | 'check' | 'tell' | 'tree'>;
  readonly execute: Execute;
  readonly slots: Slots;
  readonly conversations: Conversations;
}

export class AgentSupervisor {
  private readonly parts: SupervisorParts & ends.EndParts;
  private readonly runningAgents = new Map<AgentId, RunningAgent>();
  private readonly listeners = new Set<(agent: AgentId) => void>();
  private root: RootAgent | null = null;
  private over = false;

  constructor(parts: SupervisorParts) {
    this.parts = { ...parts, supervisor: this };
    if (parts.signal.aborted) this.stopAll();
    else parts.signal.addEventListener('abort', () => this.stopAll(), { once: true });
  }

  /** Runs a created agent to its end, from its position in the log on. Null: the run was stopped first, and a resume continues the agent.
   * `before`: its answer before it was revived. */
  async run(order: WorkOrder, parent?: AbortSignal, before = ''): Promise<AgentOutcome | null> {
    const runningAgent = newRunning();
    this.runningAgents.set(order.agent, runningAgent);
    this.parts.conversations.keep(order.agent);
    const orphan = (): void => endRunning(runningAgent, parent?.reason === 'kill' ? 'kill' : 'parent ended');
    parent?.addEventListener('abort', orphan, { once: true });
    if (parent?.aborted) orphan();
    if (this.over) endRunning(runningAgent, 'run stopped');
    try {
      return await this.runToEnd(order, runningAgent, before);
    } catch (error) {
      if (error instanceof LogFault) throw error;
      // A bug ends its agent, but not the run.
      const reason = `a bug in Mimir: ${messageOf(error)}`;
      return ends.close(this.parts, order.agent, { is: 'failed', reason }, '');
    } finally {
      parent?.removeEventListener('abort', orphan);
      // Nothing of an ended agent continues, neither a model call nor a tool.
      runningAgent.control.abort('ended');
      this.leave(order.agent, runningAgent);
    }
  }

  /** Runs `work` in a slot before an agent's own, again after an interruption. Resolves with null when it has ended, or with how the agent has ended
   * meanwhile: null within where the run was stopped. */
  async prepare(
    agent: AgentId,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<{ readonly outcome: AgentOutcome | null } | null> {
    const runningAgent = newRunning();
    this.runningAgents.set(agent, runningAgent);
    if (this.over) endRunning(runningAgent, 'run stopped');
    this.recordStatus(agent, 'initializing');
    try {
      for (;;) {
        runningAgent.release = await this.parts.slots.take(runningAgent.control.signal);
        await work(runningAgent.control.signal).finally(() => runningAgent.release());
        if (!runningAgent.control.signal.aborted) return null;
        if (runningAgent.end === null) await this.whileInterrupted(agent, runningAgent);
        const { end, killed } = runningAgent;
        if (end !== null) return { outcome: ends.closeStopped(this.parts, agent, { end, killed }) };
        runningAgent.control = new AbortController();
      }
    } finally {
      if (this.runningAgents.get(agent) === runningAgent) this.runningAgents.delete(agent);
    }
  }

  /** A message may have revived the agent meanwhile. */
  private leave(agent: AgentId, runningAgent: RunningAgent): void {
    if (this.runningAgents.get(agent) === runningAgent) this.runningAgents.delete(agent);
    for (const listener of this.listeners) listener(agent);
    if (!this.runningAgents.has(agent)) this.parts.conversations.drop(agent);
  }

  /** Interrupts the agent; false when its state does not allow that. */
  interrupt(agent: AgentId): boolean {
    if (agent === ROOT) {
      this.root?.interrupt();
      return this.root !== null;
    }
    const runningAgent = this.runningAgents.get(agent);
    if (!runningAgent || runningAgent.control.signal.aborted) return false;
    runningAgent.control.abort('interrupt');
    return true;
  }

  /** Resumes an interrupted agent; false when it is not interrupted. */
  resume(agent: AgentId): boolean {
    const wake = this.runningAgents.get(agent)?.wake;
    wake?.();
    return Boolean(wake);
  }

  /** Kills the agent and its descendants. `by`: the agent that asked for it; a person when left out. */
  kill(agent: AgentId, by?: AgentId): boolean {
    const runningAgent = this.runningAgents.get(agent);
    if (!runningAgent) return false;
    const { agents } = this.parts.recorder.state();
    const why = ends.killedBy(agents, by ?? null);
    for (const [one, other] of this.runningAgents) {
      if (one !== agent && !isBelow(one, agent)) continue;
      // Descendants, and agents killed by their own parent, need no notice.
      other.killed = { why, silent: one !== agent || by !== undefined };
      endRunning(other, 'kill');
    }
    return true;
  }

  isRunning(agent: AgentId): boolean {
    return this.runningAgents.has(agent);
  }

  abandon(agent: AgentId): void {
    const runningAgent = this.runningAgents.get(agent);
    if (runningAgent) endRunning(runningAgent, 'parent ended');
  }

  /** Whether it is running but not working now: it waits for a slot, a message or the person. */
  rests(agent: AgentId): boolean {
    const { phase, idle } = this.parts.recorder.state();
    return agent === ROOT
      ? (phase === 'approving' || idle) && (this.root?.yieldSlot ?? null) === null
      : this.runningAgents.get(agent)?.works === false;
  }

  /** Aborted when the agent is stopped or has ended; null for an agent that is not running. */
  signal(agent: AgentId): AbortSignal | null {
    return this.runningAgents.get(agent)?.control.signal ?? null;
  }

  /** Ends all agents so that a resumed run can continue them. */
  private stopAll(): void {
    this.over = true;
    for (const runningAgent of this.runningAgents.values()) endRunning(runningAgent, 'run stopped');
  }

  /** ROOT works itself from now on; returns the function that ends that. */
  setRoot(root: RootAgent): () => void {
    this.root = root;
    return () => void (this.root === root && (this.root = null));
  }

  onLeft(listener: (agent: AgentId) => void): void {
    this.listeners.add(listener);
  }

  /** Yields the agent's slot while it waits for a child; the function it returns takes one again. */
  yieldSlot(agent: AgentId): () => Promise<void> {
    if (agent === ROOT && this.root?.yieldSlot) return this.root.yieldSlot();
    const runningAgent = this.runningAgents.get(agent);
    runningAgent?.release();
    return async () => {
      if (runningAgent) runningAgent.release = await this.parts.slots.take(runningAgent.control.signal);
    };
  }

  /** Runs stretches of work, with an interruption or a wait for children between them. */
  private async runToEnd(order: WorkOrder, runningAgent: RunningAgent, before: string): Promise<AgentOutcome | null> {
    const { recorder, slots, conversations } = this.parts;
    const { agent } = order;
    if (hasSignalledEnd(recorder.state(), agent)) this.recordStatus(agent, 'waiting', FOR_A_SLOT);
    else this.recordStatus(agent, 'initializing');
    for (;;) {
      runningAgent.release = isReviewOfIdle(recorder.state(), agent)
        ? () => undefined
        : await slots.take(runningAgent.control.signal);
      // The slot is given back after the end is recorded, so that in the log no two agents share one.
      try {
        const outcome = await this.stretch({ ...order, ...conversations.of(agent) }, runningAgent);
        const ended = this.endAtOnce(order, outcome, before);
        if (ended !== null) return ended;
        const next = await this.afterStretch(order, runningAgent, outcome);
        if (next !== null) {
          const end = next(before);
          if (end !== null) return end;
          continue;
        }
        if (runningAgent.end !== null)
          return ends.closeStopped(this.parts, agent, { end: runningAgent.end, killed: runningAgent.killed });
      } finally {
        runningAgent.release();
      }
      await this.whileInterrupted(agent, runningAgent);
      if (runningAgent.end !== null)
        return ends.closeStopped(this.parts, agent, { end: runningAgent.end, killed: runningAgent.killed });
      runningAgent.control = new AbortController();
    }
  }

  private isHeld(agent: AgentId, outcome: WorkOutcome): boolean {
    return outcome.is === 'completed' && this.hasMoreWork(agent);
  }

  /** Ends the work if nothing has to be waited for; null otherwise. Nothing is awaited between the look for messages and the record of the
   * end, or a message in between would stay unread. */
  private endAtOnce(order: WorkOrder, outcome: WorkOutcome, before: string): AgentOutcome | null {
    if (outcome.is === 'stopped' || this.isHeld(order.agent, outcome)) return null;
    if (outcome.is !== 'failed' && checks.hasChecks(this.parts, order)) return null;
    return ends.close(this.parts, order.agent, outcome, before);
  }

  /** Waits for messages, or for the checks of the task. The result records the end, or gives null where the work goes on; null if it was stopped. */
  private async afterStretch(
    order: WorkOrder,
    runningAgent: RunningAgent,
    outcome: WorkOutcome,
  ): Promise<((before: string) => AgentOutcome | null) | null> {
    const { agent } = order;
    if (outcome.is === 'stopped' || outcome.is === 'failed') return null;
    const { signal } = runningAgent.control;
    const end = this.isHeld(agent, outcome)
      ? await this.waitForMail(agent, runningAgent).then(() => null)
      : await this.checked(order, runningAgent, outcome);
    if (end !== null) return (before) => (this.isHeld(agent, outcome) ? null : end(before));
    return signal.aborted ? null : () => null;
  }

  /** How the work ends, judged by the checks of its task; null where it goes on, or was stopped. */
  private async checked(
    order: WorkOrder,
    { control: { signal } }: RunningAgent,
    outcome: Extract<WorkOutcome, { readonly is: 'completed' | 'partial' }>,
  ): Promise<((before: string) => AgentOutcome) | null> {
    const { parts } = this;
    const { agent } = order;
    if (outcome.is === 'completed') this.recordStatus(agent, 'waiting', FOR_CHECKS);
    const verdict = await checks.judgeWork(parts, order, outcome, signal);
    if (verdict.is === 'failed') return () => ends.closeFailed(parts, agent, outcome.summary, verdict.why);
    if (verdict.is === 'again') this.forgetSignal(agent);
    const isOver = verdict.is === 'passed' && !signal.aborted;
    return isOver ? (before) => ends.close(parts, agent, outcome, before) : null;
  }

  /** What the agent said of its own end was not so. */
  private forgetSignal(agent: AgentId): void {
    if (this.parts.recorder.state().agents.get(agent)?.signalled !== null) this.recordStatus(agent, 'initializing');
  }

  /** Whether the agent has more to do although its turn ended: a message arrived at that moment, or it waits for
   * children. Its own report of its end overrides both. */
  private hasMoreWork(agent: AgentId): boolean {
    const state = this.parts.recorder.state();
    return state.agents.get(agent)?.signalled === null && (hasMail(state, agent) || events.isOwed(state, agent));
  }

  /** Waits for a message without holding a slot. */
  private async waitForMail(agent: AgentId, runningAgent: RunningAgent): Promise<void> {
    const { recorder, gate } = this.parts;
    const { signal } = runningAgent.control;
    if (signal.aborted) return;
    runningAgent.release();
    // It queues for a slot again and does not run until it has one.
    if (hasMail(recorder.state(), agent)) return this.recordStatus(agent, 'waiting', FOR_A_SLOT);
    this.recordStatus(agent, 'waiting', ends.WAITING_FOR_CHILDREN);
    const mail = Promise.withResolvers<void>();
    const unsubscribe = gate.inbox.onMail(agent, mail.resolve);
    await orAborted(mail.promise, signal, undefined);
    unsubscribe();
  }

  private async stretch(order: WorkOrder, runningAgent: RunningAgent): Promise<WorkOutcome> {
    const { signal } = runningAgent.control;
    if (signal.aborted) return { is: 'stopped', reason: String(signal.reason) };
    this.recordStatus(order.agent, 'running');
    runningAgent.works = true;
    try {
      return await this.parts.execute(order, signal);
    } finally {
      runningAgent.works = false;
    }
  }

  /** Waits until the person resumes an interrupted agent, or something ends it. */
  private async whileInterrupted(agent: AgentId, runningAgent: RunningAgent): Promise<void> {
    // Also aborted here because the agent may have stopped by itself, when the person refused its turn.
    runningAgent.control.abort('interrupt');
    this.parts.recorder.record({ type: 'agent.status', agent, ...ends.INTERRUPTED });
    await new Promise<void>((resolve) => (runningAgent.wake = resolve));
    runningAgent.wake = null;
  }

  private recordStatus(
    agent: AgentId,
    status: 'initializing' | 'running' | 'waiting',
    why: Why = { reason: '' },
  ): void {
    this.parts.recorder.record({ type: 'agent.status', agent, status, ...why });
  }
}

type Why = Pick<events.EventOf<'agent.status'>, 'reason' | 'waitingFor'>;
const FOR_A_SLOT = { reason: '', waitingFor: { is: 'slot' } } as const;
const FOR_CHECKS = { reason: '', waitingFor: { is: 'checks' } } as const;

const newRunning = (): RunningAgent => ({
  control: new AbortController(),
  end: null,
  works: false,
  killed: { why: ends.KILLED_BY_PERSON, silent: false },
  wake: null,
  release: () => {},
});

/** Whether it had reported its end when the run was cut off; it is then not started again. */
function hasSignalledEnd({ agents }: events.RunState, agent: AgentId): boolean {
  const one = agents.get(agent);
  return one !== undefined && one.signalled !== null && one.outcome === null;
}

/** Reviewers of a run without a plan take no slot, because ROOT may hold one without end. Only one review runs at a time. */
const isReviewOfIdle = (state: events.RunState, agent: AgentId): boolean => state.idle && events.isForced(state, agent);

/** Ends an agent that works, waits or is interrupted. A kill overrides earlier causes; otherwise the first cause stays. */
function endRunning(runningAgent: RunningAgent, cause: ends.EndCause): void {
  if (runningAgent.end === null || cause === 'kill') runningAgent.end = cause;
  runningAgent.control.abort(cause);
  runningAgent.wake?.();
}

// Conversations of running agents, kept up to date from new events, so that a woken agent does not read the whole log
// again. Conversations from before are read once, all requested ones together.

export type Conversations = ReturnType<typeof openConversations>;

export function openConversations(recorder: Recorder) {
  const known = new Map<AgentId, events.Conversation>();
  /** Kept, but not read yet. */
  const unread = new Set<AgentId>();
  const take = (all: ReadonlyMap<AgentId, events.Conversation>, event: events.MimirEvent): void => {
    if (event.type === 'session.resumed') for (const one of all.values()) one.take(event);
    else if ('agent' in event && event.agent !== null) all.get(event.agent)?.take(event);
  };
  recorder.onRecord((event) => take(known, event));
  const found = (agent: AgentId): events.Conversation => {
    const one = known.get(agent);
    if (one !== undefined) return one;
    const read = new Map([...unread, agent].map((id) => [id, new events.Conversation(id)]));
    for (const event of recorder.each(0, { agents: [...read.keys()] })) take(read, event);
    for (const [id, conversation] of read) known.set(id, conversation);
    unread.clear();
    return found(agent);
  };
  return {
    /** Keeps the conversations of `agents` until `drop`; those from before are read together. */
    keep(...agents: readonly AgentId[]): void {
      const state = recorder.state();
      // An agent that was told nothing has no conversation in the log.
      for (const agent of agents.filter((one) => !known.has(one)))
        if (state.agents.get(agent)?.blocks.length === 0) known.set(agent, new events.Conversation(agent));
        else unread.add(agent);
    },
    /** The agent's present position; it is kept from then on. */
    of: (agent: AgentId): events.AgentPosition => found(agent).position(),
    /** The number of its replies before its last end, likewise. */
    repliesBefore: (agent: AgentId): number => found(agent).repliesBefore(),
    /** Frees the conversation, which may be long. */
    drop(agent: AgentId): void {
      known.delete(agent);
      unread.delete(agent);
    },
  };
}
