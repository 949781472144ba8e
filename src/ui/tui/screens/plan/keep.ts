/** Keeping a plan as a template: its name, what it is for, and the words of its tasks that are asked for anew each time. */
import type { SoundPlan } from '../../../../domain/plan/plan.ts';
import type { Result } from '../../../../domain/result.ts';
import { fail, ok } from '../../../../domain/result.ts';
import type { TemplateWish } from '../../../../ports/project-service.ts';
import type { Dialog, FormValues } from '../../shell/overlays/dialog.ts';

export function keepDialog(plan: SoundPlan, task: string): Dialog {
  const text = (name: string, label: string, value: string, lines: number, hint: string) =>
    ({ is: 'text', name, label, value, lines, hint }) as const;
  return {
    is: 'form',
    title: 'Keep as a template',
    fields: [
      text('name', 'Name', slug(task.split('\n')[0] ?? ''), 1, 'audit, release-check …'),
      text('description', 'What for', task.split('\n')[0] ?? '', 1, 'a line that says when it is of use'),
      text('words', 'Arguments', '', 4, 'words of the tasks to ask for anew, a line each: path = src/auth'),
    ],
    check: (values) => {
      const wish = wishOf(plan, values);
      return wish.ok ? null : wish.fault;
    },
    then: (values) => {
      const wish = wishOf(plan, values);
      return wish.ok ? { app: { keep: wish.value } } : { toast: { level: 'warn', text: wish.fault } };
    },
  };
}

const NAME = /^[a-z][a-z0-9-]{0,39}$/;

function wishOf(plan: SoundPlan, { texts }: FormValues): Result<TemplateWish, string> {
  const name = (texts['name'] ?? '').trim();
  if (!NAME.test(name)) return fail('Name: small letters, digits and "-", at most 40, such as release-check');
  const lines = (texts['words'] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const parsed = lines.map((line) => argumentOf(line, plan));
  const wrong = parsed.find((one) => !one.ok);
  if (wrong !== undefined && !wrong.ok) return wrong;
  const words = parsed.flatMap((one) => (one.ok ? [one.value] : []));
  const twice = words.find(({ name: own }, index) => words.findIndex((other) => other.name === own) !== index);
  if (twice !== undefined) return fail(`Arguments: ${twice.name} is there twice`);
  return ok({ name, description: (texts['description'] ?? '').trim(), plan, arguments: words });
}

/** `path = src/auth`, or the words alone, which then name themselves. */
function argumentOf(line: string, plan: SoundPlan): Result<TemplateWish['arguments'][number], string> {
  const [, named, rest] = /^([A-Za-z][\w-]*)\s*=\s*(.+)$/.exec(line) ?? [];
  const text = rest ?? line;
  const name = slug(named ?? text);
  if (!NAME.test(name)) return fail(`Arguments: give "${text}" a name: path = ${text}`);
  const stands = plan.tasks.some(({ description }) => description.includes(text));
  return stands ? ok({ name, text }) : fail(`Arguments: "${text}" stands in no task of this plan`);
}

/** Words as a name: `Fix the race` is `fix-the-race`. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
