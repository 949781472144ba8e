/** Lets tasks run side by side although both may change the same files, or puts them in order again. */
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { Action } from './action.ts';
import { setPermissions } from './set-permissions.ts';

export type AlongsideArgs = Omit<Extract<PlanEdit, { readonly is: 'alongside' }>, 'is'>;

/** The edit itself: front ends preview it where the plan runs already. */
export const alongsideEdit = (args: AlongsideArgs): PlanEdit => ({ is: 'alongside', ...args });

export const setAlongside: Action<AlongsideArgs> = {
  name: 'Remove an order',
  help: 'Choose beside which tasks this one may run although both may change the same files.',
  keys: ['o'],
  word: 'beside',
  whyNot: (state) => setPermissions.whyNot(state, { task: null, permissions: {} }),
  command: (_, args) => ({ do: 'edit plan', edit: alongsideEdit(args) }),
};
