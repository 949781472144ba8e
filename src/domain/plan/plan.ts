/** The stages of a plan: written by a model or a person (`DraftPlan`, both spellings) -> checked against roles, models and limits
 * (`SoundPlan`, see check-plan.ts) -> approved (a digest over exactly what was shown; every agent start compares it). */
import { z } from 'zod';
import { MandatoryReview, ModelChoice } from '../agents/agent.ts';
import { Cost, Count, Globs, LongText, TaskIds, ToolNames } from '../bounds.ts';
import { Budget } from '../budget.ts';
import { type ModelId, RoleName, TaskId } from '../ids.ts';
import { type Effort, EFFORTS, type Price } from '../models/provider.ts';
import type { Learned } from './calibration.ts';
import { Attempts, type CheckBounds, Checks, DraftChecks } from './task-checks.ts';

export const Permission = z.enum(['ask', 'allow']);
export type Permission = z.infer<typeof Permission>;

/** An absent permission of a task is that of its plan; an absent one of a plan is `ask`. */
export const Permissions = z.strictObject({
  edits: Permission.exactOptional(),
  commands: Permission.exactOptional(),
});
export type Permissions = z.infer<typeof Permissions>;

/** Where a task works: in a tree of its own, or in the project that all share. */
export const TREES = ['own', 'shared'] as const;
export type Tree = (typeof TREES)[number];

/** One task of a sound plan, which has passed all checks. */
const PlanTask = z.strictObject({
  id: TaskId,
  description: LongText,
  role: RoleName,
  model: ModelChoice,
  /** Public names of the tools (`file_operations`, `git` …), as the role has them or fewer. */
  tools: ToolNames,
  /** Input and output together, over all calls. */
  estimatedTokens: Count,
  estimatedCost: Cost,
  estimatedSeconds: Count,
  budget: Budget,
  dependsOn: TaskIds,
  /** Globs of the files that it may change (glob.ts): `**` is the whole project, none is nothing. */
  writes: Globs,
  /** Tasks that it waits for, whatever their outcome, because both may change the same files, with the reason: `both may change src/**`. Made by the
   * check; missing without any. */
  after: z
    .array(z.strictObject({ task: TaskId, because: LongText }))
    .max(1000)
    .readonly()
    .exactOptional(),
  /** Tasks with which it takes turns, by a person's choice, where both may change the same files: neither is first by order; absent: none. */
  alongside: TaskIds.exactOptional(),
  maySpawn: z.boolean(),
  permissions: Permissions.exactOptional(),
  /** The effort setting of its model, within the allowed maximum; absent: the provider's default. */
  effort: z.enum(EFFORTS).exactOptional(),
  /** Commands that decide whether it is done; what needs it waits for them. Missing without any, and then so is `attempts`. */
  checks: Checks.exactOptional(),
  /** How often its agent may work until the checks pass. */
  attempts: Attempts.exactOptional(),
  /** `own`: it works in a tree of its own, which is merged into the project when it ends. Missing: in the project itself, like all others;
   * `shared` says so where its role has an own tree otherwise. */
  tree: z.enum(TREES).exactOptional(),
});
export type PlanTask = z.infer<typeof PlanTask>;
export type TaskOrder = NonNullable<PlanTask['after']>[number];

/** Ids unique, dependencies known and acyclic, roles and models allowed, tasks in topological order. The schema checks the form alone: the
 * engine checks a client's plan again. */
export const SoundPlan = z.strictObject({
  /** Why the work was split, or not. */
  reason: LongText,
  tasks: z.array(PlanTask).max(1000).readonly(),
  /** What agents may do without asking; absent: nothing. */
  permissions: Permissions.exactOptional(),
  /** `main` commits the work at the end, after the reviews; absent: nothing is committed automatically. */
  commit: z.literal(true).exactOptional(),
  /** Mandatory reviews, which policy adds to every plan; absent: none. */
  forced: z.array(MandatoryReview).max(100).readonly().exactOptional(),
});
export type SoundPlan = z.infer<typeof SoundPlan>;

