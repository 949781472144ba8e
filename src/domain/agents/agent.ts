/** The status and outcome of an agent, its work order, spawn requests and mandatory reviews. */
import { z } from 'zod';
import { Cost, Count, LongText, ShortText, TaskIds } from '../bounds.ts';
import { Budget } from '../budget.ts';
import { type AgentId, type Millis, ModelId, RoleName, type TaskId, type Usd } from '../ids.ts';
import type { Effort } from '../models/provider.ts';
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

/** How a finished agent ended. Partial, killed, abandoned and skipped agents have the status `interrupted`. */
export const OUTCOMES = ['completed', 'partial', 'failed', 'killed', 'abandoned', 'skipped'] as const;
export type AgentOutcome = (typeof OUTCOMES)[number];

export const statusOfOutcome = (outcome: AgentOutcome): AgentStatus =>
  outcome === 'completed' || outcome === 'failed' ? outcome : 'interrupted';

/** Whether it ended with an answer, whole or partial. Other ends block its dependants. */
export const isAnswered = (outcome: AgentOutcome): boolean => outcome === 'completed' || outcome === 'partial';

/** The requested and the used model; `because` is the reason for a difference, null without one. */
export const ModelChoice = z.strictObject({ asked: ShortText, used: ModelId, because: LongText.nullable() });
export type ModelChoice = z.infer<typeof ModelChoice>;

export interface AgentMetrics {
  readonly startTime: string;
  readonly endTime: string;
  /** Milliseconds from the first running to the end, without waiting for a person. */
  readonly duration: Millis;
  readonly tokensUsed: number;
  readonly cost: Usd;
  readonly iterations: number;
  readonly toolCalls: number;
}

/** What a finished task passes to its dependants: the summary, never the transcript. */
export interface Finding {
  readonly agent: AgentId;
  readonly task: TaskId | null;
  readonly role: RoleName;
  readonly description: string;
  readonly outcome: AgentOutcome;
  /** Why it ended early. */
  readonly because?: string;
  readonly summary: string;
  /** Set if `summary` is an excerpt: its first and last character, and the total. */
  readonly cut?: { readonly from: number; readonly to: number; readonly all: number };
}

/** Everything an executor needs to run one agent, as plain JSON that can be sent to another machine. */
export interface WorkOrder {
  readonly agent: AgentId;
  readonly parent: AgentId | null;
  readonly taskId: TaskId | null;
  readonly role: RoleName;
  readonly task: string;
  /** For a planned agent: the person's request for the whole run, verbatim. */
  readonly wholeTask?: string;
  readonly system: string;
  /** The prompt for a summary when the conversation nears the context window; absent: none is requested. */
  readonly compact?: string;
  readonly model: ModelChoice;
  /** Fallback models in order, already allowed by policy. */
  readonly fallbacks: readonly ModelId[];
  /** The effort setting of its models; absent: none is sent. */
  readonly effort?: Effort;
  readonly capabilities: readonly Capability[];
  /** Globs of the files that it may change (text/glob.ts); absent: the whole project. */
  readonly writes?: readonly string[];
  readonly tools: readonly string[];
  readonly budget: Budget;
  readonly iterations: number;
  readonly findings: readonly Finding[];
  /** The conversation so far: empty at first; from the log after a resume. */
  readonly turns: readonly Turn[];
  /** The folder in which its commands start, relative to the project's root; absent: the root. */
  readonly workingDir?: string;
  /** `text`: its model has no tool calls; each reply contains one command. */
  readonly protocol?: 'text';
  /** The commit that the approved plan asks for; where nobody can be asked, that approval is the answer. */
  readonly commits?: true;
  /** Replies for its work so far; absent: none. */
  readonly replies?: number;
}

