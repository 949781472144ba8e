/** Checks a draft and makes a sound plan: ids, roles, models, tools, budgets, dependencies. All faults are reported at once. The context
 * decides which models and roles are allowed. */
import { z } from 'zod';
import type { MandatoryReview, ModelChoice } from '../agents/agent.ts';
import { MAIN } from '../agents/role.ts';
import type { Budget } from '../budget.ts';
import { type RoleName, TaskId } from '../ids.ts';
import { cappedEffort, type Effort, withEffort } from '../models/provider.ts';
import { fail, ok, type Result, tried } from '../result.ts';
import { globProblem } from '../text/glob.ts';
import { objectIn, ownField, seenText } from '../text/text.ts';
import { defaultTokens, estimatedCost, estimatedSeconds, fullBudget } from './estimate.ts';
import * as plans from './plan.ts';
import { type CheckedTask, soundChecks } from './task-checks.ts';
import { putInOrder, writesOf } from './writes.ts';

type PlannedRole = plans.PlanChoices['roles'][number];

/** What is allowed here. The functions are synchronous and do not throw. */
export interface PlanContext {
  readonly choices: plans.PlanChoices;
  resolveModel(asked: string, role: RoleName): Result<ModelChoice, string>;
  roleProblem(role: string): string | null;
  /** The mandatory reviews for these tasks, or why they are impossible; none where the function is missing. Never taken from a draft. */
  forced?(tasks: readonly plans.PlanTask[]): Result<readonly MandatoryReview[], string>;
  /** Why the rules keep this permission at `ask`, or null. Missing: no rule does. */
  permissionProblem?(what: plans.Permitted): string | null;
  /** Why no task can have a tree of its own here, or null. Missing: nothing prevents it. */
  treeProblem?(): string | null;
  /** `main` has begun the plan's single task, so that other tasks may be added beside it. */
  readonly mainHasBegun?: boolean;
  /** Ids that cannot be used again, besides those of the plan, because their agents are in the log. */
  readonly taken?: readonly TaskId[];
}

/** Parses unknown JSON as a draft. Faults name their task if there is one. */
export function readDraft(json: unknown): Result<plans.DraftPlan, readonly plans.PlanFault[]> {
  const parsed = plans.DraftPlan.safeParse(json);
  if (parsed.success) return ok(parsed.data);
  return fail(
    parsed.error.issues.map((issue) => ({
      task: idAt(json, issue.path),
      problem: `${issue.path.length === 0 ? 'the plan' : issue.path.join('.')}: ${issue.message}`,
    })),
  );
}

/** The sound plan with its tasks in topological order, or all faults of the draft. */
export function checkPlan(
  draft: plans.DraftPlan,
  context: PlanContext,
): Result<plans.SoundPlan, readonly plans.PlanFault[]> {
  const look = lookAt(context, draft.tasks.length === 1 || context.mainHasBegun === true);
  const { faults } = look;
  const { maxTasks } = context.choices.limits;
  if (draft.tasks.length > maxTasks)
    fault(look, null, `the plan has ${draft.tasks.length} tasks; at most ${maxTasks} are allowed`);
  checkPermissions(look, null, draft.permissions);
  for (const task of draft.tasks) checkId(look, task.id);
  const tasks = new Map(draft.tasks.flatMap((task) => checkTask(look, task) ?? []).map((task) => [task.id, task]));
  const ordered = orderOf([...tasks.keys()], (id) => tasks.get(id)?.dependsOn ?? []);
  for (const cycle of ordered.cycles)
    fault(look, cycle[0] ?? null, `Circular dependency detected in agent graph: ${cycle.join(' -> ')}`);
  if (faults.length > 0) return fail(faults);
  const own = plans.plainPermissions(draft.permissions, true);
  const inOrder = putInOrder(ordered.order.flatMap((id) => tasks.get(id) ?? []));
  return withForced(
    {
      reason: seenText(draft.reason),
      tasks: inOrder,
      ...(own === null ? {} : { permissions: own }),
      ...(draft.commit === true ? { commit: true as const } : {}),
    },
    context,
  );
}

