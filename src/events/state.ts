/** What is true after everything in the log happened. Made by `fold` only; plain data, never changed in place. */
import type { AgentOutcome, AgentStatus } from '../domain/agents/agent.ts';
import type { CommandChanges } from '../domain/changes.ts';
import type { Budget, Usage } from '../domain/budget.ts';
import type { AgentId, CallId, Millis, ModelId, SessionId, TaskId, Usd } from '../domain/ids.ts';
import type { Permitted, PlanChoices, SoundPlan } from '../domain/plan/plan.ts';
import type { Mode } from '../domain/reason.ts';
import type { Todo } from '../domain/turn.ts';
import type * as events from './event.ts';

/** One result of a Task call, in the context of its caller. */
export interface Returned {
  readonly call: CallId;
  readonly tokens: number;
  readonly by: 'estimate' | 'provider';
}

/** The caller's context as its last reply left it, and what came into it since. */
export interface Growth {
  /** Tokens as counted; null where that can't be known. */
  readonly counted: number | null;
  readonly since: number;
  /** How many of them came back of children. */
  readonly returned: number;
}

export type Phase = 'starting' | 'planning' | 'approving' | 'running' | 'merging' | 'finished';

/** A piece of an agent's transcript, for people. Tool output is cut here; the log has it whole. */
export type Block =
  | { readonly is: 'told'; readonly text: string }
  | { readonly is: 'said'; readonly text: string; readonly call: CallId }
  | {
      readonly is: 'tool';
      readonly call: CallId;
      readonly tool: string;
      readonly label: string;
      readonly started: Millis;
      /** Null while it runs. */
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
      /** What lies behind it, for those who want to read it: the summary that an agent goes on with. */
      readonly more?: string;
      /** What the merge of its tree changed in the project. */
      readonly merged?: CommandChanges;
      /** It announces the next attempt of a model call. */
      readonly retry?: true;
    };

/** A model call in flight: its reservation counts as spent until it is settled. */
export interface OpenCall {
  readonly call: CallId;
  readonly model: ModelId;
  readonly tokens: number;
  readonly cost: Usd;
  /** Its process ended before the call did: the provider may have billed it or not. It stays reserved. */
  readonly uncertain?: true;
}

/** A wait before the next try of a model call. */
export interface Pause {
  readonly model: ModelId;
  readonly cause: string;
  readonly until: Millis;
  /** The try that comes next and how many there are at most, where it was said. */
  readonly attempt: number | null;
  readonly attempts: number | null;
}

/** Tries of model calls that came to nothing: how many, and what they used up all the same (part of the agent's sums). */
export interface LostTries {
  readonly calls: number;
  readonly usage: Usage;
  readonly cost: Usd;
}

/** What one agent used of one model. */
export interface ModelShare {
  readonly model: ModelId;
  readonly calls: number;
  readonly usage: Usage;
  readonly cost: Usd;
}

/** The tree of an agent's own. */
export interface OwnTree {
  readonly name: string;
  readonly base: string;
  readonly at: Millis;
  /** `open`: not merged yet. `unmerged`: it was to be merged and was not. */
  readonly stands: 'open' | 'merging' | 'merged' | 'unmerged';
  /** The change of the project that began last. While it is not merged, a part of it may be done. */
  readonly begun?: { readonly ours: string; readonly to: string };
  readonly because?: string;
  readonly patch?: string;
}

