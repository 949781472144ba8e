/** The state of a run after all events of its log. Made by `fold` only; plain data, never changed in place. */
import type { AgentOutcome, AgentStatus } from '../domain/agents/agent.ts';
import type { AuthoredFile } from '../domain/changes/authorship.ts';
import type { CommandChanges, FileChange } from '../domain/changes/changes.ts';
import type { Budget, Usage } from '../domain/budget.ts';
import type { AgentId, CallId, Millis, ModelId, SessionId, TaskId, Usd } from '../domain/ids.ts';
import type { Permitted, PlanChoices, SoundPlan } from '../domain/plan/plan.ts';
import type { PrStep, PrTarget } from '../domain/pull-request.ts';
import type { Check, CheckEnd } from '../domain/plan/task-checks.ts';
import type { Mode } from '../domain/reason.ts';
import type { Todo } from '../domain/turn.ts';
import type * as events from './event.ts';

/** One result of a Task call, in the context of its caller. */
export interface Returned {
  readonly call: CallId;
  readonly tokens: number;
  readonly by: 'estimate' | 'provider';
}

/** The caller's context after its last reply, and the additions since then. */
export interface Growth {
  readonly counted: number | null;
  readonly since: number;
  /** How many of them are results of children. */
  readonly returned: number;
}

export type Phase = 'starting' | 'planning' | 'approving' | 'running' | 'merging' | 'finished';

/** A piece of an agent's transcript, for display. Tool output is shortened; the log has all of it. */
export type Block =
  | { readonly is: 'told'; readonly text: string }
  | { readonly is: 'said'; readonly text: string; readonly call: CallId }
  | {
      readonly is: 'tool';
      readonly call: CallId;
      readonly tool: string;
      readonly label: string;
      readonly started: Millis;
      readonly ok: boolean | null;
      readonly output: string;
      readonly ms: Millis;
      readonly changed?: CommandChanges | undefined;
    }
  /** Something that happened to the agent: interrupted, fallback, denied, waiting for a provider. */
  | {
      readonly is: 'note';
      readonly text: string;
      readonly level: 'info' | 'warn' | 'error';
      /** The text behind the line, such as the summary with which an agent continues. */
      readonly more?: string;
      readonly merged?: CommandChanges;
      /** What a check of the agent changed in the project. */
      readonly changed?: CommandChanges;
      /** It announces the next attempt of a model call. */
      readonly retry?: true;
    };

/** A model call in flight: its reservation counts as spent until it is settled. */
export interface OpenCall {
  readonly call: CallId;
  readonly model: ModelId;
  readonly tokens: number;
  readonly cost: Usd;
  /** Its process ended before the call, so it is unknown whether the provider billed it. Its amount stays reserved. */
  readonly uncertain?: true;
}

/** A wait before the next attempt of a model call. */
export interface Pause {
  readonly model: ModelId;
  readonly cause: string;
  readonly until: Millis;
  /** The number of the next attempt and the maximum, if recorded. */
  readonly attempt: number | null;
  readonly attempts: number | null;
}

/** Failed attempts of model calls: their number and usage, which is part of the agent's sums. */
export type LostTries = Omit<ModelShare, 'model'>;

/** The usage of one model by one agent. */
export interface ModelShare {
  readonly model: ModelId;
  readonly calls: number;
  readonly usage: Usage;
  readonly cost: Usd;
}

/** The tree of an agent's own. */
export interface OwnTree {
  readonly name: string;
  /** What its changes are counted from: the project as it was, or, after a merge, the tree as it was merged. */
  readonly base: string;
  readonly at: Millis;
  /** `open`: not merged yet. `unmerged`: it was to be merged and was not. */
  readonly stands: 'open' | 'merging' | 'merged' | 'unmerged';
  /** The change of the project that began last. While it is not merged, a part of it may be done. */
  readonly begun?: { readonly ours: string; readonly to: string; readonly theirs: string };
  readonly because?: string;
  readonly patch?: string;
  /** Conflicts of its merge, which its agent is to resolve in a further tree. */
  readonly resolve?: readonly string[];
  /** The conflicts for which this tree was made: it began with the changes of the tree before, merged into the project. */
  readonly resolves?: readonly string[];
}

/** The last run of one check of an agent's task. */
export interface CheckRun extends Check {
  readonly attempt: number;
  readonly started: Millis;
  readonly end: CheckEnd | null;
  /** The project was changed since it began. */
  readonly stale?: true;
  /** The agent was told how it failed and works on. */
  readonly told?: true;
}

