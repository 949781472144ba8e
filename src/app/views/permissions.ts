/** What agents may do without asking, in words, and what a person can decide about it: for the screen and for line mode. */
import { allowedWords, PERMITTED, permissionsOf, type Permitted } from '../../domain/plan/permissions.ts';
import type { Permission, PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import type { PermissionsArgs } from '../actions/index.ts';

/** What allowing it means. */
const MEANS: Readonly<Record<Permitted, string>> = {
  edits: "within each task's writes",
  commands: 'in the sandbox, no network',
};

/** `edits and commands`; `nothing` where all of it asks. */
export const withoutAsking = (plan: SoundPlan, task?: PlanTask): string =>
  allowedWords(permissionsOf(plan, task)) || 'nothing';

/** What the whole plan allows somewhere, for a header: `edits allowed`, `edits allowed for #2`; empty where all asks. */
export function planAllows(plan: SoundPlan): string {
  return PERMITTED.flatMap((what) => {
    const places = plan.tasks.flatMap((task, at) =>
      permissionsOf(plan, task)[what] === 'allow' ? [`#${at + 1}`] : [],
    );
    if (places.length === 0) return [];
    return [`${what} allowed${places.length === plan.tasks.length ? '' : ` for ${places.join(' ')}`}`];
  }).join(', ');
}

export interface PermissionChoice {
  readonly value: string;
  /** `Allow edits, all tasks` */
  readonly label: string;
  /** What it means, in one clause. */
  readonly note: string;
  readonly args: PermissionsArgs;
}

/** What can be decided: each permission for all tasks, both at once, and each for the task that is looked at. */
export function permissionChoices(plan: SoundPlan, task: PlanTask | null): readonly PermissionChoice[] {
  const all = permissionsOf(plan);
  const both = PERMITTED.every((what) => all[what] === 'allow') ? 'ask' : 'allow';
  const ofAll = PERMITTED.map((what) => choice(null, 'all tasks', [what], all[what] === 'allow' ? 'ask' : 'allow'));
  const at = task === null ? -1 : plan.tasks.findIndex(({ id }) => id === task.id);
  const own = task === null ? null : permissionsOf(plan, task);
  const ofTask =
    task === null || own === null || plan.tasks.length < 2
      ? []
      : PERMITTED.map((what) =>
          choice(task.id, `#${at + 1} ${task.role}`, [what], own[what] === 'allow' ? 'ask' : 'allow'),
        );
  return [...ofAll, choice(null, 'all tasks', PERMITTED, both), ...ofTask];
}

function choice(
  task: PermissionsArgs['task'],
  whose: string,
  what: readonly Permitted[],
  to: Permission,
): PermissionChoice {
  const permissions = Object.fromEntries(what.map((one) => [one, to]));
  const names = what.join(' and ');
  return {
    value: `${to} ${what.join(',')} ${task ?? 'all'}`,
    label: `${to === 'allow' ? 'Allow' : 'Ask for'} ${names}, ${whose}`,
    note: to === 'ask' ? 'each is asked about' : what.length > 1 ? 'without asking' : MEANS[what[0] ?? 'edits'],
    args: { task, permissions },
  };
}