/** Mandatory reviews are not part of a draft; each check adds them anew. */
function withForced(plan: plans.SoundPlan, context: PlanContext): Result<plans.SoundPlan, readonly plans.PlanFault[]> {
  const forced = context.forced?.(plan.tasks) ?? ok([]);
  if (!forced.ok) return fail([{ task: null, problem: forced.fault }]);
  return ok(forced.value.length === 0 ? plan : { ...plan, forced: forced.value });
}

function lookAt(context: PlanContext, mayBeMain: boolean): Look {
  const { roles, models } = context.choices;
  return {
    context,
    mayBeMain,
    roles: new Map(roles.map((role) => [role.name, role])),
    models: new Map(models.map((model) => [model.id, model])),
    tools: new Set(roles.flatMap(({ tools }) => tools)),
    ids: new Map(),
    faults: [],
  };
}

interface Look {
  readonly context: PlanContext;
  readonly mayBeMain: boolean;
  /** Maps, because names come from a model and `constructor` is a property of every object. */
  readonly roles: ReadonlyMap<string, PlannedRole>;
  readonly models: ReadonlyMap<string, plans.ModelOption>;
  readonly tools: ReadonlySet<string>;
  /** Folded id -> id as first written; `id` is null when it is invalid. Parsed once, because plans may be long. */
  readonly ids: Map<string, { readonly written: string; readonly id: TaskId | null }>;
  readonly faults: plans.PlanFault[];
}

const fault = ({ faults }: Pick<Look, 'faults'>, task: string | null, problem: string): void =>
  void faults.push({ task, problem });

const PLAIN = /^[\w.-]*$/;
const folded = (id: string): string => (PLAIN.test(id) ? id : id.normalize('NFKC')).toLowerCase();
const OBJECT_NAMES: ReadonlySet<string> = new Set(
  ['prototype', ...Object.getOwnPropertyNames(Object.prototype)].map((name) => folded(name)),
);

function checkId(look: Look, id: string): void {
  const parsed = TaskId.safeParse(id);
  if (!parsed.success) fault(look, id, `"${id}" is not a valid id: ${parsed.error.issues[0]?.message ?? ''}`);
  else if (OBJECT_NAMES.has(folded(id))) fault(look, id, `"${id}" is not a valid id: the name is reserved`);
  const key = folded(id);
  const before = look.ids.get(key)?.written;
  const by = before === id ? '' : ` by "${before}"`;
  if (before === undefined) look.ids.set(key, { written: id, id: parsed.success ? parsed.data : null });
  else fault(look, id, `the id "${id}" is already used${by}`);
}

/** The task if it is sound by itself; otherwise null, with its faults noted. */
function checkTask(look: Look, draft: plans.DraftTask): plans.PlanTask | null {
  const id = idOf(look, draft.id);
  const role = roleOf(look, draft);
  const dependsOn = needsOf(look, draft);
  if (role === null) return null;
  const model = modelOf(look, draft, role);
  const tools = toolsOf(look, draft, role);
  checkBudget(look, draft, role);
  checkPermissions(look, draft.id, draft.permissions);
  const permissions = plans.plainPermissions(draft.permissions, false);
  // Invisible characters are removed, so that the person approves everything that the agent is told.
  const description = seenText(draft.description).trim();
  if (description === '') fault(look, draft.id, 'its description is empty');
  if (id === null || model === null) return null;
  const option = look.models.get(model.used);
  const estimatedTokens = Math.ceil(draft.estimatedTokens ?? defaultTokens(role.capabilities));
  const writes = globsOf(look, draft, role);
  return {
    id,
    description,
    role: role.name,
    model,
    tools,
    estimatedTokens,
    estimatedCost: estimatedCost(estimatedTokens, option),
    estimatedSeconds: estimatedSeconds(estimatedTokens, option),
    budget: fullBudget(draft.budget ?? {}, role, limitOf(look, role)),
    dependsOn,
    writes,
    ...alongsideIn(look, draft),
    maySpawn: draft.maySpawn ?? (role.name === MAIN || speaksText(role, option)),
    ...(permissions === null ? {} : { permissions }),
    ...effortOf(look, draft, role),
    ...checksOf(look, draft),
    ...treeOf(look, draft, role, writes),
  };
}

