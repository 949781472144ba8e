/**
 * What can happen. One discriminated union by `type`; a type is never changed, only added to. Costs are US dollars, durations
 * milliseconds, times ISO in UTC.
 */
import type {
  AgentMetrics,
  AgentOutcome,
  AgentStatus,
  ModelChoice,
  OnFailure,
  Trigger,
} from '../domain/agents/agent.ts';
import type { CommandChanges, MergeEnd } from '../domain/changes.ts';
import type { GrantScope } from '../domain/agents/grant.ts';
import type { Capability } from '../domain/agents/role.ts';
import type { Budget, Usage } from '../domain/budget.ts';
import type { AgentId, CallId, Millis, ModelId, RoleName, SessionId, TaskId, Usd } from '../domain/ids.ts';
import type { Effort } from '../domain/models/provider.ts';
import type { Permitted, PlanChoices, SoundPlan } from '../domain/plan/plan.ts';
import type { Mode, Reason } from '../domain/reason.ts';
import type { Json, StopReason, Todo, ToolCall } from '../domain/turn.ts';

type Of<Type extends string> = { readonly type: Type };
type OfAgent<Type extends string> = Of<Type> & { readonly agent: AgentId };
/** Of an agent's own tree, by its name. */
type OfTree<Type extends string> = OfAgent<Type> & { readonly tree: string };
/** A call of a model or of a tool. */
type OfCall<Type extends string> = OfAgent<Type> & { readonly call: CallId };
type OfModelCall<Type extends string> = OfCall<Type> & { readonly model: ModelId };

/** The files of rules that held. */
interface RulesInForce {
  readonly policyHash: string;
  /** Where several states of the files hold together, which `policyHash` is then of: the hash of each. */
  readonly policyHashes?: readonly string[];
}

/** What an agent is made of. */
export interface AgentFacts {
  readonly role: RoleName;
  /** What it is called on the screen: the role, numbered when there are several. */
  readonly name: string;
  readonly task: string;
  readonly tools: readonly string[];
  readonly budget: Budget;
  readonly dependsOn: readonly AgentId[];
  readonly model: ModelChoice;
  readonly iterations: number;
  /** How much its models are told to think; absent: nothing is said. */
  readonly effort?: Effort;
  /** Globs of the files that it may change; the whole project, or none of a role that can't write, when left out. */
  readonly writes?: readonly string[];
  /** It works in a tree of its own; absent: in the project. */
  readonly tree?: 'own';
}

/** How far a limit is used. */
export interface Exhausted {
  readonly what: 'tokens' | 'cost' | 'time';
  /** Tokens, US dollars or milliseconds. */
  readonly spent: number;
  readonly limit: number;
}

interface LimitFacts extends Exhausted {
  /** Of `day` and `model`: the limit of the rules on all runs of a day, or on a model by the day. */
  readonly scope: 'run' | 'agent' | 'day' | 'model';
}

export interface Fallback {
  readonly from: ModelId;
  readonly to: ModelId;
  readonly cause: string;
  readonly rule: string;
}

/** An act that was denied because nobody could be asked, or not begun because the sandbox that it was promised could not be started. */
export interface UnansweredAct {
  /** Equal for acts that come to the same. */
  readonly effect: string;
  readonly label: string;
  readonly why?: 'no sandbox';
}

/** What started a forced agent, and the tree that it judges; before a commit also the one it is made on. */
export interface Judging {
  readonly trigger: Trigger;
  readonly tree: string;
  readonly from?: string;
}

/** What an agent said of its own end. */
export interface Signal {
  readonly status: 'completed' | 'error';
  readonly message: string;
}

export interface SessionEnd {
  readonly status: 'completed' | 'failed' | 'rejected' | 'stopped';
  readonly summary: string;
  /** Of a run that stopped: `hand-over` where another process goes on with it. */
  readonly endedBy?: EndedBy;
  readonly totals: { readonly cost: Usd; readonly tokens: number; readonly agents: number; readonly duration: Millis };
}

