/** What a role may do. Public tool names stand for capabilities (CONTRACT, "Capabilities of roles"). */
import type { Budget } from './budget.ts';
import type { RoleName } from './ids.ts';

export const CAPABILITIES = ['read', 'write', 'shell', 'git-read', 'git-write', 'spawn'] as const;
/** `read` includes search. A `shell` without `write` is a shell in a read-only box, or none where there is no box. */
export type Capability = (typeof CAPABILITIES)[number];

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
  readonly iterations: number;
  /** The least token budget an agent of this role gets, however small the estimate (CONTRACT D17). */
  readonly minTokens: number;
  /** What an agent of this role gets where its task says nothing, within what the rules allow. */
  readonly budget?: Budget;
  /** `text`: for models without tool calls (CONTRACT D23). Its agents work by commands in a shell, so they need one. */
  readonly protocol?: 'text';
  /** May a planner use it? `main`, the Task tool's own types and forced roles are not planned. */
  readonly planned: boolean;
  /** Where it came from: `built-in`, or the file. */
  readonly source: string;
}
