/** Commands about the whole plan: print, accept or discard it, undo and redo, compare model tiers, plan again, save it as a template. */
import {
  acceptPlan,
  cancelPlan,
  COMMIT_REQUEST,
  commitText,
  neighbourPlan,
  NO_RUN,
  PLAN_EDITS,
  planAgain,
  redoEdit,
  undoEdit,
  whyNotTalk,
} from '../../../app/actions/index.ts';
import { wrongUse } from '../../../app/process/index.ts';
import { outlookLines, plainPlanLines } from '../../../app/reports/index.ts';
import { expectedPlan, formatDuration } from '../../../app/views/index.ts';
import { variantsOf } from '../../../domain/plan/estimate.ts';
import { scheduleOf } from '../../../domain/plan/plan-view.ts';
import type { SoundPlan } from '../../../domain/plan/plan.ts';
import type { TemplateRequest } from '../../../ports/project-service.ts';
import { listed, otherNumbers } from '../agents.ts';
import {
  at,
  cancelled,
  commandOf,
  headOf,
  type LineCommand,
  type LineContext,
  perform,
  printReceipt,
  sayLong,
  wordsOf,
} from '../command.ts';
import { change, planOf, sumWords } from './edits.ts';

export const PLAN_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['plan', 'run', 'result'],
    {
      name: 'plan',
      short: ['p'],
      help: 'Print the plan with numbers, estimates and dependencies.',
      run: printPlan,
    },
    {
      name: 'schedule',
      help: 'Print when each task would run, and the critical path.',
      run: printSchedule,
    },
    {
      name: 'keep',
      arguments: 'NAME',
      help: 'Save the plan as a template of this project; asks for a description and variables.',
      run: keep,
    },
    { ...wordsOf(PLAN_EDITS.commit), run: commit },
  ),
  ...at(
    ['plan'],
    commandOf(acceptPlan, () => null),
    commandOf(cancelPlan, () => null),
    { ...wordsOf(planAgain), run: again },
  ),
  ...at(
    ['plan', 'run'],
    { ...wordsOf(undoEdit), run: (_, context) => step(context, -1) },
    { ...wordsOf(redoEdit), run: (_, context) => step(context, 1) },
    { ...wordsOf(PLAN_EDITS.models), run: whatIf },
  ),
];

/** In a run, commands take the numbers of agents: names those that differ from the places in the plan. */
function printPlan(_: string, context: LineContext): void {
  planOf(context);
  const others = context.place === 'run' ? otherNumbers(context.state) : [];
  sayLong(context, [
    ...plainPlanLines(context.state),
    ...(others.length === 0 ? [] : [`Commands take the numbers of agents: ${listed(others, 'and')}.`]),
  ]);
}

function printSchedule(_: string, context: LineContext): void {
  const plan = planOf(context);
  const { maxParallel, choices } = context.state;
  const time = (seconds: number): string => formatDuration(seconds * 1000);
  sayLong(context, [
    `About ${sumWords(plan, context.state)}, at most ${maxParallel} at once.`,
    ...scheduleOf(expectedPlan(plan, choices), maxParallel).map(({ start, end, critical }, index) => {
      const from = start === 0 ? 'at once' : `after ${time(start)}`;
      const suffix = critical ? '; on the critical path' : '';
      return `${index + 1} ${plan.tasks[index]?.role ?? ''}: starts ${from}, takes ${time(end - start)}${suffix}`;
    }),
  ]);
}

async function step(context: LineContext, by: 1 | -1): Promise<void> {
  const plan = neighbourPlan(context.memory.plans, by);
  if (plan === null) throw wrongUse((by === -1 ? undoEdit : redoEdit).none);
  await change(context, { is: 'replace', plan });
}

async function whatIf(name: string, context: LineContext): Promise<void> {
  const plan = planOf(context);
  const { choices, maxParallel } = context.state;
  if (name === '' || choices === null) return sayLong(context, outlookLines(context.state));
  const variants = variantsOf(plan, choices, maxParallel);
  const chosen = variants.find((one) => one.name.startsWith(name.toLowerCase()));
  if (chosen === undefined)
    throw wrongUse(`"${name}" is not a tier: expected ${listed(variants.map((one) => one.name))}`);
  if (chosen.same) throw cancelled('That is the current plan: nothing changed.');
  await change(context, chosen.edit);
}

async function again(hint: string, context: LineContext): Promise<void> {
  const why = planAgain.whyNot(context.state, { hint });
  if (why !== null) throw wrongUse(why);
  const text = hint === '' ? await context.ask('Hint for the planner (Enter for none): ') : hint;
  if (text === null) throw cancelled('The plan is unchanged.');
  await perform(planAgain, { hint: text }, context);
}

async function commit(typed: string, context: LineContext): Promise<void> {
  const word = typed.trim();
  if (context.place === 'result') return commitNow(word, context);
  if (word === '') return context.say(commitText(planOf(context)) || 'main does not commit at the end');
  if (word !== 'on' && word !== 'off') throw wrongUse('expected on or off: commit on');
  await change(context, { is: 'commit', commit: word === 'on' });
}

/** Resumes an ended run, with the request to commit as a message to main. */
async function commitNow(word: string, context: LineContext): Promise<void> {
  const { state } = context;
  if (word !== '') throw wrongUse('the run has ended: type commit alone to let main commit its changes');
  const why = whyNotTalk(state);
  if (why !== null || state.session === null) throw wrongUse(why ?? NO_RUN);
  await context.go({ resume: state.session, followUp: COMMIT_REQUEST });
}

async function keep(typed: string, context: LineContext): Promise<void> {
  const [name, more] = headOf(typed);
  const plan = planOf(context);
  const { projectService } = context;
  if (projectService?.saveTemplate === undefined)
    throw wrongUse('templates can be saved only in a session: mimir --plain, not mimir run');
  if (name === '' || more !== '') throw wrongUse('missing name: one word');
  const description = await context.ask('Description: ');
  if (description === null) throw cancelled('Nothing saved.');
  const variables = await askVariables(plan, context);
  const done = await projectService.saveTemplate({ name, description: description.trim(), plan, arguments: variables });
  printReceipt(done, context);
}

/** Asks for the texts that become variables of the template, until an empty line. */
async function askVariables(plan: SoundPlan, context: LineContext): Promise<TemplateRequest['arguments']> {
  const asked = async (prompt: string): Promise<string> => ((await context.ask(prompt)) ?? '').trim();
  const values: { name: string; text: string }[] = [];
  for (;;) {
    const text = await asked('Text of the tasks that becomes a variable (Enter ends): ');
    if (text === '') return values;
    if (plan.tasks.some((task) => task.description.includes(text))) {
      const name = (await asked('Name of the variable, one word: ')).toLowerCase();
      if (!/^[a-z][a-z0-9_-]{0,39}$/.test(name)) context.say('That is not one word of letters: skipped.');
      else if (values.some((one) => one.name === name)) context.say(`The variable ${name} already exists: skipped.`);
      else values.push({ name, text });
    } else context.say('No task contains this text.');
  }
}
