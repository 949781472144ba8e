/** The durable log: what is not in it did not happen. One writer per session; readers any time. */
import type { SessionId } from '../domain/ids.ts';
import type { EventBody, MimirEvent } from '../events/event.ts';

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
   * log anew, and events may be appended during it. Throws `LogFault` while it is walked.
   */
  each(session: SessionId, after?: number): Iterable<MimirEvent>;
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
