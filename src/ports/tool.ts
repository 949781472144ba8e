/** The interface to tools. Each is one value: description for the model, schema, capability, repeatability after a crash, and code.
 * Used by the gate only; a tool decides nothing about permission. */
import type { z } from 'zod';
import type { CommandChanges } from '../domain/changes/changes.ts';
import type { AgentId } from '../domain/ids.ts';
import type { Capability } from '../domain/agents/role.ts';
import type { Todo } from '../domain/turn.ts';
import type { Result } from '../domain/result.ts';
import type { Verdict } from '../domain/agents/agent.ts';
import type { TreeChanges, TreeId } from './tree.ts';

/** A file and the content that an agent has seen. */
export interface SeenFile {
  /** Relative to the project's root. */
  readonly file: string;
  /** The first 16 hexadecimal digits of the content's SHA-256. */
  readonly digest: string;
}

export interface ToolOutput {
  /** False: an error result that the model reads; the agent goes on. */
  readonly ok: boolean;
  /** Already capped at the source (64 KiB at most). */
  readonly text: string;
  /** A file whose whole content the agent knows after this call, so that a resumed agent may edit it without reading it again. */
  readonly saw?: SeenFile;
  /** The run stopped while the call was waiting: it has no result yet, and resuming the run continues it. */
  readonly open?: true;
  /** What changed in the project while a command ran; absent where nothing did, or where that cannot be told. */
  readonly changed?: CommandChanges;
  /** Why changes by this command and all later ones cannot be told. */
  readonly unseen?: string;
  /** How a command ended, and what it printed; absent where it was not started. */
  readonly command?: {
    readonly is: 'exited' | 'time limit' | 'stopped';
    /** Null when it did not end by itself. */
    readonly exit: number | null;
    readonly printed: string;
  };
  /** The required sandbox could not be started; nothing of the command ran. */
  readonly unsandboxedCommand?: true;
}

/** What tools may ask of the run: answered by the engine, stamped with the calling agent. */
export interface ToolHost {
  setTodos(todos: readonly Todo[]): ToolOutput;
  /** Sends to an agent of the same run, by id or name. */
  sendMessage(to: string, content: string): ToolOutput;
  /** The answer of a finished task from character `from` on; `room` is the most bytes of the result. */
  readFinding(wanted: { readonly task: string; readonly from: number; readonly room: number }): ToolOutput;
  /** Runs a child and resolves with its final text. `protocol: text` if the child takes tool calls as text, as its parent does. */
  spawn(child: {
    readonly description: string;
    readonly prompt: string;
    readonly role: string;
    readonly protocol?: 'text';
  }): Promise<ToolOutput>;
  /** Waits for a person; without one, an error result at once. */
  askUser(question: string, options: readonly string[]): Promise<ToolOutput>;
  /** For mandatory reviews only; an error result for other agents. */
  giveVerdict(verdict: Verdict): ToolOutput;
}

/** What a call would change in the repository: mandatory reviews judge exactly this. */
export interface Proposal extends TreeChanges {
  readonly tree: TreeId;
  readonly from: TreeId;
  /** What a person reads before the patch: the message, the files, what is left out. Absent: the label of the call. */
  readonly words?: string;
}

export interface ToolContext {
  readonly agent: AgentId;
  /** Aborted on interrupt, kill, or the agent's deadline: end everything that was started, then resolve. */
  readonly signal: AbortSignal;
  /** `read-only` and `read-write` name the sandbox; `none` is UNSANDBOXED. */
  readonly sandbox: 'none' | 'read-only' | 'read-write';
  /** The command only reads, so it needed no approval: `sandbox` is read-only, and the command sees less. */
  readonly reads?: true;
  readonly toolHost: ToolHost;
  /** The most bytes of the result; a tool that can return a complete part within it does so. */
  readonly room?: number;
  /** Globs of the files that the agent may change; absent: the whole project. */
  readonly writes?: readonly string[];
  /** The folder in which a command starts, relative to the project's root; absent: the root. */
  readonly workingDir?: string;
  /** The name of the agent's own tree, in which the call works instead of the project; absent: the project. */
  readonly workspace?: string;
  /** The agent reviews the work of others: its commands see nothing that other commands have left behind. */
  readonly judges?: true;
  /** The socket by which a command reaches the run as this agent (`mimir who`). Absent: it cannot. */
  readonly socket?: string;
  /** The tree that mandatory reviews passed: nothing else may be committed. Absent if there were none. */
  readonly tree?: TreeId;
  /** Gets output while the tool runs, for the live view. */
  onOutput(chunk: string): void;
}

/** Where a command would run, and a check of the project. */
export interface ReadingLook {
  /** The project and the folder in which the command starts; absolute paths. */
  readonly place: { readonly root: string; readonly folder: string };
  /** Why a command that only reads needs approval after all; null if it does not. Never rejects. */
  obstacle(): Promise<string | null>;
}

/** What a crash between `tool.started` and `tool.finished` means: reads may be repeated, effects never by themselves. */
export type Repeat = 'safe' | 'never';

export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Null for tools of the agent's own (todos, messages): every agent has them and no rule is asked. */
  readonly capability: Capability | null;
  readonly repeat: Repeat;
  /** Short text for a card: `read src/a.ts`, `npm test`. It comes from the model: sanitise it before display. */
  label(input: Input): string;
  /** Of a tool that starts an agent: the name of its role. */
  starts?(input: Input): string;
  /** The exact effect for a person's approval (a diff, the whole command); absent: the label. A fault says why it cannot be done, and nobody is asked. */
  preview?(input: Input, context: ToolContext): Promise<Result<string, string>>;
  /** Files whose content decides what the call does (`package.json` for `npm test`): a lasting approval is bound to their digests. */
  inputs?(
    input: Input,
    context?: Pick<ToolContext, 'workingDir' | 'workspace'>,
  ): Promise<readonly { readonly path: string; readonly digest: string }[]>;
  /** Of a shell: what policy must know before a command that only reads runs without approval. Changes nothing. */
  reading?(input: Input, context: Pick<ToolContext, 'workingDir' | 'workspace'>): ReadingLook;
  /** Of tools that commit: what would be committed. Changes nothing. */
  propose?(input: Input, context: ToolContext): Promise<Result<Proposal, string>>;
  /** Resolves with an error result for every outside failure; rejects only for a bug. */
  run(input: Input, context: ToolContext): Promise<ToolOutput>;
}

/** The result of the probe at start. `none` has the reason and the remedy. */
export type SandboxState = { readonly is: 'none'; readonly because: string } | { readonly is: 'bubblewrap' };

export interface ToolPort {
  /** All tools, built for one project root. */
  readonly tools: readonly Tool[];
  /** The sandbox of commands; policy decides from it whether to allow, ask or deny. */
  readonly sandbox: SandboxState;
  /** A folder of the project, as written by a person, relative to the root (empty for the root), or why it is not one. */
  folder?(written: string): Promise<Result<string, string>>;
  /** Called once at the start of a run with the files that its agents knew when it stopped, oldest first; empty for a new run. */
  knew?(files: readonly (SeenFile & { readonly agent: AgentId })[]): void;
  /** Digest of the files that git does not ignore, as they are now. Absent: it cannot be told. */
  snapshot?(signal: AbortSignal): Promise<Result<TreeId, string>>;
  /** Removes what only the commands of an ended agent needed; null for all agents. */
  ended?(agent: AgentId | null): Promise<void>;
}