export interface AgentState extends Omit<events.AgentFacts, 'iterations'> {
  readonly id: AgentId;
  readonly parent: AgentId | null;
  readonly children: readonly AgentId[];
  readonly taskId: TaskId | null;
  readonly maxIterations: number;
  /** Models that were called without an effort, because they do not support it. */
  readonly withoutEffort?: readonly ModelId[];
  /** Of one that works, or worked, in a tree of its own: the tree; absent before it is made. */
  readonly ownTree?: OwnTree;
  /** The stricter mode that it and its descendants are pinned to; null: the run's mode. */
  readonly pin: Mode | null;
  /** The parent's call that created it; null for planned agents and mandatory reviews. */
  readonly call: CallId | null;
  /** How it was spawned outside the plan; null for other agents. */
  readonly spawned: events.Spawned | null;
  /** Set for a child of an agent with the text protocol, which uses it too; its role may also set it. */
  readonly protocol?: 'text';
  /** The agent that gets its notices: its parent, or the agent that adopted it; null: none. */
  readonly owner: AgentId | null;
  /** What it reported about its own end since it last started; null: nothing. */
  readonly signalled: events.Signal | null;
  /** The environment block of its system prompt; absent before its first start. */
  readonly environment?: string;
  /** The worker of a cluster that carried out its last step; absent where it works in the run's own process. */
  readonly worker?: string;
  /** Actions that were denied because nobody could be asked; absent: none. */
  readonly unanswered?: readonly events.UnansweredAct[];
  /** Calls by tool, including refused ones. */
  readonly toolsUsed: Readonly<Record<string, number>>;
  readonly lastTool: { readonly name: string; readonly label: string; readonly at: Millis } | null;
  /** For a mandatory review: its trigger and subject; null for other agents. */
  readonly forced: events.Judging | null;
  readonly status: AgentStatus;
  readonly reason: string;
  /** What it waits for while `waiting`, or `pending` after a failed dependency; null otherwise, and in logs of earlier versions. */
  readonly waitingFor: events.WaitingFor | null;
  readonly outcome: AgentOutcome | null;
  readonly summary: string;
  readonly error: string | null;
  readonly endedBy: events.EndedBy | null;
  /** For an agent that was killed after its end: how its work had ended. Its summary is still that of the work. */
  readonly closed?: { readonly outcome: AgentOutcome; readonly error: string | null };
  /** Those that have run, in the order of the plan; absent: none. */
  readonly checks?: readonly CheckRun[];
  readonly todos: readonly Todo[];
  readonly blocks: readonly Block[];
  /** What is left of its changes, where views know the authors of all changes; a fold has none. */
  readonly net?: readonly FileChange[];
  readonly usage: Usage;
  readonly cost: Usd;
  /** Usage by model, in the order of their first calls. */
  readonly byModel: readonly ModelShare[];
  readonly priced: boolean;
  /** A provider reported no usage for a call, so usage and cost are partly estimated. */
  readonly estimated?: boolean;
  readonly open: readonly OpenCall[];
  /** Null unless it waits for a provider. */
  readonly pause: Pause | null;
  /** The limit (for ROOT: of the run) that stopped it, until that limit is changed; absent: none. */
  readonly exhausted?: events.Exhausted;
  readonly lost: LostTries;
  /** Whether its provider lost its last call; absent: none was ever lost. */
  readonly providerLost?: boolean;
  /** Attempts after a wait. */
  readonly retries: number;
  readonly fallbacks: readonly events.Fallback[];
  /** Results of its Task calls, in order; absent: none. */
  readonly returns?: readonly Returned[];
  /** The growth of its context, to count the tokens of these results. */
  readonly growth?: Growth;
  /** How often its context was summarised. */
  readonly compactions: number;
  readonly iterations: number;
  readonly toolCalls: number;
  readonly firstRunAt: Millis | null;
  readonly endedAt: Millis | null;
  /** Running time up to `runningSince`; see `elapsedOf`. */
  readonly ranMs: Millis;
  readonly runningSince: Millis | null;
  /** Time of the last event of this agent. */
  readonly lastAt: Millis;
}

export interface Approval {
  readonly id: string;
  readonly agent: AgentId;
  readonly request: events.ApprovalRequest;
  readonly askedAt: Millis;
}

/** A grant in effect, with the agent whose question it answered. */
export interface StandingGrant extends events.Grant {
  /** That of the answered question. */
  readonly id: string;
  readonly agent: AgentId;
  readonly at: Millis;
}

type Sent = events.EventOf<'message.sent'>;

