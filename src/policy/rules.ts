/** The merged rules in force: plain JSON, made by `config`, frozen for a run, judged by the rest of this room. */
import type { Budget } from '../domain/budget.ts';
import type { Mode } from '../domain/mode.ts';
import type { Reason } from '../domain/reason.ts';

/** A value and where it is written. */
export interface Rule<T> {
  readonly value: T;
  readonly from: Reason;
}

/** One entry of a model list as written, resolved: a canonical id, or a family `provider/name@*`. */
export interface ModelEntry {
  readonly written: string;
  readonly pattern: string;
  readonly from: Reason;
}

export interface Rules {
  /** SHA-256 of everything below: in `session.started` and every `policy.decided`. */
  readonly policyHash: string;
  readonly enabled: Rule<boolean>;
  readonly autoDetect: Rule<boolean>;
  readonly promptForApproval: Rule<boolean>;
  readonly promptForModels: Rule<boolean>;
  readonly maxNestingDepth: Rule<number>;
  readonly maxParallelAgents: Rule<number>;
  readonly onFailure: Rule<'ask' | 'retry' | 'skip' | 'stop'>;
  /** Empty: no limit. Several layers that name lists intersect: a model must match an entry of each list. */
  readonly allowedModels: readonly (readonly ModelEntry[])[];
  readonly deniedModels: readonly ModelEntry[];
  readonly modelFallback: Rule<'list' | 'deny'>;
  /** Each layer's list; a role must be in all of them. */
  readonly allowedSubAgents: readonly Rule<readonly string[]>[];
  /** Roles switched off, with the rule. */
  readonly disabledRoles: readonly { readonly role: string; readonly from: Reason }[];
  readonly runBudget: Rule<Budget>;
  readonly agentBudget: Rule<Budget>;
  readonly roleBudgets: readonly { readonly role: string; readonly budget: Rule<Budget> }[];
  /** Did a person or an organisation set a limit on cost (D10)? The program's own default doesn't count. */
  readonly costLimitSet: boolean;
  readonly maxTasksPerPlan: Rule<number>;
  readonly maxAgentsPerRun: Rule<number>;
  readonly mode: Mode;
  readonly maxMode: Rule<Mode>;
  /** Rules on shell commands, of all layers together; absent: none. */
  readonly commands?: CommandRules;
  /** True: no shell at all without a sandbox. Absent: false. */
  readonly sandboxRequired?: Rule<boolean>;
  /** Hosts that models may be called on, one list per layer that names one; a host must be in each. Absent: no limit. */
  readonly allowedEndpoints?: readonly Rule<readonly string[]>[];
}

/** One command rule in words: `*` stands for one word, a last `**` for the rest. */
export interface CommandRule {
  readonly words: readonly string[];
  readonly from: Reason;
}

export interface CommandRules {
  readonly allow: readonly CommandRule[];
  readonly ask: readonly CommandRule[];
  readonly deny: readonly CommandRule[];
}

/** What may happen to an action. `ask` becomes deny where nobody can be asked. */
export type Decision =
  | { readonly verdict: 'allow'; readonly because: Reason }
  | { readonly verdict: 'ask'; readonly because: Reason }
  | { readonly verdict: 'deny'; readonly because: Reason };

/** A rule of the program itself, not of a file. */
export const builtIn = (rule: string): Reason => ({ rule, layer: 'default', file: null, line: null });
