/**
 * One edit of a plan, as the person asked for it: the plan becomes a draft, the draft is changed and checked by the same
 * rules as at first. So an edit can't make what a planner may not make. What it says in the log is here as well.
 */
import { MAIN } from '../agents/role.ts';
import type { TaskId } from '../ids.ts';
import { type Effort, withEffort } from '../models/effort.ts';
import type { Permissions, PlanChoices, PlanFault, PlanTask, SoundPlan } from './plan.ts';
import { PERMITTED } from './permissions.ts';
import { fail, ok, type Result, unreachable } from '../result.ts';
import { writesOf, writesText } from './writes.ts';
import { checkPlan, type PlanContext, readDraft } from './check-plan.ts';
import {
  allNamed,
  type Draft,
  type Drafts,
  draftsOf,
  freshIds,
  join,
  named,
  noTask,
  sameBudget,
  split,
} from './reshape.ts';
import { defaultBudget } from './estimate.ts';
import type { PlanEdit } from './plan-edit.ts';
import { dependantsOf } from './plan-view.ts';

/** The plan after `edit`, or why it can't be made; `plan` itself is never changed. */
export function applyEdit(plan: SoundPlan, edit: PlanEdit, context: PlanContext): Result<SoundPlan, string> {
  const drafts = draftsAfter(plan, edit, context);
  if (!drafts.ok) return drafts;
  const { reason, permissions, commit } = edit.is === 'replace' ? edit.plan : plan;
  const draft = readDraft({
    reason,
    tasks: withoutMain(plan, drafts.value, context),
    permissions: isOfPlan(edit) && edit.is === 'permissions' ? permissionsAfter(permissions, edit) : permissions,
    commit: edit.is === 'commit' ? edit.commit : commit,
  });
  if (!draft.ok) return fail(wordsOf(draft.fault));
  const checked = checkPlan(draft.value, context);
  return checked.ok ? checked : fail(wordsOf(checked.fault));
}

/** `main` does single tasks: with another task beside it, its task goes to a role that implements. */
function withoutMain(plan: SoundPlan, drafts: Drafts, { choices, mainHasBegun }: PlanContext): Drafts {
  if (drafts.length === 1 || mainHasBegun === true) return drafts;
  const task = plan.tasks.find(({ role }) => role === MAIN);
  const others = choices.roles.filter(({ single }) => single !== true);
  const writer = others.find(({ name }) => name === 'code') ?? others.find((one) => one.capabilities.includes('write'));
  const role = (writer ?? others[0])?.name;
  if (task === undefined || role === undefined) return drafts;
  const changed = withRole(task, role, choices);
  return drafts.map((draft) => {
    if (draft.role !== MAIN) return draft;
    const { id, description, dependsOn, estimatedTokens = task.estimatedTokens } = draft;
    return { ...changed, id, description, dependsOn, estimatedTokens };
  });
}

/** What `edit` does to `plan`, for the log: `#2 finder: description changed`, tasks named as on the screens. */
export function editText(edit: PlanEdit, plan: SoundPlan): string {
  switch (edit.is) {
    case 'describe':
      return `${named(plan, edit.task)}: description changed`;
    case 'role':
      return `${named(plan, edit.task)}: role is now ${edit.role}`;
    case 'model':
      return `${named(plan, edit.task)}: model is now ${edit.model === '' ? "the role's own" : edit.model}`;
    case 'budget':
      return `${named(plan, edit.task)}: budget is now ${budgetText(edit.budget)}`;
    case 'effort':
      return `${named(plan, edit.task)}: effort is now ${edit.effort ?? "the role's own"}`;
    case 'tools':
      return `${named(plan, edit.task)}: tools are now ${edit.tools.join(', ') || 'none'}`;
    case 'depends':
      return `${named(plan, edit.task)}: now needs ${allNamed(plan, edit.dependsOn)}`;
    case 'writes':
    case 'alongside':
      return writesEditText(edit, plan);
    case 'add':
      return `added #${plan.tasks.length + 1} ${edit.role}${edit.dependsOn.length === 0 ? '' : `, needs ${allNamed(plan, edit.dependsOn)}`}`;
    case 'drop':
      return dropText(plan, edit.task);
    case 'split':
      return `${named(plan, edit.task)}: split into ${edit.descriptions.length}, ${edit.inOrder ? 'one after the other' : 'side by side'}`;
    case 'join':
      return `${named(plan, edit.other)} joined to ${named(plan, edit.task)}`;
    case 'models':
      return modelsText(plan, edit);
    case 'permissions':
      return permissionsText(edit, plan);
    case 'commit':
      return edit.commit ? 'main commits the work at the end' : 'nothing is committed at the end';
    case 'move':
      return `${named(plan, edit.task)}: moved ${edit.by === 1 ? 'down' : 'up'}`;
    case 'form':
      return `${named(plan, edit.task)}: edited in the form`;
    case 'replace':
      return `back to a plan of ${edit.plan.tasks.length === 1 ? '1 task' : `${edit.plan.tasks.length} tasks`}`;
    default:
      return unreachable(edit);
  }
}

