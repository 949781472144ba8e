/** The plan prompt of line mode: proceed, cancel, edit, manual. Any other answer cancels. */
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../domain/plan/plan.ts';
import type { Io } from '../../../app/process/io.ts';
import { harmless } from '../../../app/process/io.ts';
import type { Asker } from '../../../app/process/asker.ts';

export const optionsFor = (models: boolean): readonly string[] => [
  'Options:',
  '  Y  proceed with the recommended plan (Enter)',
  '  n  cancel',
  `  e  edit task descriptions${models ? ' or models' : ''}`,
  '  m  manual mode: description, model and max tokens of each agent',
];

export const PROCEED = 'Proceed? [Y/n/e/m] ';

/** What was typed at the prompt, as an answer to it: `e` and `m` ask on. Any other than these four cancels. */
type PlanWord = 'proceed' | 'cancel' | 'e' | 'm' | 'other';

export function planWord(typed: string): PlanWord {
  const word = typed.trim();
  if (['', 'y', 'Y'].includes(word)) return 'proceed';
  if (word === 'n') return 'cancel';
  return word === 'e' || word === 'm' ? word : 'other';
}

/**
 * Goes through the tasks of the plan. `models` false: `e` leaves the recommended models as they are (`promptForModels`); `m` asks for
 * them all the same.
 */
export async function editsOf(
  answer: 'e' | 'm',
  asker: Pick<Asker, 'ask'>,
  io: Pick<Io, 'say' | 'complain'>,
  { plan, models }: { readonly plan: SoundPlan | null; readonly models: boolean },
): Promise<readonly PlanEdit[]> {
  if (plan === null) return [];
  const edits: PlanEdit[] = [];
  for (const [index, task] of plan.tasks.entries()) {
    const manual = answer === 'm';
    edits.push(...(await editTask(asker, io, task, index + 1, { manual, models: models || manual })));
  }
  return edits;
}

/** Shows what there is; Enter keeps it. */
async function editTask(
  asker: Pick<Asker, 'ask'>,
  io: Pick<Io, 'say' | 'complain'>,
  task: PlanTask,
  number: number,
  { manual, models }: { readonly manual: boolean; readonly models: boolean },
): Promise<readonly PlanEdit[]> {
  const typed = async (prompt: string): Promise<string> =>
    ((await asker.ask(`  ${prompt} (Enter keeps): `)) ?? '').trim();
  io.say(`\nEdit Task ${number} (${task.role})`);
  io.say(`  Current: ${harmless(task.description)}`);
  const description = await typed('New description');
  io.say(`  Current model: ${harmless(task.model.asked)}`);
  const model = models ? await typed('New model') : '';
  const tokens = manual ? await typed('Max tokens') : '';
  const isNumber = /^\d+$/.test(tokens);
  if (tokens !== '' && !isNumber) io.complain(`  not changed: "${harmless(tokens)}" is not a number of tokens`);
  const budget = { ...task.budget, maxTokens: Number(tokens) };
  return [
    ...(description === '' ? [] : [{ is: 'describe', task: task.id, description } as const]),
    ...(model === '' ? [] : [{ is: 'model', task: task.id, model } as const]),
    ...(isNumber ? [{ is: 'budget', task: task.id, budget } as const] : []),
  ];
}
