/** Says which files a task may change, and beside which tasks it may run although both may change the same files. */
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { PlanTask } from '../../domain/plan/plan.ts';
import type { Action } from './action.ts';
import { setPermissions } from './set-permissions.ts';

export type WritesArgs = Omit<Extract<PlanEdit, { readonly is: 'writes' }>, 'is'>;

/** The edit itself: front ends preview it where the plan runs already. */
export const writesEdit = (args: WritesArgs): PlanEdit => ({ is: 'writes', ...args });

export const setWrites: Action<WritesArgs> = {
  name: 'Set changeable files',
  help: 'Say which files the task may change; two tasks that may change the same wait for each other.',
  keys: ['W'],
  word: 'writes',
  whyNot: (state) => setPermissions.whyNot(state, { task: null, permissions: {} }),
  command: (_, args) => ({ do: 'edit plan', edit: writesEdit(args) }),
};

/** What a person typed: globs with spaces between them (`\ ` is a space in one); `nothing` is none, `all` is the whole project. */
export function writesIn(typed: string): readonly string[] {
  const words = typed.split(/(?<!\\)\s+/).filter((word) => word !== '');
  const [only = ''] = words;
  if (words.length === 1 && /^(?:nothing|none|-)$/i.test(only)) return [];
  return words.length === 1 && /^(?:all|everything)$/i.test(only) ? ['**'] : words;
}

/** The same the other way. */
export const typedWrites = ({ writes }: Pick<PlanTask, 'writes'>): string =>
  writes.map((glob) => glob.replaceAll(/(?<!\\) /g, String.raw`\ `)).join(' ');

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
