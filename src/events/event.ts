/** What can happen. One discriminated union by `type`; a type is never changed, only added to. Costs are US dollars, durations
 * milliseconds, times ISO in UTC. */
import type { AgentMetrics, AgentOutcome, AgentStatus, ModelChoice, OnFailure } from '../domain/agents/agent.ts';
import type { Verdict, WorkOrder } from '../domain/agents/agent.ts';
import type { Trigger } from '../domain/agents/agent.ts';
import type { CommandChanges, MergeEnd } from '../domain/changes/changes.ts';
import type { GrantScope } from '../domain/agents/grant.ts';
import type { Capability } from '../domain/agents/role.ts';
import type { Budget, Exhausted, Usage } from '../domain/budget.ts';
import type { AgentId, CallId, Millis, ModelId, RoleName, SessionId, TaskId, Usd } from '../domain/ids.ts';
import type { Effort } from '../domain/models/provider.ts';
import type { Permitted, PlanChoices, SoundPlan } from '../domain/plan/plan.ts';
import type { PrStep, PrTarget } from '../domain/pull-request.ts';
import type { Mode, Reason } from '../domain/reason.ts';
import type { Json, StopReason, Todo, ToolCall } from '../domain/turn.ts';
import { ownField } from '../domain/text/text.ts';
import type { CheckEvent } from './check-events.ts';

type Of<Type extends string> = { readonly type: Type };
type OfAgent<Type extends string> = Of<Type> & { readonly agent: AgentId };
type OfTree<Type extends string> = OfAgent<Type> & { readonly tree: string };
type OfCall<Type extends string> = OfAgent<Type> & { readonly call: CallId };
type OfModelCall<Type extends string> = OfCall<Type> & { readonly model: ModelId };

/** The policy and configuration files in effect. */
interface RulesInForce {
  readonly policyHash: string;
  /** The hash of each state of the files, if several apply together; `policyHash` covers all of them. */
  readonly policyHashes?: readonly string[];
}

type Ordered = 'role' | 'task' | 'tools' | 'budget' | 'model' | 'iterations' | 'effort' | 'writes';
/** What an agent is created with. */
export interface AgentFacts extends Pick<WorkOrder, Ordered> {
  /** The name on the screen: the role, with a number if there are several agents of it. */
  readonly name: string;
  readonly dependsOn: readonly AgentId[];
  /** It works in a tree of its own; absent: in the project. */
  readonly tree?: 'own';
}

export type { Exhausted };

interface LimitFacts extends Exhausted {
  readonly scope: 'run' | 'agent' | 'day' | 'model';
}

export interface Fallback {
  readonly from: ModelId;
  readonly to: ModelId;
  readonly cause: string;
  readonly rule: string;
}

/** An action that was denied because nobody could be asked, or that did not start because its sandbox could not be started. */
export interface UnansweredAct {
  /** Equal for actions with the same effect. */
  readonly effect: string;
  readonly label: string;
  readonly why?: 'no sandbox';
}

/** What triggered a mandatory review and the tree that it judges; before a commit also the parent tree. */
export interface Judging {
  readonly trigger: Trigger;
  readonly tree: string;
  readonly from?: string;
}

/** What an agent reported about its own end. */
export interface Signal {
  readonly status: 'completed' | 'error';
  readonly message: string;
}

export interface SessionEnd {
  readonly status: 'completed' | 'failed' | 'rejected' | 'stopped';
  readonly summary: string;
  /** For a stopped run: `hand-over` if another process continues it. */
  readonly endedBy?: EndedBy;
  readonly totals: { readonly cost: Usd; readonly tokens: number; readonly agents: number; readonly duration: Millis };
}

/** A question to a person. `exact` is the complete action: a diff, a command, a question. */
export interface ApprovalRequest {
  readonly action: Capability | 'question' | 'turn' | 'failure' | 'budget' | 'merge';
  readonly title: string;
  readonly exact: string;
  /** Answers offered by `ask_user`; empty otherwise. */
  readonly options: readonly string[];
  /** True for a shell without a sandbox. */
  readonly unsandboxed: boolean;
  readonly because: string;
  /** Equal for questions that one answer may cover; absent for questions that are always asked one by one. */
  readonly same?: string;
  /** For a command: its programs with their sub-commands, if an answer may cover those (domain/agents/grant.ts). */
  readonly programs?: readonly (readonly string[])[];
  readonly file?: string;
  /** Why the action may destroy something irrecoverably, if a policy rule says so. */
  readonly destroys?: string;
  /** The index in `options` of the answer that adds an amount to a limit; the person may type another amount for it. */
  readonly adds?: number;
}