/** A model that may be chosen, as pickers, estimates and `mimir models` show it. Prices in USD per million tokens. */
export interface ModelOption {
  readonly id: ModelId;
  /** The short name people use: the first alias, else the part after the slash. */
  readonly label: string;
  readonly aliases: readonly string[];
  readonly window: number;
  readonly outputLimit: number;
  readonly price: Price | null;
  /** Its grade, to find a replacement of the same kind; absent: unknown. */
  readonly grade?: 'fast' | 'usual' | 'deep';
  /** False for a model without tool calls, which agents cannot use. */
  readonly tools?: false;
  /** False for a model that does not support an effort setting; it is called without one. */
  readonly effort?: false;
  /** `text`: it has no tool calls, and its agents use the text protocol. It counts as usable. */
  readonly protocol?: 'text';
  /** Expected output tokens per second, for estimates of time. */
  readonly speed: number;
  /** False with the reason if it cannot be called here (no key, no endpoint, denied by policy). */
  readonly usable: { readonly yes: true } | { readonly yes: false; readonly because: string };
}

/** The roles, models and limits for plans here; part of `plan.proposed`, so that a screen needs no further request. */
export interface PlanChoices {
  readonly roles: readonly {
    readonly name: RoleName;
    readonly description: string;
    readonly tools: readonly string[];
    readonly capabilities: readonly string[];
    /** The model that the role gets by default, resolved and allowed. */
    readonly model: ModelChoice;
    /** Only in plans of earlier versions: without effect. */
    readonly minTokens?: number;
    /** Of the role, within the allowed maximum; absent: the provider's default. */
    readonly effort?: Effort;
    /** The default budget of its agents; a quick role has little time. */
    readonly budget?: Budget;
    /** Its fallback models in order; those that policy excludes have a reason. Absent: unknown. */
    readonly fallbacks?: readonly { readonly model: string; readonly whyNot: string | null }[];
    /** Its agents use the text protocol. */
    readonly protocol?: 'text';
    /** Only the task of a single-task plan can have it (`main`). It is not offered to planners. */
    readonly single?: true;
    /** The most that one agent of this role may use; absent: `limits.agent`. */
    readonly limit?: Budget;
    /** Its tasks work in a tree of their own unless they say otherwise. */
    readonly tree?: 'own';
  }[];
  /** The command that prepares the trees of tasks with their own; absent: none. */
  readonly treeSetup?: string;
  readonly models: readonly ModelOption[];
  /** The model that each name resolves to here: requested name -> choice, or why there is none. */
  readonly limits: {
    readonly maxTasks: number;
    readonly maxParallel: number;
    /** The most agents of a run, sub-agents included. Absent: unknown. */
    readonly maxAgents?: number;
    /** The highest allowed effort, and its rule. Absent: any. */
    readonly maxEffort?: { readonly value: Effort; readonly because: string };
    readonly checks?: CheckBounds;
    readonly run: Budget;
    readonly agent: Budget;
  };
  /** The calibration of estimates by earlier runs here (estimate.ts); absent: there were none. */
  readonly learned?: readonly Learned[];
}

const text = (max: number): z.ZodString => z.string().trim().min(1).max(max);

/** Planner form and person's form; unknown keys are refused. `permissions` count only where a person wrote them. */
export const DraftTask = z.strictObject({
  id: z.string().max(64),
  description: text(20_000),
  recommendedRole: z.string().max(100).optional(),
  recommendedModel: z.string().max(200).optional(),
  role: z.string().max(100).optional(),
  model: z.string().max(200).optional(),
  estimatedTokens: z.number().min(0).max(1e9).optional(),
  dependencies: z.array(z.string().max(64)).max(1000).optional(),
  dependsOn: z.array(z.string().max(64)).max(1000).optional(),
  tools: z.array(z.string().max(100)).max(50).optional(),
  budget: Budget.optional(),
  writes: z.array(z.string().max(500)).max(100).optional(),
  alongside: z.array(z.string().max(64)).max(1000).optional(),
  maySpawn: z.boolean().optional(),
  permissions: Permissions.optional(),
  effort: z.enum(EFFORTS).optional(),
  checks: DraftChecks.optional(),
  attempts: Attempts.optional(),
  tree: z.enum(TREES).optional(),
  // Further fields that `--json` prints (see toPlannerForm): accepted, so that a printed plan can be read, but not used.
  usedModel: z.string().max(300).optional(),
  modelReason: z.string().max(2000).nullable().optional(),
  estimatedCost: z.number().nullable().optional(),
  estimatedSeconds: z.number().optional(),
  after: z.array(z.unknown()).max(1000).optional(),
});
export type DraftTask = z.infer<typeof DraftTask>;

