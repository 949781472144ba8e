/** The durable log: what is not in it did not happen. One writer per session; readers any time. */
import type { AgentId, SessionId } from '../domain/ids.ts';
import type { EventBody, EventType, MimirEvent } from '../events/event.ts';

export interface SessionSummary {
  readonly session: SessionId;
  readonly task: string;
  /** Of a run without a plan: the first line of what was asked of it first, shortened. Absent while nothing was. */
  readonly asked?: string;
  /** ISO, UTC. */
  readonly startedAt: string;
  readonly lastAt: string;
  /** `finished`: its `session.finished` says other than stopped; `running`: its writer is alive; else `stopped`. */
  readonly state: 'running' | 'finished' | 'stopped';
  readonly events: number;
  /** It only drafted a text: nothing ran, and there is nothing to go on with. */
  readonly draft?: true;
  /** What it has used so far, in US dollars, where it has no end yet or was killed. Absent where it ended, or used nothing. */
  readonly cost?: number;
  /** How it ended last, and what it had used by then. Absent while it never ended. */
  readonly ended?: {
    readonly status: 'completed' | 'failed' | 'rejected' | 'stopped';
    /** US dollars. */
    readonly cost: number;
    readonly agents: number;
  };
}

/** Some of a session's events: of these types, of these agents or of nobody's; all where neither is said. */
export interface Some {
  readonly types?: readonly EventType[];
  readonly agents?: readonly AgentId[];
  /** False: what tools gave is left out, but for what children gave back. It is nearly all of a long log. */
  readonly outputs?: false;
}

export interface Log {
  /**
   * Appends all of `bodies` in one transaction and returns them with `v`, `seq`, `time` and `session`. Synchronous: when
   * it returns, no death of this process takes them back. What must not be lost to a power cut either is on the disk by
   * then, with all that came before it: both ends of calls that can't be repeated, decisions, messages, how things ended.
   * The rest follows to the disk at once, without being waited for; what a power cut leaves is always the first so many
   * batches. Throws `LogFault` when they could not be written (disk full, not writable), or something before them was not.
   */
  append(session: SessionId, time: string, bodies: readonly EventBody[]): readonly MimirEvent[];
  /** Events with `seq > after`, whole, in order. */
  read(session: SessionId, after?: number): readonly MimirEvent[];
  /**
   * The same without holding more than a few of them: however long the log, the memory for it is bounded. Each walk reads the
   * log anew, and events may be appended during it. Throws `LogFault` while it is walked. Of `some` each is checked by itself:
   * that none is missing, only a walk of all can tell. A walk ends where the log is closed.
   */
  each(session: SessionId, after?: number, some?: Some): Iterable<MimirEvent>;
  /** The event with this number; null where there is none, or the log is closed. Throws `LogFault` where it was changed. */
  at(session: SessionId, seq: number): MimirEvent | null;
  sessions(): readonly SessionSummary[];
  /** Takes the writer's lock of a session; refuses with the reason while another living process holds it. */
  claim(session: SessionId): { readonly ok: true } | { readonly ok: false; readonly holder: string };
  release(session: SessionId): void;
  /** Everything is on the disk when it returns. Throws `LogFault` when it could not be brought there. */
  close(): void;
}

/** The log can't be written: the run pauses before the effect, and the person is told. */
export class LogFault extends Error {
  override readonly name = 'LogFault';
}

/** For who shows what is in the log: null where that can't be read. */
export function readOrNull<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return null;
  }
}
