/** Views of a sound plan: stages, dependants, totals, the schedule, and the two spellings for files and programs. Pure; nothing here decides anything.
 */
import type { MandatoryReview } from '../agents/agent.ts';
import { fromMicro, type TaskId, toMicro, type Usd } from '../ids.ts';
import type { PlanTask, SoundPlan } from './plan.ts';
import { type DraftCheck, USUAL_ATTEMPTS, writtenCheck } from './task-checks.ts';
import { takeTurns, waitsFor } from './writes.ts';

/** Tasks by their longest chain of dependencies. For display only: a task starts as soon as its own dependencies are done. */
export function wavesOf(plan: SoundPlan): readonly (readonly PlanTask[])[] {
  const waveOf = new Map<TaskId, number>();
  const waves: PlanTask[][] = [];
  for (const task of plan.tasks) {
    const wave = waitsFor(task).reduce((last, need) => Math.max(last, (waveOf.get(need) ?? 0) + 1), 0);
    waveOf.set(task.id, wave);
    (waves[wave] ??= []).push(task);
  }
  return waves;
}

/** The number of stages: the waves, plus one if reviews run at the end. */
export const stagesOf = (plan: SoundPlan): number =>
  wavesOf(plan).length + ((plan.forced ?? []).some(({ runs, after }) => runs > after.length) ? 1 : 0);

/** The tasks that depend on `id` directly, in plan order. */
export const dependantsOf = (plan: SoundPlan, id: TaskId): readonly PlanTask[] =>
  plan.tasks.filter((task) => task.dependsOn.includes(id));

export interface PlanTotals {
  readonly tokens: number;
  /** US dollars; null if a price is unknown. */
  readonly cost: Usd | null;
  readonly knownCost: Usd;
  /** From the first start to the last end under `maxParallel`. */
  readonly seconds: number;
}

export function totalsOf(plan: SoundPlan, maxParallel: number): PlanTotals {
  let [tokens, micro, seconds] = [0, 0, 0];
  for (const task of plan.tasks) {
    tokens += task.estimatedTokens;
    micro += toMicro(task.estimatedCost ?? 0);
  }
  for (const slot of scheduleOf(plan, maxParallel)) seconds = Math.max(seconds, slot.end);
  for (const review of reviewsOf(plan, maxParallel)) seconds = Math.max(seconds, review.end);
  for (const { runs, estimatedTokens, estimatedCost } of plan.forced ?? []) {
    tokens += runs * estimatedTokens;
    micro += runs * toMicro(estimatedCost ?? 0);
  }
  const parts = [...plan.tasks, ...(plan.forced ?? []).filter(({ runs }) => runs > 0)];
  const priced = parts.every(({ estimatedCost }) => estimatedCost !== null);
  return { tokens, cost: priced ? fromMicro(micro) : null, knownCost: fromMicro(micro), seconds };
}

/** The duration of the reviews after a task, before its dependants may start. */
const reviewSeconds = (plan: SoundPlan, { id }: PlanTask): number =>
  (plan.forced ?? []).reduce((sum, node) => sum + (node.after.includes(id) ? node.estimatedSeconds : 0), 0);

interface Time {
  readonly start: number;
  readonly end: number;
}

/** When a task would run, in seconds from the start, including the mandatory reviews of its work. */
export interface Slot extends Time {
  readonly id: TaskId;
  /** Part of the chain without gaps that determines the end of the run. */
  readonly critical: boolean;
}

/** One slot per task, in plan order, as the scheduler would start them if all estimates were exact. */
export function scheduleOf(plan: SoundPlan, maxParallel: number): readonly Slot[] {
  const known = SCHEDULES.get(plan);
  if (known?.maxParallel === maxParallel) return known.slots;
  const times = timesOf(plan, Math.max(1, maxParallel));
  const critical = criticalOf(plan, times);
  const slots = plan.tasks.map(({ id }): Slot => {
    return { id, ...(times.get(id) ?? { start: 0, end: 0 }), critical: critical.has(id) };
  });
  SCHEDULES.set(plan, { maxParallel, slots });
  return slots;
}

/** When one mandatory review would run, in seconds from the start. */
export interface ReviewSlot extends Time {
  /** Index of its node among the plan's mandatory reviews. */
  readonly node: number;
}

/** All expected mandatory reviews: after the tasks that they judge, the others one after the other when all tasks are done. */
export function reviewsOf(plan: SoundPlan, maxParallel: number): readonly ReviewSlot[] {
  const slots = scheduleOf(plan, maxParallel);
  const forced = plan.forced ?? [];
  const behind = slots.flatMap(({ id, end }) => {
    let at = end;
    // The last of them ends with the slot of the task.
    return forced.flatMap(({ after, estimatedSeconds }, node) => {
      if (!after.includes(id)) return [];
      const start = at - estimatedSeconds;
      const slot = { node, start, end: at };
      at = start;
      return [slot];
    });
  });
  let now = slots.reduce((last, { end }) => Math.max(last, end), 0);
  const atTheEnd = forced.flatMap(({ runs, after, estimatedSeconds }, node) =>
    Array.from({ length: Math.max(0, runs - after.length) }, (): ReviewSlot => {
      const start = now;
      now += estimatedSeconds;
      return { node, start, end: now };
    }),
  );
  return [...behind, ...atTheEnd];
}

/** A plan never changes in place, and a screen asks for its schedule several times a frame. */
const SCHEDULES = new WeakMap<SoundPlan, { readonly maxParallel: number; readonly slots: readonly Slot[] }>();

