/** Applies one edit to a plan: the plan becomes a draft that is changed and checked by the same rules as a new plan. Also the text of an
 * edit in the log. */
import { MAIN } from '../agents/role.ts';
import { LIMITS, limitWords } from '../budget.ts';
import type { TaskId } from '../ids.ts';
import { type Effort, withEffort } from '../models/provider.ts';
import type { Permissions, PlanChoices, PlanFault, PlanTask, SoundPlan, Tree } from './plan.ts';
import { PERMITTED } from './plan.ts';
import { defined, fail, ok, type Result, unreachable } from '../result.ts';
import { treeText, writesOf, writesText } from './writes.ts';
import { checkPlan, type PlanContext, readDraft } from './check-plan.ts';
import * as reshape from './reshape.ts';
import { defaultBudget } from './estimate.ts';
import type { PlanEdit } from './plan-edit.ts';
import { dependantsOf } from './plan-view.ts';
import { checksText, type DraftCheck, soundChecks } from './task-checks.ts';

/** The plan after `edit`, or why it is impossible. `plan` itself never changes. */
export function applyEdit(plan: SoundPlan, edit: PlanEdit, context: PlanContext): Result<SoundPlan, string> {
  const drafts = draftsAfter(plan, edit, context);
  if (!drafts.ok) return drafts;
  const { reason, permissions, commit } = edit.is === 'replace' ? edit.plan : plan;
  const draft = readDraft({
    reason,
    tasks: withoutMain(plan, drafts.value, context),
    permissions:
      isOfPlan(edit) && edit.is === 'permissions' ? permissionsAfter(permissions, edit.permissions) : permissions,
    commit: edit.is === 'commit' ? edit.commit : commit,
  });
  if (!draft.ok) return fail(wordsOf(draft.fault));
  const checked = checkPlan(draft.value, context);
  return checked.ok ? checked : fail(wordsOf(checked.fault));
}

