/** The merged rules in force: plain JSON made by `config`, constant for a run, evaluated by the other files of this folder. */
import type { OnFailure, Trigger } from '../domain/agents/agent.ts';
import type { Budget } from '../domain/budget.ts';
import type { Mode, Reason } from '../domain/reason.ts';
import type { Effort } from '../domain/models/provider.ts';
import type { ModelOption, Permission, Permitted } from '../domain/plan/plan.ts';
import { defined, fail, ok, type Result } from '../domain/result.ts';

/** A value and its location. */
export interface Rule<T> {
  readonly value: T;
  readonly from: Reason;
}

/** Limits that may be written in different places. */
export interface BudgetRule extends Rule<Budget> {
  /** The location of each; `from` where it is missing. */
  readonly each?: Readonly<Partial<Record<keyof Budget, Reason>>>;
}

/** One entry of a model list, resolved to a canonical id, or a family `provider/name@*`. */
export interface ModelEntry {
  readonly written: string;
  readonly pattern: string;
  readonly from: Reason;
}

export interface Rules {
  /** SHA-256 of everything below; recorded in `session.started` and every `policy.decided`. */
  readonly policyHash: string;
  /** Set where several states of the files apply together: the hash of each, in the order read. */
  readonly policyHashes?: readonly string[];
  readonly enabled: Rule<boolean>;
  readonly autoDetect: Rule<boolean>;
  readonly promptForApproval: Rule<boolean>;
  readonly promptForModels: Rule<boolean>;
  readonly maxNestingDepth: Rule<number>;
  readonly maxParallelAgents: Rule<number>;
  readonly onFailure: Rule<'ask' | 'retry' | 'skip' | 'stop'>;
  /** Empty: no limit. Lists of several layers intersect: a model must match an entry of each. */
  readonly allowedModels: readonly (readonly ModelEntry[])[];
  readonly deniedModels: readonly ModelEntry[];
  readonly modelFallback: Rule<'list' | 'deny'>;
  /** Each layer's list; a role must be in all of them. */
  readonly allowedSubAgents: readonly Rule<readonly string[]>[];
  readonly disabledRoles: readonly { readonly role: string; readonly from: Reason }[];
  readonly runBudget: BudgetRule;
  /** The limit to which a person may raise a typed one: the files' limit. Absent: `runBudget` itself. */
  readonly runCeiling?: BudgetRule;
  readonly agentBudget: BudgetRule;
  readonly roleBudgets: readonly { readonly role: string; readonly budget: BudgetRule }[];
  /** Whether a person or an organisation set a cost limit; the built-in default does not count. */
  readonly costLimitSet: boolean;
  readonly maxTasksPerPlan: Rule<number>;
  readonly maxAgentsPerRun: Rule<number>;
  /** Bounds of the checks of a task; the time in milliseconds. Absent: `CHECK_BOUNDS`. */
  readonly maxChecksPerTask?: Rule<number>;
  readonly maxCheckTime?: Rule<number>;
  readonly mode: Mode;
  readonly maxMode: Rule<Mode>;
  /** Rules on shell commands, of all layers together; absent: none. */
  readonly commands?: CommandRules;
  /** Whether shells are forbidden without a sandbox. Absent: false. */
  readonly sandboxRequired?: Rule<boolean>;
  readonly maxEffort?: Rule<Effort>;
  /** `deny`: nothing about runs is sent to services outside. Absent: allowed. */
  readonly notifications?: Rule<'allow' | 'deny'>;
  /** `deny`: chats may only look. Absent: allowed, as the configuration has it. */
  readonly remoteAnswers?: Rule<'allow' | 'deny'>;
  /** `ask`, as if absent: the start of an agent of another program needs approval; `deny`: there are none. */
  readonly foreignAgents?: Rule<'allow' | 'ask' | 'deny'>;
  /** Hosts on which models may be called, one list per layer that names one; a host must be in each. Absent: no limit. */
  readonly allowedEndpoints?: readonly Rule<readonly string[]>[];
  /** Mandatory reviews, by role name. Absent: none. */
  readonly forcedAgents?: readonly ReviewRule[];
  /** Limits on all runs of one day together, and on models per day. Absent: none. */
  readonly dayBudget?: BudgetRule;
  readonly modelBudgets?: readonly { readonly model: ModelEntry; readonly budget: Rule<Budget> }[];
  /** What happens at a limit when nobody answers. Absent: `finish`. */
  readonly atLimit?: Rule<'finish' | 'stop'>;
  /** The configured initial permissions of plans. Absent: everything asks. */
  readonly permissions?: Readonly<Partial<Record<Permitted, Rule<Permission>>>>;
  /** Permissions that no plan may set to `allow`, with the reason. Absent: none. */
  readonly permissionsHeld?: Readonly<Partial<Record<Permitted, Reason>>>;
  /** Milliseconds after which an unanswered question is denied. Absent: never. */
  readonly answerWithin?: Rule<number>;
  /** Settings of spawned children; missing ones have the defaults below. */
  readonly children?: Partial<ChildRules>;
  /** Paths that the sandbox hides or leaves writable, besides its own rules. Absent: none. */
  readonly box?: SandboxRules;
}