/** What an answer for the session covers. */
export interface Grant extends Pick<ApprovalRequest, 'action' | 'title' | 'programs' | 'file'> {
  readonly scope: GrantScope;
  readonly same: string;
  /** For a grant of exactly this command: files whose content decides its effect. The grant applies to this content only. */
  readonly inputs: readonly { readonly path: string; readonly digest: string }[];
}

/** The verdict of a mandatory review, `agent`, on a tree. */
export interface RecordedVerdict extends Verdict {
  readonly agent: AgentId;
  readonly role: RoleName;
  readonly tree: string;
}

/** Whether work that waited for a mandatory review may continue, and why. `agent`: whose work was reviewed. With `warn`, it continues even if closed. */
export interface ReviewGate {
  readonly agent: AgentId;
  readonly role: RoleName;
  readonly trigger: Trigger;
  readonly tree: string;
  readonly open: boolean;
  readonly onFailure: OnFailure;
  readonly why: string;
  /** For a run without a plan: work up to the event with this number has been judged. */
  readonly upTo?: number;
  /** Set if smaller: work after the event with this number has no verdict, because its reviews ended without one. */
  readonly saidUpTo?: number;
  /** Set if newer work has a pending review: the part of the run's limits that is reserved for it. */
  readonly due?: { readonly since: Millis; readonly keeps: Budget };
}

