/** What a person may change in a plan before approving it. Applied by the engine, checked like the plan itself. */
import type { Budget } from '../budget.ts';
import type { Effort } from '../models/provider.ts';
import type { Permission, Permitted, SoundPlan } from './plan.ts';
import type { TaskId } from '../ids.ts';

export type PlanEdit =
  | { readonly is: 'describe'; readonly task: TaskId; readonly description: string }
  | { readonly is: 'role'; readonly task: TaskId; readonly role: string }
  | { readonly is: 'model'; readonly task: TaskId; readonly model: string }
  | { readonly is: 'budget'; readonly task: TaskId; readonly budget: Budget }
  /** Null: the role's own. */
  | { readonly is: 'effort'; readonly task: TaskId; readonly effort: Effort | null }
  | { readonly is: 'tools'; readonly task: TaskId; readonly tools: readonly string[] }
  | { readonly is: 'depends'; readonly task: TaskId; readonly dependsOn: readonly TaskId[] }
  /** Null: what its role may change where nothing is said. */
  | { readonly is: 'writes'; readonly task: TaskId; readonly writes: readonly string[] | null }
  /** All tasks that may run beside it although both may change the same files; what is left out waits again. */
  | { readonly is: 'alongside'; readonly task: TaskId; readonly others: readonly TaskId[] }
  | {
      readonly is: 'add';
      readonly description: string;
      readonly role: string;
      readonly dependsOn: readonly TaskId[];
      /** Left out: what its role may change where nothing is said. */
      readonly writes?: readonly string[];
    }
  | { readonly is: 'drop'; readonly task: TaskId }
  /**
   * One task becomes several, each with the role, model, tools and a share of the estimate; all need what it needed, and what
   * needed it needs the last one, or all of them where they don't wait for each other. The first keeps the id.
   */
  | {
      readonly is: 'split';
      readonly task: TaskId;
      readonly descriptions: readonly string[];
      /** Each waits for the one before. */
      readonly inOrder: boolean;
    }
  /** `other` becomes part of `task`: both texts, both needs, the sum of the estimates; role and model are those of `task`. */
  | { readonly is: 'join'; readonly task: TaskId; readonly other: TaskId }
  /** Several models at once: a variant of the plan (estimate.ts). */
  | { readonly is: 'models'; readonly models: readonly { readonly task: TaskId; readonly model: string }[] }
  /** What agents may do without asking, of one task or (null) of the plan. What is left out stays; null: as the plan has it. */
  | {
      readonly is: 'permissions';
      readonly task: TaskId | null;
      readonly permissions: Readonly<Partial<Record<Permitted, Permission | null>>>;
    }
  /** Whether `main` commits the work at the end. */
  | { readonly is: 'commit'; readonly commit: boolean }
  | { readonly is: 'move'; readonly task: TaskId; readonly by: 1 | -1 }
  /** The manual form: several fields of one task at once. */
  | {
      readonly is: 'form';
      readonly task: TaskId;
      readonly description: string;
      readonly role: string;
      readonly model: string;
      readonly budget: Budget;
      readonly dependsOn: readonly TaskId[];
      /** Left out, they stay, or are the new role's own. */
      readonly tools?: readonly string[];
      /** Likewise; null: the role's own. */
      readonly effort?: Effort | null;
      /** Globs that the task may change; left out, they stay, or are those of the new role. */
      readonly writes?: readonly string[];
    }
  /** Undo and redo: back to a plan that was sound before. Checked again. */
  | { readonly is: 'replace'; readonly plan: SoundPlan };
