/** The interface to a run in another process, which a second screen, a command or an agent reaches over a socket. */
import type { AgentId, SessionId } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import type { RunSessions, MimirEvent, RunState, SessionDetail } from '../events/index.ts';
import type { Command, Controls, Receipt, Refusal } from './controls.ts';

/** What the process that owns a run offers to its clients; `asker` is an agent, or null for the person. */
export interface RunApi {
  readonly controls: Controls;
  family(asker: AgentId | null): RunSessions;
  /** Fails with the reason if `asker` may not inspect `agent`: agents may inspect only themselves and their descendants. */
  detail(asker: AgentId | null, agent: AgentId): Result<SessionDetail, string>;
  /** Events of one agent or of the whole run that `asker` may see, read lazily. */
  events(asker: AgentId | null, agent: AgentId | null, after: number): Result<Iterable<MimirEvent>, string>;
  /** Reports that the message store has new messages. Absent: nobody reads the store. */
  poke?(): void;
}

/** A connected run. Every promise rejects with `ControlFault` when the connection is lost. */
export interface RemoteRun {
  readonly session: SessionId;
  /** The identity of this client: an agent, by its socket, or null for the person. */
  readonly as: AgentId | null;
  /** The run's controls over the socket; `lost` resolves when the run is gone. Agents are refused what they may not request. */
  readonly controls: Controls;
  family(): Promise<RunSessions>;
  detail(agent: AgentId): Promise<Result<SessionDetail, string>>;
  events(agent: AgentId | null, after: number): Promise<Result<readonly MimirEvent[], string>>;
  /** Reports that the message store has new messages. */
  poke(): Promise<void>;
  close(): void;
}

/** A connection that carries text both ways, in order, to a process that no socket reaches. */
export interface TextLine {
  send(text: string): void;
  /** Calls `on` with each piece of text, from the first on. Called once. */
  receive(on: (text: string) => void): void;
  /** Resolves when either side has closed it, or does not answer any more. */
  readonly closed: Promise<void>;
  close(): void;
}

/** The other process is gone or does not answer as Mimir does; the message is for a person. */
export class ControlFault extends Error {
  override readonly name = 'ControlFault';
}

/** One run as a client sees it. */
export interface Seen {
  readonly family: RunSessions;
  again(): Promise<RunSessions>;
  /** The folded events; null for an agent, which may not see them. */
  readonly state: RunState | null;
  detail(agent: AgentId): Promise<Result<SessionDetail, string>>;
  events(agent: AgentId | null, after: number): Promise<Result<Iterable<MimirEvent>, string>>;
}

/** What a command about sessions can use: an agent reaches its run by its socket, the person by the log and the run's socket. */
export interface SessionClient {
  readonly as: AgentId | null;
  /** Runs of the project, newest first; an agent sees its own. */
  runs(): readonly { readonly session: SessionId; readonly state: RunSessions['state'] }[];
  look(session: SessionId): Promise<Seen>;
  /** The path of the run's socket; null if it cannot be reached. */
  socket(session: SessionId): string | null;
  /** Sends a command to the running process. Exits with 2 and advice if there is none. */
  submit(session: SessionId, command: Command): Promise<Result<Receipt, Refusal>>;
  close(): void;
}

// Each agent has a socket of its own, by which its commands reach the run. The socket determines the agent, whatever its client says.

export interface AgentSockets {
  /** The path of the agent's socket, which is listening when this resolves; the same at each call. Null if there can be none here. */
  open(agent: AgentId): Promise<string | null>;
  close(agent: AgentId): void;
}