function timesOf(plan: SoundPlan, maxParallel: number): ReadonlyMap<TaskId, Time> {
  const open = new Map(plan.tasks.map((task) => [task.id, new Set(waitsFor(task)).size]));
  const waiting = Map.groupBy(
    plan.tasks.flatMap((task) => [...new Set(waitsFor(task))].map((need) => ({ need, task }))),
    ({ need }) => need,
  );
  const places = new Map(plan.tasks.map((task, place) => [task.id, place]));
  const times = new Map<TaskId, Time>();
  let ready = plan.tasks.filter(({ id }) => open.get(id) === 0);
  let running: PlanTask[] = [];
  let now = 0;
  while (ready.length > 0 || running.length > 0) {
    for (const task of ready) {
      if (running.length >= maxParallel) break;
      if (running.some((other) => takeTurns(task, other))) continue;
      times.set(task.id, { start: now, end: now + task.estimatedSeconds + reviewSeconds(plan, task) });
      running.push(task);
    }
    ready = ready.filter(({ id }) => !times.has(id));
    const endOf = (task: PlanTask): number => times.get(task.id)?.end ?? now;
    now = running.reduce((soonest, task) => Math.min(soonest, endOf(task)), Number.POSITIVE_INFINITY);
    const ended = running.filter((task) => endOf(task) <= now);
    running = running.filter((task) => endOf(task) > now);
    const freed = ended.flatMap(({ id }) => waiting.get(id) ?? []).map(({ task }) => task);
    const fresh = freed.filter((next) => isReady(open, next));
    if (fresh.length === 0) continue;
    ready = [...ready, ...fresh].sort((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  }
  return times;
}

/** Counts one dependency of `task` as done; true if it was the last. */
function isReady(open: Map<TaskId, number>, task: PlanTask): boolean {
  const left = (open.get(task.id) ?? 1) - 1;
  open.set(task.id, left);
  return left === 0;
}

/** Goes back from the task that ends last: it waited for a dependency, or otherwise for a free slot. */
function criticalOf(plan: SoundPlan, times: ReadonlyMap<TaskId, Time>): ReadonlySet<TaskId> {
  const timeOf = (task: PlanTask): Time => times.get(task.id) ?? { start: 0, end: 0 };
  const byEnd = Map.groupBy(plan.tasks, (task) => timeOf(task).end);
  const last = plan.tasks.reduce((latest, task) => Math.max(latest, timeOf(task).end), 0);
  const chain = new Set<TaskId>();
  let at = byEnd.get(last)?.[0];
  while (at !== undefined && !chain.has(at.id)) {
    chain.add(at.id);
    const { start } = timeOf(at);
    const needs = waitsFor(at);
    const before = start === 0 ? [] : (byEnd.get(start) ?? []);
    at = before.find(({ id }) => needs.includes(id)) ?? before[0];
  }
  return chain;
}

/** A plan as it is printed. `forced` is for information: a plan that is read gets it from policy, whatever it contains. */
interface Printed<Task> extends Omit<SoundPlan, 'tasks' | 'forced'> {
  readonly tasks: readonly Task[];
  readonly forced?: readonly (Omit<MandatoryReview, 'model'> & { readonly model: string })[];
}

/** `after` of a task is for information too: a plan that is read gets it from the check. */
const printed = <Task>(
  { reason, tasks, forced = [], ...others }: SoundPlan,
  form: (task: PlanTask) => Task,
): Printed<Task> => ({
  reason,
  tasks: tasks.map(form),
  ...others,
  ...(forced.length === 0 ? {} : { forced: forced.map((node) => ({ ...node, model: node.model.used })) }),
});

/** A task as `--json` prints it: the planner's fields, and the resulting values. */
const plannerTask = ({ id, description, role, model, dependsOn, ...others }: PlanTask) => ({
  id,
  description,
  recommendedRole: role,
  recommendedModel: model.asked,
  usedModel: model.used,
  modelReason: model.because,
  dependencies: dependsOn,
  ...others,
});

/** The planner's spelling. Reads back to the same plan under the same rules. */
export const toPlannerForm = (plan: SoundPlan): Printed<ReturnType<typeof plannerTask>> => printed(plan, plannerTask);

type Own = 'id' | 'role' | 'model' | 'dependsOn' | 'alongside' | 'checks' | 'attempts';

/** A task as a person writes it in a plan file. */
export interface PersonTask extends Omit<PlanTask, Own | 'estimatedCost' | 'estimatedSeconds'> {
  readonly id: string;
  readonly role: string;
  readonly model: string;
  readonly dependsOn: readonly string[];
  readonly alongside?: readonly string[];
  readonly checks?: readonly DraftCheck[];
  readonly attempts?: number;
}

const personTask = ({
  id,
  description,
  role,
  model,
  estimatedCost: _cost,
  estimatedSeconds: _seconds,
  checks,
  attempts,
  ...others
}: PlanTask): PersonTask => ({
  id,
  description,
  role,
  model: model.asked,
  ...others,
  ...(checks !== undefined && { checks: checks.map(writtenCheck) }),
  ...(attempts !== undefined && attempts !== USUAL_ATTEMPTS && { attempts }),
});

/** The person's spelling. Reads back to the same plan under the same rules. */
export const toPersonForm = (plan: SoundPlan): Printed<PersonTask> => printed(plan, personTask);
