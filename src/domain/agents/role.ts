/** What a role may do, its models and limits, and the prompts. */
import type { Budget } from '../budget.ts';
import type { RoleName } from '../ids.ts';
import type { Effort } from '../models/provider.ts';

export const CAPABILITIES = ['read', 'write', 'shell', 'git-read', 'git-write', 'spawn'] as const;
/** `read` includes search. A `shell` without `write` runs in a read-only sandbox, or not at all without a sandbox. */
export type Capability = (typeof CAPABILITIES)[number];

/** Whether an agent with these can change nothing. Its shell, if any, runs in a read-only sandbox. */
export const onlyReads = (capabilities: readonly Capability[]): boolean =>
  !capabilities.includes('write') && !capabilities.includes('git-write');

/** The sandbox of an agent with these capabilities, where a sandbox exists. */
export const sandboxFor = (capabilities: readonly Capability[]): 'read-only' | 'read-write' =>
  capabilities.includes('write') ? 'read-write' : 'read-only';

/** The role that leads a run and does the only task of a single-task plan. */
export const MAIN = 'main';

/** The most turns that a role may be given by its file or by configuration. */
export const MOST_ITERATIONS = 500;

/** Default turns of a role; work that writes needs many more than reading. */
export const defaultIterations = (name: string, capabilities: readonly Capability[]): number =>
  name === MAIN || capabilities.includes('write') ? 150 : 60;

export interface Role {
  readonly name: RoleName;
  readonly description: string;
  /** The system prompt, after the common part. */
  readonly prompt: string;
  /** Tools by their names in the role's file, for display. */
  readonly tools: readonly string[];
  readonly capabilities: readonly Capability[];
  /** Models in order of preference and fallback, as written. */
  readonly models: readonly string[];
  /** A grade of the catalogue whose newest usable model precedes `models`. */
  readonly prefers?: 'fast' | 'usual' | 'deep';
  /** The most turns of an agent of this role; the last one is its closing answer. */
  readonly iterations: number;
  readonly budget?: Budget;
  /** The effort setting of its agents' models; absent: the provider's default. */
  readonly effort?: Effort;
  /** `text`: for models without tool calls. Its agents work by shell commands, so they need a shell. */
  readonly protocol?: 'text';
  /** Its tasks work in a tree of their own (`isolation: worktree` in its file); absent: in the project. */
  readonly tree?: 'own';
  /** Whether a planner may use it. `main`, the Task tool's own types and reviewers are not planned. */
  readonly planned: boolean;
  /** Its origin: `built-in`, or the file. */
  readonly source: string;
}

/** The prompts: the package's own `.mimir/prompts/*.md`, and the project's instructions. */
export interface Prompts {
  /** Precedes every role's prompt. */
  readonly common: string;
  readonly plan: string;
  /** System prompt of the merge that `main` writes at the end. */
  readonly merge: string;
  /** Requests a summary of a conversation that nears the context window. */
  readonly compact: string;
  /** Explains child agents to agents that can spawn them by shell commands; absent: not explained. */
  readonly children?: string;
  /** The project's instruction files as a section of a system prompt; empty without any, or without trust. */
  readonly instructions: string;
}
