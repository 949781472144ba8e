/** The files that tasks may change: the defaults, which tasks have to wait for each other because they may change the same files, and the
 * texts for all screens. Globs are in text/glob.ts. */
import type { TaskId } from '../ids.ts';
import type { PlanChoices, PlanTask, SoundPlan, TaskOrder } from './plan.ts';
import { coversAll, meetingGlobs } from '../text/glob.ts';

/** The `writes` of a task that may change every file. */
export const WHOLE_PROJECT: readonly string[] = ['**'];

/** Roles that can write but usually only read: by default their tasks change nothing. */
const LOOKING: ReadonlySet<string> = new Set(['oracle']);

/** The files that a task of this role may change: as given, otherwise the whole project; none for roles that cannot write. */
export function writesOf(
  said: readonly string[] | undefined,
  role: { readonly name: string; readonly capabilities: readonly string[] },
): readonly string[] {
  if (!role.capabilities.includes('write')) return [];
  if (said === undefined) return LOOKING.has(role.name) ? [] : WHOLE_PROJECT;
  return coversAll(said) ? WHOLE_PROJECT : [...new Set(said)];
}

/** `in a tree of its own` or `in the project`. */
export const treeText = ({ tree }: Pick<PlanTask, 'tree'>): string =>
  tree === 'own' ? 'in a tree of its own' : 'in the project';

/** `in a tree of its own, prepared by "npm ci", merged when it is done`; null for a task in the project. */
export const ownTreeText = (
  task: Pick<PlanTask, 'tree'>,
  choices: Pick<PlanChoices, 'treeSetup'> | null,
): string | null => {
  const setup = choices?.treeSetup;
  const prepared = setup === undefined ? '' : `, prepared by ${JSON.stringify(setup)}`;
  return task.tree === 'own' ? `${treeText(task)}${prepared}, merged when it is done` : null;
};

/** `src/**, docs/**`, `the whole project` or `nothing`. */
export function writesText(writes: readonly string[]): string {
  if (writes.length === 0) return 'nothing';
  return coversAll(writes) ? 'the whole project' : writes.join(', ');
}

/** The tasks with what each waits for, for the order alone: of two that may change the same file and do not wait for each other anyway, the later one
 * in the plan waits for the earlier one. `tasks` are in topological order, and stay so. A pair that takes turns (`alongside`), or of which one
 * works in a tree of its own, is left as it is. */
export function putInOrder(tasks: readonly PlanTask[]): readonly PlanTask[] {
  const places = new Map(tasks.map(({ id }, place) => [id, place]));
  const meetings = new Map<string, string | null>();
  /** For each task, the positions of all tasks that it waits for, directly or indirectly. */
  const before: Places[] = [];
  return tasks.map((task, place) => {
    const waits = new Places(tasks.length);
    before.push(waits);
    for (const need of task.dependsOn) waits.addWith(places.get(need), before);
    const after: TaskOrder[] = [];
    // The nearest first, because the tasks that it waits for then need no entry.
    for (let other = place - 1; other >= 0; other -= 1) {
      const earlier = tasks[other];
      if (earlier === undefined || waits.has(other) || areAlongside(earlier, task)) continue;
      const because = whyMeet(meetings, earlier, task);
      if (because === null) continue;
      after.push({ task: earlier.id, because });
      waits.addWith(other, before);
    }
    const { after: _before, ...rest } = task;
    return after.length === 0 ? rest : { ...rest, after: after.toReversed() };
  });
}

class Places {
  private readonly bits: Uint32Array;

  constructor(size: number) {
    this.bits = new Uint32Array(Math.ceil(size / 32));
  }

  has(place: number): boolean {
    return ((this.bits[place >>> 5] ?? 0) & (1 << (place & 31))) !== 0;
  }

  /** `place` and the positions of all tasks that its task waits for. */
  addWith(place: number | undefined, before: readonly Places[]): void {
    const more = place === undefined ? undefined : before[place];
    if (place === undefined || more === undefined) return;
    for (const [index, word] of more.bits.entries()) this.bits[index] = (this.bits[index] ?? 0) | word;
    this.bits[place >>> 5] = (this.bits[place >>> 5] ?? 0) | (1 << (place & 31));
  }
}

/** Whether a person lets the two take turns where they may change the same files: neither waits for the other's result. */
const areAlongside = (a: PlanTask, b: PlanTask): boolean =>
  (a.alongside ?? []).includes(b.id) || (b.alongside ?? []).includes(a.id);

/** Does one of the two work in a tree of its own, so that nothing of the other's files changes under it? */
const areInOwnTrees = (a: PlanTask, b: PlanTask): boolean => a.tree === 'own' || b.tree === 'own';

/** Many tasks of a long plan have the same globs. */
function whyMeet(known: Map<string, string | null>, a: PlanTask, b: PlanTask): string | null {
  if (a.writes.length === 0 || b.writes.length === 0 || areInOwnTrees(a, b)) return null;
  const key = JSON.stringify([a.writes, b.writes]);
  const found = known.get(key);
  if (found !== undefined) return found;
  const because = meetingText(a.writes, b.writes);
  known.set(key, because);
  return because;
}

/** `both may change src/**`; null if no file can match both. */
function meetingText(a: readonly string[], b: readonly string[]): string | null {
  const pair = meetingGlobs(a, b);
  if (pair === null) return null;
  const [one, other] = pair;
  if (one === other) return `both may change ${writesText([one])}`;
  if (coversAll([one])) return `both may change ${other}`;
  return coversAll([other]) ? `both may change ${one}` : `${one} and ${other} may be the same files`;
}

/** Whether the two may change the same file, so that they never run at the same time. */
export const mustBeApart = (a: PlanTask, b: PlanTask): boolean =>
  a.id !== b.id && !areInOwnTrees(a, b) && meetingText(a.writes, b.writes) !== null;

/** Whether no order keeps the two apart. */
export const takeTurns = (a: PlanTask, b: PlanTask): boolean => areAlongside(a, b) && mustBeApart(a, b);

/** All tasks that a task waits for: its dependencies, and those it is ordered after. */
export const waitsFor = ({ dependsOn, after = [] }: PlanTask): readonly TaskId[] =>
  after.length === 0 ? dependsOn : [...dependsOn, ...after.map(({ task }) => task)];

/** The tasks with which this one takes turns because a person removed the order. */
export const alongsideOf = (plan: SoundPlan, task: PlanTask): readonly PlanTask[] =>
  plan.tasks.filter((other) => other.id !== task.id && areAlongside(task, other));