/** Of a task that changes files: its own word, else its role's. Sharing the project is only said where the role would not. */
function treeOf(
  look: Look,
  draft: plans.DraftTask,
  role: PlannedRole,
  writes: readonly string[],
): Pick<plans.PlanTask, 'tree'> {
  if (writes.length === 0) return {};
  const tree = draft.tree ?? role.tree ?? 'shared';
  if (tree === 'shared') return role.tree === undefined ? {} : { tree };
  const problem = look.context.treeProblem?.() ?? null;
  if (problem !== null) fault(look, draft.id, `it cannot have a tree of its own: ${problem}`);
  return { tree };
}

/** Nobody can allow what a rule keeps at `ask`. */
function checkPermissions(look: Look, task: string | null, permissions: plans.Permissions = {}): void {
  for (const what of plans.PERMITTED) {
    const problem = permissions[what] === 'allow' ? (look.context.permissionProblem?.(what) ?? null) : null;
    if (problem !== null) fault(look, task, `${what} cannot be allowed: ${problem}`);
  }
}

function globsOf(look: Look, draft: plans.DraftTask, role: PlannedRole): readonly string[] {
  const said = draft.writes?.map((glob) => seenText(glob).trim());
  for (const glob of said ?? []) {
    const problem = globProblem(glob);
    if (problem !== null) fault(look, draft.id, `writes: ${problem}`);
  }
  return writesOf(said, role);
}

/** Removed tasks are dropped. */
function alongsideIn(look: Look, draft: plans.DraftTask): Pick<plans.PlanTask, 'alongside'> {
  const others = [...new Set(draft.alongside)].flatMap((id) => (id === draft.id ? [] : (idOf(look, id) ?? [])));
  return others.length === 0 ? {} : { alongside: others };
}

/** The role's effort where the task names none, limited by the rules. */
const effortOf = ({ context }: Look, draft: plans.DraftTask, role: PlannedRole): Pick<plans.PlanTask, 'effort'> =>
  withEffort(cappedEffort(draft.effort ?? role.effort, context.choices.limits.maxEffort?.value));

function checksOf(look: Look, draft: plans.DraftTask): CheckedTask {
  const sound = soundChecks(draft, look.context.choices.limits.checks);
  if (sound.ok) return sound.value;
  fault(look, draft.id, sound.fault);
  return {};
}

/** Both spellings of one field; different values are a fault, and the person's value is used. */
function oneOf(
  look: Look,
  draft: plans.DraftTask,
  person: 'role' | 'model',
  planner: 'recommendedRole' | 'recommendedModel',
): string | undefined {
  const [own, recommended] = [draft[person], draft[planner]];
  if (own !== undefined && recommended !== undefined && own !== recommended)
    fault(look, draft.id, `${person} is "${own}", but ${planner} is "${recommended}"; keep one of them`);
  return own ?? recommended;
}

function roleOf(look: Look, draft: plans.DraftTask): PlannedRole | null {
  const asked = oneOf(look, draft, 'role', 'recommendedRole');
  if (asked === undefined || asked === '') {
    fault(look, draft.id, `it has no role; known roles: ${knownRoles(look)}`);
    return null;
  }
  const role = look.roles.get(asked) ?? null;
  const unknown = role === null ? `there is no role "${asked}"; known roles: ${knownRoles(look)}` : null;
  const problem = mainProblem(look, asked) ?? look.context.roleProblem(asked) ?? unknown;
  if (problem !== null) fault(look, draft.id, problem);
  return problem === null ? role : null;
}

