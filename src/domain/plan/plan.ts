/**
 * A plan ripens: what a model or a person wrote (`DraftPlan`, both spellings) -> checked against roles, models and limits
 * (`SoundPlan`, see check-plan.ts) -> approved (a digest over exactly what was shown; every agent start compares it).
 */
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

/** What is left out is decided by the level above: of a task by its plan; of a plan it is `ask`. */
export const Permissions = z.strictObject({
  edits: Permission.exactOptional(),
  commands: Permission.exactOptional(),
});
export type Permissions = z.infer<typeof Permissions>;

/** Where a task works: in a tree of its own, or in the project that all share. */
export const TREES = ['own', 'shared'] as const;
export type Tree = (typeof TREES)[number];

/** One task of a sound plan: nothing in it can be wrong in a way that was already checked. */
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
  /**
   * Tasks that it waits for, whatever their outcome, since both may change the same files, and why: `both may change src/**`. Made by the
   * check; missing without any.
   */
  after: z
    .array(z.strictObject({ task: TaskId, because: LongText }))
    .max(1000)
    .readonly()
    .exactOptional(),
  /** Tasks that a person lets run beside it although both may change the same files; missing without any. */
  alongside: TaskIds.exactOptional(),
  maySpawn: z.boolean(),
  /** What differs from the plan's own permissions; missing where nothing does. */
  permissions: Permissions.exactOptional(),
  /** How much its model is to think, within what the rules allow; absent: what the provider does by itself. */
  effort: z.enum(EFFORTS).exactOptional(),
  /** Commands that decide whether it is done; what needs it waits for them. Missing without any, and then so is `attempts`. */
  checks: Checks.exactOptional(),
  /** How often its agent may work until the checks pass. */
  attempts: Attempts.exactOptional(),
  /**
   * `own`: it works in a tree of its own, which is merged into the project when it ends. Missing: in the project itself, like all others;
   * `shared` says so where its role has an own tree otherwise.
   */
  tree: z.enum(TREES).exactOptional(),
});
export type PlanTask = z.infer<typeof PlanTask>;
export type TaskOrder = NonNullable<PlanTask['after']>[number];

/**
 * Ids unique, dependencies known and acyclic, roles and models allowed, tasks in topological order. The schema checks the form alone: the
 * engine checks a client's plan again.
 */
export const SoundPlan = z.strictObject({
  /** Why the work was split, or not. */
  reason: LongText,
  tasks: z.array(PlanTask).max(1000).readonly(),
  /** What agents may do without asking; missing: nothing. */
  permissions: Permissions.exactOptional(),
  /** `main` commits the work at the end, behind the reviews; missing: nothing is committed on its own. */
  commit: z.literal(true).exactOptional(),
  /** Locked: what the rules add to every plan. Missing where there is none. */
  forced: z.array(MandatoryReview).max(100).readonly().exactOptional(),
});
export type SoundPlan = z.infer<typeof SoundPlan>;

/** A model that may be chosen, as pickers, estimates and `mimir models` show it. Prices in USD per million tokens. */
export interface ModelOption {
  readonly id: ModelId;
  /** The short name people use: the first alias, else the part after the slash. */
  readonly label: string;
  readonly aliases: readonly string[];
  /** Context window in tokens. */
  readonly window: number;
  readonly outputLimit: number;
  readonly price: Price | null;
  /** What it is good for, to find one of the same kind when it can't be used; missing where that isn't known. */
  readonly grade?: 'fast' | 'usual' | 'deep';
  /** False for a model that takes no tool calls: agents can't use it. */
  readonly tools?: false;
  /** False for a model that is known to take no setting of its effort: it is called without one. */
  readonly effort?: false;
  /** `text`: it has no tool calls, its agents work by words. It counts as one that takes them. */
  readonly protocol?: 'text';
  /** Tokens a second it is expected to write, for estimates of time. */
  readonly speed: number;
  /** False with the reason when it can't be called here (no key, no endpoint, denied by policy). */
  readonly usable: { readonly yes: true } | { readonly yes: false; readonly because: string };
}

