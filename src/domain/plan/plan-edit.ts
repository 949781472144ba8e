/** What a person may change in a plan before approving it. Applied by the engine, checked like the plan itself. */
import { z } from 'zod';
import { Globs, LongText, ShortText, TaskIds, ToolNames } from '../bounds.ts';
import { Budget } from '../budget.ts';
import { TaskId } from '../ids.ts';
import { EFFORTS } from '../models/provider.ts';
import { Permission, SoundPlan, TREES } from './plan.ts';
import { Attempts, DraftChecks } from './task-checks.ts';

const task = TaskId;
const effort = z.enum(EFFORTS).nullable();

/** The form of an edit; which values a plan can take is checked when it is applied. */
export const PlanEdit = z.discriminatedUnion('is', [
  z.strictObject({ is: z.literal('describe'), task, description: LongText }),
  z.strictObject({ is: z.literal('role'), task, role: ShortText }),
  z.strictObject({ is: z.literal('model'), task, model: ShortText }),
  z.strictObject({ is: z.literal('budget'), task, budget: Budget }),
  /** Null: the role's own. */
  z.strictObject({ is: z.literal('effort'), task, effort }),
  z.strictObject({ is: z.literal('tools'), task, tools: ToolNames }),
  z.strictObject({ is: z.literal('depends'), task, dependsOn: TaskIds }),
  /** Null: the default of its role. */
  z.strictObject({ is: z.literal('writes'), task, writes: Globs.nullable() }),
  /** All checks of a task; empty: none. Without `attempts` their number stays. */
  z.strictObject({ is: z.literal('checks'), task, checks: DraftChecks, attempts: Attempts.exactOptional() }),
  /** All tasks that take turns with it where both may change the same files; others wait in order again. */
  z.strictObject({ is: z.literal('alongside'), task, others: TaskIds }),
  /** Whether it works in a tree of its own, or in the project. */
  z.strictObject({ is: z.literal('tree'), task, tree: z.enum(TREES) }),
  z.strictObject({
    is: z.literal('add'),
    description: LongText,
    role: ShortText,
    dependsOn: TaskIds,
    /** Absent: the default of its role. */
    writes: Globs.exactOptional(),
  }),
  z.strictObject({ is: z.literal('drop'), task }),
  /** One task becomes several, each with the role, model, tools and a share of the estimate; all need what it needed, and what needed it needs the
   * last one, or all of them where they don't wait for each other. The first keeps the id. `inOrder`: each waits for the one before. */
  z.strictObject({
    is: z.literal('split'),
    task,
    descriptions: z.array(LongText).max(100).readonly(),
    inOrder: z.boolean(),
  }),
  /** `other` becomes part of `task`: both texts, both needs, the sum of the estimates; role and model are those of `task`. */
  z.strictObject({ is: z.literal('join'), task, other: TaskId }),
  /** Several models at once: a variant of the plan (estimate.ts). */
  z.strictObject({
    is: z.literal('models'),
    models: z
      .array(z.strictObject({ task, model: ShortText }))
      .max(1000)
      .readonly(),
  }),
  /** What agents may do without asking, for one task or (null) for the plan. Absent entries stay; null: as in the plan. */
  z.strictObject({
    is: z.literal('permissions'),
    task: TaskId.nullable(),
    permissions: z.strictObject({
      edits: Permission.nullable().exactOptional(),
      commands: Permission.nullable().exactOptional(),
    }),
  }),
  /** Whether `main` commits the work at the end. */
  z.strictObject({ is: z.literal('commit'), commit: z.boolean() }),
  z.strictObject({ is: z.literal('move'), task, by: z.union([z.literal(1), z.literal(-1)]) }),
  /** The manual form: several fields of one task at once. Absent fields stay, or are the new role's own. */
  z.strictObject({
    is: z.literal('form'),
    task,
    description: LongText,
    role: ShortText,
    model: ShortText,
    budget: Budget,
    dependsOn: TaskIds,
    tools: ToolNames.exactOptional(),
    /** Null: the role's own. */
    effort: effort.exactOptional(),
    writes: Globs.exactOptional(),
    checks: DraftChecks.exactOptional(),
    attempts: Attempts.exactOptional(),
  }),
  /** Undo and redo: back to a plan that was sound before. Checked again. */
  z.strictObject({ is: z.literal('replace'), plan: SoundPlan }),
]);
export type PlanEdit = z.infer<typeof PlanEdit>;
