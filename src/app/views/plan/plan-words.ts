/** A planner's answer is JSON for the program; people read what it comes to. The plan itself has a screen of its own. */
import type { Trigger } from '../../../domain/agents/mandatory-review.ts';
import { counted } from '../text/format.ts';
import { toTerminal } from '../text/sanitise.ts';

const ROLE = /"(?:recommendedRole|role)"\s*:\s*"([^"]+)"/g;

/** `Planned 3 tasks: 1 finder, 2 reviewer.`; null where the text is no plan. Of one that streams, what is there so far. */
export function planWords(text: string): string | null {
  const json = jsonIn(text);
  if (json === null || !TASKS.test(json.text)) return null;
  const roles = [...json.text.matchAll(ROLE)].map(([, role = '']) => role);
  const words = roles.length === 0 ? 'Planning …' : plannedWords(roles);
  return json.before === '' ? words : `${json.before}\n\n${words}`;
}

function plannedWords(roles: readonly string[]): string {
  const counts = [...new Set(roles)].map((role) => `${roles.filter((one) => one === role).length} ${role}`);
  return `Planned ${counted(roles.length, 'task')}: ${counts.join(', ')}. (p shows the plan)`;
}

/** A plan while it is written. */
export interface PlanSoFar {
  /** What the planner said before it began. */
  readonly said: string;
  /** The reason for the plan, as far as it is written. */
  readonly reason: string;
  /** Tasks that were begun. A description is empty, and `whole` false, while it is being written. */
  readonly tasks: readonly { readonly role: string; readonly description: string; readonly whole: boolean }[];
}

/** JSON that begins at the start of a line, in a fence or without one. */
const OPENING = /(?:^|\n)[ \t]*(?:```(?:json)?\s*)?(?=\{\s*(?:"|$))/;
const TASKS = /"tasks"\s*:/;
/** The keys of which one stands first in a plan. */
const FIRST_KEYS = ['reason', 'tasks', 'summary'];

function jsonIn(text: string): { readonly before: string; readonly text: string } | null {
  const start = OPENING.exec(text);
  if (start === null) return null;
  return { before: text.slice(0, start.index).trim(), text: text.slice(start.index + start[0].length) };
}

/** What there is of a plan that streams, or null when the text isn't one. What is cut off in the middle is taken as far as it goes. */
export function planSoFar(text: string): PlanSoFar | null {
  const json = jsonIn(text);
  if (json === null) return null;
  const at = json.text.search(TASKS);
  const head = at === -1 ? json.text : json.text.slice(0, at);
  const [, key = ''] = /^\{\s*"(\w*)/.exec(head) ?? [];
  // Another kind of JSON: an answer with a form of its own.
  if (at === -1 && !FIRST_KEYS.some((one) => one.startsWith(key))) return null;
  return {
    said: json.before,
    reason: stringOf('reason', head)?.text ?? '',
    tasks: at === -1 ? [] : objectsIn(json.text.slice(at)).map(taskOf),
  };
}

/** `writing the plan: 3 tasks so far` */
export const writingWords = ({ tasks }: PlanSoFar): string =>
  tasks.length === 0 ? 'writing the plan' : `writing the plan: ${counted(tasks.length, 'task')} so far`;

function taskOf(json: string): PlanSoFar['tasks'][number] {
  const description = stringOf('description', json);
  const role = stringOf('recommendedRole', json) ?? stringOf('role', json);
  return {
    role: role?.whole === true ? role.text : '',
    description: description?.text ?? '',
    whole: description?.whole ?? false,
  };
}

/** The value of a key with a string, and whether its end was seen. */
function stringOf(key: string, json: string): { readonly text: string; readonly whole: boolean } | null {
  const [, value, end] = new RegExp(`"${key}"\\s*:\\s*"((?:[^"\\\\]|\\\\[^])*)(")?`).exec(json) ?? [];
  return value === undefined ? null : { text: unescaped(value), whole: end !== undefined };
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: ' ', r: '', b: '', f: '' };

/** Escapes as JSON has them; one that is cut off at the end is left out. What they hide is made harmless like all text. */
const unescaped = (text: string): string =>
  toTerminal(
    text
      .replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '')
      .replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, code: string | undefined, char: string | undefined) =>
        code === undefined ? (ESCAPED[char ?? ''] ?? char ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
      ),
  );

/** The objects of an array that may not be closed yet: the text of each from its brace on. */
function objectsIn(json: string): readonly string[] {
  const objects: string[] = [];
  let depth = 0;
  let from = -1;
  const signs = /"(?:[^"\\]|\\[^])*(?:"|$)|[{}[\]]/g;
  for (const { 0: sign, index } of json.matchAll(signs)) {
    if (sign === '{' && depth++ === 0) from = index;
    if (sign === '}' && --depth === 0) objects.push(json.slice(from, index + 1));
    if (depth < 0) return objects;
    if (sign === ']' && depth === 0) return objects;
  }
  return depth > 0 ? [...objects, json.slice(from)] : objects;
}

const WHEN: Readonly<Record<Trigger, string>> = {
  'on-write': 'after tasks that write',
  'on-commit': 'before each commit',
  always: 'at the end',
  manual: 'by hand',
};

/** `after tasks that write, at the end`. */
export const triggerWords = (triggers: readonly Trigger[]): string =>
  triggers.map((trigger) => WHEN[trigger]).join(', ');