/** What a person is asked. `exact` is what would happen, whole: a diff, a command, a question. */
export interface ApprovalRequest {
  readonly action: Capability | 'question' | 'turn' | 'failure' | 'budget' | 'merge';
  readonly title: string;
  readonly exact: string;
  /** Answers offered by `ask_user`; empty otherwise. */
  readonly options: readonly string[];
  /** True for a shell without a sandbox. */
  readonly unsandboxed: boolean;
  readonly because: string;
  /** Equal in questions that one answer may cover; missing in those that are always asked singly. */
  readonly same?: string;
  /** Of a command: its programs with their sub-commands, where an answer may cover those (domain/agents/grant.ts). */
  readonly programs?: readonly (readonly string[])[];
  /** Of a change of a file: which. */
  readonly file?: string;
  /** Why allowing it may destroy what nobody can bring back, where a rule of policy says so. */
  readonly destroys?: string;
  /** The place among `options` of the one that adds an amount to a limit, for which the person may type another amount. */
  readonly adds?: number;
}

/** What an answer for the session covers. */
export interface Grant extends Pick<ApprovalRequest, 'action' | 'title' | 'programs' | 'file'> {
  readonly scope: GrantScope;
  readonly same: string;
  /** Files whose content decides what is done, of an answer for exactly this: it holds for this content. */
  readonly inputs: readonly { readonly path: string; readonly digest: string }[];
}

/** What a forced agent, `agent`, said of a tree. */
export interface RecordedVerdict {
  readonly agent: AgentId;
  readonly role: RoleName;
  readonly tree: string;
  readonly pass: boolean;
  readonly summary: string;
  readonly findings: readonly string[];
}

