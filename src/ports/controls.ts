/** What a person, a command or a parent agent may request of a run, and how they follow it. The screen has nothing else. */
import { z } from 'zod';
import { SpawnRequest } from '../domain/agents/agent.ts';
import { GRANT_SCOPES } from '../domain/agents/grant.ts';
import { LongText, ShortText } from '../domain/bounds.ts';
import { Budget } from '../domain/budget.ts';
import { AgentId, RoleName, type SessionId, type TaskId } from '../domain/ids.ts';
import { PlanEdit } from '../domain/plan/plan-edit.ts';
import type { SoundPlan } from '../domain/plan/plan.ts';
import { type Mode, MODES } from '../domain/reason.ts';
import type { Result } from '../domain/result.ts';
import { type Control, controls, type MimirEvent, type RunState } from '../events/index.ts';
import type { Some } from './log.ts';

const agent = AgentId;
const digest = z.string().max(200);
export const Delivery = z.enum(['sequential', 'important', 'urgent']);
export type Delivery = z.infer<typeof Delivery>;
export const PlanEdits = z.array(PlanEdit).max(1000).readonly();

/** The form of every command, strict and bounded: a line of a client is checked by it. */
export const Command = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('edit plan'), edit: PlanEdit }),
  /** `digest` is that of the shown plan: refused when the plan has changed since. */
  z.strictObject({ do: z.literal('approve plan'), digest }),
  z.strictObject({ do: z.literal('reject plan') }),
  /** Runs the checks of the shown plan on the project as it is, which is the approval of these commands; `stop checks` ends that. */
  z.strictObject({ do: z.literal('try checks'), digest }),
  z.strictObject({ do: z.literal('stop checks') }),
  /** Makes a new plan for the same task, with a hint for the planner. */
  z.strictObject({ do: z.literal('plan again'), hint: LongText }),
  z.strictObject({
    do: z.literal('message'),
    to: z.union([AgentId, z.literal('all')]),
    text: LongText.min(1),
    delivery: Delivery,
  }),
  z.strictObject({ do: z.enum(controls()), agent }),
  /** `scope`: `session` also answers equal questions to come, `program` commands of the same programs, `file` changes of the same
   * file; only what the question offers. `text` answers `ask_user` and human mode, or gives the reason for a denial. */
  z.strictObject({
    do: z.literal('answer'),
    approval: ShortText,
    allow: z.boolean(),
    scope: z.enum(['once', ...GRANT_SCOPES]),
    text: LongText.exactOptional(),
  }),
  /** Withdraws an approval that was given for the session; `grant` is its id in the state's grants. */
  z.strictObject({ do: z.literal('withdraw grant'), grant: ShortText }),
  z.strictObject({ do: z.literal('set mode'), mode: z.enum(MODES) }),
  /** Pins an agent and its descendants to a stricter mode than the run's; null removes the pin. */
  z.strictObject({ do: z.literal('pin mode'), agent, mode: z.enum(MODES).nullable() }),
  /** Changes the budget of an agent, or for ROOT of the run, within what policy allows. Omitted limits stay. */
  z.strictObject({ do: z.literal('set budget'), agent, budget: Budget }),
  /** Starts a mandatory review whose trigger is `manual`, on all changes since the run began. */
  z.strictObject({ do: z.literal('review'), role: RoleName }),
  /** Changes the rest of an approved plan while it runs, as `previewPlan` showed it: `base` is the digest of the plan in force, `digest`
   * that of the shown one. Refused when either has changed, or when a started task would change. */
  z.strictObject({ do: z.literal('amend plan'), edits: PlanEdits, base: digest, digest }),
  /** Records that a person took changes of the agent back, or restored them, and tells the agent if it goes on. */
  z.strictObject({
    do: z.literal('changes undone'),
    agent,
    files: z.array(ShortText).min(1).max(10_000),
    restored: z.literal(true).optional(),
  }),
  /** Changes the model of one agent from its next turn on, within policy; its conversation stays. */
  z.strictObject({ do: z.literal('set model'), agent, model: ShortText }),
  /** Starts a child of `parent` that works on its own; the receipt names it. */
  z.strictObject({ do: z.literal('spawn'), parent: AgentId, wish: SpawnRequest }),
  /** An agent reports that it is done or cannot continue; it ends after its step. */
  z.strictObject({ do: z.literal('complete'), agent, status: z.enum(['completed', 'error']), message: LongText }),
  /** Stops the run so that another process can resume it: starts nothing new and waits for running calls, or ends them with `now`. The
   * receipt comes when it has stopped. `stay` takes that back, and the run continues here. */
  z.strictObject({ do: z.literal('hand over'), how: z.enum(['when quiet', 'now', 'stay']) }),
  /** Ends the run: agents are stopped, the state is kept, and `mimir resume` continues it. */
  z.strictObject({ do: z.literal('stop run'), reason: LongText }),
]);
type Parsed = z.infer<typeof Command>;
/** The controls of an agent are members of their own, so that each can be told from the others. */
export type Command =
  | Exclude<Parsed, { readonly do: Control }>
  | { [Name in Control]: { readonly do: Name; readonly agent: AgentId } }[Control];