export const DraftPlan = z.strictObject({
  reason: z.string().max(20_000).default(''),
  tasks: z.array(DraftTask).min(1).max(10_000),
  permissions: Permissions.optional(),
  commit: z.boolean().optional(),
  // The task for which it was made: the task of a run that uses the file, if no other is given.
  task: z.string().max(1_000_000).optional(),
  // Mandatory reviews, as `--json` and `--yaml` print them: accepted for the same reason, and added anew by the check.
  forced: z.array(z.unknown()).max(100).optional(),
  // Estimates and variants, as `--json` prints them: accepted for the same reason, and computed anew.
  estimate: z.unknown().optional(),
  whatIf: z.unknown().optional(),
  // Tasks that may need approval, as `--json` prints them: accepted for the same reason, and computed anew.
  asks: z.unknown().optional(),
});
export type DraftPlan = z.infer<typeof DraftPlan>;

/** A fault of a plan, worded for a person and for the model that has to correct it. */
export interface PlanFault {
  /** The id of the task, as written; null for the whole plan. */
  readonly task: string | null;
  readonly problem: string;
}

// Permissions, which a person approves with the plan: whether agents may change files and run sandboxed commands without asking each time.

/** `edits`: file tools, within the task's `writes`. `commands`: in the sandbox, which has no network and only the project. */
export const PERMITTED = ['edits', 'commands'] as const;
export type Permitted = (typeof PERMITTED)[number];
export type AllPermissions = Readonly<Record<Permitted, Permission>>;
export const ASK_ALL: AllPermissions = { edits: 'ask', commands: 'ask' };

/** The permissions of a task of the plan; without a task, those of agents outside the plan. */
export const permissionsOf = (
  { permissions: ofPlan }: Pick<SoundPlan, 'permissions'>,
  task?: Pick<PlanTask, 'permissions'>,
): AllPermissions => ({ ...ASK_ALL, ...ofPlan, ...task?.permissions });

/** Drops redundant entries, so that equal permissions have equal digests. Null if none is left. */
export function plainPermissions(written: Permissions | undefined, ofPlan: boolean): Permissions | null {
  const said = PERMITTED.flatMap((what): [Permitted, Permission][] => {
    const permission = written?.[what];
    return permission === undefined || (ofPlan && permission === 'ask') ? [] : [[what, permission]];
  });
  return said.length === 0 ? null : Object.fromEntries(said);
}

/** `edits and commands`, or an empty text. */
export const allowedWords = (permissions: Permissions): string =>
  PERMITTED.filter((what) => permissions[what] === 'allow').join(' and ');

const TOOLS = { edits: 'file_operations', commands: 'bash_execution' } as const;
const CAPABILITIES = { edits: 'write', commands: 'shell' } as const;

/** Tasks whose agents may need a person's approval, by kind of action. */
export function tasksThatAsk(
  plan: SoundPlan,
  { roles }: Pick<PlanChoices, 'roles'>,
): Readonly<Record<Permitted, readonly TaskId[]>> {
  const of = (what: Permitted): readonly TaskId[] =>
    plan.tasks.flatMap((task) => {
      const role = roles.find(({ name }) => name === task.role);
      const able = role?.capabilities.includes(CAPABILITIES[what]) ?? true;
      const has = task.tools.includes('*') || task.tools.includes(TOOLS[what]);
      const mayWrite = what === 'commands' || task.writes.length > 0;
      return able && has && mayWrite && permissionsOf(plan, task)[what] === 'ask' ? [task.id] : [];
    });
  return { edits: of('edits'), commands: of('commands') };
}
