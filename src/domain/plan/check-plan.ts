/**
 * From a draft to a sound plan: ids, roles, models, tools, budgets, dependencies, all judged at once, so that whoever
 * wrote it can mend everything in one go. Which models and roles are allowed is asked of the context, not decided here.
 */
import type { ModelChoice } from '../agents/agent.ts';
import type { ForcedNode } from '../agents/mandatory-review.ts';
import { MAIN } from '../agents/role.ts';
import type { Budget } from '../budget.ts';
import { type RoleName, TaskId } from '../ids.ts';
import { cappedEffort, withEffort } from '../models/effort.ts';
import type { Permitted } from './permissions.ts';
import type { DraftTask, ModelOption, Permissions, PlanChoices, PlanFault, PlanTask, SoundPlan } from './plan.ts';
import { PERMITTED, plainPermissions } from './permissions.ts';
import { fail, ok, type Result } from '../result.ts';
import { globProblem } from '../text/glob.ts';
import { seenText } from '../text/text.ts';
import { putInOrder, writesOf } from './writes.ts';
import { defaultTokens, estimatedCost, estimatedSeconds, fullBudget } from './estimate.ts';
import { DraftPlan } from './plan.ts';

type PlannedRole = PlanChoices['roles'][number];

/** What is allowed here. The functions answer at once and don't throw. */
export interface PlanContext {
  readonly choices: PlanChoices;
  /** The model that is really used for a name, or why there is none. */
  resolveModel(asked: string, role: RoleName): Result<ModelChoice, string>;
  /** Why a role may not be planned, or null. */
  roleProblem(role: string): string | null;
  /** What rules add to a plan of these tasks, or why they can't; nothing where it is missing. Never taken from a draft. */
  forced?(tasks: readonly PlanTask[]): Result<readonly ForcedNode[], string>;
  /** Why rules hold this permission at `ask`, or null. Missing: no rule does. */
  permissionProblem?(what: Permitted): string | null;
  /** `main` has begun as the one task of this plan: other tasks may stand beside it. */
  readonly mainHasBegun?: boolean;
  /** Ids that are no longer free, beside those of the plan: who had them is remembered. None where it is missing. */
  readonly taken?: readonly TaskId[];
}

/** Reads unknown JSON as a draft. Faults name the task where there is one. */
export function readDraft(json: unknown): Result<DraftPlan, readonly PlanFault[]> {
  const parsed = DraftPlan.safeParse(json);
  if (parsed.success) return ok(parsed.data);
  return fail(
    parsed.error.issues.map((issue) => ({
      task: idAt(json, issue.path),
      problem: `${issue.path.length === 0 ? 'the plan' : issue.path.join('.')}: ${issue.message}`,
    })),
  );
}

