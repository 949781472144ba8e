/** Where an agent stands and how it ended, and what it is sent out with. */
import type { Budget } from '../budget.ts';
import type { AgentId, Millis, ModelId, RoleName, TaskId, Usd } from '../ids.ts';
import type { Effort } from '../models/effort.ts';
import type { Turn } from '../turn.ts';
import type { Capability } from './role.ts';

export const STATUSES = [
  'pending',
  'initializing',
  'running',
  'waiting',
  'completed',
  'failed',
  'interrupted',
] as const;
export type AgentStatus = (typeof STATUSES)[number];

/** How a finished agent ended. Partial, killed, abandoned and skipped have the status `interrupted`. */
export const OUTCOMES = ['completed', 'partial', 'failed', 'killed', 'abandoned', 'skipped'] as const;
export type AgentOutcome = (typeof OUTCOMES)[number];

export const statusOfOutcome = (outcome: AgentOutcome): AgentStatus =>
  outcome === 'completed' || outcome === 'failed' ? outcome : 'interrupted';

/** Did it end with an answer, whole or in part? Only other ends block those that depend on it. */
export const isAnswered = (outcome: AgentOutcome): boolean => outcome === 'completed' || outcome === 'partial';

/** Asked for and really used; `because` says why they differ, null when they don't. */
export interface ModelChoice {
  readonly asked: string;
  readonly used: ModelId;
  readonly because: string | null;
}

export interface AgentMetrics {
  /** ISO times, UTC. */
  readonly startTime: string;
  readonly endTime: string;
  /** Milliseconds from first running to the end, waiting for a person left out. */
  readonly duration: Millis;
  readonly tokensUsed: number;
  readonly cost: Usd;
  readonly iterations: number;
  readonly toolCalls: number;
}

/** What a finished task hands to those that depend on it: the summary only, never its transcript. */
export interface Finding {
  readonly agent: AgentId;
  readonly task: TaskId | null;
  readonly role: RoleName;
  readonly description: string;
  readonly outcome: AgentOutcome;
  /** Why it was ended before it was done. */
  readonly because?: string;
  readonly summary: string;
  /** Where `summary` is not all of it: which characters it is, of how many. */
  readonly cut?: { readonly from: number; readonly to: number; readonly all: number };
}

/** Everything an executor needs to carry one agent through. Plain JSON: it survives a trip to another machine. */
export interface WorkOrder {
  readonly agent: AgentId;
  readonly parent: AgentId | null;
  readonly taskId: TaskId | null;
  readonly role: RoleName;
  /** The task in words, as approved. */
  readonly task: string;
  /** Of a planned agent: what the person asked of the whole run, verbatim. */
  readonly wholeTask?: string;
  readonly system: string;
  /** How it is asked for a summary when its conversation comes near the window; nothing: it is never asked. */
  readonly compact?: string;
  readonly model: ModelChoice;
  /** Ordered fallbacks after a classified fault, already allowed by policy. */
  readonly fallbacks: readonly ModelId[];
  /** How much its models are told to think; absent: nothing is said. */
  readonly effort?: Effort;
  readonly capabilities: readonly Capability[];
  /** Globs of the files that it may change (glob.ts); the whole project when left out. */
  readonly writes?: readonly string[];
  /** Names of the tools that it has. */
  readonly tools: readonly string[];
  readonly budget: Budget;
  readonly iterations: number;
  readonly findings: readonly Finding[];
  /** The conversation so far: empty at first, what the log knows after a resume. */
  readonly turns: readonly Turn[];
  /** A folder of the project that its commands start in, relative to the root; the root itself when left out. */
  readonly workingDir?: string;
  /** `text`: its model has no tool calls, one command a turn stands in its text. */
  readonly protocol?: 'text';
  /** The commit that the approved plan asks for: where no person can be asked, that approval is the answer. */
  readonly commits?: true;
  /** Replies that it has had for its work in all; none when left out. */
  readonly replies?: number;
}

/** How carrying out an order ended. `stopped` is a person's or a parent's doing and may be resumed; others are final. */
export type WorkOutcome =
  | { readonly is: 'completed'; readonly summary: string }
  | { readonly is: 'partial'; readonly summary: string; readonly reason: string }
  | { readonly is: 'failed'; readonly reason: string }
  | { readonly is: 'stopped'; readonly reason: string };

/** The lifecycle of a child session, in the words of the commands. It is computed from the log, never stored. */
const LIFECYCLE = [
  /** Created; nothing of it runs yet. */
  'spawned',
  /** Waits for a free slot. */
  'starting',
  'running',
  /** Asked a person, or waits to be resumed by one. */
  'waiting_input',
  /** Nothing happened for the idle time; also ROOT between turns, and who only waits for its children. */
  'idle',
  /** Its turn ended well (partial as well, then marked so). It stays: a message resumes it with its context. */
  'completed',
  'error',
  /** Its parent or its host ended before it did, and nobody took it on. */
  'abandoned',
  'killed',
] as const;
export type Lifecycle = (typeof LIFECYCLE)[number];

export const isTerminal = (state: Lifecycle): state is 'completed' | 'error' | 'abandoned' | 'killed' =>
  LIFECYCLE.indexOf(state) >= LIFECYCLE.indexOf('completed');
