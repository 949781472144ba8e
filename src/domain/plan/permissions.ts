/** What a person decides with the plan: whether agents may change files, and run commands in the sandbox, without asking each time. */
import type { TaskId } from '../ids.ts';
import type { Permission, Permissions, PlanChoices, PlanTask, SoundPlan } from './plan.ts';

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

/** Public tools that stand for each. */
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