/** A plan in which nothing is wrong, its tasks in topological order, or everything that is wrong with the draft. */
export function checkPlan(draft: DraftPlan, context: PlanContext): Result<SoundPlan, readonly PlanFault[]> {
  const look = lookAt(context, draft.tasks.length === 1 || context.mainHasBegun === true);
  const { faults } = look;
  const { maxTasks } = context.choices.limits;
  if (draft.tasks.length > maxTasks) {
    faults.push({ task: null, problem: `the plan has ${draft.tasks.length} tasks; at most ${maxTasks} are allowed` });
  }
  checkPermissions(look, null, draft.permissions);
  for (const task of draft.tasks) checkId(look, task.id);
  const tasks = new Map(draft.tasks.flatMap((task) => checkTask(look, task) ?? []).map((task) => [task.id, task]));
  const ordered = orderOf([...tasks.keys()], (id) => tasks.get(id)?.dependsOn ?? []);
  for (const cycle of ordered.cycles) {
    const problem = `Circular dependency detected in agent graph: ${cycle.join(' -> ')}`;
    faults.push({ task: cycle[0] ?? null, problem });
  }
  if (faults.length > 0) return fail(faults);
  const own = plainPermissions(draft.permissions, true);
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

/** Locked nodes are no part of a draft: each check makes them anew. */
function withForced(plan: SoundPlan, context: PlanContext): Result<SoundPlan, readonly PlanFault[]> {
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
  /** Can a task be main's? */
  readonly mayBeMain: boolean;
  /** Closed look-ups: names come from a model, and `constructor` is a property of every object. */
  readonly roles: ReadonlyMap<string, PlannedRole>;
  readonly models: ReadonlyMap<string, ModelOption>;
  readonly tools: ReadonlySet<string>;
  /** Folded id -> id as written first; `id` is null when it can't be one. Parsed once: plans may be long. */
  readonly ids: Map<string, { readonly written: string; readonly id: TaskId | null }>;
  readonly faults: PlanFault[];
}

const PLAIN = /^[\w.-]*$/;
const folded = (id: string): string => (PLAIN.test(id) ? id : id.normalize('NFKC')).toLowerCase();
const OBJECT_NAMES: ReadonlySet<string> = new Set(
  ['prototype', ...Object.getOwnPropertyNames(Object.prototype)].map((name) => folded(name)),
);

function checkId(look: Look, id: string): void {
  const parsed = TaskId.safeParse(id);
  if (!parsed.success) {
    look.faults.push({ task: id, problem: `"${id}" can't be an id: ${parsed.error.issues[0]?.message ?? ''}` });
  } else if (OBJECT_NAMES.has(folded(id))) {
    look.faults.push({ task: id, problem: `"${id}" can't be an id: the name is reserved` });
  }
  const key = folded(id);
  const before = look.ids.get(key)?.written;
  const by = before === id ? '' : ` by "${before}"`;
  if (before === undefined) look.ids.set(key, { written: id, id: parsed.success ? parsed.data : null });
  else look.faults.push({ task: id, problem: `the id "${id}" is taken already${by}` });
}

/** The task when it is sound by itself; null when it isn't, the faults being noted. */
function checkTask(look: Look, draft: DraftTask): PlanTask | null {
  const id = idOf(look, draft.id);
  const role = roleOf(look, draft);
  const dependsOn = needsOf(look, draft);
  if (role === null) return null;
  const model = modelOf(look, draft, role);
  const tools = toolsOf(look, draft, role);
  checkBudget(look, draft, role);
  checkPermissions(look, draft.id, draft.permissions);
  const permissions = plainPermissions(draft.permissions, false);
  // What is approved is what was seen: an order that no screen shows is none.
  const description = seenText(draft.description).trim();
  if (description === '') look.faults.push({ task: draft.id, problem: 'its description has nothing that can be seen' });
  if (id === null || model === null) return null;
  const option = look.models.get(model.used);
  const estimatedTokens = Math.ceil(draft.estimatedTokens ?? defaultTokens(role.capabilities));
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
    writes: globsOf(look, draft, role),
    ...alongsideIn(look, draft),
    maySpawn: draft.maySpawn ?? (role.name === MAIN || speaksText(role, option)),
    ...(permissions === null ? {} : { permissions }),
    ...effortOf(look, draft, role),
  };
}

/** What a rule holds at `ask` can be allowed by nobody. */
function checkPermissions({ context, faults }: Look, task: string | null, permissions: Permissions = {}): void {
  for (const what of PERMITTED) {
    const problem = permissions[what] === 'allow' ? (context.permissionProblem?.(what) ?? null) : null;
    if (problem !== null) faults.push({ task, problem: `${what} can't be allowed: ${problem}` });
  }
}

function globsOf(look: Look, draft: DraftTask, role: PlannedRole): readonly string[] {
  const said = draft.writes?.map((glob) => seenText(glob).trim());
  for (const glob of said ?? []) {
    const problem = globProblem(glob);
    if (problem !== null) look.faults.push({ task: draft.id, problem: `writes: ${problem}` });
  }
  return writesOf(said, role);
}

/** Tasks that are gone meanwhile are left out. */
function alongsideIn(look: Look, draft: DraftTask): Pick<PlanTask, 'alongside'> {
  const others = [...new Set(draft.alongside)].flatMap((id) => (id === draft.id ? [] : (idOf(look, id) ?? [])));
  return others.length === 0 ? {} : { alongside: others };
}

/** The role's where the task names none; what is more than the rules allow is lowered to that. */
const effortOf = ({ context }: Look, draft: DraftTask, role: PlannedRole): Pick<PlanTask, 'effort'> =>
  withEffort(cappedEffort(draft.effort ?? role.effort, context.choices.limits.maxEffort?.value));

