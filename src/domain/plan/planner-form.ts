/**
 * The form in which a model is asked for a plan, and what is made of its answer before it is checked. Every property is
 * required and nothing else allowed, as structured output wants it; null stands for what a person would leave out.
 */
import { z } from 'zod';
import type { Effort } from '../models/effort.ts';
import { isObject, objectIn } from '../text/json-in.ts';

/**
 * `roles`, `models` and `efforts` are what is allowed here. Without models every task gets its role's own, without efforts its
 * role's effort.
 */
export function plannerForm(
  roles: readonly string[],
  models: readonly string[],
  efforts: readonly Effort[] = [],
): z.ZodType {
  const task = z.strictObject({
    id: z.string().describe('task-1, task-2 …'),
    description: z.string().describe('Goal, where to look, form of the result. All that the agent is told.'),
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
      .describe('Globs of the files it may change; [] when it only looks; null: the whole project.'),
  });
  return z.strictObject({ reason: z.string().describe('One sentence: why split, or why not.'), tasks: z.array(task) });
}

/** The plan in a model's answer (json-in.ts). Undefined when there is none, or more than one. */
export const planIn = (answer: string): unknown => withoutNulls(objectIn(answer, 'tasks'));

/** Of the plan and of its tasks: null means that nothing was said. */
function withoutNulls(plan: unknown): unknown {
  if (!isObject(plan)) return plan;
  const said = dropNulls(plan);
  const tasks: unknown = said['tasks'];
  return Array.isArray(tasks)
    ? { ...said, tasks: tasks.map((task: unknown) => (isObject(task) ? saidOf(task) : task)) }
    : said;
}

/** That two tasks may run side by side although both may change the same files is a person's to say. */
function saidOf(task: object): Record<string, unknown> {
  const { alongside: _left, ...said } = dropNulls(task);
  return said;
}

const dropNulls = (one: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== null));