/** How a work order ended. `stopped` was caused by a person or a parent and may be resumed; the others are final. */
export type WorkOutcome =
  | { readonly is: 'completed'; readonly summary: string }
  /** `atLimit`: a limit of its budget ended it. */
  | { readonly is: 'partial'; readonly summary: string; readonly reason: string; readonly atLimit?: true }
  | { readonly is: 'failed'; readonly reason: string }
  | { readonly is: 'stopped'; readonly reason: string };

/** The lifecycle of a child session in the terms of the commands. Computed from the log, never stored. */
const LIFECYCLE = [
  /** Created, not started. */
  'spawned',
  /** Waiting for a slot. */
  'starting',
  'running',
  /** Waiting for a person's answer, or interrupted. */
  'waiting_input',
  /** No activity for the idle time; also ROOT between turns, and agents that only wait for their children. */
  'idle',
  /** Its turn ended well, whole or partial. A message revives it with its context. */
  'completed',
  'error',
  /** Its parent or its process ended first, and nobody adopted it. */
  'abandoned',
  'killed',
] as const;
export type Lifecycle = (typeof LIFECYCLE)[number];

export const isTerminal = (state: Lifecycle): state is 'completed' | 'error' | 'abandoned' | 'killed' =>
  LIFECYCLE.indexOf(state) >= LIFECYCLE.indexOf('completed');

// A request for a child outside of the plan, from a command, an agent or the screen. Plain JSON.

export const SpawnRequest = z.strictObject({
  /** The whole prompt, persona and task; the child knows nothing else. */
  prompt: z.string().min(1).max(50_000),
  /** As typed, in any spelling or case; null: `code`. */
  role: z.string().min(1).max(100).nullable(),
  /** As typed; null: the role's own. */
  model: z.string().min(1).max(200).nullable(),
  /** The friendly name; null: `childAgents.naming.fallback`. */
  name: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}$/u, 'a name has up to 60 letters, digits, spaces, ".", "_" or "-"')
    .nullable(),
  /** Seconds: the parent is woken when the child has ended or was idle this long. Null: the parent only gets a message. */
  wait: z.number().min(0).max(86_400).nullable(),
  /** A folder in the project, relative to its root; null: the parent's. */
  workingDir: z.string().min(1).max(4096).nullable(),
});
export type SpawnRequest = z.output<typeof SpawnRequest>;

// Mandatory reviews: roles that an organisation's rules run whatever a plan contains. In a plan they are locked nodes, derived from the
// rules and never from a draft. Policy decides which there are.

/** `on-write`: after each task that changed files, before its dependants; `on-commit`: before each commit; `always`: once after all tasks,
 * and in a run without a plan after each batch of work; `manual`: when a person starts it. */
export const TRIGGERS = ['always', 'on-write', 'on-commit', 'manual'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** `block`: without a pass the gate stays closed; `warn`: a failed review is reported, and the run continues. */
export const ON_FAILURE = ['warn', 'block'] as const;
export type OnFailure = (typeof ON_FAILURE)[number];

/** A mandatory review in a plan, part of the approval and of the digest. All figures are for one review. */
export const MandatoryReview = z.strictObject({
  role: RoleName,
  model: ModelChoice,
  triggers: z.array(z.enum(TRIGGERS)).max(10).readonly(),
  onFailure: z.enum(ON_FAILURE),
  /** The tasks after which an `on-write` review is expected: those that may change files. */
  after: TaskIds,
  /** The expected number of reviews. This many times `budget` is reserved from the run's budget. */
  runs: Count,
  estimatedTokens: Count,
  estimatedCost: Cost,
  estimatedSeconds: Count,
  budget: Budget,
  /** The rule with its layer, file and line. */
  because: LongText,
});
export type MandatoryReview = z.infer<typeof MandatoryReview>;

/** A reviewer's result, given only by the `give_verdict` tool. */
export interface Verdict {
  readonly pass: boolean;
  readonly summary: string;
  /** Required changes, one each: `src/a.ts:12: …`. */
  readonly findings: readonly string[];
}