function draftsAfter(plan: SoundPlan, edit: PlanEdit, context: PlanContext): Result<Drafts, string> {
  const drafts = draftsOf(plan);
  if (isOfPlan(edit)) return ok(drafts);
  if (edit.is === 'replace') return ok(draftsOf(edit.plan));
  if (edit.is === 'add')
    return ok([
      ...drafts,
      { ...fieldsOf(edit), id: freshId(plan, context), estimatedTokens: likeOthers(plan, edit.role) },
    ]);
  if (edit.is === 'models') return withModels(plan, edit);
  const task = plan.tasks.find(({ id }) => id === edit.task);
  if (task === undefined) return fail(noTask(edit.task));
  if (edit.is === 'split') return split(plan, task, edit, context);
  if (edit.is === 'join') return join(plan, task, edit.other, context.choices);
  if (edit.is === 'drop') return drop(plan, task);
  if (edit.is === 'move') return move(plan, task, edit.by);
  return ok(
    drafts.map((draft) => (draft.id === task.id ? changed(draft, task, edit, context.choices) : besideIt(draft, edit))),
  );
}

type FieldEdit = Exclude<
  PlanEdit,
  { readonly is: 'replace' | 'add' | 'drop' | 'move' | 'split' | 'join' | 'models' | 'commit' }
>;

function changed(draft: Draft, task: PlanTask, edit: FieldEdit, choices: PlanChoices): Draft {
  switch (edit.is) {
    case 'describe':
      return { ...draft, description: edit.description };
    case 'role':
      return edit.role === task.role ? draft : withRole(task, edit.role, choices);
    case 'model':
      return { ...draft, model: edit.model };
    case 'budget':
      return { ...draft, budget: edit.budget };
    case 'effort':
      return effortOf(draft, edit.effort);
    case 'tools':
      return { ...draft, tools: edit.tools };
    case 'depends':
      return { ...draft, dependsOn: edit.dependsOn };
    case 'permissions':
      return { ...draft, permissions: permissionsAfter(draft.permissions, edit) };
    case 'writes':
      return withWrites(draft, edit.writes);
    case 'alongside':
      return { ...draft, alongside: edit.others };
    case 'form':
      return formed(draft, task, edit, choices);
    default:
      return unreachable(edit);
  }
}

/** Several fields at once; those that nobody touched stay, or are the new role's own. */
function formed(draft: Draft, task: PlanTask, edit: Extract<PlanEdit, { is: 'form' }>, choices: PlanChoices): Draft {
  const next = {
    ...effortOf(edit.role === task.role ? draft : withRole(task, edit.role, choices), edit.effort),
    description: edit.description,
    model: edit.model,
    budget: edit.budget,
    dependsOn: edit.dependsOn,
    ...(edit.tools === undefined ? {} : { tools: edit.tools }),
  };
  return edit.writes === undefined ? next : withWrites(next, edit.writes);
}

type PermissionsEdit = Extract<PlanEdit, { readonly is: 'permissions' }>;

/** Is it about all tasks together? */
const isOfPlan = (
  edit: PlanEdit,
): edit is (PermissionsEdit & { readonly task: null }) | Extract<PlanEdit, { readonly is: 'commit' }> =>
  edit.is === 'commit' || (edit.is === 'permissions' && edit.task === null);

/** Null takes a word back. */
function permissionsAfter(before: Permissions | undefined, { permissions }: PermissionsEdit): Permissions {
  const { edits, commands } = { ...before, ...permissions };
  return { ...(edits == null ? {} : { edits }), ...(commands == null ? {} : { commands }) };
}