export interface SentMessage extends Pick<Sent, 'seq' | 'from' | 'to' | 'delivery' | 'content' | 'letter'> {
  readonly delivered: boolean;
  readonly notice: NonNullable<Sent['notice']> | null;
}

/** The sums of all agents right after a call was settled. */
export interface SpendPoint {
  readonly at: Millis;
  readonly cost: Usd;
  readonly tokens: number;
}

/** A line of the run's log, for people. */
export interface LogLine {
  readonly at: Millis;
  readonly agent: AgentId | null;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly retry?: true;
  /** The model call that failed or, with `retry`, is attempted again. */
  readonly call?: CallId;
  /** Set for an answer that denied a call, so that the result of the call is not shown again. */
  readonly denial?: true;
}

/** The pull request of a run, as far as it came. */
export interface PullRequest extends PrTarget {
  readonly done: readonly PrStep[];
  /** Commits that its branch had or was about to have, the last one at the end. */
  readonly commits: readonly string[];
  readonly url: string | null;
  /** Why it did not come further; empty where nothing is known. */
  readonly why: string;
}

export interface RunState {
  readonly session: SessionId | null;
  readonly seq: number;
  readonly phase: Phase;
  readonly task: string;
  readonly cwd: string;
  readonly mode: Mode;
  readonly policyHash: string;
  readonly version: string;
  readonly provider: string;
  readonly sandbox: string;
  readonly notes: readonly string[];
  /** There is no plan: ROOT waits for messages. */
  readonly idle: boolean;
  readonly budget: Budget;
  readonly maxParallel: number;
  readonly startedAt: Millis;
  /** Periods in which no process ran the run, oldest first: from its last event to its resumption. */
  readonly stops: readonly { readonly from: Millis; readonly to: Millis }[];
  readonly lastAt: Millis;
  readonly plan: SoundPlan | null;
  readonly planDigest: string;
  readonly planBy: string;
  readonly planMs: Millis;
  /** Why the planner failed; empty if it did not. */
  readonly planFault: string;
  readonly choices: PlanChoices | null;
  /** If nobody can be asked: tasks whose actions will be denied; null: none. */
  readonly unattended: Readonly<Record<Permitted, readonly TaskId[]>> | null;
  readonly approvedDigest: string | null;
  /** Commands of checks that ran before the approval, the last run of each; absent: none. */
  readonly firstChecks?: readonly CheckRun[];
  /** In order of creation. */
  readonly agents: ReadonlyMap<AgentId, AgentState>;
  /** Sums over time, oldest first, for charts. */
  readonly spend: readonly SpendPoint[];
  /** Waiting for a person, oldest first. */
  readonly approvals: readonly Approval[];
  /** What the person allowed for the session, oldest first. */
  readonly grants: readonly StandingGrant[];
  readonly messages: readonly SentMessage[];
  readonly log: readonly LogLine[];
  readonly warned: readonly string[];
  /** The project's tree before any agent started; null if it was not needed or could not be determined. */
  readonly firstTree: string | null;
  readonly firstTreeAt?: number;
  /** Files that file tools were asked to write since then, as named in the calls; absent: none. */
  readonly written?: readonly string[];
  readonly verdicts: readonly events.RecordedVerdict[];
  readonly gates: readonly events.ReviewGate[];
  /** The authors of all changes, where views know them; a fold has none. */
  readonly authored?: readonly AuthoredFile[];
  /** What changed in folders that git ignores, as text, where views know it. */
  readonly uncovered?: string;
  /** The run had ended and was resumed to answer messages; no task of its plan runs again. */
  readonly answering: boolean;
  readonly finished: events.SessionEnd | null;
  /** Absent: none was begun. */
  readonly pullRequest?: PullRequest;
  /** The number of events of types that this version does not know. */
  readonly unknown: number;
}

export const EMPTY: RunState = {
  session: null,
  seq: 0,
  phase: 'starting',
  task: '',
  cwd: '',
  mode: 'confirm',
  policyHash: '',
  version: '',
  provider: '',
  sandbox: '',
  notes: [],
  idle: false,
  budget: {},
  maxParallel: 1,
  startedAt: 0,
  stops: [],
  lastAt: 0,
  plan: null,
  planDigest: '',
  planBy: '',
  planMs: 0,
  planFault: '',
  choices: null,
  unattended: null,
  approvedDigest: null,
  agents: new Map(),
  spend: [],
  approvals: [],
  grants: [],
  messages: [],
  log: [],
  warned: [],
  firstTree: null,
  verdicts: [],
  gates: [],
  answering: false,
  finished: null,
  unknown: 0,
};
