/** Decides with the plan whether `main` commits the work at the end of the run. */
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import type { Action } from './action.ts';
import { setPermissions } from './set-permissions.ts';

export interface CommitArgs {
  readonly commit: boolean;
}

/** The edit itself: front ends preview it where the plan runs already. */
export const commitEdit = ({ commit }: CommitArgs): PlanEdit => ({ is: 'commit', commit });

export const commitAtEnd: Action<CommitArgs> = {
  name: 'Commit at the end',
  help: 'Let main commit the work at the end, behind the reviews; its message is shown before. Again: commit nothing.',
  keys: ['c'],
  word: 'commit',
  // It is decided on the plan as permissions are, and as long.
  whyNot: (state) => setPermissions.whyNot(state, { task: null, permissions: {} }),
  command: (_, args) => ({ do: 'edit plan', edit: commitEdit(args) }),
};

/** For a header or a plan in lines; empty where the plan commits nothing. */
export const commitWords = ({ commit }: Pick<SoundPlan, 'commit'>): string =>
  commit === true ? 'main commits at the end' : '';
