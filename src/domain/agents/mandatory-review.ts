/**
 * Forced agents: roles that an organisation makes run whatever a plan says. In a plan
 * they are locked nodes, made by the engine from the rules and never from a draft. Which there are is policy's to say.
 */
import type { ModelChoice } from './agent.ts';
import type { Budget } from '../budget.ts';
import type { RoleName, TaskId, Usd } from '../ids.ts';

/**
 * `on-write`: after each task that changed files, before anything that depends on it; `on-commit`: before each commit;
 * `always`: once, when all tasks have ended, and in a run without a plan after each burst of work; `manual`: when a person starts it.
 */
export const TRIGGERS = ['always', 'on-write', 'on-commit', 'manual'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** `block`: without a pass the gate stays closed; `warn`: it is said, and the run goes on. */
export const ON_FAILURE = ['warn', 'block'] as const;
export type OnFailure = (typeof ON_FAILURE)[number];

/** A forced agent in a plan: part of what is approved, and of its digest. All figures are for one run of it. */
export interface ForcedNode {
  readonly role: RoleName;
  readonly model: ModelChoice;
  readonly triggers: readonly Trigger[];
  readonly onFailure: OnFailure;
  /** The tasks after which it is expected to run by `on-write`: those that may change files. */
  readonly after: readonly TaskId[];
  /** How often it is expected to run in all. `budget` times this is kept back from the run's own for it. */
  readonly runs: number;
  readonly estimatedTokens: number;
  readonly estimatedCost: Usd | null;
  readonly estimatedSeconds: number;
  readonly budget: Budget;
  /** The rule in words with layer, file and line. */
  readonly because: string;
}

/** What a forced agent found, given by the `give_verdict` tool and nothing else: no words stand in for it. */
export interface Verdict {
  readonly pass: boolean;
  readonly summary: string;
  /** What has to change for a pass, one each: `src/a.ts:12: …`. */
  readonly findings: readonly string[];
}
