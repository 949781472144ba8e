/** What a role may do. Public tool names stand for capabilities. */
import type { Budget } from '../budget.ts';
import type { Effort } from '../models/effort.ts';
import type { RoleName } from '../ids.ts';

export const CAPABILITIES = ['read', 'write', 'shell', 'git-read', 'git-write', 'spawn'] as const;
/** `read` includes search. A `shell` without `write` is a shell in a read-only box, or none where there is no box. */
export type Capability = (typeof CAPABILITIES)[number];

/** Can an agent with these change nothing? Its shell, where it has one, runs in a read-only sandbox. */
export const onlyReads = (capabilities: readonly Capability[]): boolean =>
  !capabilities.includes('write') && !capabilities.includes('git-write');

/** The sandbox of such an agent, where there is one: for who can't write, read-only is a fact and no request. */
export const boxFor = (capabilities: readonly Capability[]): 'read-only' | 'read-write' =>
  capabilities.includes('write') ? 'read-write' : 'read-only';

/** The role that leads a run, and does the work of a plan that has one task. */
export const MAIN = 'main';

/** The most turns that a role may be given by its file or by configuration. */
export const MOST_ITERATIONS = 500;

/** Turns of a role that says no number itself: work that writes takes many more than a look. */
export const defaultIterations = (name: string, capabilities: readonly Capability[]): number =>
  name === MAIN || capabilities.includes('write') ? 150 : 60;

export interface Role {
  readonly name: RoleName;
  readonly description: string;
  /** The system prompt, after the common part. */
  readonly prompt: string;
  /** Tools as its file names them: shown to people. */
  readonly tools: readonly string[];
  readonly capabilities: readonly Capability[];
  /** Models in order of preference and fallback: names as written, not yet resolved. */
  readonly models: readonly string[];
  /** A grade of the catalogue: its newest usable model goes before those in `models`. */
  readonly prefers?: 'fast' | 'usual' | 'deep';
  /** Turns that an agent of this role has at most; the last one is its closing answer. */
  readonly iterations: number;
  /** What an agent of this role gets where its task says nothing, within what the rules allow. */
  readonly budget?: Budget;
  /** How much its agents' models think; absent: what the provider does by itself. */
  readonly effort?: Effort;
  /** `text`: for models without tool calls. Its agents work by commands in a shell, so they need one. */
  readonly protocol?: 'text';
  /** May a planner use it? `main`, the Task tool's own types and forced roles are not planned. */
  readonly planned: boolean;
  /** Where it came from: `built-in`, or the file. */
  readonly source: string;
}
