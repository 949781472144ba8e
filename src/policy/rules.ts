/** The merged rules in force: plain JSON, made by `config`, frozen for a run, judged by the rest of this room. */
import type { Budget } from '../domain/budget.ts';
import type { Effort } from '../domain/models/effort.ts';
import type { OnFailure, Trigger } from '../domain/agents/mandatory-review.ts';
import type { Mode } from '../domain/mode.ts';
import type { Permitted } from '../domain/plan/permissions.ts';
import type { Permission } from '../domain/plan/plan.ts';
import type { Reason } from '../domain/reason.ts';
import type { Permit } from './permit.ts';

/** A value and where it is written. */
export interface Rule<T> {
  readonly value: T;
  readonly from: Reason;
}

/** Limits that may be written in different places. */
export interface BudgetRule extends Rule<Budget> {
  /** Where each is written; `from` where it isn't said. */
  readonly each?: Readonly<Partial<Record<keyof Budget, Reason>>>;
}

/** One entry of a model list as written, resolved: a canonical id, or a family `provider/name@*`. */
export interface ModelEntry {
  readonly written: string;
  readonly pattern: string;
  readonly from: Reason;
}

export interface Rules {
  /** SHA-256 of everything below it: in `session.started` and every `policy.decided`. */
  readonly policyHash: string;
  /** Only where several states of the files hold together: the hash of each, in the order in which they were read. */
  readonly policyHashes?: readonly string[];
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
  readonly runBudget: BudgetRule;
  /** What a person may raise that to, where it was typed: the files without it. Absent: `runBudget` itself. */
  readonly runCeiling?: BudgetRule;
  readonly agentBudget: BudgetRule;
  readonly roleBudgets: readonly { readonly role: string; readonly budget: BudgetRule }[];
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
  /** The most effort that a model may be told; absent: any. */
  readonly maxEffort?: Rule<Effort>;
  /** Hosts that models may be called on, one list per layer that names one; a host must be in each. Absent: no limit. */
  readonly allowedEndpoints?: readonly Rule<readonly string[]>[];
  /** Agents that run whatever a plan says, by name. Absent: none. */
  readonly forcedAgents?: readonly ForcedRule[];
  /** Limits on what all runs of one day use together, and on models by the day. Absent: none. */
  readonly dayBudget?: BudgetRule;
  readonly modelBudgets?: readonly { readonly model: ModelEntry; readonly budget: Rule<Budget> }[];
  /** What happens at a limit when nobody answers. Absent: `finish`. */
  readonly atLimit?: Rule<'finish' | 'stop'>;
  /** What plans start with, as the person configured it. Absent: everything asks. */
  readonly permissions?: Readonly<Partial<Record<Permitted, Rule<Permission>>>>;
  /** Permissions that no plan may set to `allow`, and what says so. Absent: none. */
  readonly permissionsHeld?: Readonly<Partial<Record<Permitted, Reason>>>;
  /** Milliseconds after which a question without an answer is denied. Absent: none. */
  readonly answerWithin?: Rule<number>;
  /** What is said of children that are spawned; what is left out has its default in children.ts. */
  readonly children?: Partial<ChildRules>;
  /** What the sandbox hides, and what it leaves writable, beside its own rules. Absent: nothing more. */
  readonly box?: BoxRules;
}

/** One forced agent, merged over all layers that name it. */
export interface ForcedRule {
  readonly name: string;
  /** As written, of the highest layer that names one; null: the role's own. A pinned model has no stand-in. */
  readonly model: string | null;
  readonly triggers: readonly Trigger[];
  readonly onFailure: OnFailure;
  readonly from: Reason;
}

/** Children beyond the plan. Durations are milliseconds. */
export interface ChildRules {
  readonly mode: Rule<'auto' | 'supervised' | 'manual'>;
  readonly orphans: 'adopt' | 'kill' | 'keep';
  readonly messages: Rule<'run' | 'family'>;
  /** Children of one parent that are not at their end. */
  readonly maxPerParent: Rule<number>;
  /** Asked for where nothing else says a model; null: the role's. */
  readonly defaultModel: string | null;
  /** Without an event for this long a child is idle; 0: never. */
  readonly idleTimeout: number;
  readonly notify: { readonly complete: boolean; readonly error: boolean; readonly idle: boolean };
  /** A child is closed with its turn: no message resumes it. */
  readonly killOnComplete: boolean;
  /** A folder that transcripts are copied into when children end, as written: absolute or `~/…`; null: they stay in the log alone. */
  readonly archivePath: string | null;
  readonly workingDir: 'inherit' | 'specify';
  /** With `{friendly_name}`, `{role}`, `{short_id}`, `{id}` filled in. */
  readonly naming: { readonly pattern: string; readonly fallback: string };
}

/** Paths as written: absolute, `~/…`, or relative to the project. */
export interface BoxRules {
  readonly denyRead: readonly Rule<string>[];
  readonly denyWrite: readonly Rule<string>[];
  /** One list for each layer that names one: a path is writable when it is in all of them. Empty: the project root. */
  readonly allowWrite: readonly Rule<readonly string[]>[];
  /** Outside of the project: what commands may read beyond the usual. */
  readonly allowRead?: readonly Rule<string>[];
  /** Names of variables that commands may see beside the usual few. */
  readonly passthrough: readonly Rule<string>[];
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
  /** `permit`: what the gate needs to act; there where the decision was for one action of one agent. */
  | {
      readonly verdict: 'allow';
      readonly because: Reason;
      readonly permit?: Permit;
      /** It was allowed for this box alone: a command that only reads. Absent: the agent's own. */
      readonly box?: 'read-only';
    }
  /** `singly`: no answer of the session covers it, each one is asked. `exactly`: one may cover this very command, not its programs. */
  | { readonly verdict: 'ask'; readonly because: Reason; readonly singly?: true; readonly exactly?: true }
  /** `unanswered`: a person would have been asked, and nobody could be. */
  | { readonly verdict: 'deny'; readonly because: Reason; readonly unanswered?: true };

/** A rule of the program itself, not of a file. */
export const builtIn = (rule: string): Reason => ({ rule, layer: 'default', file: null, line: null });

/** What a record names the rules by. Record this, never the hash alone: what several files say together is in none of them. */
export const namesOf = ({ policyHash, policyHashes }: Rules): Pick<Rules, 'policyHash' | 'policyHashes'> => ({
  policyHash,
  ...(policyHashes === undefined ? {} : { policyHashes }),
});