/** What a plan may be made of here: sent along with `plan.proposed`, so that a screen needs to ask nobody. */
export interface PlanChoices {
  readonly roles: readonly {
    readonly name: RoleName;
    readonly description: string;
    readonly tools: readonly string[];
    readonly capabilities: readonly string[];
    /** The model the role gets when nothing else is asked for, resolved and allowed. */
    readonly model: ModelChoice;
    /** Only in plans of earlier versions: without effect. */
    readonly minTokens?: number;
    /** Of the role, within what the rules allow; absent: the provider's own. */
    readonly effort?: Effort;
    /** What its agents get where a task says nothing: a quick role has little time. */
    readonly budget?: Budget;
    /** What it goes on with when its model can't be reached, in order; what the rules strike out has a reason. Absent: not said. */
    readonly fallbacks?: readonly { readonly model: string; readonly whyNot: string | null }[];
    /** Its agents work by words. */
    readonly protocol?: 'text';
    /** Only the one task of a plan can have it: `main`. No planner is offered it. */
    readonly single?: true;
    /** What one agent of this role may use at most; that of `limits.agent` where it is missing. */
    readonly limit?: Budget;
    /** Its tasks work in a tree of their own unless they say otherwise. */
    readonly tree?: 'own';
  }[];
  readonly models: readonly ModelOption[];
  /** What each name resolves to here: asked name -> choice, or the reason why not. */
  readonly limits: {
    readonly maxTasks: number;
    readonly maxParallel: number;
    /** Agents that a run may have, sub-agents included. Absent: not said. */
    readonly maxAgents?: number;
    /** The most effort that the rules allow, and the rule. Absent: any. */
    readonly maxEffort?: { readonly value: Effort; readonly because: string };
    /** Of the checks of a task. Absent: `CHECK_BOUNDS`. */
    readonly checks?: CheckBounds;
    readonly run: Budget;
    readonly agent: Budget;
  };
  /** What earlier runs here say of estimates (estimate.ts); missing where there were none. */
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
  // What `--json` prints beside the planner's fields (see toPlannerForm): read so that a printed plan is a plan, not used.
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
  // What it was drawn up for, as a file keeps it: the task of a run that takes the file and is given no other.
  task: z.string().max(1_000_000).optional(),
  // What rules add, as `--json` and `--yaml` print it: read so that a printed plan is a plan, and made anew from the rules.
  forced: z.array(z.unknown()).max(100).optional(),
  // What it will probably use and cost otherwise, as `--json` prints it: read for the same reason, and made anew.
  estimate: z.unknown().optional(),
  whatIf: z.unknown().optional(),
  // Which tasks may come to acts that are asked about, as `--json` prints it: read for the same reason, and made anew.
  asks: z.unknown().optional(),
});
export type DraftPlan = z.infer<typeof DraftPlan>;

/** What is wrong with a plan, in words for a person and for the model that is asked to mend it. */
export interface PlanFault {
  /** The task it is about, by id as written; null for the plan as a whole. */
  readonly task: string | null;
  readonly problem: string;
}

// What a person decides with the plan: whether agents may change files, and run commands in the sandbox, without asking each time.

/** `edits`: file tools, within the task's `writes`. `commands`: in the sandbox, which has no network and only the project. */
export const PERMITTED = ['edits', 'commands'] as const;
export type Permitted = (typeof PERMITTED)[number];

export type AllPermissions = Readonly<Record<Permitted, Permission>>;

export const ASK_ALL: AllPermissions = { edits: 'ask', commands: 'ask' };

/** What holds for a task of the plan; without a task, for agents beside the plan. */
export const permissionsOf = (
  { permissions: ofPlan }: Pick<SoundPlan, 'permissions'>,
  task?: Pick<PlanTask, 'permissions'>,
): AllPermissions => ({ ...ASK_ALL, ...ofPlan, ...task?.permissions });

/** Without what says nothing: equal permissions, equal digests. Null when nothing is left. */
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

/** Tasks whose agents may come to acts that a person has to answer, by what they are. */
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
