/** What happens to the checks of tasks. */
import type { CommandChanges } from '../domain/changes/changes.ts';
import type { AgentId, TaskId } from '../domain/ids.ts';
import type { Check, CheckEnd } from '../domain/plan/task-checks.ts';

type OfCheck<Type extends string> = {
  readonly type: Type;
  readonly agent: AgentId;
  /** Absent for a child outside of the plan, whose tree is prepared. */
  readonly task?: TaskId;
  readonly attempt: number;
  /** Run at a person's request before the plan was approved: no part of an agent's work. */
  readonly first?: true;
};

/** `attempt` counts rounds of work, 0 is what runs before: `first`, or the command that prepares a tree; `last`: run again at the end of the run. */
export type CheckEvent =
  | (OfCheck<'check.started'> & { readonly check: Check; readonly tree: string | null; readonly last?: true })
  | (OfCheck<'check.finished'> &
      CheckEnd & {
        readonly run: string;
        /** What it changed in the project, whole; absent in logs of earlier versions, which have the names alone. */
        readonly changes?: CommandChanges;
      })
  /** The project as it is now: checks that ran on another tree say nothing about it. `first`: it is another one than that of the first checks. */
  | { readonly type: 'check.compared'; readonly tree: string; readonly first?: true };
