/** Decides with the plan what agents may do without asking, for all tasks or for one. */
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { Action } from './action.ts';

export type PermissionsArgs = Omit<Extract<PlanEdit, { readonly is: 'permissions' }>, 'is'>;

/** The edit itself: front ends preview it where the plan runs already. */
export const permissionsEdit = (args: PermissionsArgs): PlanEdit => ({ is: 'permissions', ...args });

export const setPermissions: Action<PermissionsArgs> = {
  name: 'Set permissions',
  help: 'Decide what agents may do without asking: edits, and commands in the sandbox, of all tasks or of one.',
  keys: ['P'],
  word: 'permissions',
  whyNot({ phase, plan, finished }) {
    if (finished !== null) return 'the run has ended';
    if (plan === null || phase === 'planning' || phase === 'starting') return 'the plan is still being made';
    return phase === 'approving' || phase === 'running' ? null : 'the plan has run; it can only be looked at';
  },
  command: (_, args) => ({ do: 'edit plan', edit: permissionsEdit(args) }),
};
