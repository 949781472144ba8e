/**
 * What can happen. One discriminated union by `type`; a type is never changed, only added to. What
 * rules and people decide stands in ruling.ts. Costs are US dollars, durations milliseconds, times ISO in UTC.
 */
import type { AgentMetrics, AgentOutcome, AgentStatus, ModelChoice } from '../domain/agents/agent.ts';
import type { Budget, Usage } from '../domain/budget.ts';
import type { Effort } from '../domain/models/effort.ts';
import type { Trigger } from '../domain/agents/mandatory-review.ts';
import type { AgentId, CallId, Millis, ModelId, RoleName, SessionId, TaskId, Usd } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import type { PlanChoices, SoundPlan } from '../domain/plan/plan.ts';
import type { Json, StopReason, Todo, ToolCall } from '../domain/turn.ts';
import type { Ruling } from './decisions.ts';

export type { ApprovalRequest } from './decisions.ts';

export type EventBody =
  | Ruling
  | {
      readonly type: 'session.started';
      readonly task: string;
      readonly cwd: string;
      readonly mode: Mode;
      readonly policyHash: string;
      /** Where several states of the files hold together, which `policyHash` is then of: the hash of each. */
      readonly policyHashes?: readonly string[];
      readonly version: string;
      readonly budget: Budget;
      readonly maxParallel: number;
      readonly sandbox: string;
      readonly provider: string;
      readonly notes: readonly string[];
      /** No plan is made: ROOT waits for what it is told, and children are spawned by hand. */
      readonly idle?: true;
      /** Of such a run: which roles and models a child may have. */
      readonly choices?: PlanChoices;
      /** One text is drafted by a model (a custom agent): no plan, no agents, nothing to go on with. */
      readonly draft?: true;
    }
  | {
      readonly type: 'session.resumed';
      readonly policyHash: string;
      /** Where several states of the files hold together, which `policyHash` is then of: the hash of each. */
      readonly policyHashes?: readonly string[];
      readonly version: string;
      /** The run's limits from now on; those of the start where it isn't said. */
      readonly budget?: Budget;
      /** The run had ended: only messages are answered, and nothing of its plan is begun again. */
      readonly answers?: true;
    }
  | {
      readonly type: 'plan.proposed';
      readonly plan: SoundPlan;
      readonly choices: PlanChoices;
      readonly by: string;
      readonly ms: Millis;
      readonly digest: string;
      /** Why no planner made it, where one should have. */
      readonly fault?: string;
      /** Where nobody can be asked: tasks whose acts will be denied, by what they are. */
      readonly unattended?: { readonly edits: readonly TaskId[]; readonly commands: readonly TaskId[] };
    }
  | { readonly type: 'plan.edited'; readonly plan: SoundPlan; readonly edit: string; readonly digest: string }
  | { readonly type: 'plan.approved'; readonly digest: string; readonly by: string }
  /** The rest of an approved plan was changed while it ran, and the person approved that: `changes` is what they were shown. */
  | {
      readonly type: 'plan.amended';
      readonly plan: SoundPlan;
      readonly digest: string;
      readonly changes: readonly string[];
      readonly by: string;
    }
  | { readonly type: 'plan.rejected'; readonly reason: string }
  | {
      readonly type: 'agent.created';
      readonly agent: AgentId;
      readonly parent: AgentId | null;
      readonly role: RoleName;
      readonly name: string;
      readonly task: string;
      readonly taskId: TaskId | null;
      readonly tools: readonly string[];
      readonly budget: Budget;
      readonly dependsOn: readonly AgentId[];
      readonly model: ModelChoice;
      readonly iterations: number;
      /** How much its models are told to think, where something is said of it. */
      readonly effort?: Effort;
      /** Of one that another agent called for: the call of its tool. */
      readonly call?: CallId;
      /** Of one that was spawned beside the plan and works on its own, its parent not waiting in a call. */
      readonly spawned?: Spawned;
      /** Of a child of an agent that works by words, and so does it. */
      readonly protocol?: 'text';
      /** Globs of the files that it may change; the whole project, or none of a role that can't write, when left out. */
      readonly writes?: readonly string[];
      /** Of a forced agent: what started it, and the tree that it judges; before a commit also the one it is made on. */
      readonly forced?: { readonly trigger: Trigger; readonly tree: string; readonly from?: string };
    }
  /** The amended plan says otherwise of one that has not begun, or has it again: it waits to be begun as it is told here. */
  | {
      readonly type: 'agent.changed';
      readonly agent: AgentId;
      readonly role: RoleName;
      readonly name: string;
      readonly task: string;
      readonly tools: readonly string[];
      readonly budget: Budget;
      readonly dependsOn: readonly AgentId[];
      readonly model: ModelChoice;
      readonly iterations: number;
      readonly writes?: readonly string[];
      /** How much its models are told to think, where something is said of it. */
      readonly effort?: Effort;
    }
  | {
      readonly type: 'agent.status';
      readonly agent: AgentId;
      readonly status: AgentStatus;
      readonly reason: string;
      /** Of who is `waiting`: for its provider, or ROOT beside its children. The clock of an agent stands still then, that of the run goes on. */
      readonly waitsFor?: 'provider' | 'children';
      /** Of who is `waiting`, or `pending` behind a task that failed: what for. Logs of earlier versions have only `reason` (earlier-words.ts). */
      readonly waitingFor?: WaitingFor;
      /** Of who is `interrupted`: by what. */
      readonly endedBy?: EndedBy;
    }
  /** It said by itself that it is done, or that it can't go on (`mimir complete`): its work ends with that after this step. */
  | {
      readonly type: 'agent.signalled';
      readonly agent: AgentId;
      readonly status: 'completed' | 'error';
      readonly message: string;
    }
  /** Its parent ended first: `owner` hears of it from now on. Null: nobody does. */
  | { readonly type: 'agent.adopted'; readonly agent: AgentId; readonly owner: AgentId | null }
  /** A user turn put into the agent's context: its task at first, later messages that were delivered (`messages`: their seq). */
  | {
      readonly type: 'agent.told';
      readonly agent: AgentId;
      readonly text: string;
      readonly messages: readonly number[];
    }
  /** What its system prompt says of machine and project: recorded at its first start, so that it stays equal after a resume. */
  | { readonly type: 'agent.environment'; readonly agent: AgentId; readonly text: string }
  /** A person gave it another model: it holds from the agent's next turn on. */
  | { readonly type: 'agent.model'; readonly agent: AgentId; readonly model: ModelChoice }
  | { readonly type: 'agent.todos'; readonly agent: AgentId; readonly todos: readonly Todo[] }
  | { readonly type: 'agent.message'; readonly agent: AgentId; readonly call: CallId; readonly text: string }
  | {
      readonly type: 'model.started';
      readonly agent: AgentId;
      readonly call: CallId;
      readonly model: ModelId;
      readonly purpose: 'plan' | 'work' | 'merge' | 'compact' | 'draft';
      readonly reserved: { readonly tokens: number; readonly cost: Usd };
      /** How much the model is told to think, where something is said of it. */
      readonly effort?: Effort;
    }
  | {
      readonly type: 'model.finished';
      readonly agent: AgentId;
      readonly call: CallId;
      readonly model: ModelId;
      readonly usage: Usage;
      readonly cost: Usd;
      readonly priced: boolean;
      /** The provider's count was missing or can't be true: charged is what had been reserved. */
      readonly bounded?: boolean;
      /** The provider left its count out: `usage` and `cost` are estimates. */
      readonly estimated?: boolean;
      readonly stopReason: StopReason;
      readonly ms: Millis;
      readonly calls: readonly ToolCall[];
      readonly opaque?: Json;
      /** An effort was asked for that this model takes no setting of: it was called without. */
      readonly withoutEffort?: true;
    }
  | {
      readonly type: 'model.failed';
      readonly agent: AgentId;
      readonly call: CallId;
      readonly model: ModelId;
      readonly cause: string;
      readonly message: string;
      /** What was used up before it failed, and is charged; missing when nothing was. */
      readonly usage?: Usage;
      readonly cost?: Usd;
      readonly priced?: boolean;
    }
  | {
      readonly type: 'model.retry';
      readonly agent: AgentId;
      readonly call: CallId;
      readonly model: ModelId;
      readonly cause: string;
      readonly wait: Millis;
      /** The try that comes next, from 2, and how many there are at most; without that, time alone ends the tries. */
      readonly attempt?: number;
      readonly attempts?: number;
    }
  | {
      readonly type: 'model.fallback';
      readonly agent: AgentId;
      readonly from: ModelId;
      readonly to: ModelId;
      readonly cause: string;
      readonly rule: string;
    }
  /**
   * The agent's conversation came near the model's window and goes on as: its first turn, `summary` as a user turn, and the last
   * `kept` turns. Tokens before as the provider counted, after as estimated.
   */
  | {
      readonly type: 'context.compacted';
      readonly agent: AgentId;
      readonly summary: string;
      readonly kept: number;
      readonly tokens: { readonly before: number; readonly after: number };
    }
  | {
      readonly type: 'tool.started';
      readonly agent: AgentId;
      readonly call: CallId;
      readonly tool: string;
      readonly label: string;
      readonly input: Json;
      readonly repeat: 'safe' | 'never';
      /** The rule of the program by which it ran without a question in another box than the agent's own. */
      readonly rule?: string;
    }
  | {
      readonly type: 'tool.finished';
      readonly agent: AgentId;
      readonly call: CallId;
      readonly tool: string;
      readonly ok: boolean;
      readonly output: string;
      readonly ms: Millis;
      /** The file whose content the agent knows by this call: relative to the project's root, and the content's digest. */
      readonly saw?: { readonly file: string; readonly digest: string };
    }
  /** The wall clock jumped by `by` ms, or the process stood still that long: no time of the run. */
  | { readonly type: 'clock.moved'; readonly by: Millis }
  /** A sentence of Mimir at the end of a result that was given: how many turns are left, that calls repeat themselves. */
  | { readonly type: 'tool.noted'; readonly agent: AgentId; readonly call: CallId; readonly text: string }
  | {
      readonly type: 'message.sent';
      readonly agent: AgentId | null;
      readonly from: string;
      readonly to: AgentId;
      readonly kind: 'result' | 'request' | 'status' | 'error';
      readonly delivery: 'sequential' | 'important' | 'urgent';
      readonly content: string;
      /** Of a notice to who spawned it: of which child, and what it tells. One each for every end of its work. */
      readonly notice?: { readonly of: AgentId; readonly is: 'completed' | 'error' | 'idle' };
      /** Of a letter that was kept while nothing ran: its id in the box, so that it comes once. */
      readonly letter?: string;
    }
  | {
      readonly type: 'agent.finished';
      readonly agent: AgentId;
      readonly status: AgentStatus;
      readonly outcome: AgentOutcome;
      readonly summary: string;
      readonly error: string | null;
      /** Where its work did not end by itself. Logs of earlier versions have only `error` (earlier-words.ts). */
      readonly endedBy?: EndedBy;
      readonly metrics: AgentMetrics;
    }
  | {
      readonly type: 'session.finished';
      readonly status: 'completed' | 'failed' | 'rejected' | 'stopped';
      readonly summary: string;
      /** Of a run that stopped: `hand-over` where another process goes on with it. */
      readonly endedBy?: EndedBy;
      readonly totals: {
        readonly cost: Usd;
        readonly tokens: number;
        readonly agents: number;
        readonly duration: Millis;
      };
    };