/** Agents of the text protocol spawn children by a shell command. */
const speaksText = ({ protocol }: PlannedRole, model: plans.ModelOption | undefined): boolean =>
  protocol === 'text' || model?.protocol === 'text';

const mainProblem = ({ mayBeMain }: Look, role: string): string | null =>
  role === MAIN && !mayBeMain ? 'the role "main" is for plans with one task; choose another role' : null;

const knownRoles = ({ roles, mayBeMain }: Look): string =>
  [...roles.values()].flatMap(({ name, single }) => (single === true && !mayBeMain ? [] : [name])).join(', ');

function modelOf(look: Look, draft: plans.DraftTask, role: PlannedRole): ModelChoice | null {
  const asked = oneOf(look, draft, 'model', 'recommendedModel');
  if (asked === undefined || asked === '') return role.model;
  const choice = look.context.resolveModel(asked, role.name);
  if (choice.ok) return choice.value;
  fault(look, draft.id, choice.fault);
  return null;
}

/** The role's tools, or the named subset. Unknown names are dropped. */
function toolsOf(look: Look, draft: plans.DraftTask, role: PlannedRole): readonly string[] {
  if (draft.tools === undefined || draft.tools.includes('*')) return role.tools;
  const known = [...new Set(draft.tools)].filter((tool) => look.tools.has(tool));
  const everything = role.tools.includes('*');
  const tooMany = everything ? [] : known.filter((tool) => !role.tools.includes(tool));
  const has = `${role.name} has ${role.tools.join(', ')}`;
  if (tooMany.length > 0) fault(look, draft.id, `the role has no tool ${tooMany.join(', ')}; ${has}`);
  // Dropping all names must not silently leave an agent without tools.
  if (known.length === 0 && draft.tools.length > 0)
    fault(look, draft.id, `none of its tools is known: ${draft.tools.join(', ')}; ${has}`);
  return known;
}

const limitOf = ({ context }: Look, role: PlannedRole): Budget => role.limit ?? context.choices.limits.agent;

function checkBudget(look: Look, draft: plans.DraftTask, role: PlannedRole): void {
  const limit = limitOf(look, role);
  const over = (what: string, asked: number | undefined, most: number | undefined): void => {
    if (asked === undefined || most === undefined || asked <= most) return;
    fault(look, draft.id, `its budget of ${what} is ${asked}; one agent may use at most ${most}`);
  };
  over('tokens', draft.budget?.maxTokens, limit.maxTokens);
  over('dollars', draft.budget?.maxCost, limit.maxCost);
  over('milliseconds', draft.budget?.maxDuration, limit.maxDuration);
}

function needsOf(look: Look, draft: plans.DraftTask): readonly TaskId[] {
  const person = unique(draft.dependsOn);
  const planner = unique(draft.dependencies);
  if (person !== undefined && planner !== undefined && !sameSet(person, planner))
    fault(look, draft.id, 'dependsOn and dependencies differ; keep one of them');
  return (person ?? planner ?? []).flatMap((need) => {
    const id = idOf(look, need);
    if (id !== null) return [id];
    const written = look.ids.get(folded(need))?.written;
    const hint = written === undefined || written === need ? '' : `; did you mean "${written}"?`;
    fault(look, draft.id, `it depends on the unknown task "${need}"${hint}`);
    return [];
  });
}

function idOf(look: Look, text: string): TaskId | null {
  const known = look.ids.get(folded(text));
  return known?.written === text ? known.id : null;
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each) => b.includes(each));
const unique = (ids: readonly string[] | undefined): readonly string[] | undefined => ids && [...new Set(ids)];