/** Whether what waited for a forced agent may go on, and why. `agent`: whose work it is. Closed with `warn`: it goes on. */
export interface ReviewGate {
  readonly agent: AgentId;
  readonly role: RoleName;
  readonly trigger: Trigger;
  readonly tree: string;
  readonly open: boolean;
  readonly onFailure: OnFailure;
  readonly why: string;
  /** Of a run without a plan: what was done up to the event of this number is judged. */
  readonly upTo?: number;
  /** Where that is less: what was done behind the event of this number has had no verdict, reviews of it came to none. */
  readonly saidUpTo?: number;
  /** Work has begun since then, and its review is still to come: what is kept back of the run's limits for that. */
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
        /** No plan is made: ROOT waits for what it is told, and children are spawned by hand. */
        readonly idle?: true;
        /** Of such a run: which roles and models a child may have. */
        readonly choices?: PlanChoices;
        /** One text is drafted by a model (a custom agent): no plan, no agents, nothing to go on with. */
        readonly draft?: true;
      })
  | (Of<'session.resumed'> &
      RulesInForce & {
        readonly version: string;
        /** The run's limits from now on; those of the start where it isn't said. */
        readonly budget?: Budget;
        /** The run had ended: only messages are answered, and nothing of its plan is begun again. */
        readonly answers?: true;
      })
  | (Of<'session.finished'> & SessionEnd)
  | (Of<'session.mode'> & { readonly mode: Mode })
  /** The wall clock jumped by `by` ms, or the process stood still that long: no time of the run. */
  | (Of<'clock.moved'> & { readonly by: Millis })
  | (Of<'plan.proposed'> & {
      readonly plan: SoundPlan;
      readonly choices: PlanChoices;
      readonly by: string;
      readonly ms: Millis;
      readonly digest: string;
      /** Why no planner made it, where one should have. */
      readonly fault?: string;
      /** Where nobody can be asked: tasks whose acts will be denied, by what they are. */
      readonly unattended?: Readonly<Record<Permitted, readonly TaskId[]>>;
    })
  | (Of<'plan.edited'> & { readonly plan: SoundPlan; readonly edit: string; readonly digest: string })
  | (Of<'plan.approved'> & { readonly digest: string; readonly by: string })
  /** The rest of an approved plan was changed while it ran, and the person approved that: `changes` is what they were shown. */
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
        /** Of one that another agent called for: the call of its tool. */
        readonly call?: CallId;
        /** Of one that was spawned beside the plan and works on its own, its parent not waiting in a call. */
        readonly spawned?: Spawned;
        /** Of a child of an agent that works by words, and so does it. */
        readonly protocol?: 'text';
        readonly forced?: Judging;
      })
  /** The amended plan says otherwise of one that has not begun, or has it again: it waits to be begun as it is told here. */
  | (OfAgent<'agent.changed'> & AgentFacts)
  | (OfAgent<'agent.status'> & {
      readonly status: AgentStatus;
      readonly reason: string;
      /** Of who is `waiting`: for its provider, or ROOT beside its children. The clock of an agent stands still then, that of the run goes on. */
      readonly waitsFor?: 'provider' | 'children';
      /** Of who is `waiting`, or `pending` behind a task that failed: what for. Logs of earlier versions have only `reason` (earlier-words.ts). */
      readonly waitingFor?: WaitingFor;
      /** Of who is `interrupted`: by what. */
      readonly endedBy?: EndedBy;
    })
  /** It said by itself that it is done, or that it can't go on (`mimir complete`): its work ends with that after this step. */
  | (OfAgent<'agent.signalled'> & Signal)
  /** Its parent ended first: `owner` hears of it from now on. Null: nobody does. */
  | (OfAgent<'agent.adopted'> & { readonly owner: AgentId | null })
  /** Held to a stricter mode than the run's, with all below it; null: no longer. */
  | (OfAgent<'agent.pinned'> & { readonly mode: Mode | null })
  /** A user turn put into the agent's context: its task at first, later messages that were delivered (`messages`: their seq). */
  | (OfAgent<'agent.told'> & { readonly text: string; readonly messages: readonly number[] })
  /** What its system prompt says of machine and project: recorded at its first start, so that it stays equal after a resume. */
  | (OfAgent<'agent.environment'> & { readonly text: string })
  /** A person gave it another model: it holds from the agent's next turn on. */
  | (OfAgent<'agent.model'> & { readonly model: ModelChoice })
  | (OfAgent<'agent.todos'> & { readonly todos: readonly Todo[] })
  | (OfCall<'agent.message'> & { readonly text: string })
  | (OfAgent<'agent.finished'> & {
      readonly status: AgentStatus;
      readonly outcome: AgentOutcome;
      readonly summary: string;
      readonly error: string | null;
      /** Where its work did not end by itself. Logs of earlier versions have only `error` (earlier-words.ts). */
      readonly endedBy?: EndedBy;
      readonly metrics: AgentMetrics;
    })
  | (OfModelCall<'model.started'> & {
      readonly purpose: 'plan' | 'work' | 'merge' | 'compact' | 'draft';
      readonly reserved: { readonly tokens: number; readonly cost: Usd };
      /** How much the model is told to think, where something is said of it. */
      readonly effort?: Effort;
    })
  | (OfModelCall<'model.finished'> & {
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
    })
  | (OfModelCall<'model.failed'> & {
      readonly cause: string;
      readonly message: string;
      /** What was used up before it failed, and is charged; missing when nothing was. */
      readonly usage?: Usage;
      readonly cost?: Usd;
      readonly priced?: boolean;
    })
  | (OfModelCall<'model.retry'> & {
      readonly cause: string;
      readonly wait: Millis;
      /** The try that comes next, from 2, and how many there are at most; without that, time alone ends the tries. */
      readonly attempt?: number;
      readonly attempts?: number;
    })
  | (OfAgent<'model.fallback'> & Fallback)
  /**
   * The agent's conversation came near the model's window and goes on as: its first turn, `summary` as a user turn, and the last
   * `kept` turns. Tokens before as the provider counted, after as estimated.
   */
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
      /** The rule of the program by which it ran without a question in another box than the agent's own. */
      readonly rule?: string;
    })
  | (OfCall<'tool.finished'> & {
      readonly tool: string;
      readonly ok: boolean;
      readonly output: string;
      readonly ms: Millis;
      /** The file whose content the agent knows by this call: relative to the project's root, and the content's digest. */
      readonly saw?: { readonly file: string; readonly digest: string };
      /** What changed in the project while a command ran. */
      readonly changed?: CommandChanges;
    })
  /** A sentence of Mimir at the end of a result that was given: how many turns are left, that calls repeat themselves. */
  | (OfCall<'tool.noted'> & { readonly text: string })
  | (Of<'message.sent'> & {
      readonly agent: AgentId | null;
      readonly from: string;
      readonly to: AgentId;
      readonly kind: 'result' | 'request' | 'status' | 'error';
      readonly delivery: 'sequential' | 'important' | 'urgent';
      readonly content: string;
      /** Of a notice to who spawned it: of which child, and what it tells. One each for every end of its work. */
      readonly notice?: {
        readonly of: AgentId;
        readonly is: 'completed' | 'error' | 'idle';
        /** Of an error: a person killed the child. */
        readonly killed?: true;
      };
      /** Of a letter that was kept while nothing ran: its id in the box, so that it comes once. */
      readonly letter?: string;
    })
  // What rules and people decide while a run goes on.
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
      /** Of a yes for the session: what it covers, until it is withdrawn. */
      readonly grant?: Grant;
    })
  /** A grant, by the id of the answer that gave it, covers nothing any more. */
  | (Of<'grant.withdrawn'> & { readonly grant: string })
  | (OfCall<'act.unanswered'> & UnansweredAct)
  /** Such an act, done later all the same. */
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
        /** Of `model`: whose, as the rule names it. */
        readonly of?: string;
        /** `limit` is twice the estimate of its task, which ends nobody. */
        readonly estimate?: true;
      })
  | (OfAgent<'budget.exhausted'> & LimitFacts)
  /** A tree was made for the agent, from the project as it was then: `base`, the digest of its content. */
  | (OfTree<'tree.made'> & { readonly base: string })
  /** The project's files are about to be changed from `ours` to `to`, which has the agent's changes: digests of all content. */
  | (OfTree<'merge.started'> & { readonly ours: string; readonly to: string })
  | (OfTree<'merge.finished'> & MergeEnd)
  /** The project as it was before any agent began: forced agents judge what became of it. */
  | (Of<'forced.began'> & { readonly tree: string })
  | (Of<'forced.verdict'> & RecordedVerdict)
  | (Of<'forced.gate'> & ReviewGate);

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

/** What an event tells, without its envelope. */
export function bodyOf<E extends MimirEvent>(event: E): Omit<E, 'type' | keyof Envelope> {
  const { v: _v, type: _type, seq: _seq, time: _time, session: _session, ...facts } = event;
  return facts;
}

export type EventOf<T extends EventType> = Extract<MimirEvent, { readonly type: T }>;

/** `Before` comes before the event among the parameters, `After` behind it. Types may be missing. */
export type ByType<Before extends unknown[], After extends unknown[], R> = {
  readonly [T in EventType]?: (...args: [...Before, EventOf<T>, ...After]) => R;
};

/**
 * The function for `type`, or undefined. Which event goes with which function is checked where the table is written; the
 * overload says here that the caller passes an event of that very type, which TypeScript can't follow through a look-up.
 */
export function forType<Before extends unknown[], After extends unknown[], R>(
  table: ByType<Before, After, R>,
  type: EventType,
): ((...args: [...Before, MimirEvent, ...After]) => R) | undefined;
export function forType(table: object, type: EventType): unknown {
  const found: unknown = Object.hasOwn(table, type) ? Reflect.get(table, type) : undefined;
  return found;
}