export interface AgentState extends Omit<events.AgentFacts, 'iterations'> {
  readonly id: AgentId;
  readonly parent: AgentId | null;
  readonly children: readonly AgentId[];
  readonly taskId: TaskId | null;
  readonly maxIterations: number;
  /** Models that were called without it, since they take no such setting. */
  readonly withoutEffort?: readonly ModelId[];
  /** Of one that works, or worked, in a tree of its own: the tree; absent before it is made. */
  readonly ownTree?: OwnTree;
  /** The stricter mode it is held to, with all below it; null for the run's. */
  readonly pin: Mode | null;
  /** The parent's call that it was made for; null of planned and forced agents. */
  readonly call: CallId | null;
  /** Of one that was spawned beside the plan; null of others. */
  readonly spawned: events.Spawned | null;
  /** Of a child of an agent that works by words, and so does it; its role may say so as well. */
  readonly protocol?: 'text';
  /** Who hears of it: its parent, or who adopted it; null: nobody. */
  readonly owner: AgentId | null;
  /** What it said of its own end, since it last began; null while it said nothing. */
  readonly signalled: events.Signal | null;
  /** The environment block of its system prompt; absent before its first start. */
  readonly environment?: string;
  /** What it could not do since nobody could be asked; absent: nothing. */
  readonly unanswered?: readonly events.UnansweredAct[];
  /** Calls by tool, those that were refused as well. */
  readonly toolsUsed: Readonly<Record<string, number>>;
  readonly lastTool: { readonly name: string; readonly label: string; readonly at: Millis } | null;
  /** Of a forced agent: what started it and what it judges; null of others. */
  readonly forced: events.Judging | null;
  readonly status: AgentStatus;
  readonly reason: string;
  /** What it waits for while it is `waiting`, or `pending` behind a task that failed; null otherwise, and where an earlier version did not record it. */
  readonly waitingFor: events.WaitingFor | null;
  readonly outcome: AgentOutcome | null;
  readonly summary: string;
  readonly error: string | null;
  /** What ended or interrupted it; null while it works, and where its work ended by itself. */
  readonly endedBy: events.EndedBy | null;
  /** How its work had ended, of one that was killed after that: its summary is still that of its work. */
  readonly closed?: { readonly outcome: AgentOutcome; readonly error: string | null };
  readonly todos: readonly Todo[];
  readonly blocks: readonly Block[];
  readonly usage: Usage;
  readonly cost: Usd;
  /** The same by the model that was called, in the order of their first calls. */
  readonly byModel: readonly ModelShare[];
  /** False when a call was made whose price is not known. */
  readonly priced: boolean;
  /** A provider left the count of a call out: what it used, and what it cost, is partly estimated. */
  readonly estimated?: boolean;
  readonly open: readonly OpenCall[];
  /** Null while no provider is waited for. */
  readonly pause: Pause | null;
  /** Which of its limits (of ROOT: of the run's) left no room for a step, until that limit is changed; absent where none did. */
  readonly exhausted?: events.Exhausted;
  readonly lost: LostTries;
  /** Whether its provider lost its last call; absent where none was ever lost. */
  readonly providerLost?: boolean;
  /** Tries after a wait. */
  readonly retries: number;
  /** In the order they happened. */
  readonly fallbacks: readonly events.Fallback[];
  /** What came back of its Task calls, in order; absent while nothing has. */
  readonly returns?: readonly Returned[];
  /** How its context grows: for the count of what came back. */
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
  /** Time of the last event that this agent caused. */
  readonly lastAt: Millis;
}

export interface Approval {
  readonly id: string;
  readonly agent: AgentId;
  readonly request: events.ApprovalRequest;
  readonly askedAt: Millis;
}

/** A grant that holds, with the agent whose question it answered. */
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
  /** It announces the next attempt of a model call. */
  readonly retry?: true;
  /** The model call that failed or, with `retry`, is attempted again. */
  readonly call?: CallId;
  /** Present for an answer that denied a call: the result of that call tells nothing new. */
  readonly denial?: true;
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
  /** No plan: ROOT waits for what it is told. */
  readonly idle: boolean;
  readonly budget: Budget;
  readonly maxParallel: number;
  readonly startedAt: Millis;
  /** Stretches in which no process carried the run, oldest first: from its last word to its resumption. */
  readonly stops: readonly { readonly from: Millis; readonly to: Millis }[];
  readonly lastAt: Millis;
  readonly plan: SoundPlan | null;
  readonly planDigest: string;
  readonly planBy: string;
  readonly planMs: Millis;
  /** Why no planner made the plan, where one should have; else empty. */
  readonly planFault: string;
  readonly choices: PlanChoices | null;
  /** Where nobody can be asked: tasks whose acts will be denied; null: none. */
  readonly unattended: Readonly<Record<Permitted, readonly TaskId[]>> | null;
  readonly approvedDigest: string | null;
  /** In order of creation. */
  readonly agents: ReadonlyMap<AgentId, AgentState>;
  /** What was spent by when, oldest first: for curves. */
  readonly spend: readonly SpendPoint[];
  /** Waiting for a person, oldest first. */
  readonly approvals: readonly Approval[];
  /** What the person allowed for the session, oldest first. */
  readonly grants: readonly StandingGrant[];
  readonly messages: readonly SentMessage[];
  readonly log: readonly LogLine[];
  readonly warned: readonly string[];
  /** Before any agent began; null where nobody asked, or nothing could tell. */
  readonly firstTree: string | null;
  /** When that was, in milliseconds since 1970; missing with it. */
  readonly firstTreeAt?: number;
  /** Files that file tools were asked to write since then, as they were named; missing: none. */
  readonly written?: readonly string[];
  readonly verdicts: readonly events.RecordedVerdict[];
  readonly gates: readonly events.ReviewGate[];
  /** The run had ended and was resumed to answer messages; nothing of its plan runs again. */
  readonly answering: boolean;
  readonly finished: events.SessionEnd | null;
  /** Events of a type that this version doesn't know: how many. */
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
