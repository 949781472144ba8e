/** The seam to a run in another process: what a second screen, a verb or an agent's command reaches by a socket (room `control`). */
import type { AgentId, SessionId } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import type { MimirEvent } from '../events/event.ts';
import type { Family, SessionDetail } from '../events/sessions/record.ts';
import type { Controls, Command, Receipt, Refusal } from './controls.ts';
import type { RunState } from '../events/state.ts';

/** What the process that carries a run gives to those who knock; `asker` is an agent, or null for the person. */
export interface Given {
  readonly controls: Controls;
  /** As `asker` may see it. */
  family(asker: AgentId | null): Family;
  /** Refused with words where `asker` may not look into `agent`: others than itself and those below it. */
  detail(asker: AgentId | null, agent: AgentId): Result<SessionDetail, string>;
  /** Events of one agent, or of the whole run, as far as `asker` may see them: read as they are taken. */
  events(asker: AgentId | null, agent: AgentId | null, after: number): Result<Iterable<MimirEvent>, string>;
  /** Letters lie in the box: take them. Absent: nobody looks there. */
  poke?(): void;
}

/** A run that was reached. Every promise rejects with `ControlFault` when it is gone meanwhile. */
export interface Reached {
  readonly session: SessionId;
  /** Who we are there: an agent by its door, null for the person. */
  readonly as: AgentId | null;
  /** All of a run's controls, over the socket; `lost` resolves when it is gone. An agent's are refused what it may not ask. */
  readonly controls: Controls;
  family(): Promise<Family>;
  detail(agent: AgentId): Promise<Result<SessionDetail, string>>;
  events(agent: AgentId | null, after: number): Promise<Result<readonly MimirEvent[], string>>;
  /** Letters lie in the box: look there. */
  poke(): Promise<void>;
  close(): void;
}

/** The other process is gone, or does not answer as Mimir does; in words for a person. */
export class ControlFault extends Error {
  override readonly name = 'ControlFault';
}

/** One run as it is seen from the seat. */
export interface Seen {
  readonly family: Family;
  /** The same as it is by now. */
  again(): Promise<Family>;
  /** What happened in it, folded; an agent doesn't see that. */
  readonly state: RunState | null;
  detail(agent: AgentId): Promise<Result<SessionDetail, string>>;
  events(agent: AgentId | null, after: number): Promise<Result<Iterable<MimirEvent>, string>>;
}

export interface Seat {
  /** Null: the person. */
  readonly as: AgentId | null;
  /** Runs of the project, newest first; an agent sees its own. */
  runs(): readonly { readonly session: SessionId; readonly state: Family['state'] }[];
  look(session: SessionId): Promise<Seen>;
  /** Where the run of `session` is asked, null where nobody can. */
  socket(session: SessionId): string | null;
  /** Asks the living run. Exit 2 with what to do where none is. */
  submit(session: SessionId, command: Command): Promise<Result<Receipt, Refusal>>;
  close(): void;
}