/** Both spellings of one field; given differently they are a fault, and the person's one is taken on. */
function oneOf(look: Look, task: string, person: Named, planner: Named): string | undefined {
  if (person.value !== undefined && planner.value !== undefined && person.value !== planner.value) {
    const problem = `${person.name} is "${person.value}", but ${planner.name} is "${planner.value}"; give one of them`;
    look.faults.push({ task, problem });
  }
  return person.value ?? planner.value;
}
interface Named {
  readonly name: string;
  readonly value: string | undefined;
}

function roleOf(look: Look, draft: DraftTask): PlannedRole | null {
  const person = { name: 'role', value: draft.role };
  const asked = oneOf(look, draft.id, person, { name: 'recommendedRole', value: draft.recommendedRole });
  if (asked === undefined || asked === '') {
    look.faults.push({ task: draft.id, problem: `it has no role; known roles: ${knownRoles(look)}` });
    return null;
  }
  const role = look.roles.get(asked) ?? null;
  const unknown = role === null ? `there is no role "${asked}"; known roles: ${knownRoles(look)}` : null;
  const problem = mainProblem(look, asked) ?? look.context.roleProblem(asked) ?? unknown;
  if (problem !== null) look.faults.push({ task: draft.id, problem });
  return problem === null ? role : null;
}

/** Agents without tool calls have children by an echo in their shell, which is how they work. */
const speaksText = ({ protocol }: PlannedRole, model: ModelOption | undefined): boolean =>
  protocol === 'text' || model?.protocol === 'text';

const mainProblem = ({ mayBeMain }: Look, role: string): string | null =>
  role === MAIN && !mayBeMain
    ? 'the role "main" does the work of a plan of one task; give this task another role'
    : null;

/** Names of the roles that a task of this plan can have. */
const knownRoles = ({ roles, mayBeMain }: Look): string =>
  [...roles.values()].flatMap(({ name, single }) => (single === true && !mayBeMain ? [] : [name])).join(', ');

function modelOf(look: Look, draft: DraftTask, role: PlannedRole): ModelChoice | null {
  const person = { name: 'model', value: draft.model };
  const asked = oneOf(look, draft.id, person, { name: 'recommendedModel', value: draft.recommendedModel });
  if (asked === undefined || asked === '') return role.model;
  const choice = look.context.resolveModel(asked, role.name);
  if (choice.ok) return choice.value;
  look.faults.push({ task: draft.id, problem: choice.fault });
  return null;
}

/** The role's tools, or those of them that were named. Names that no role knows are dropped. */
function toolsOf(look: Look, draft: DraftTask, role: PlannedRole): readonly string[] {
  if (draft.tools === undefined || draft.tools.includes('*')) return role.tools;
  const known = [...new Set(draft.tools)].filter((tool) => look.tools.has(tool));
  const everything = role.tools.includes('*');
  const tooMany = everything ? [] : known.filter((tool) => !role.tools.includes(tool));
  const has = `${role.name} has ${role.tools.join(', ')}`;
  if (tooMany.length > 0) {
    look.faults.push({ task: draft.id, problem: `the role has no tool ${tooMany.join(', ')}; ${has}` });
  }
  // Dropping all of them must not quietly make an agent that can do nothing.
  if (known.length === 0 && draft.tools.length > 0) {
    look.faults.push({ task: draft.id, problem: `none of its tools is known: ${draft.tools.join(', ')}; ${has}` });
  }
  return known;
}

const limitOf = ({ context }: Look, role: PlannedRole): Budget => role.limit ?? context.choices.limits.agent;

function checkBudget(look: Look, draft: DraftTask, role: PlannedRole): void {
  const limit = limitOf(look, role);
  const over = (what: string, asked: number | undefined, most: number | undefined): void => {
    if (asked === undefined || most === undefined || asked <= most) return;
    look.faults.push({ task: draft.id, problem: `its budget of ${what} is ${asked}; one agent may use ${most}` });
  };
  over('tokens', draft.budget?.maxTokens, limit.maxTokens);
  over('dollars', draft.budget?.maxCost, limit.maxCost);
  over('milliseconds', draft.budget?.maxDuration, limit.maxDuration);
}