/** `#2 code: edits are allowed, commands ask`; without a task `all tasks: …`. */
function permissionsText({ task, permissions }: PermissionsEdit, plan: SoundPlan): string {
  const said = PERMITTED.flatMap((what) => {
    const permission = permissions[what];
    if (permission === undefined) return [];
    return [
      permission === null ? `${what} as in the plan` : permission === 'allow' ? `${what} are allowed` : `${what} ask`,
    ];
  });
  return `${task === null ? 'all tasks' : named(plan, task)}: ${said.join(', ') || 'permissions stay'}`;
}

/** Undefined: it stays; null: the check gives it the role's own. */
function effortOf(draft: Draft, effort: Effort | null | undefined): Draft {
  if (effort === undefined) return draft;
  const { effort: before, ...others } = draft;
  return before === undefined && effort === null ? draft : { ...others, ...withEffort(effort ?? undefined) };
}

/** What a person chose, where that is not what the role has anyway. */
const ownEffort = ({ effort }: PlanTask, role: PlanChoices['roles'][number]): Pick<PlanTask, 'effort'> =>
  withEffort(effort === role.effort ? undefined : effort);

/** What came from the old role comes from the new one; what a person narrowed or chose stays as far as it can. */
function withRole(task: PlanTask, role: string, choices: PlanChoices): Draft {
  const before = choices.roles.find(({ name }) => name === task.role);
  const { id, description, dependsOn, estimatedTokens, writes, alongside = [], permissions = {} } = task;
  const own = { id, description, dependsOn, estimatedTokens, alongside, permissions, role, ...spawnsAs(task, role) };
  if (before === undefined) return { ...own, writes };
  const basic = defaultBudget(before, before.limit ?? choices.limits.agent);
  const tools = narrowedTools(task, before.tools, choices.roles.find(({ name }) => name === role)?.tools ?? []);
  return {
    ...own,
    ...chosenWrites(task, before),
    ...(task.model.asked === before.model.asked ? {} : { model: task.model.asked }),
    ...(sameBudget(task.budget, basic) ? {} : { budget: task.budget }),
    ...(tools.length === 0 ? {} : { tools }),
    ...ownEffort(task, before),
  };
}

/** `main` spawns by its role, others because the plan says so. */
const spawnsAs = ({ maySpawn, role: before }: PlanTask, role: string): Pick<Draft, 'maySpawn'> =>
  before === MAIN || role === MAIN ? {} : { maySpawn };

/** What is left of a narrowed list under another role; empty when the list was the role's own. */
function narrowedTools(task: PlanTask, before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.every((tool) => task.tools.includes(tool))) return [];
  return task.tools.filter((tool) => after.includes(tool));
}

function drop(plan: SoundPlan, task: PlanTask): Result<Drafts, string> {
  if (plan.tasks.length === 1) return fail('a plan needs at least one task; cancel the plan instead');
  const rewire = (draft: Draft): Draft => {
    if (!draft.dependsOn.includes(task.id)) return draft;
    return { ...draft, dependsOn: inherited(draft.dependsOn, task) };
  };
  return ok(
    draftsOf(plan)
      .filter(({ id }) => id !== task.id)
      .map(rewire),
  );
}

/** The needs of a task after `gone` was taken away: what that one needed stands in its place. */
const inherited = (needs: readonly string[], gone: PlanTask): readonly string[] => [
  ...new Set<string>(needs.flatMap((need): readonly string[] => (need === gone.id ? gone.dependsOn : [need]))),
];

type Models = Extract<PlanEdit, { readonly is: 'models' }>;

function withModels(plan: SoundPlan, { models }: Models): Result<Drafts, string> {
  const chosen = new Map<string, string>();
  for (const { task, model } of models) {
    if (!plan.tasks.some(({ id }) => id === task)) return fail(noTask(task));
    if (chosen.has(task)) return fail(`${named(plan, task)} is given two models at once`);
    chosen.set(task, model);
  }
  return ok(
    draftsOf(plan).map((draft) => {
      const model = chosen.get(draft.id);
      return model === undefined ? draft : { ...draft, model };
    }),
  );
}

