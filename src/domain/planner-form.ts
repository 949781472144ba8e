/**
 * The form in which a model is asked for a plan, and what is made of its answer before it is checked. Every property is
 * required and nothing else allowed, as structured output wants it; null stands for what a person would leave out.
 */
import { z } from 'zod';

/** `roles` and `models` are the names that are allowed here; without models every task gets its role's own. */
export function plannerForm(roles: readonly string[], models: readonly string[]): z.ZodType {
  const task = z.strictObject({
    id: z.string().describe('task-1, task-2 …'),
    description: z.string().describe('Goal, where to look, form of the result. All that the agent is told.'),
    recommendedRole: roles.length === 0 ? z.string() : z.enum(roles),
    recommendedModel: (models.length === 0 ? z.null() : z.enum(models).nullable()).describe(
      "null: the role's own model.",
    ),
    estimatedTokens: z.number().describe('Input and output together, over all calls.'),
    dependencies: z.array(z.string()).describe('Ids of the tasks whose result it needs.'),
    writes: z.array(z.string()).describe('Globs of the files it may change; empty when it only reads.'),
  });
  return z.strictObject({ reason: z.string().describe('One sentence: why split, or why not.'), tasks: z.array(task) });
}

/** Longer answers are no plan. */
const LONGEST = 1_000_000;
/** Openings of an object that are tried. */
const TRIES = 50;

/**
 * The plan in a model's answer: bare JSON, or with a fence, prose or thoughts around it. Of several objects that which
 * has tasks. Undefined when there is none, or more than one.
 */
export function planIn(answer: string): unknown {
  if (answer.length > LONGEST) return undefined;
  const whole = parsed(answer);
  if (isObject(whole)) return withoutNulls(whole);
  const objects = objectsIn(withoutThoughts(answer));
  const plans = objects.filter((one) => Object.hasOwn(one, 'tasks'));
  if (plans.length > 1) return undefined;
  return withoutNulls(plans[0] ?? objects[0]);
}

/** Some servers leave the thoughts in the text, some of them without the opening tag. */
function withoutThoughts(answer: string): string {
  const end = /^[\s\S]*<\/think(?:ing)?>/i.exec(answer)?.[0].length ?? 0;
  return answer.slice(end).replace(/<think(?:ing)?>[\s\S]*$/i, ' ');
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return json;
  } catch {
    return undefined;
  }
}

/** The JSON objects that stand in a text one after the other. */
function objectsIn(text: string): readonly object[] {
  const found: object[] = [];
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1 && tries < TRIES; tries += 1) {
    const end = endOfObject(text, at);
    const json = end === -1 ? undefined : parsed(text.slice(at, end));
    if (isObject(json)) found.push(json);
    at = text.indexOf('{', isObject(json) ? end : at + 1);
  }
  return found;
}

/** Behind the brace that closes the one at `start`; -1 when none does. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** Of the plan and of its tasks: null means that nothing was said. */
function withoutNulls(plan: unknown): unknown {
  if (!isObject(plan)) return plan;
  const said = dropNulls(plan);
  const tasks: unknown = said['tasks'];
  return Array.isArray(tasks)
    ? { ...said, tasks: tasks.map((task: unknown) => (isObject(task) ? dropNulls(task) : task)) }
    : said;
}

const dropNulls = (one: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== null));