/** `main` does only single tasks: when a second task is added, its task goes to a role that implements. */
function withoutMain(plan: SoundPlan, drafts: reshape.Drafts, { choices, mainHasBegun }: PlanContext): reshape.Drafts {
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

/** What `edit` does to `plan`, for the log: `#2 finder: description changed`. `after`: the plan with it, which names the model that is used. */
export function editText(edit: PlanEdit, plan: SoundPlan, after: SoundPlan): string {
  switch (edit.is) {
    case 'describe':
      return `${reshape.named(plan, edit.task)}: description changed`;
    case 'role':
      return `${reshape.named(plan, edit.task)}: role is now ${edit.role}`;
    case 'model':
      return `${reshape.named(plan, edit.task)}: model is now ${chosenText(edit, after)}`;
    case 'budget':
      return `${reshape.named(plan, edit.task)}: budget is now ${budgetText(edit.budget)}`;
    case 'effort':
      return `${reshape.named(plan, edit.task)}: effort is now ${edit.effort ?? 'role default'}`;
    case 'tools':
      return `${reshape.named(plan, edit.task)}: tools are now ${edit.tools.join(', ') || 'none'}`;
    case 'depends':
      return `${reshape.named(plan, edit.task)}: now depends on ${reshape.allNamed(plan, edit.dependsOn)}`;
    case 'checks':
      return checksEditText(edit, plan);
    case 'writes':
    case 'alongside':
    case 'tree':
      return writesEditText(edit, plan);
    case 'add':
      return `added #${plan.tasks.length + 1} ${edit.role}${edit.dependsOn.length === 0 ? '' : `, depends on ${reshape.allNamed(plan, edit.dependsOn)}`}`;
    case 'drop':
      return dropText(plan, edit.task);
    case 'split':
      return `${reshape.named(plan, edit.task)}: split into ${edit.descriptions.length}, ${edit.inOrder ? 'sequential' : 'parallel'}`;
    case 'join':
      return `${reshape.named(plan, edit.other)} merged into ${reshape.named(plan, edit.task)}`;
    case 'models':
      return modelsText(plan, edit, after);
    case 'permissions':
      return permissionsText(edit, plan);
    case 'commit':
      return edit.commit ? 'main commits at the end' : 'nothing is committed at the end';
    case 'move':
      return `${reshape.named(plan, edit.task)}: moved ${edit.by === 1 ? 'down' : 'up'}`;
    case 'form':
      return `${reshape.named(plan, edit.task)}: edited`;
    case 'replace':
      return `back to a plan of ${edit.plan.tasks.length === 1 ? '1 task' : `${edit.plan.tasks.length} tasks`}`;
    default:
      return unreachable(edit);
  }
}

function draftsAfter(plan: SoundPlan, edit: PlanEdit, context: PlanContext): Result<reshape.Drafts, string> {
  const drafts = reshape.draftsOf(plan);
  if (isOfPlan(edit)) return ok(drafts);
  if (edit.is === 'replace') return ok(reshape.draftsOf(edit.plan));
  if (edit.is === 'add') {
    const { is: _, ...fields } = edit;
    return ok([...drafts, { ...fields, id: freshId(plan, context), estimatedTokens: likeOthers(plan, edit.role) }]);
  }
  if (edit.is === 'models') return withModels(plan, edit);
  const task = plan.tasks.find(({ id }) => id === edit.task);
  if (task === undefined) return fail(reshape.noTask(edit.task));
  if (edit.is === 'split') return reshape.split(plan, task, edit, context);
  if (edit.is === 'join') return reshape.join(plan, task, edit.other, context.choices);
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

interface SaidFields
  extends Partial<Omit<Extract<PlanEdit, { readonly is: 'form' }>, 'is' | 'task' | 'writes' | 'checks'>> {
  readonly writes?: readonly string[] | null;
  readonly others?: readonly TaskId[];
  readonly permissions?: PermissionsEdit['permissions'];
  readonly checks?: readonly DraftCheck[];
  readonly attempts?: number;
  readonly tree?: Tree;
}

/** Fields of which nothing is said stay, or become the new role's own. */
function changed(draft: reshape.Draft, task: PlanTask, edit: FieldEdit, choices: PlanChoices): reshape.Draft {
  const { description, role = task.role, model, budget, dependsOn, tools, ...said }: SaidFields = edit;
  const ofRole = role === task.role ? draft : withRole(task, role, choices);
  const permissions = said.permissions && permissionsAfter(draft.permissions, said.permissions);
  const next = {
    ...effortOf(ofRole, said.effort),
    ...defined({ description, model, budget, dependsOn, tools, alongside: said.others, permissions }),
    ...defined({ checks: said.checks, attempts: said.attempts, tree: said.tree }),
  };
  return said.writes === undefined ? next : withWrites(next, said.writes);
}

type PermissionsEdit = Extract<PlanEdit, { readonly is: 'permissions' }>;

const isOfPlan = (
  edit: PlanEdit,
): edit is (PermissionsEdit & { readonly task: null }) | Extract<PlanEdit, { readonly is: 'commit' }> =>
  edit.is === 'commit' || (edit.is === 'permissions' && edit.task === null);

function permissionsAfter(before: Permissions | undefined, permissions: PermissionsEdit['permissions']): Permissions {
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
  return `${task === null ? 'all tasks' : reshape.named(plan, task)}: ${said.join(', ') || 'permissions stay'}`;
}

/** Undefined keeps the effort; null lets the check choose the role's own. */
function effortOf(draft: reshape.Draft, effort: Effort | null | undefined): reshape.Draft {
  if (effort === undefined) return draft;
  const { effort: before, ...others } = draft;
  return before === undefined && effort === null ? draft : { ...others, ...withEffort(effort ?? undefined) };
}

/** The effort that a person chose, if it differs from the role's own. */
const ownEffort = ({ effort }: PlanTask, role: PlanChoices['roles'][number]): Pick<PlanTask, 'effort'> =>
  withEffort(effort === role.effort ? undefined : effort);

/** Where a person chose it to work, if that is not where its role does. */
const ownTree = ({ tree }: PlanTask, role: PlanChoices['roles'][number]): Pick<PlanTask, 'tree'> =>
  tree === undefined || tree === role.tree ? {} : { tree };

/** Fields from the old role change to the new role's; a person's choices stay as far as possible. */
function withRole(task: PlanTask, role: string, choices: PlanChoices): reshape.Draft {
  const before = choices.roles.find(({ name }) => name === task.role);
  const { id, description, dependsOn, estimatedTokens, writes, alongside = [], permissions = {} } = task;
  const kept = { ...spawnsAs(task, role), ...defined({ checks: task.checks, attempts: task.attempts }) };
  const own = { id, description, dependsOn, estimatedTokens, alongside, permissions, role, ...kept };
  if (before === undefined) return { ...own, writes };
  const basic = defaultBudget(before, before.limit ?? choices.limits.agent);
  const tools = narrowedTools(task, before.tools, choices.roles.find(({ name }) => name === role)?.tools ?? []);
  return {
    ...own,
    ...chosenWrites(task, before),
    ...(task.model.asked === before.model.asked ? {} : { model: task.model.asked }),
    ...(reshape.sameBudget(task.budget, basic) ? {} : { budget: task.budget }),
    ...(tools.length === 0 ? {} : { tools }),
    ...ownEffort(task, before),
    ...ownTree(task, before),
  };
}

/** `main` spawns by its role; others only if the plan allows it. */
const spawnsAs = ({ maySpawn, role: before }: PlanTask, role: string): Pick<reshape.Draft, 'maySpawn'> =>
  before === MAIN || role === MAIN ? {} : { maySpawn };

/** The rest of a narrowed list under another role; empty when the list was the role's own. */
function narrowedTools(task: PlanTask, before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.every((tool) => task.tools.includes(tool))) return [];
  return task.tools.filter((tool) => after.includes(tool));
}

function drop(plan: SoundPlan, task: PlanTask): Result<reshape.Drafts, string> {
  if (plan.tasks.length === 1) return fail('a plan needs at least one task; discard the plan instead');
  const rewire = (draft: reshape.Draft): reshape.Draft => {
    if (!draft.dependsOn.includes(task.id)) return draft;
    return { ...draft, dependsOn: inherited(draft.dependsOn, task) };
  };
  return ok(
    reshape
      .draftsOf(plan)
      .filter(({ id }) => id !== task.id)
      .map(rewire),
  );
}

/** Dependencies after `gone` was removed: its own take its place. */
const inherited = (needs: readonly string[], gone: PlanTask): readonly string[] => [
  ...new Set<string>(needs.flatMap((need): readonly string[] => (need === gone.id ? gone.dependsOn : [need]))),
];

type Models = Extract<PlanEdit, { readonly is: 'models' }>;

function withModels(plan: SoundPlan, { models }: Models): Result<reshape.Drafts, string> {
  const chosen = new Map<string, string>();
  for (const { task, model } of models) {
    if (!plan.tasks.some(({ id }) => id === task)) return fail(reshape.noTask(task));
    if (chosen.has(task)) return fail(`${reshape.named(plan, task)} has two models`);
    chosen.set(task, model);
  }
  return ok(
    reshape.draftsOf(plan).map((draft) => {
      const model = chosen.get(draft.id);
      return model === undefined ? draft : { ...draft, model };
    }),
  );
}

function move(plan: SoundPlan, task: PlanTask, by: 1 | -1): Result<reshape.Drafts, string> {
  const from = plan.tasks.indexOf(task);
  const other = plan.tasks[from + by];
  if (other === undefined) return fail(`${reshape.named(plan, task.id)} is already ${by === 1 ? 'last' : 'first'}`);
  const [first, second] = by === 1 ? [task, other] : [other, task];
  if (second.dependsOn.includes(first.id))
    return fail(
      `${reshape.named(plan, second.id)} depends on ${reshape.named(plan, first.id)}, so it cannot come first`,
    );
  const drafts = [...reshape.draftsOf(plan)];
  const [a, b] = [drafts[from], drafts[from + by]];
  if (a && b) [drafts[from], drafts[from + by]] = [b, a];
  return ok(drafts);
}

function likeOthers({ tasks }: SoundPlan, role: string): number {
  const same = tasks.filter((task) => task.role === role);
  const sizes = (same.length > 0 ? same : tasks)
    .map(({ estimatedTokens }) => estimatedTokens)
    .toSorted((a, b) => a - b);
  return sizes[Math.floor((sizes.length - 1) / 2)] ?? 0;
}

const freshId = (plan: SoundPlan, { taken }: PlanContext): string => reshape.freshIds(plan, 1, taken)[0] ?? '';

function dropText(plan: SoundPlan, id: TaskId): string {
  const gone = plan.tasks.find((task) => task.id === id);
  if (gone === undefined) return `deleted ${id}`;
  const rewired = dependantsOf(plan, id).map((task) => {
    const needs = inherited(task.dependsOn, gone);
    return `${reshape.named(plan, task.id)} now depends on ${reshape.allNamed(plan, needs)}`;
  });
  return [`deleted ${reshape.named(plan, id)}`, ...rewired].join('; ');
}

/** Names each task while they are few; otherwise the number of tasks per model. */
function modelsText(plan: SoundPlan, { models }: Models, after: SoundPlan): string {
  if (models.length === 0) return 'models stay as they are';
  const chosen = models.map((one) => ({ ...one, text: chosenText(one, after) }));
  if (models.length <= MODELS_NAMED)
    return `models changed: ${chosen.map(({ task, text }) => `${reshape.named(plan, task)} ${text}`).join(', ')}`;
  const counts = [...Map.groupBy(chosen, ({ text }) => text)].map(([text, all]) => `${text} (${all.length})`);
  return `models of ${models.length} tasks changed: ${counts.join(', ')}`;
}

/** `opus-4.5`, or where another one replaces it `opus-4.5 -> coder (no ANTHROPIC_API_KEY)`. */
function chosenText({ task, model }: Models['models'][number], after: SoundPlan): string {
  const asked = model === '' ? 'role default' : model;
  const chosen = after.tasks.find(({ id }) => id === task)?.model;
  return chosen?.because == null ? asked : `${asked} -> ${chosen.used} (${chosen.because})`;
}

const MODELS_NAMED = 4;

function budgetText(budget: PlanTask['budget']): string {
  const set = LIMITS.filter((limit) => budget[limit] !== undefined);
  return set.map((limit) => limitWords(limit, budget[limit])).join(', ') || 'the default';
}

const wordsOf = (faults: readonly PlanFault[]): string =>
  faults.map(({ task, problem }) => (task === null ? problem : `${task}: ${problem}`)).join('; ');

/** Null: the role's default. */
const withWrites = ({ writes: _before, ...draft }: reshape.Draft, writes: readonly string[] | null): reshape.Draft =>
  writes === null ? draft : { ...draft, writes };

/** Adds the other task of a pair to `alongside`, because the edit applies to both. */
const besideIt = (draft: reshape.Draft, edit: PlanEdit): reshape.Draft =>
  edit.is === 'alongside' && draft.alongside !== undefined
    ? { ...draft, alongside: draft.alongside.filter((id) => id !== edit.task) }
    : draft;

/** The `writes` to keep under another role; none where a person did not choose them. */
const chosenWrites = (
  { writes }: PlanTask,
  before: Parameters<typeof writesOf>[1],
): { readonly writes?: readonly string[] } =>
  writes.join('\n') === writesOf(undefined, before).join('\n') ? {} : { writes };

function checksEditText(
  { task, checks, attempts }: Extract<PlanEdit, { readonly is: 'checks' }>,
  plan: SoundPlan,
): string {
  const sound = soundChecks({ checks, attempts });
  return `${reshape.named(plan, task)}: checks are now ${sound.ok ? checksText(sound.value) : 'changed'}`;
}

function writesEditText(
  edit: Extract<PlanEdit, { readonly is: 'writes' | 'alongside' | 'tree' }>,
  plan: SoundPlan,
): string {
  const name = reshape.named(plan, edit.task);
  if (edit.is === 'tree') return `${name}: works ${treeText(edit)}`;
  if (edit.is === 'writes')
    return `${name}: may change ${edit.writes === null ? 'what its role may' : writesText(edit.writes)}`;
  return edit.others.length === 0
    ? `${name}: waits for tasks that may change the same files`
    : `${name}: takes turns with ${reshape.allNamed(plan, edit.others)}`;
}
