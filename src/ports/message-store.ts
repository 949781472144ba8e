/**
 * Letters of a person to agents of a run, kept until its host has taken them: any process puts in, only the one that holds the
 * session's claim takes out. A letter is on the disk when `put` returns.
 */
import type { AgentId, SessionId } from '../domain/ids.ts';
import type { Delivery } from './controls.ts';

export interface Letter {
  /** Fresh and random: it comes once, however often it is read. */
  readonly id: string;
  readonly to: AgentId;
  readonly text: string;
  readonly delivery: Delivery;
  /** ISO, UTC. */
  readonly at: string;
}

export interface Mailbox {
  /** Throws `LogFault` when it could not be written. */
  put(session: SessionId, letter: Letter): void;
  /** Those that were not taken yet, oldest first. */
  waiting(session: SessionId): readonly Letter[];
  /** The log has them (as `message.sent` with `letter`). */
  taken(session: SessionId, ids: readonly string[]): void;
}