/** The id in the JSON of the task at `path`, for a fault found before parsing. */
function idAt(json: unknown, path: readonly PropertyKey[]): string | null {
  if (path[0] !== 'tasks' || typeof path[1] !== 'number') return null;
  const id = ownField(ownField(ownField(json, 'tasks'), String(path[1])), 'id');
  return typeof id === 'string' ? id.slice(0, 64) : null;
}

// The order of tasks in a plan: each after its dependencies, otherwise as written; or the cycles that prevent an order. Linear and without
// recursion, so that plans may have thousands of tasks.

const CYCLES_NAMED = 5;

/** Orders `ids` as written, with dependencies first. Unknown dependencies are ignored. Each of `cycles` is a path that ends where it begins;
 * there are none when `order` is sound. */
function orderOf<Id extends string>(ids: readonly Id[], needsOf: (id: Id) => readonly Id[]) {
  const left = new Set(ids);
  const open = new Set<Id>();
  const path: { readonly id: Id; readonly needs: IterableIterator<Id> }[] = [];
  const order: Id[] = [];
  const cycles: (readonly Id[])[] = [];
  const enter = (id: Id): void => {
    if (!left.delete(id)) return;
    open.add(id);
    path.push({ id, needs: needsOf(id).values() });
  };
  for (const id of ids) {
    enter(id);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const need = top.needs.next();
      if (need.done === true) {
        path.pop();
        open.delete(top.id);
        order.push(top.id);
      } else if (!open.has(need.value)) enter(need.value);
      else if (cycles.length < CYCLES_NAMED) {
        const ways = path.map((each) => each.id);
        cycles.push([...ways.slice(ways.indexOf(need.value)), need.value]);
      }
    }
  }
  return { order, cycles };
}

// The form by which a model is asked for a plan, and the parsing of its answer. Every property is required and no other allowed, as
// structured output demands; null stands for an omitted value.

/** `roles`, `models` and `efforts` are the allowed values. Without models every task gets its role's own; the same holds for efforts. `trees`:
 * whether tasks may work in trees of their own. */
export function plannerForm(
  roles: readonly string[],
  models: readonly string[],
  efforts: readonly Effort[] = [],
  trees = false,
): z.ZodType {
  const task = z.strictObject({
    id: z.string().describe('task-1, task-2 …'),
    description: z.string().describe('Goal, where to look, form of the result. The agent is told nothing else.'),
    recommendedRole: roles.length === 0 ? z.string() : z.enum(roles),
    recommendedModel: (models.length === 0 ? z.null() : z.enum(models).nullable()).describe(
      "null: the role's own model.",
    ),
    effort: (efforts.length === 0 ? z.null() : z.enum(efforts).nullable()).describe("null: the role's own effort."),
    estimatedTokens: z.number().describe('Input and output together, over all calls.'),
    dependencies: z.array(z.string()).describe('Ids of the tasks whose result it needs.'),
    writes: z
      .array(z.string())
      .nullable()
      .describe('Globs of the files it may change; [] if it only reads; null: the whole project.'),
    checks: z
      .array(z.string())
      .nullable()
      .describe('Commands that must succeed when it is done, such as npm test; null: none.'),
    ...(trees && {
      tree: z
        .literal('own')
        .nullable()
        .describe('own: it works in a copy of the project, which is merged when it is done; null: in the project.'),
    }),
  });
  return z.strictObject({ reason: z.string().describe('One sentence: why split, or why not.'), tasks: z.array(task) });
}

/** The plan in a model's answer, without null properties. Undefined when there is none, or more than one. Only a person may decide that two
 * tasks that change the same files take turns. */
export function planIn(answer: string): unknown {
  const plan = objectIn(answer, 'tasks');
  const withoutNull = (key: string, value: unknown): unknown =>
    value === null || key === 'alongside' ? undefined : value;
  // What is nested too deep for the call stack is no plan.
  return plan && tried((): unknown => JSON.parse(JSON.stringify(plan), withoutNull), undefined);
}