/** One mandatory review, merged over all layers that name it. */
export interface ReviewRule {
  readonly name: string;
  /** As written, from the highest layer that names one; null: the role's own. A pinned model has no fallback. */
  readonly model: string | null;
  readonly triggers: readonly Trigger[];
  readonly onFailure: OnFailure;
  readonly from: Reason;
}

/** Rules on children outside of the plan. Durations in milliseconds. */
export interface ChildRules {
  readonly mode: Rule<'auto' | 'supervised' | 'manual'>;
  readonly orphans: 'adopt' | 'kill' | 'keep';
  readonly messages: Rule<'run' | 'family'>;
  /** The most unfinished children of one parent. */
  readonly maxPerParent: Rule<number>;
  readonly defaultModel: string | null;
  /** Milliseconds without an event after which a child is idle; 0: never. */
  readonly idleTimeout: number;
  readonly notify: { readonly complete: boolean; readonly error: boolean; readonly idle: boolean };
  /** A child is closed with its turn, and no message resumes it. */
  readonly killOnComplete: boolean;
  /** The folder into which transcripts are copied when children end, absolute or `~/…`; null: none. */
  readonly archivePath: string | null;
  readonly workingDir: 'inherit' | 'specify';
  /** Placeholders: `{friendly_name}`, `{role}`, `{short_id}`, `{id}`. */
  readonly naming: { readonly pattern: string; readonly fallback: string };
}

/** Paths as written: absolute, `~/…`, or relative to the project. */
export interface SandboxRules {
  readonly denyRead: readonly Rule<string>[];
  readonly denyWrite: readonly Rule<string>[];
  /** One list per layer that names one: a path is writable when it is in all of them. Empty: the project root. */
  readonly allowWrite: readonly Rule<readonly string[]>[];
  readonly allowRead?: readonly Rule<string>[];
  /** Environment variables that commands may see, besides the defaults. */
  readonly passthrough: readonly Rule<string>[];
}

/** One command rule as words: `*` stands for one word, a final `**` for the rest. */
export interface CommandRule {
  readonly words: readonly string[];
  readonly from: Reason;
}

export type CommandRules = Readonly<Record<'allow' | 'ask' | 'deny', readonly CommandRule[]>>;

/** What may happen to an action. `ask` becomes `deny` where nobody can be asked. */
export type Decision =
  /** `permit`: what the gate needs to act; present where the decision was for one action of one agent. */
  | {
      readonly verdict: 'allow';
      readonly because: Reason;
      readonly permit?: Permit;
      /** Allowed only in this sandbox, for a command that only reads. Absent: the agent's own sandbox. */
      readonly sandbox?: 'read-only';
    }
  /** `singly`: each action is asked, no answer for the session covers it. `exactly`: an answer may cover this very command, but not its
   * programs. `destroys`: what allowing it may destroy. */
  | {
      readonly verdict: 'ask';
      readonly because: Reason;
      readonly singly?: true;
      readonly exactly?: true;
      readonly destroys?: string;
    }
  /** `unanswered`: a person would have been asked, but nobody could be. */
  | { readonly verdict: 'deny'; readonly because: Reason; readonly unanswered?: true };

/** A built-in rule, which is in no file. */
export const builtIn = (rule: string): Reason => ({ rule, layer: 'default', file: null, line: null });

/** The rule that asks about a command in every mode, with the reason. */
export const alwaysAsked = (why: string): Reason => builtIn(`always asked: ${why}`);

/** The hashes by which a record names the rules. Record both, because several files together have no single hash. */
export const namesOf = ({ policyHash, policyHashes }: Rules): Pick<Rules, 'policyHash' | 'policyHashes'> => ({
  policyHash,
  ...defined({ policyHashes }),
});

