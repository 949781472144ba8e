/** Edits that split a task or merge two. Estimates and budgets are distributed or added up, so that their sums in the plan and the
 * dependencies stay the same. The check decides whether the result is allowed. */
import { type Budget, budgetBy, LIMITS, tightest } from '../budget.ts';
import { fromMicro, type TaskId, toMicro } from '../ids.ts';
import { fail, ok, type Result } from '../result.ts';
import type { PlanContext } from './check-plan.ts';
import { defaultBudget } from './estimate.ts';
import { type Permission, permissionsOf, PERMITTED, type PlanChoices, type PlanTask, type SoundPlan } from './plan.ts';
import type { PlanEdit } from './plan-edit.ts';
import { type PersonTask, toPersonForm } from './plan-view.ts';

/** A task of a sound plan as a person would write it, for another check, which fills in omitted values. */
export type Draft = Pick<PersonTask, 'id' | 'description' | 'role' | 'dependsOn'> & Partial<PersonTask>;
export type Drafts = readonly Draft[];
export const draftsOf = (plan: SoundPlan): Drafts => toPersonForm(plan).tasks;

/** `count` free ids of the form `task-N` that are not in `given`, with N starting after the number of tasks. */
export function freshIds(plan: SoundPlan, count: number, given: readonly string[] = []): readonly string[] {
  const taken = new Set([...plan.tasks.map(({ id }) => id), ...given].map((id) => id.toLowerCase()));
  const ids: string[] = [];
  for (let number = plan.tasks.length + 1; ids.length < count; number++)
    if (!taken.has(`task-${number}`)) ids.push(`task-${number}`);
  return ids;
}

/** `#2 finder`, by its position in `plan`; the id if it is not in it. */
export function named(plan: SoundPlan, id: string): string {
  const at = plan.tasks.findIndex((each) => each.id === id);
  const task = plan.tasks[at];
  return task === undefined ? id : `#${at + 1} ${task.role}`;
}

export const noTask = (id: string | null): string => `there is no task "${id}" in this plan`;

export const allNamed = (plan: SoundPlan, ids: readonly string[]): string =>
  ids.map((id) => named(plan, id)).join(', ') || 'nothing';

type Split = Extract<PlanEdit, { readonly is: 'split' }>;

/** The parts take the position of the task. Its dependants depend on the last part, or on all parts if these are parallel. */
export function split(
  plan: SoundPlan,
  task: PlanTask,
  { descriptions, inOrder }: Split,
  { choices, taken }: PlanContext,
): Result<Drafts, string> {
  const texts = descriptions.map((text) => text.trim());
  if (texts.length < 2) return fail('a split needs at least two texts');
  if (texts.includes('')) return fail(`part ${texts.indexOf('') + 1} of the split has no text`);
  const { maxTasks } = choices.limits;
  const count = plan.tasks.length + texts.length - 1;
  if (count > maxTasks) return fail(`the plan would have ${count} tasks; at most ${maxTasks} are allowed`);
  const ids = [task.id, ...freshIds(plan, texts.length - 1, taken)];
  const last = inOrder ? ids.slice(-1) : ids;
  const tokens = shares(task.estimatedTokens, texts.length);
  const budget = isDefault(task, choices) ? null : shareOf(task.budget, texts.length, inOrder);
  const parts = (whole: Draft): Drafts =>
    texts.map((description, index) => ({
      ...withBudget(inOrder && index < texts.length - 1 ? withoutChecks(whole) : whole, budget),
      id: ids[index] ?? whole.id,
      description,
      estimatedTokens: tokens[index] ?? 0,
      dependsOn: inOrder && index > 0 ? ids.slice(index - 1, index) : whole.dependsOn,
    }));
  const rewired = (draft: Draft): Draft => ({
    ...draft,
    dependsOn: draft.dependsOn.flatMap((need) => (need === task.id ? last : [need])),
  });
  return ok(draftsOf(plan).flatMap((draft) => (draft.id === task.id ? parts(draft) : [rewired(draft)])));
}

/** `other` is merged into `task`: dependants of either depend on the merged task. Refused if a third task is between them. */
export function join(plan: SoundPlan, task: PlanTask, otherId: TaskId, choices: PlanChoices): Result<Drafts, string> {
  const other = plan.tasks.find(({ id }) => id === otherId);
  if (other === undefined) return fail(noTask(otherId));
  if (other.id === task.id) return fail(`${named(plan, task.id)} cannot be merged with itself`);
  const between = standsBetween(plan, task, other);
  if (between !== undefined) {
    const pair = `${named(plan, other.id)} cannot be merged into ${named(plan, task.id)}`;
    return fail(`${pair}: ${named(plan, between)} is between them`);
  }
  const description = `${task.description}\n\n${other.description}`;
  if (description.length > LONGEST) return fail(`the text would be longer than ${LONGEST} characters`);
  const needs = [...task.dependsOn, ...other.dependsOn].filter((need) => need !== task.id && need !== other.id);
  const isPlain = isDefault(task, choices) && isDefault(other, choices);
  const joined = (draft: Draft): Draft => ({
    ...withBudget(draft, isPlain ? null : tightest(sumOf(task.budget, other.budget), limitOf(task, choices))),
    description,
    estimatedTokens: task.estimatedTokens + other.estimatedTokens,
    dependsOn: [...new Set(needs)],
    tools: joinedTools(task, other, choices),
    writes: [...new Set([...task.writes, ...other.writes])],
    alongside: [...new Set([...(task.alongside ?? []), ...(other.alongside ?? [])])],
    maySpawn: task.maySpawn || other.maySpawn,
    ...joinedPermissions(plan, task, other),
    ...joinedChecks(task, other),
  });
  const kept = (ids: readonly string[] = []): readonly string[] => [
    ...new Set(ids.map((id) => (id === other.id ? task.id : id))),
  ];
  const rewired = (draft: Draft): Draft => ({
    ...draft,
    dependsOn: kept(draft.dependsOn),
    alongside: kept(draft.alongside),
  });
  const rest = draftsOf(plan).filter(({ id }) => id !== other.id);
  return ok(rest.map((draft) => (draft.id === task.id ? joined(draft) : rewired(draft))));
}

