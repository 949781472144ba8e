/** Texts about a plan: while it streams as JSON, and what its tasks may do, may change and wait for. */
import type { Trigger } from '../../../domain/agents/agent.ts';
import type { ModelId } from '../../../domain/ids.ts';
import type { Effort } from '../../../domain/models/provider.ts';
import type { Permission, Permitted, PlanChoices, PlanTask, SoundPlan } from '../../../domain/plan/plan.ts';
import { allowedWords, permissionsOf, PERMITTED } from '../../../domain/plan/plan.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import type { Mode } from '../../../domain/reason.ts';
import { alongsideOf, writesText } from '../../../domain/plan/writes.ts';
import { plural } from '../text/format.ts';
import { toTerminal } from '../text/sanitise.ts';

const ROLE = /"(?:recommendedRole|role)"\s*:\s*"([^"]+)"/g;

/** `Planned 3 tasks: 1 finder, 2 reviewer.`; null if the text is no plan. Accepts a plan that still streams. */
export function planWords(text: string): string | null {
  const json = jsonIn(text);
  if (json === null || !TASKS.test(json.text)) return null;
  const roles = [...json.text.matchAll(ROLE)].map(([, role = '']) => role);
  const words = roles.length === 0 ? 'Planning …' : plannedText(roles);
  return json.before === '' ? words : `${json.before}\n\n${words}`;
}

function plannedText(roles: readonly string[]): string {
  const counts = [...new Set(roles)].map((role) => `${roles.filter((one) => one === role).length} ${role}`);
  return `Planned ${plural(roles.length, 'task')}: ${counts.join(', ')}. (p shows the plan)`;
}

/** A plan that still streams. */
export interface PlanSoFar {
  /** The planner's text before the plan. */
  readonly said: string;
  readonly reason: string;
  /** The tasks so far. `whole` is false while the description is incomplete. */
  readonly tasks: readonly { readonly role: string; readonly description: string; readonly whole: boolean }[];
}

/** JSON that begins at the start of a line, with or without a code fence. */
const OPENING = /(?:^|\n)[ \t]*(?:```(?:json)?\s*)?(?=\{\s*(?:"|$))/;
const TASKS = /"tasks"\s*:/;
const FIRST_KEYS = ['reason', 'tasks', 'summary'];

function jsonIn(text: string): { readonly before: string; readonly text: string } | null {
  const start = OPENING.exec(text);
  if (start === null) return null;
  return { before: text.slice(0, start.index).trim(), text: text.slice(start.index + start[0].length) };
}

/** Parses the beginning of a streamed plan; null if the text is no plan. */
export function planSoFar(text: string): PlanSoFar | null {
  const json = jsonIn(text);
  if (json === null) return null;
  const at = json.text.search(TASKS);
  const head = at === -1 ? json.text : json.text.slice(0, at);
  const [, key = ''] = /^\{\s*"(\w*)/.exec(head) ?? [];
  // Another kind of JSON, such as a structured answer.
  if (at === -1 && !FIRST_KEYS.some((one) => one.startsWith(key))) return null;
  return {
    said: json.before,
    reason: stringOf('reason', head)?.text ?? '',
    tasks: at === -1 ? [] : objectsIn(json.text.slice(at)).map(taskOf),
  };
}

/** `writing the plan: 3 tasks so far` */
export const writingWords = ({ tasks }: PlanSoFar): string =>
  tasks.length === 0 ? 'writing the plan' : `writing the plan: ${plural(tasks.length, 'task')} so far`;

function taskOf(json: string): PlanSoFar['tasks'][number] {
  const description = stringOf('description', json);
  const role = stringOf('recommendedRole', json) ?? stringOf('role', json);
  return {
    role: role?.whole === true ? role.text : '',
    description: description?.text ?? '',
    whole: description?.whole ?? false,
  };
}

function stringOf(key: string, json: string): { readonly text: string; readonly whole: boolean } | null {
  const [, value, end] = new RegExp(`"${key}"\\s*:\\s*"((?:[^"\\\\]|\\\\[^])*)(")?`).exec(json) ?? [];
  return value === undefined ? null : { text: decodeEscapes(value), whole: end !== undefined };
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: ' ', r: '', b: '', f: '' };

/** Decodes JSON escapes and sanitises the result; an escape that is cut off is dropped. */
const decodeEscapes = (text: string): string =>
  toTerminal(
    text
      .replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '')
      .replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, code: string | undefined, char: string | undefined) =>
        code === undefined ? (ESCAPED[char ?? ''] ?? char ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
      ),
  );

/** The texts of the objects in an array that may be unfinished. */
function objectsIn(json: string): readonly string[] {
  const objects: string[] = [];
  let depth = 0;
  let from = -1;
  const signs = /"(?:[^"\\]|\\[^])*(?:"|$)|[{}[\]]/g;
  for (const { 0: sign, index } of json.matchAll(signs)) {
    if (sign === '{' && depth++ === 0) from = index;
    if (sign === '}' && --depth === 0) objects.push(json.slice(from, index + 1));
    if (depth < 0 || (sign === ']' && depth === 0)) return objects;
  }
  return depth > 0 ? [...objects, json.slice(from)] : objects;
}

const WHEN: Readonly<Record<Trigger, string>> = {
  'on-write': 'after tasks that write',
  'on-commit': 'before each commit',
  always: 'runs last',
  manual: 'started by you',
};

/** `after tasks that write, runs last`. */
export const triggerWords = (triggers: readonly Trigger[]): string =>
  triggers.map((trigger) => WHEN[trigger]).join(', ');