export type EventBody =
  | (Of<'session.started'> &
      RulesInForce & {
        readonly task: string;
        readonly cwd: string;
        readonly mode: Mode;
        readonly version: string;
        readonly budget: Budget;
        readonly maxParallel: number;
        readonly sandbox: string;
        readonly provider: string;
        readonly notes: readonly string[];
        /** There is no plan: ROOT waits for messages, and a person spawns children. */
        readonly idle?: true;
        /** For a run without a plan: the roles and models that a child may have. */
        readonly choices?: PlanChoices;
        /** A session in which a model drafts one text (a custom agent): no plan, no agents, not resumable. */
        readonly draft?: true;
      })
  | (Of<'session.resumed'> &
      RulesInForce & {
        readonly version: string;
        /** The run's limits from now on; absent: those of the start. */
        readonly budget?: Budget;
        /** The run had ended: it only answers messages and runs no task of its plan again. */
        readonly answers?: true;
      })
  | (Of<'session.finished'> & SessionEnd)
  | (Of<'session.mode'> & { readonly mode: Mode })
  /** The wall clock jumped by `by` ms, or the process was suspended that long. This does not count as running time. */
  | (Of<'clock.moved'> & { readonly by: Millis })
  | (Of<'plan.proposed'> & {
      readonly plan: SoundPlan;
      readonly choices: PlanChoices;
      readonly by: string;
      readonly ms: Millis;
      readonly digest: string;
      /** Why the planner failed, if it did. */
      readonly fault?: string;
      /** If nobody can be asked: tasks whose actions will be denied, by kind of action. */
      readonly unattended?: Readonly<Record<Permitted, readonly TaskId[]>>;
    })
  | (Of<'plan.edited'> & { readonly plan: SoundPlan; readonly edit: string; readonly digest: string })
  | (Of<'plan.approved'> & { readonly digest: string; readonly by: string })
  /** The unfinished part of an approved plan was changed while it ran, with the person's approval: `changes` is what they were shown. */
  | (Of<'plan.amended'> & {
      readonly plan: SoundPlan;
      readonly digest: string;
      readonly changes: readonly string[];
      readonly by: string;
    })
  | (Of<'plan.rejected'> & { readonly reason: string })
  | (OfAgent<'agent.created'> &
      AgentFacts & {
        readonly parent: AgentId | null;
        readonly taskId: TaskId | null;
        readonly call?: CallId;
        /** For an agent that was spawned outside the plan and whose parent does not wait for it in a call. */
        readonly spawned?: Spawned;
        /** For a child of an agent with the text protocol, which uses it too. */
        readonly protocol?: 'text';
        readonly forced?: Judging;
      })
  /** An amended plan changed this agent before it started, or contains it again: it waits to start with these values. */
  | (OfAgent<'agent.changed'> & AgentFacts)
  | (OfAgent<'agent.status'> & {
      readonly status: AgentStatus;
      readonly reason: string;
      /** For `waiting`: on its provider, or ROOT on its children. The agent's clock is paused; the run's clock continues. */
      readonly waitsFor?: 'provider' | 'children';
      /** For `waiting`, or `pending` after a failed dependency: what it waits for. Earlier logs have only `reason` (earlier-words.ts). */
      readonly waitingFor?: WaitingFor;
      /** For `interrupted`: the cause. */
      readonly endedBy?: EndedBy;
    })
  /** The agent reported that it is done or cannot continue (`mimir complete`); it ends after this step. */
  | (OfAgent<'agent.signalled'> & Signal)
  /** Its parent ended first: `owner` gets its notices from now on; null: no agent does. */
  | (OfAgent<'agent.adopted'> & { readonly owner: AgentId | null })
  /** Pins the agent and its descendants to a stricter mode than the run's; null: removes the pin. */
  | (OfAgent<'agent.pinned'> & { readonly mode: Mode | null })
  /** A user turn put into the agent's context: its task at first, later messages that were delivered (`messages`: their seq). */
  | (OfAgent<'agent.told'> & { readonly text: string; readonly messages: readonly number[] })
  /** The environment block of its system prompt, recorded at its first start so that it is the same after a resume. */
  | (OfAgent<'agent.environment'> & { readonly text: string })
  /** The worker of a cluster that carries out its steps; recorded when it is another one than before. */
  | (OfAgent<'agent.worker'> & { readonly worker: string })
  /** A person changed its model, from the agent's next turn on. */
  | (OfAgent<'agent.model'> & { readonly model: ModelChoice })
  | (OfAgent<'agent.todos'> & { readonly todos: readonly Todo[] })
  | (OfCall<'agent.message'> & { readonly text: string })
  | (OfAgent<'agent.finished'> & {
      readonly status: AgentStatus;
      readonly outcome: AgentOutcome;
      readonly summary: string;
      readonly error: string | null;
      /** Set if something else ended its work. Earlier logs have only `error` (earlier-words.ts). */
      readonly endedBy?: EndedBy;
      readonly metrics: AgentMetrics;
    })
  | (OfModelCall<'model.started'> & {
      readonly purpose: 'plan' | 'work' | 'merge' | 'compact' | 'draft';
      readonly reserved: { readonly tokens: number; readonly cost: Usd };
      /** The effort setting of the request; absent: none was sent. */
      readonly effort?: Effort;
    })
  | (OfModelCall<'model.finished'> & {
      readonly usage: Usage;
      readonly cost: Usd;
      readonly priced: boolean;
      /** The provider's usage was missing or impossible, so the reserved amount was charged. */
      readonly bounded?: boolean;
      /** The provider reported no usage: `usage` and `cost` are estimates. */
      readonly estimated?: boolean;
      readonly stopReason: StopReason;
      readonly ms: Millis;
      readonly calls: readonly ToolCall[];
      readonly opaque?: Json;
      /** The model does not support the requested effort, so it was called without one. */
      readonly withoutEffort?: true;
    })
  | (OfModelCall<'model.failed'> & {
      readonly cause: string;
      readonly message: string;
      /** Usage before the failure, which is charged; absent: none. */
      readonly usage?: Usage;
      readonly cost?: Usd;
      readonly priced?: boolean;
    })
  | (OfModelCall<'model.retry'> & {
      readonly cause: string;
      /** Where no connection was made: the address, and why. */
      readonly message?: string;
      readonly wait: Millis;
      /** The number of the next attempt, from 2, and the maximum; without a maximum, only time ends the attempts. */
      readonly attempt?: number;
      readonly attempts?: number;
    })
  | (OfAgent<'model.fallback'> & Fallback)
  /** The conversation came near the model's context window. It continues with its first turn, `summary` as a user turn, and the last
   * `kept` turns. Tokens before as the provider counted, after as estimated. */
  | (OfAgent<'context.compacted'> & {
      readonly summary: string;
      readonly kept: number;
      readonly tokens: { readonly before: number; readonly after: number };
    })
  | (OfCall<'tool.started'> & {
      readonly tool: string;
      readonly label: string;
      readonly input: Json;
      readonly repeat: 'safe' | 'never';
      /** The built-in rule by which it ran without a question, in another sandbox than the agent's own. */
      readonly rule?: string;
    })
  | (OfCall<'tool.finished'> & {
      readonly tool: string;
      readonly ok: boolean;
      readonly output: string;
      readonly ms: Millis;
      /** The file whose content the agent has read with this call, relative to the project's root, and its digest. */
      readonly saw?: { readonly file: string; readonly digest: string };
      readonly changed?: CommandChanges;
      /** Why changes by this command and all later ones are not known. */
      readonly unseen?: string;
    })
  /** A note of Mimir that was appended to a result: few turns left, or repeated calls. */
  | (OfCall<'tool.noted'> & { readonly text: string })
  | (Of<'message.sent'> & {
      readonly agent: AgentId | null;
      readonly from: string;
      readonly to: AgentId;
      readonly kind: 'result' | 'request' | 'status' | 'error';
      readonly delivery: 'sequential' | 'important' | 'urgent';
      readonly content: string;
      /** For a notice to the spawning agent: the child and the news. There is one for each end of the child's work. */
      readonly notice?: {
        readonly of: AgentId;
        readonly is: 'completed' | 'error' | 'idle';
        /** For an error: whether a person killed the child. */
        readonly killed?: true;
      };
      /** For a message that was stored while no process ran: its id in the message store, so that it is delivered once. */
      readonly letter?: string;
    })
  | CheckEvent
  // Decisions of policy and people during a run.
  | (OfAgent<'approval.requested'> & {
      readonly approval: string;
      readonly call: CallId | null;
      readonly request: ApprovalRequest;
    })
  | (OfAgent<'approval.answered'> & {
      readonly approval: string;
      readonly answer: 'allowed' | 'denied' | 'withdrawn';
      readonly scope: 'once' | 'session';
      readonly text: string;
      readonly by: string;
      /** For an approval for the session: what it covers until it is withdrawn. */
      readonly grant?: Grant;
    })
  /** Withdraws the grant that was given with this answer. */
  | (Of<'grant.withdrawn'> & { readonly grant: string })
  | (OfCall<'act.unanswered'> & UnansweredAct)
  /** An action that was denied or not started was done later. */
  | (OfCall<'act.done'> & Pick<UnansweredAct, 'effect'>)
  | (OfAgent<'policy.decided'> &
      Reason &
      RulesInForce & {
        readonly subject: string;
        readonly action: string;
        readonly decision: 'deny' | 'substitute' | 'allow' | 'ask';
      })
  /** The limits of an agent, or of the run by ROOT, from now on. */
  | (OfAgent<'budget.changed'> & { readonly budget: Budget; readonly by: string })
  | (OfAgent<'budget.warned'> &
      LimitFacts & {
        /** For `model`: the model, as the rule names it. */
        readonly of?: string;
        /** `limit` is twice the estimate of the task; exceeding it ends no agent. */
        readonly estimate?: true;
      })
  | (OfAgent<'budget.exhausted'> & LimitFacts)
  /** A tree was made for the agent, from the project as it was then: `base`, the digest of its content. `resolves`: conflicts of the tree before. */
  | (OfTree<'tree.made'> & { readonly base: string; readonly resolves?: readonly string[] })
  /** The project's files are about to be changed from `ours` to `to`, which has the changes of the tree as it is then, `theirs`. */
  | (OfTree<'merge.started'> & { readonly ours: string; readonly to: string; readonly theirs: string })
  | (OfTree<'merge.finished'> & MergeEnd)
  /** A person took back what was left of the agent's changes of these files, or with `restored` took that back. */
  | (OfAgent<'changes.undone'> & { readonly files: readonly string[]; readonly restored?: true })
  /** The project before any agent started; mandatory reviews compare with it. */
  | (Of<'forced.began'> & { readonly tree: string })
  | (Of<'forced.verdict'> & RecordedVerdict)
  | (Of<'forced.gate'> & ReviewGate)
  /** The changes of the ended run go into a pull request; recorded again each time that it is continued. */
  | (Of<'pr.started'> & PrTarget & { readonly title: string; readonly files: readonly string[] })
  /** `commit`: what the branch is about to have, or has. `url`: of `request`, once it is there. `by`: who allowed what leaves this machine. */
  | (Of<'pr.step'> & {
      readonly step: PrStep;
      readonly is: 'began' | 'done';
      readonly commit?: string;
      readonly url?: string;
      readonly by?: string;
    })
  /** `why` it is not there; empty where it is. */
  | (Of<'pr.finished'> & { readonly ok: boolean; readonly why: string });

