/** The plan prompt of line mode: proceed, cancel, edit, manual (CONTRACT O102 to O108). Any other answer cancels. */
import type { PlanEdit } from '../domain/plan-edit.ts';
import type { PlanTask } from '../domain/plan.ts';
import type { RunState } from '../events/state.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import type { Asker } from './line-questions.ts';

export interface PlanAnswer {
  readonly proceed: boolean;
  readonly edits: readonly PlanEdit[];
}

const optionsFor = (models: boolean): readonly string[] => [
  'Options:',
  '  Y  proceed with the recommended plan (Enter)',
  '  n  cancel',
  `  e  edit task descriptions${models ? ' or models' : ''}`,
  '  m  manual mode: description, model and max tokens of each agent',
];

/** `models` false: `e` leaves the recommended models as they are (`promptForModels`); `m` asks for them all the same. */
export async function askAboutPlan(
  asker: Asker,
  io: Io,
  { plan }: RunState,
  { models }: { readonly models: boolean },
): Promise<PlanAnswer> {
  if (plan === null) return { proceed: false, edits: [] };
  for (const line of optionsFor(models)) io.say(line);
  const answer = (await asker.ask('Proceed? [Y/n/e/m] '))?.trim() ?? 'n';
  if (['', 'y', 'Y'].includes(answer)) return { proceed: true, edits: [] };
  if (answer !== 'e' && answer !== 'm') return { proceed: false, edits: [] };
  const edits: PlanEdit[] = [];
  for (const [index, task] of plan.tasks.entries()) {
    const manual = answer === 'm';
    edits.push(...(await editTask(asker, io, task, index + 1, { manual, models: models || manual })));
  }
  return { proceed: true, edits };
}

/** Shows what there is; Enter keeps it. */
async function editTask(
  asker: Asker,
  io: Io,
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