const PERMISSION_NOTES: Readonly<Record<Permitted, string>> = {
  edits: "within each task's writes",
  commands: 'in the sandbox, no network',
};

/** What a task may do without approval: `edits allowed, asks before commands`. The plan's permissions matter in mode confirm only. */
export function approvalText(plan: SoundPlan, task: PlanTask, mode: Mode): string {
  if (mode === 'human') return 'asks before everything (mode human)';
  if (mode === 'yolo') return 'asks only before destructive commands (mode yolo)';
  const permissions = permissionsOf(plan, task);
  const allowed = allowedWords(permissions);
  const asked = PERMITTED.filter((what) => permissions[what] !== 'allow').join(' and ');
  return [allowed === '' ? '' : `${allowed} allowed`, asked === '' ? '' : `asks before ${asked}`]
    .filter((part) => part !== '')
    .join(', ');
}

/** The permissions of the plan for a header: `edits allowed`, `edits allowed for #2`; empty if everything asks. */
export const planAllows = (plan: SoundPlan): string =>
  PERMITTED.flatMap((what) => {
    const places = plan.tasks.flatMap((task, at) =>
      permissionsOf(plan, task)[what] === 'allow' ? [`#${at + 1}`] : [],
    );
    if (places.length === 0) return [];
    return [`${what} allowed${places.length === plan.tasks.length ? '' : ` for ${places.join(' ')}`}`];
  }).join(', ');

type PermissionsEdit = Extract<PlanEdit, { readonly is: 'permissions' }>;

interface PermissionChoice {
  readonly value: string;
  /** `Allow edits, all tasks` */
  readonly label: string;
  /** Explains the choice in one clause. */
  readonly note: string;
  readonly edit: PermissionsEdit;
}

/** The choices: each permission for all tasks, both at once, and each for the selected task. */
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
  task: PermissionsEdit['task'],
  scope: string,
  what: readonly Permitted[],
  to: Permission,
): PermissionChoice {
  const permissions = Object.fromEntries(what.map((one) => [one, to]));
  const names = what.join(' and ');
  return {
    value: `${to} ${what.join(',')} ${task ?? 'all'}`,
    label: `${to === 'allow' ? 'Allow' : 'Ask for'} ${names}, ${scope}`,
    note: to === 'ask' ? 'asks each time' : what.length > 1 ? 'without approval' : PERMISSION_NOTES[what[0] ?? 'edits'],
    edit: { is: 'permissions', task, permissions },
  };
}

interface Shown {
  readonly effort?: Effort;
  readonly model: { readonly used: ModelId };
  readonly withoutEffort?: readonly ModelId[];
}

/** The effort of a task or an agent, with the rule that caps it and whether the model supports it; null if no effort is set. */
export function effortText({ effort, model, withoutEffort = [] }: Shown, choices: PlanChoices | null): string | null {
  if (effort === undefined) return null;
  const option = choices?.models.find(({ id }) => id === model.used);
  const refused = option?.effort === false || withoutEffort.includes(model.used);
  const name = option?.label ?? model.used;
  const most = capText(effort, choices);
  return [effort, ...most, ...(refused ? [`${name} does not support it`] : [])].join('; ');
}

function capText(effort: Effort, choices: PlanChoices | null): readonly string[] {
  const max = choices?.limits.maxEffort;
  return max?.value === effort && effort !== 'high' ? [`capped: ${max.because}`] : [];
}

/** The files that a task may change: `the whole project`, `src/**, docs/**` or `nothing`; null if its role cannot write. */
export const writableText = (task: PlanTask, canWrite: boolean): string | null =>
  canWrite || task.writes.length > 0 ? writesText(task.writes) : null;

/** The order of a task in lines: `after #2 tester: both may change src/**`. */
export const orderLines = (plan: SoundPlan, task: PlanTask): readonly string[] => [
  ...(task.after ?? []).map((one) => `after ${nameOf(plan, one.task)}: ${one.because}`),
  ...alongsideOf(plan, task).map(
    (other) => `takes turns with ${nameOf(plan, other.id)}: the one that is ready first goes first`,
  ),
];

/** The tasks with which it may take turns: those ordered before or after it, and those with which it does. */
export function turnCandidates(plan: SoundPlan, task: PlanTask): readonly PlanTask[] {
  const beside = alongsideOf(plan, task);
  const isOrdered = (a: PlanTask, b: PlanTask): boolean => (a.after ?? []).some((one) => one.task === b.id);
  return plan.tasks.filter((other) => isOrdered(task, other) || isOrdered(other, task) || beside.includes(other));
}

function nameOf({ tasks }: SoundPlan, id: string): string {
  const at = tasks.findIndex((task) => task.id === id);
  return at === -1 ? id : `#${at + 1} ${tasks[at]?.role ?? ''}`;
}

const MAY: Readonly<Record<Permitted, string>> = { edits: 'change files', commands: 'run commands' };

/** What an unattended run will deny; empty if no task needs approval. */
export function unattendedWords(tasks: Readonly<Record<Permitted, readonly string[]>>): string {
  const kinds = PERMITTED.filter((what) => tasks[what].length > 0);
  if (kinds.length === 0) return '';
  const parts = kinds.map((what, at) => {
    const count = tasks[what].length;
    return `${count}${at > 0 ? '' : count === 1 ? ' task' : ' tasks'} may ${MAY[what]}`;
  });
  const denied = 'nobody can answer questions, so these are denied';
  return `${parts.join(' and ')}; ${denied}. Allow them with --allow ${kinds.join(',')}.`;
}
