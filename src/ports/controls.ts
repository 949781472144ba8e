/** What a person, a verb or a parent agent may ask of a run, and how they hear of it. All the screen has. */
import type { MimirEvent } from '../events/event.ts';
import type { RunState } from '../events/state.ts';
import type { Some } from './log.ts';
import type { Budget } from '../domain/budget.ts';
import type { AnswerScope } from '../domain/agents/grant.ts';
import type { AgentId, RoleName, SessionId, TaskId } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import type { SoundPlan } from '../domain/plan/plan.ts';
import type { PlanEdit } from '../domain/plan/plan-edit.ts';
import type { Result } from '../domain/result.ts';
import type { SpawnWish } from '../domain/agents/spawn.ts';

export type Delivery = 'sequential' | 'important' | 'urgent';

export type Command =
  | { readonly do: 'edit plan'; readonly edit: PlanEdit }
  /** The digest of what was shown: refused when the plan is another one by now. */
  | { readonly do: 'approve plan'; readonly digest: string }
  | { readonly do: 'reject plan' }
  /** A new plan for the same task, with a hint for the planner. */
  | { readonly do: 'plan again'; readonly hint: string }
  | { readonly do: 'message'; readonly to: AgentId | 'all'; readonly text: string; readonly delivery: Delivery }
  | { readonly do: 'interrupt'; readonly agent: AgentId }
  | { readonly do: 'resume'; readonly agent: AgentId }
  | { readonly do: 'kill'; readonly agent: AgentId }
  | { readonly do: 'retry'; readonly agent: AgentId }
  | { readonly do: 'skip'; readonly agent: AgentId }
  /**
   * `scope`: `session` answers equal questions to come as well, `program` commands of the same programs, `file` changes of the same
   * file; only what the question offers. `text` answers `ask_user` and human mode, and says why something is denied.
   */
  | {
      readonly do: 'answer';
      readonly approval: string;
      readonly allow: boolean;
      readonly scope: AnswerScope;
      readonly text?: string;
    }
  /** Ends what an answer for the session allows; `grant` is the id that the state's grants have. */
  | { readonly do: 'withdraw grant'; readonly grant: string }
  | { readonly do: 'set mode'; readonly mode: Mode }
  /** Holds an agent and everything below it to a stricter mode than the run's; null takes that back. */
  | { readonly do: 'pin mode'; readonly agent: AgentId; readonly mode: Mode | null }
  /** More (or less) for an agent, or for the run by ROOT, within what the rules allow. Limits that are left out stay. */
  | { readonly do: 'set budget'; readonly agent: AgentId; readonly budget: Budget }
  /** Starts a forced agent whose trigger is `manual`, on all that changed since the run began. */
  | { readonly do: 'review'; readonly role: RoleName }
  /**
   * Changes the rest of an approved plan while it runs, as `previewPlan` showed it: `base` is the digest that is in force, `digest`
   * the one of what was shown. Refused when either is another by now, or when a task that has begun would be changed.
   */
  | {
      readonly do: 'amend plan';
      readonly edits: readonly PlanEdit[];
      readonly base: string;
      readonly digest: string;
    }
  /** Another model for one agent, from its next turn on, its conversation kept; as the rules allow. */
  | { readonly do: 'set model'; readonly agent: AgentId; readonly model: string }
  /** A child of `parent` that works on its own; the receipt names it. */
  | { readonly do: 'spawn'; readonly parent: AgentId; readonly wish: SpawnWish }
  /** An agent says of itself that it is done, or can't go on: it ends with that after its step. */
  | {
      readonly do: 'complete';
      readonly agent: AgentId;
      readonly status: 'completed' | 'error';
      readonly message: string;
    }
  /**
   * Nothing new is begun; when what runs has ended, or at once with `now`, the run stops so that another process goes on with
   * it. The receipt comes when it has stopped. `stay`: takes that back, everything goes on here.
   */
  | { readonly do: 'hand over'; readonly how: 'when quiet' | 'now' | 'stay' }
  /** Ends the run: agents are stopped, the state is kept, `mimir resume` goes on. */
  | { readonly do: 'stop run'; readonly reason: string };

/** Done, in words for a toast: "interrupted finder". */
export interface Receipt {
  readonly text: string;
  /** Of `spawn`: the child. */
  readonly agent?: AgentId;
  /** Of `spawn`: that the role which was asked for is none, and what the child works as. */
  readonly note?: string;
  /** Of `message`: how it reached its reader. `queued`: read when its work is done; `resumed`: it had ended, and goes on. */
  readonly sent?: 'queued' | 'sent' | 'interrupted' | 'resumed';
}
/** Not done, and why. */
export interface Refusal {
  readonly text: string;
}

/** Streams past, is not logged: text, reasoning and arguments of calls of a running turn, output of a running tool. */
export interface Tick {
  readonly agent: AgentId;
  readonly is: 'text' | 'reasoning' | 'call' | 'output';
  readonly delta: string;
  /** Of a call: the tool, as the model named it. */
  readonly tool?: string;
}

/** What a change of mode would do, a line each, for the question before it. */
export interface ModePreview {
  /** Null: it may be chosen; else why not, with the rule. */
  readonly refused: string | null;
  readonly looser: boolean;
  /** `writes of 3 agents run without asking`; empty when nothing changes. */
  readonly changes: readonly string[];
  /** Open questions that would be answered with yes at once. */
  readonly answers: number;
}

/** A plan as it would be after some edits, judged by the rules of now; nothing has changed yet. */
export interface PlanPreview {
  readonly plan: SoundPlan;
  readonly digest: string;
  /** Digest of the plan that is in force. */
  readonly base: string;
  /** What differs from the plan in force, a line each, in plan order. */
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
  /** What `set mode` (no agent) or `pin mode` would do now. */
  previewMode(mode: Mode, agent?: AgentId): ModePreview;
  /** The approved plan after `edits`, one after the other; the fault says which can't be made and why. */
  previewPlan(edits: readonly PlanEdit[]): Result<PlanPreview, string>;
  /** `by`: the agent that asks, stamped by who knows; a person when left out. What an agent may ask is less (engine/messaging/authorization.ts). */
  submit(command: Command, by?: AgentId): Promise<Result<Receipt, Refusal>>;
  /** Every durable event with a larger `seq`, in order, then those to come; ends after `session.finished`. */
  events(afterSeq: number, how?: Pick<Some, 'outputs'>): AsyncIterable<MimirEvent>;
  /** Returns the function that ends the subscription. */
  ticks(listener: (tick: Tick) => void): () => void;
  /** One stored event; null where it can't be read. Absent where another process carries the run. Where it is there, `events` can leave outputs of stored ones out. */
  readonly at?: (seq: number) => MimirEvent | null;
  /** Of a run that another process carries: resolves with words when that can't be reached any more. Absent: it runs here. */
  readonly lost?: Promise<string>;
}

/** What a verb or a child session may read of a run, here or in another process. */
export interface RunView {
  readonly session: SessionId;
  state(): RunState;
  /** What is stored and has a larger `seq` than `after`, or some of it, in order; each walk reads it anew. */
  each(after?: number, some?: Some): Iterable<MimirEvent>;
}
