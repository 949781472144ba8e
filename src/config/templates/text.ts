/** A plan as the text of a template: what was said, without what the roles give anyway, and slots where words are asked for anew. */
import type { PersonTask } from '../../domain/plan/plan-view.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import type { TemplateWish } from '../../ports/project-service.ts';
import { stringifyYaml } from './plan-text.ts';
import { ARGUMENT, withSlots } from './templates.ts';
import { TEMPLATE_NAME, fillTemplate, readTemplate } from './templates.ts';
import { faultText } from '../files/fault.ts';

/** A task as it is kept: what is left out is chosen when the plan is used. */
export type KeptTask = Pick<PersonTask, 'id' | 'description' | 'role'> & Partial<PersonTask>;

/** The template's text, sure to be read back as the same plan; or what is wrong with the wish. */
export function templateText(wish: TemplateWish, tasks: readonly KeptTask[]): Result<string, string> {
  const problem = wishProblem(wish, tasks);
  if (problem !== null) return fail(problem);
  const slotted = (text: string): string => withSlots(text, wish.arguments);
  const text = stringifyYaml({
    name: wish.name,
    // Who wrote slots into it meant them.
    description: wish.description.includes('{{') ? wish.description : slotted(wish.description),
    ...(wish.arguments.length === 0 ? {} : { arguments: argumentsOf(wish) }),
    reason: slotted(wish.plan.reason),
    tasks: tasks.map((task) => ({
      ...task,
      description: slotted(task.description),
      ...(task.writes === undefined ? {} : { writes: task.writes.map(slotted) }),
    })),
  });
  return readBack(wish, tasks, text);
}

const argumentsOf = ({ arguments: all }: TemplateWish): object =>
  Object.fromEntries(all.map(({ name, text }) => [name, { description: '', default: text }]));

function wishProblem({ name, arguments: all }: TemplateWish, tasks: readonly KeptTask[]): string | null {
  if (!TEMPLATE_NAME.test(name)) {
    return `"${name}" can't be the name of a template: up to 40 lower-case letters, digits and "-", a letter or digit first`;
  }
  const texts = tasks.flatMap(({ description, writes = [] }) => [description, ...writes]);
  for (const { name: argument, text } of all) {
    if (!ARGUMENT.test(argument))
      return `"${argument}" can't be an argument: use lower-case letters, digits, "-" and "_"`;
    if (text.trim() === '') return `what should become {{${argument}}} is empty`;
    if (!texts.some((one) => one.includes(text)))
      return `"${text}", which should become {{${argument}}}, stands in no task`;
  }
  const twice = all.find((one, index) => all.findIndex(({ name: same }) => same === one.name) !== index);
  return twice === undefined ? null : `there are two arguments "${twice.name}"`;
}

/** What was written must say what was meant: with its defaults it is the plan again. */
function readBack({ name }: TemplateWish, tasks: readonly KeptTask[], text: string): Result<string, string> {
  if (Buffer.byteLength(text) > LARGEST) return fail('the plan is too large for a template: over 64 KiB');
  const read = readTemplate({ shown: `${name}.yml`, stem: name, text });
  if (!read.ok) return fail(read.fault.map(faultText).join('; '));
  const again = fillTemplate(read.value, {});
  if (!again.ok) return again;
  const lost = tasks.findIndex((task, index) => {
    const back = again.value.draft.tasks[index];
    return back?.description !== task.description || back.writes?.join('\n') !== task.writes?.join('\n');
  });
  return lost === -1 ? ok(text) : fail(`the text of task ${lost + 1} can't be written to a file`);
}
/** What is read of any configuration file. */
const LARGEST = 64 * 1024;