export const CHILD_DEFAULTS: ChildRules = {
  mode: { value: 'auto', from: builtIn('childAgents.mode: auto') },
  orphans: 'adopt',
  messages: { value: 'run', from: builtIn('childAgents.messages: run') },
  maxPerParent: { value: 16, from: builtIn('childAgents.maxPerParent: 16') },
  defaultModel: null,
  idleTimeout: 600_000,
  notify: { complete: true, error: true, idle: false },
  killOnComplete: false,
  archivePath: null,
  workingDir: 'inherit',
  naming: { pattern: '{friendly_name}', fallback: 'child-{short_id}' },
};

/** All rules on children in force. */
export const childRules = ({ children }: Pick<Rules, 'children'>): ChildRules => ({ ...CHILD_DEFAULTS, ...children });

// Budgets of runs and agents, and the effect of an unknown price. The gate counts the usage.

/** The limits on one agent of this role. A role's limit replaces the general one of the same layer, and the tightest layer applies; `config`
 * has merged them, and a role's missing limits are the general ones. */
export const agentBudget = (role: string, rules: Rules): Budget => ({
  ...rules.agentBudget.value,
  ...ownBudget(role, rules)?.value,
});

/** The highest value of a limit, and the rule that sets it. */
export interface Ceiling {
  readonly most: number | undefined;
  readonly rule: Reason;
}

/** The ceiling of the run. The built-in default is no rule, and a typed limit may be taken back. */
export const runCeiling = (limit: keyof Budget, { runBudget, runCeiling: typed }: Rules): Ceiling =>
  ceilingOf(typed ?? runBudget, limit);

/** The ceiling of an agent of this role. */
export function agentCeiling(role: string, limit: keyof Budget, rules: Rules): Ceiling {
  const own = ownBudget(role, rules);
  return ceilingOf(own?.value[limit] === undefined ? rules.agentBudget : own, limit);
}

function ceilingOf({ value, from, each }: BudgetRule, limit: keyof Budget): Ceiling {
  const rule = each?.[limit];
  return { most: rule?.layer === 'default' ? undefined : value[limit], rule: rule ?? from };
}

const ownBudget = (role: string, rules: Rules): BudgetRule | undefined =>
  rules.roleBudgets.find((entry) => entry.role === role)?.budget;

/** Why a model without a known price cannot be called, or null: only a written cost limit refuses it. */
export function priceProblem(
  price: ModelOption['price'],
  rules: Rules,
  unknown = 'the price of this model is unknown, so the limit cannot be enforced; set it in `prices` of its provider',
): Reason | null {
  if (price !== null || !rules.costLimitSet) return null;
  const set = [rules.runBudget, rules.agentBudget].find(
    ({ value, from }) => value.maxCost !== undefined && from.layer !== 'default',
  );
  const role = rules.roleBudgets.find(({ budget }) => budget.value.maxCost !== undefined);
  const from = set?.from ?? role?.budget.from ?? builtIn('a cost limit');
  return {
    ...from,
    rule: `${from.rule}: ${unknown}`,
  };
}

// Permits, which a gate needs before it acts. Only `decide` issues them, each for one action of one agent under one set of rules, and each
// can be used once.

/** What a permit is for. `action` is the digest of the action. */
export interface Binding {
  readonly agent: string;
  readonly action: string;
  readonly policyHash: string;
  /** The sandbox that it was allowed for; absent: the agent's own. */
  readonly sandbox?: 'read-only' | undefined;
}

/** Cannot be forged: its constructor is private, and its content can be neither read nor changed. */
export class Permit {
  readonly #binding: Binding;
  #spent = false;

  private constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** For `decide` only; an architecture test checks the callers. */
  static mint(this: void, binding: Binding): Permit {
    return new Permit({ ...binding });
  }

  /** Uses `permit` up for `binding`, or returns why it does not apply. A permit that was tried cannot be used again. */
  static spend(this: void, permit: Permit, binding: Binding): Result<void, string> {
    if (!(#binding in permit)) return fail('this is not a permit');
    if (permit.#spent) return fail('its permit was already used');
    permit.#spent = true;
    const { agent, action, policyHash, sandbox } = permit.#binding;
    if (agent !== binding.agent) return fail('its permit is for another agent');
    if (action !== binding.action) return fail('its permit is for another action');
    if (sandbox !== binding.sandbox) return fail('its permit is for another sandbox');
    return policyHash !== binding.policyHash ? fail('the rules changed since it was allowed') : ok(undefined);
  }
}