/** Done; `text` is short enough for a toast: "interrupted finder". */
export interface Receipt {
  readonly text: string;
  /** Of `spawn`: the child. */
  readonly agent?: AgentId;
  /** Of `spawn`: that the requested role does not exist, and which role the child has. */
  readonly note?: string;
  /** Of `message`: how it was delivered. `queued`: read when the agent's work is done; `resumed`: the agent had ended and continues. */
  readonly sent?: 'queued' | 'sent' | 'interrupted' | 'resumed';
}
/** Not done, and why. */
export interface Refusal {
  readonly text: string;
}

/** Streamed and not logged: text, reasoning and call arguments of a running turn, output of a running tool. */
export interface Tick {
  readonly agent: AgentId;
  readonly is: 'text' | 'reasoning' | 'call' | 'output';
  readonly delta: string;
  /** Of a call: the tool as the model named it. */
  readonly tool?: string;
}

/** What a change of mode would do, shown before it is confirmed. */
export interface ModePreview {
  /** Why the mode may not be chosen, with the rule; null if it may. */
  readonly refused: string | null;
  readonly looser: boolean;
  /** One line each: `writes of 3 agents run without asking`; empty when nothing changes. */
  readonly changes: readonly string[];
  /** The number of open questions that would be approved at once. */
  readonly answers: number;
}

/** A plan after some edits, checked against the present rules; nothing has changed yet. */
export interface PlanPreview {
  readonly plan: SoundPlan;
  readonly digest: string;
  /** Digest of the plan that is in force. */
  readonly base: string;
  /** The differences from the plan in force, one line each, in plan order. */
  readonly changes: readonly PlanChange[];
}

export interface PlanChange {
  readonly is: 'added' | 'dropped' | 'changed';
  readonly task: TaskId;
  /** `#4 tester: model haiku-4.5 -> sonnet-4.5, needs #2 finder as well`. */
  readonly text: string;
}

export interface Controls {
  readonly session: SessionId;
  /** What `set mode` (no agent) or `pin mode` would do. Never rejects: an unreachable run is reported as `refused`. */
  previewMode(mode: Mode, agent?: AgentId): Promise<ModePreview>;
  /** The approved plan after `edits` in order, or which edit is invalid and why, or that the run is unreachable. Never rejects. */
  previewPlan(edits: readonly PlanEdit[]): Promise<Result<PlanPreview, string>>;
  /** `by` is the requesting agent, as verified by the caller; absent for a person. Agents may request less (see `isForAgents`). */
  submit(command: Command, by?: AgentId): Promise<Result<Receipt, Refusal>>;
  /** The state of a resumed run from its log, before it continued in this process: followers start at its `seq` and read tool outputs
   * from the log on demand. Absent if another process owns the run. */
  readonly found?: RunState;
  /** Every durable event after `afterSeq`, in order, then new ones; ends after `session.finished`. */
  events(afterSeq: number, how?: Pick<Some, 'outputs'>): AsyncIterable<MimirEvent>;
  /** Returns the function that ends the subscription. */
  ticks(listener: (tick: Tick) => void): () => void;
  /** One stored event; null if it cannot be read. If present, `events` can omit outputs. Absent if another process owns the run. */
  readonly at?: (seq: number) => MimirEvent | null;
  /** Resolves with the reason when the process that owns the run becomes unreachable. Absent if the run is in this process. */
  readonly lost?: Promise<string>;
}

/** What a command or a child session may read of a run, here or in another process. */
export interface RunView {
  readonly session: SessionId;
  state(): RunState;
  /** The stored events after `after`, optionally filtered, in order; each iteration reads them again. */
  each(after?: number, some?: Some): Iterable<MimirEvent>;
}

/** `message`: to any agent. `spawn`, `complete`: for the agent itself. `kill`: for its own children. */
const OF_AGENTS = ['message', 'spawn', 'complete', 'kill'] as const satisfies readonly Command['do'][];

export type AgentCommand = Extract<Command, { readonly do: (typeof OF_AGENTS)[number] }>;

/** True if agents may send this command at all; the engine checks for which agents. */
export const isForAgents = (command: Command): command is AgentCommand => OF_AGENTS.some((name) => name === command.do);
