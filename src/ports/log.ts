/** The durable log, from which all state is computed. One writer per session; any number of readers. */
import type { AgentId, SessionId } from '../domain/ids.ts';
import type { EventBody, EventType, MimirEvent, SentMessage } from '../events/index.ts';

export interface SessionSummary {
  readonly session: SessionId;
  readonly task: string;
  /** Of a run without a plan: the beginning of its first request. Absent before that. */
  readonly asked?: string;
  /** ISO, UTC. */
  readonly startedAt: string;
  readonly lastAt: string;
  /** `finished`: it ended other than stopped; `running`: its writer is alive; else `stopped`. */
  readonly state: 'running' | 'finished' | 'stopped';
  readonly events: number;
  /** Only a text was drafted: nothing ran, and there is nothing to resume. */
  readonly draft?: true;
  /** US dollars used so far by a run that has not ended or was killed. Absent if it ended or used nothing. */
  readonly cost?: number;
  /** How it last ended, and what it had used by then. Absent if it never ended. */
  readonly ended?: {
    readonly status: 'completed' | 'failed' | 'rejected' | 'stopped';
    /** US dollars. */
    readonly cost: number;
    readonly agents: number;
  };
}

/** A filter for events by type and by agent; without either, all events pass. */
export interface Some {
  readonly types?: readonly EventType[];
  readonly agents?: readonly AgentId[];
  /** False omits tool outputs except the results of children. They are nearly all of a long log. */
  readonly outputs?: false;
}

export interface Log {
  /** Appends all of `bodies` in one transaction and returns them with `v`, `seq`, `time` and `session`. Synchronous: afterwards they
   * survive the death of this process. Events that must survive a power cut are then on disk with everything before them: both ends
   * of calls that cannot be repeated, decisions, messages, results. The others are synced in the background; a power cut can only
   * lose the latest batches. Throws `LogFault` when they, or earlier events, could not be written (disk full, not writable). */
  append(session: SessionId, time: string, bodies: readonly EventBody[]): readonly MimirEvent[];
  /** Events with `seq > after`, whole, in order. */
  read(session: SessionId, after?: number): readonly MimirEvent[];
  /** As `read`, but with bounded memory; each iteration reads the log again, and events may be appended during it. Throws `LogFault` while iterating.
   * With `some`, each event is checked by itself; only a complete iteration detects missing ones. Ends when the log is closed. */
  each(session: SessionId, after?: number, some?: Some): Iterable<MimirEvent>;
  /** The event with this number; null if there is none or the log is closed. Throws `LogFault` if it was changed. */
  at(session: SessionId, seq: number): MimirEvent | null;
  sessions(): readonly SessionSummary[];
  /** Takes the writer's lock of a session; refuses while another living process holds it, and names that process. */
  claim(session: SessionId): { readonly ok: true } | { readonly ok: false; readonly holder: string };
  release(session: SessionId): void;
  /** Everything is on disk when it returns. Throws `LogFault` if it could not be written. */
  close(): void;
}

/** The log cannot be written: the run pauses before the next effect, and the person is informed. */
export class LogFault extends Error {
  override readonly name = 'LogFault';
}

/** For display: the value, or null if the log cannot be read. */
export function readOrNull<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return null;
  }
}

// Messages of a person to agents of a run, stored until the process that holds the session's lock has taken them.

export interface StoredMessage {
  /** Random and unique: the message is delivered once, however often it is read. */
  readonly id: string;
  readonly to: AgentId;
  readonly text: string;
  readonly delivery: SentMessage['delivery'];
  /** ISO, UTC. */
  readonly at: string;
}

export interface MessageStore {
  /** Throws `LogFault` when it could not be written. */
  put(session: SessionId, letter: StoredMessage): void;
  waiting(session: SessionId): readonly StoredMessage[];
  /** Removes messages after the log has them (as `message.sent` with `letter`). */
  taken(session: SessionId, ids: readonly string[]): void;
}