/** Values that a draft may have. */
const LONGEST = 20_000;

/** A task that waits for one of the two while the other waits for it; after a merge it would wait for itself. */
function standsBetween(plan: SoundPlan, a: PlanTask, b: PlanTask): TaskId | undefined {
  const onTheWay = (from: PlanTask, to: PlanTask): TaskId | undefined => {
    const [after, before] = [behind(plan, from.id), ahead(plan, to.id)];
    return plan.tasks.find(({ id }) => after.has(id) && before.has(id))?.id;
  };
  return onTheWay(a, b) ?? onTheWay(b, a);
}

/** All tasks that wait for a task, directly or indirectly; tasks come after their dependencies. */
function behind(plan: SoundPlan, id: TaskId): ReadonlySet<TaskId> {
  const found = new Set<TaskId>();
  for (const task of plan.tasks) if (task.dependsOn.some((need) => need === id || found.has(need))) found.add(task.id);
  return found;
}

function ahead(plan: SoundPlan, id: TaskId): ReadonlySet<TaskId> {
  const found = new Set<TaskId>();
  for (const task of plan.tasks.toReversed())
    if (task.id === id || found.has(task.id)) for (const need of task.dependsOn) found.add(need);
  return found;
}

type PlannedRole = PlanChoices['roles'][number];
const roleOf = ({ role }: PlanTask, { roles }: PlanChoices): PlannedRole | undefined =>
  roles.find(({ name }) => name === role);
const limitOf = (task: PlanTask, choices: PlanChoices): Budget => roleOf(task, choices)?.limit ?? choices.limits.agent;

/** Whether no person chose it, so that it follows from the role. */
function isDefault(task: PlanTask, choices: PlanChoices): boolean {
  const role = roleOf(task, choices);
  return role !== undefined && sameBudget(task.budget, defaultBudget(role, limitOf(task, choices)));
}

export const sameBudget = (a: Budget, b: Budget): boolean => LIMITS.every((limit) => a[limit] === b[limit]);

function withBudget(draft: Draft, budget: Budget | null): Draft {
  const { budget: _before, ...rest } = draft;
  return budget === null ? rest : { ...rest, budget };
}

/** Whole numbers, as equal as possible, with the sum `total`. */
const shares = (total: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Math.floor(total / count) + (index < total % count ? 1 : 0));

/** A part of each limit, rounded down, so that the sum is never greater. Parallel parts have the whole time each. */
const shareOf = (budget: Budget, count: number, inOrder: boolean): Budget =>
  budgetBy((limit) => {
    const whole = budget[limit];
    if (whole === undefined || (limit === 'maxDuration' && !inOrder)) return whole;
    return limit === 'maxCost' ? fromMicro(Math.floor(toMicro(whole) / count)) : Math.floor(whole / count);
  });

const sumOf = (a: Budget, b: Budget): Budget =>
  budgetBy((limit) => {
    const [one, other] = [a[limit], b[limit]];
    if (one === undefined || other === undefined) return undefined;
    return limit === 'maxCost' ? fromMicro(toMicro(one + other)) : one + other;
  });

/** The tools of both, as far as the remaining role has them. */
function joinedTools(task: PlanTask, other: PlanTask, choices: PlanChoices): readonly string[] {
  const has = roleOf(task, choices)?.tools ?? task.tools;
  const more = has.includes('*') ? other.tools : other.tools.filter((tool) => has.includes(tool));
  return [...new Set([...task.tools, ...more])];
}

/** An action asks if it asks for either of them; equal to the plan's permissions, it is omitted. */
function joinedPermissions(plan: SoundPlan, task: PlanTask, other: PlanTask): Pick<Draft, 'permissions'> {
  const [ofPlan, a, b] = [permissionsOf(plan), permissionsOf(plan, task), permissionsOf(plan, other)];
  const joined: { edits?: Permission; commands?: Permission } = {};
  for (const what of PERMITTED) {
    const both = a[what] === 'allow' && b[what] === 'allow' ? 'allow' : 'ask';
    if (both !== ofPlan[what]) joined[what] = both;
  }
  return { permissions: joined };
}

/** The checks of both, each once, and the higher number of attempts. */
function joinedChecks(task: PlanTask, other: PlanTask): Pick<Draft, 'checks' | 'attempts'> {
  const all = [...(task.checks ?? []), ...(other.checks ?? [])];
  const checks = all.filter(({ run }, at) => all.findIndex((one) => one.run === run) === at);
  return checks.length === 0 ? {} : { checks, attempts: Math.max(task.attempts ?? 1, other.attempts ?? 1) };
}

/** A part that others continue has no checks: only the last one can pass those of the whole task. */
const withoutChecks = ({ checks: _checks, attempts: _attempts, ...rest }: Draft): Draft => rest;