/** What an agent waits for. */
export type WaitingFor =
  /** ROOT of a run without a plan: for the next message. */
  | { readonly is: 'message' }
  /** Between turns: for children whose end it waits for. */
  | { readonly is: 'children' }
  /** During a turn: for the child of its own call. */
  | { readonly is: 'child' }
  /** For the verdict on its work or its commit. */
  | { readonly is: 'review' }
  /** For the answer to another agent's question about a limit that both share. */
  | { readonly is: 'limit' }
  /** For the answer to its own question, or to the plan. */
  | { readonly is: 'person' }
  | { readonly is: 'checks' | 'slot' | 'task' }
  /** For the part of a budget that calls of others have reserved. */
  | { readonly is: 'budget' }
  | {
      readonly is: 'provider';
      /** `anthropic is rate limited` */
      readonly why: string;
      /** Milliseconds until the next attempt; null: another agent tries first. */
      readonly wait: Millis | null;
      /** The number of the next attempt and the maximum; absent for the first one, or if only time ends the attempts. */
      readonly attempt?: number;
      readonly attempts?: number;
    };

/** What ended or interrupted an agent or a run. */
export type EndedBy =
  | { readonly is: 'person' | 'parent' | 'limit' | 'hand-over' }
  | { readonly is: 'agent'; readonly name: string }
  /** The stop of its run; a resume continues it. */
  | { readonly is: 'run' }
  /** Its task was removed from the plan. */
  | { readonly is: 'plan' }
  /** A check of its task failed: in its last attempt, twice alike, when a limit ended the work, or again at the end of the run. */
  | { readonly is: 'check'; readonly run: string; readonly why: 'attempts' | 'alike' | 'limit' | 'last' }
  /** No model was left: its providers failed, or policy allows no other. */
  | { readonly is: 'model' };