function move(plan: SoundPlan, task: PlanTask, by: 1 | -1): Result<Drafts, string> {
  const from = plan.tasks.indexOf(task);
  const other = plan.tasks[from + by];
  if (other === undefined) return fail(`${named(plan, task.id)} is ${by === 1 ? 'last' : 'first'} already`);
  const [first, second] = by === 1 ? [task, other] : [other, task];
  if (second.dependsOn.includes(first.id)) {
    return fail(`${named(plan, second.id)} needs ${named(plan, first.id)}, so it can't come before it`);
  }
  const drafts = [...draftsOf(plan)];
  const [a, b] = [drafts[from], drafts[from + by]];
  if (a && b) [drafts[from], drafts[from + by]] = [b, a];
  return ok(drafts);
}

const fieldsOf = (edit: Extract<PlanEdit, { readonly is: 'add' }>): Omit<Draft, 'id'> => ({
  description: edit.description,
  role: edit.role,
  dependsOn: edit.dependsOn,
  ...(edit.writes === undefined ? {} : { writes: edit.writes }),
});

/** Tokens of a task for which nobody said a number: the middle one of its role in this plan, else of all its tasks. */
function likeOthers({ tasks }: SoundPlan, role: string): number {
  const same = tasks.filter((task) => task.role === role);
  const sizes = (same.length > 0 ? same : tasks)
    .map(({ estimatedTokens }) => estimatedTokens)
    .toSorted((a, b) => a - b);
  return sizes[Math.floor((sizes.length - 1) / 2)] ?? 0;
}

const freshId = (plan: SoundPlan, { taken }: PlanContext): string => freshIds(plan, 1, taken)[0] ?? '';

function dropText(plan: SoundPlan, id: TaskId): string {
  const gone = plan.tasks.find((task) => task.id === id);
  if (gone === undefined) return `dropped ${id}`;
  const rewired = dependantsOf(plan, id).map((task) => {
    const needs = inherited(task.dependsOn, gone);
    return `${named(plan, task.id)} now needs ${allNamed(plan, needs)}`;
  });
  return [`dropped ${named(plan, id)}`, ...rewired].join('; ');
}

/** Each task by name while they are few, then how many get which model. */
function modelsText(plan: SoundPlan, { models }: Models): string {
  if (models.length === 0) return 'models stay as they are';
  if (models.length <= MODELS_NAMED) {
    return `models changed: ${models.map(({ task, model }) => `${named(plan, task)} ${model}`).join(', ')}`;
  }
  const counts = [...Map.groupBy(models, ({ model }) => model)].map(([model, all]) => `${model} (${all.length})`);
  return `models of ${models.length} tasks changed: ${counts.join(', ')}`;
}
const MODELS_NAMED = 4;

function budgetText(budget: PlanTask['budget']): string {
  const parts = [
    budget.maxTokens === undefined ? [] : [`${budget.maxTokens} tokens`],
    budget.maxCost === undefined ? [] : [`$${budget.maxCost.toFixed(4)}`],
    budget.maxDuration === undefined ? [] : [`${Math.round(budget.maxDuration / 1000)} s`],
  ].flat();
  return parts.join(', ') || 'the default';
}

const wordsOf = (faults: readonly PlanFault[]): string =>
  faults.map(({ task, problem }) => (task === null ? problem : `${task}: ${problem}`)).join('; ');

// Edits of what a task may change, and of the order that follows from it.

/** Null: what its role may where nothing is said. */
function withWrites({ writes: _before, ...draft }: Draft, writes: readonly string[] | null): Draft {
  return writes === null ? draft : { ...draft, writes };
}

/** Another task after the edit: said of one of two, it holds for both. */
const besideIt = (draft: Draft, edit: PlanEdit): Draft =>
  edit.is === 'alongside' && draft.alongside !== undefined
    ? { ...draft, alongside: draft.alongside.filter((id) => id !== edit.task) }
    : draft;

/** What goes with a task to another role: nothing where nobody chose it, and it follows from the role. */
function chosenWrites(
  { writes }: PlanTask,
  before: Parameters<typeof writesOf>[1],
): { readonly writes?: readonly string[] } {
  return writes.join('\n') === writesOf(undefined, before).join('\n') ? {} : { writes };
}

/** What such an edit does, for the log. */
function writesEditText(edit: Extract<PlanEdit, { readonly is: 'writes' | 'alongside' }>, plan: SoundPlan): string {
  const name = named(plan, edit.task);
  if (edit.is === 'writes')
    return `${name}: may change ${edit.writes === null ? 'what its role may' : writesText(edit.writes)}`;
  return edit.others.length === 0
    ? `${name}: waits for all that may change the same`
    : `${name}: may run beside ${allNamed(plan, edit.others)}`;
}