function needsOf(look: Look, draft: DraftTask): readonly TaskId[] {
  const person = unique(draft.dependsOn);
  const planner = unique(draft.dependencies);
  if (person !== undefined && planner !== undefined && !sameSet(person, planner)) {
    look.faults.push({ task: draft.id, problem: 'dependsOn and dependencies differ; give one of them' });
  }
  return (person ?? planner ?? []).flatMap((need) => {
    const id = idOf(look, need);
    if (id !== null) return [id];
    const written = look.ids.get(folded(need))?.written;
    const hint = written === undefined || written === need ? '' : `; did you mean "${written}"?`;
    look.faults.push({ task: draft.id, problem: `it depends on "${need}", which is no task of this plan${hint}` });
    return [];
  });
}

/** The id of a task of this plan, spelt exactly so; null when there is none. */
function idOf(look: Look, text: string): TaskId | null {
  const known = look.ids.get(folded(text));
  return known?.written === text ? known.id : null;
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each) => b.includes(each));
const unique = (ids: readonly string[] | undefined): readonly string[] | undefined => ids && [...new Set(ids)];

/** The id that the task at `path` gives itself, for a fault that was found before anything was parsed. */
function idAt(json: unknown, path: readonly PropertyKey[]): string | null {
  if (path[0] !== 'tasks' || typeof path[1] !== 'number') return null;
  const tasks: unknown = typeof json === 'object' && json !== null ? Reflect.get(json, 'tasks') : null;
  const task: unknown = Array.isArray(tasks) ? tasks[path[1]] : null;
  const id: unknown = typeof task === 'object' && task !== null ? Reflect.get(task, 'id') : null;
  return typeof id === 'string' ? id.slice(0, 64) : null;
}

// The order of tasks in a plan: everything after what it needs, otherwise as it was written. Finds the cycles that make
// such an order impossible. Knows ids and needs only; linear, without recursion, so that a plan of thousands is no matter.

/** Cycles named in full; a plan made of nothing but cycles need not list them all. */
const CYCLES_NAMED = 5;

interface Order<Id> {
  readonly order: readonly Id[];
  /** Each cycle as a path that ends where it begins; empty when `order` is sound. */
  readonly cycles: readonly (readonly Id[])[];
}

/** Walks `ids` as written and puts what each one needs before it. Needs that are not among the ids are not looked at. */
function orderOf<Id extends string>(ids: readonly Id[], needsOf: (id: Id) => readonly Id[]): Order<Id> {
  const walk: Walk<Id> = { known: new Set(ids), state: new Map(), path: [], order: [], cycles: [] };
  for (const id of ids) {
    if (walk.state.has(id)) continue;
    enter(walk, id, needsOf);
    while (walk.path.length > 0) step(walk, needsOf);
  }
  return { order: walk.order, cycles: walk.cycles };
}

interface Walk<Id> {
  readonly known: ReadonlySet<Id>;
  readonly state: Map<Id, 'open' | 'done'>;
  readonly path: { readonly id: Id; readonly needs: readonly Id[]; next: number }[];
  readonly order: Id[];
  readonly cycles: (readonly Id[])[];
}

function enter<Id>(walk: Walk<Id>, id: Id, needsOf: (id: Id) => readonly Id[]): void {
  walk.state.set(id, 'open');
  walk.path.push({ id, needs: needsOf(id), next: 0 });
}

function step<Id>(walk: Walk<Id>, needsOf: (id: Id) => readonly Id[]): void {
  const top = walk.path.at(-1);
  if (top === undefined) return;
  const need = top.needs[top.next];
  if (need === undefined) {
    walk.state.set(top.id, 'done');
    walk.order.push(top.id);
    walk.path.pop();
    return;
  }
  top.next += 1;
  const state = walk.state.get(need);
  if (state === 'open') noteCycle(walk, need);
  else if (state === undefined && walk.known.has(need)) enter(walk, need, needsOf);
}

function noteCycle<Id>(walk: Walk<Id>, start: Id): void {
  if (walk.cycles.length >= CYCLES_NAMED) return;
  const from = walk.path.findIndex(({ id }) => id === start);
  walk.cycles.push([...walk.path.slice(from).map(({ id }) => id), start]);
}