/** How a child was spawned. */
export interface Spawned {
  readonly by: 'person' | AgentId;
  /** As requested; null: it has its fallback name. */
  readonly friendly: string | null;
  /** Seconds; see `SpawnRequest`. */
  readonly wait: number | null;
  /** Relative to the project's root; empty: the root itself. */
  readonly workingDir: string;
}

interface Envelope {
  readonly v: 1;
  /** From 1, without gaps, per session. */
  readonly seq: number;
  readonly time: string;
  readonly session: SessionId;
}

export type MimirEvent = EventBody & Envelope;
export type EventType = EventBody['type'];
export type EventOf<T extends EventType> = Extract<MimirEvent, { readonly type: T }>;

/** Parameters: `Before`, the event, `After`. Event types may be absent. */
export type ByType<Before extends unknown[], After extends unknown[], R> = {
  readonly [T in EventType]?: (...args: [...Before, EventOf<T>, ...After]) => R;
};

/** The function for `type`, or undefined. The table's type ensures that each function takes its event; the overload states that the
 * caller passes an event of this type, which TypeScript cannot infer through a look-up. */
export function forType<Before extends unknown[], After extends unknown[], R>(
  table: ByType<Before, After, R>,
  type: EventType,
): ((...args: [...Before, MimirEvent, ...After]) => R) | undefined;
export function forType(table: object, type: EventType): unknown {
  return ownField(table, type);
}