/** What an agent waits for. */
export type WaitingFor =
  /** ROOT of a run without a plan: for the next message. */
  | { readonly is: 'message' }
  /** Its turn is over: for children that it wants to hear of. */
  | { readonly is: 'children' }
  /** In the midst of its turn: for the child of its own call. */
  | { readonly is: 'child' }
  /** For the verdict about its work or its commit. */
  | { readonly is: 'review' }
  /** For the answer to a question that another agent asked about a limit of both. */
  | { readonly is: 'limit' }
  /** For the answer to its own question, or to the plan. */
  | { readonly is: 'person' }
  /** For a free place to go on in. */
  | { readonly is: 'slot' }
  /** For a task that it needs and that failed. */
  | { readonly is: 'task' }
  /** For what calls of others leave of a budget. */
  | { readonly is: 'budget' }
  | {
      readonly is: 'provider';
      /** `anthropic is rate limited` */
      readonly why: string;
      /** Milliseconds until the next try; null: another agent tries first. */
      readonly wait: Millis | null;
      /** Which try comes next, and how many there are at most; left out where it is the first, or where time alone ends them. */
      readonly attempt?: number;
      readonly attempts?: number;
    };

/** What ended or interrupted an agent or a run. */
export type EndedBy =
  | { readonly is: 'person' }
  /** `name`: what the agent is called. */
  | { readonly is: 'agent'; readonly name: string }
  /** The end of its parent. */
  | { readonly is: 'parent' }
  /** The stop of its run; a resume goes on with it. */
  | { readonly is: 'run' }
  /** Its task was taken out of the plan. */
  | { readonly is: 'plan' }
  | { readonly is: 'limit' }
  /** Its provider, or the rules about models, left it no model. */
  | { readonly is: 'model' }
  | { readonly is: 'hand-over' };

/** How a child was spawned. */
export interface Spawned {
  readonly by: 'person' | AgentId;
  /** As asked for; null: it goes by its fallback name. */
  readonly friendly: string | null;
  /** Seconds; see `SpawnWish`. */
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
