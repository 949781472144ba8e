/**
 * The seam to tools. Declared once each: words for the model, schema, capability, what a crash means, what it does.
 * Used by the gate only; a tool decides nothing about permission.
 */
import type { z } from 'zod';
import type { AgentId } from '../domain/ids.ts';
import type { Capability } from '../domain/agents/role.ts';
import type { Todo } from '../domain/turn.ts';
import type { Result } from '../domain/result.ts';
import type { Verdict } from '../domain/agents/mandatory-review.ts';
import type { TreeChanges, TreeId } from './tree.ts';

/** A file and the content that an agent knows of it. */
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
  /** The whole content of a file that the agent knows after this call: it was read, or written. A resumed agent may edit it without reading it again. */
  readonly saw?: SeenFile;
  /** The run was stopped while somebody was waited for: the call has no end yet, whoever goes on with the run goes on with it. */
  readonly open?: true;
  /** The sandbox that it was promised could not be started: nothing of it ran. */
  readonly unboxed?: true;
}

/** What tools may ask of the run: answered by the engine, stamped with the calling agent. */
export interface Desk {
  setTodos(todos: readonly Todo[]): ToolOutput;
  /** To an agent of the same run, by id or name, through the orchestrator. */
  sendMessage(to: string, content: string): ToolOutput;
  /** What a finished task of the run has answered, from character `from` on; `room`: bytes that the result may have. */
  readFinding(wanted: { readonly task: string; readonly from: number; readonly room: number }): ToolOutput;
  /** Runs a child and resolves with its final text only. `protocol`: it works by words, as who asks for it does. */
  spawn(child: {
    readonly description: string;
    readonly prompt: string;
    readonly role: string;
    readonly protocol?: 'text';
  }): Promise<ToolOutput>;
  /** Waits for a person; without one, an error result at once. */
  askUser(question: string, options: readonly string[]): Promise<ToolOutput>;
  /** Of a forced agent only: an error result for anybody else. */
  giveVerdict(verdict: Verdict): ToolOutput;
}

/** What a call would make of the repository: forced agents judge exactly this. */
export interface Proposal extends TreeChanges {
  readonly tree: TreeId;
  /** The tree it is made from. */
  readonly from: TreeId;
  /** What a person reads before the patch: the whole message, the files, what is left out. Absent: the label of the call. */
  readonly words?: string;
}

export interface ToolContext {
  readonly agent: AgentId;
  /** Aborted on interrupt, kill, or the agent's deadline: end everything that was started, then resolve. */
  readonly signal: AbortSignal;
  /** `read-only` and `read-write` name the sandbox; `none` is UNSANDBOXED. */
  readonly box: 'none' | 'read-only' | 'read-write';
  /** The command was found to only read and nobody was asked: `box` is read-only, and it sees less. */
  readonly reads?: true;
  readonly desk: Desk;
  /** Bytes that the result may have before it is cut: a tool that can give a whole part within it does. */
  readonly room?: number;
  /** Globs of the files that the agent may change (domain/glob); the whole project when left out. */
  readonly writes?: readonly string[];
  /** The folder that a command starts in, relative to the project's root; the root when left out. */
  readonly workingDir?: string;
  /** It judges what others did: its commands find nothing that commands of others have left. */
  readonly judges?: true;
  /** Where a command can ask the run as this agent (`mimir who`): a socket, and nothing else of the host. Absent: it can't. */
  readonly door?: string;
  /** The tree that was proposed and that forced agents let pass: nothing else may be committed. Absent where none was asked. */
  readonly tree?: TreeId;
  /** Output while it runs, for the live view. */
  onOutput(chunk: string): void;
}

/** Where a command would run, and a look through the project. */
export interface ReadingLook {
  /** The project and the folder that the command starts in: absolute. */
  readonly place: { readonly root: string; readonly folder: string };
  /** Why a command that only reads has to ask all the same, in words; null: nothing speaks against it. Never rejects. */
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
  /** Short words for a card: `read src/a.ts`, `npm test`. Text from the model: sanitise before a terminal. */
  label(input: Input): string;
  /** Of a tool that starts an agent: the name of its role. */
  starts?(input: Input): string;
  /** What exactly would happen, shown when a person is asked (a diff, the whole command). Absent: the label. */
  preview?(input: Input, context: ToolContext): Promise<string>;
  /** Files whose content decides what the call does (`package.json` for `npm test`): a standing yes is bound to their digests. */
  inputs?(
    input: Input,
    context?: Pick<ToolContext, 'workingDir'>,
  ): Promise<readonly { readonly path: string; readonly digest: string }[]>;
  /** Of a shell: what policy has to know before a command that only reads runs without a question. Changes nothing. */
  reading?(input: Input, context: Pick<ToolContext, 'workingDir'>): ReadingLook;
  /** Of tools that make commits: what would be committed. Nothing is changed by it. */
  propose?(input: Input, context: ToolContext): Promise<Result<Proposal, string>>;
  /** Resolves with an error result for anything that goes wrong outside; rejects only for a bug. */
  run(input: Input, context: ToolContext): Promise<ToolOutput>;
}

/** What a probe with the production flags found at start. `none` says why, and what to do about it. */
export type SandboxState = { readonly is: 'none'; readonly because: string } | { readonly is: 'bubblewrap' };

export interface ToolPort {
  /** All tools, built for one project root. */
  readonly tools: readonly Tool[];
  /** What commands run in here; policy turns it into allow, ask or deny. */
  readonly sandbox: SandboxState;
  /** A folder of the project as somebody wrote it: relative to the root, empty for the root itself; or why it is none of its folders. */
  folder?(written: string): Promise<Result<string, string>>;
  /** Called once at the start of a run: which files its agents knew when it stopped, oldest first; none for a new run. */
  knew?(files: readonly (SeenFile & { readonly agent: AgentId })[]): void;
  /** This agent, or every agent (null), has ended: what only its commands needed is removed. */
  ended?(agent: AgentId | null): Promise<void>;
}
