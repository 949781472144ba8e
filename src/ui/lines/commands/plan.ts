/** Commands about the whole plan: print, accept or discard it, undo and redo, compare model tiers, plan again, commit, save it as a template. */
import {
  acceptPlan,
  cancelPlan,
  COMMIT_REQUEST,
  commitText,
  neighbourPlan,
  PLAN_EDITS,
  planAgain,
  redoEdit,
  undoEdit,
} from '../../../app/actions/index.ts';
import { wrongUse } from '../../../app/process/index.ts';
import { outlookLines, plainPlanLines } from '../../../app/reports/index.ts';
import { variantsOf } from '../../../domain/plan/estimate.ts';
import type { SoundPlan } from '../../../domain/plan/plan.ts';
import type { TemplateRequest } from '../../../ports/project-service.ts';
import { listed, otherNumbers } from '../agents.ts';
import { headOf } from '../command.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { at, cancelled, commandOf, perform, printReceipt, wordsOf } from './perform.ts';
import { change, planOf } from './edits.ts';
import { followUp } from './results.ts';

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
    { ...wordsOf(undoEdit), run: (_, session) => step(session, -1) },
    { ...wordsOf(redoEdit), run: (_, session) => step(session, 1) },
    { ...wordsOf(PLAN_EDITS.models), run: whatIf },
  ),
];

/** In a run, commands take the numbers of agents: names those that differ from the places in the plan. */
function printPlan(_: string, session: LineSession): void {
  planOf(session);
  const others = session.place === 'run' ? otherNumbers(session.state) : [];
  session.sayLong([
    ...plainPlanLines(session.state),
    ...(others.length === 0 ? [] : [`Commands take the numbers of agents: ${listed(others, 'and')}.`]),
  ]);
}

async function step(session: LineSession, by: 1 | -1): Promise<void> {
  const plan = neighbourPlan(session.plans, by);
  if (plan === null) throw wrongUse((by === -1 ? undoEdit : redoEdit).none);
  await change(session, { is: 'replace', plan });
}

async function whatIf(name: string, session: LineSession): Promise<void> {
  const plan = planOf(session);
  const { choices, maxParallel } = session.state;
  if (name === '' || choices === null) return session.sayLong(outlookLines(session.state));
  const variants = variantsOf(plan, choices, maxParallel);
  const chosen = variants.find((one) => one.name.startsWith(name.toLowerCase()));
  if (chosen === undefined)
    throw wrongUse(`"${name}" is not a tier: expected ${listed(variants.map((one) => one.name))}`);
  if (chosen.same) throw cancelled('That is the current plan: nothing changed.');
  await change(session, chosen.edit);
}

async function again(hint: string, session: LineSession): Promise<void> {
  const why = planAgain.whyNot(session.state, { hint });
  if (why !== null) throw wrongUse(why);
  const text = hint === '' ? await session.ask('Hint for the planner (Enter for none): ') : hint;
  if (text === null) throw cancelled('The plan is unchanged.');
  await perform(planAgain, { hint: text }, session);
}

async function commit(typed: string, session: LineSession): Promise<void> {
  const word = typed.trim();
  if (session.place === 'result') return commitNow(word, session);
  if (word === '') return session.say(commitText(planOf(session)) || 'main does not commit at the end');
  if (word !== 'on' && word !== 'off') throw wrongUse('expected on or off: commit on');
  await change(session, { is: 'commit', commit: word === 'on' });
}

/** Resumes an ended run, with the request to commit as a message to main. */
async function commitNow(word: string, session: LineSession): Promise<void> {
  if (word !== '') throw wrongUse('the run has ended: type commit alone to let main commit its changes');
  await followUp(COMMIT_REQUEST, session);
}

async function keep(typed: string, session: LineSession): Promise<void> {
  const [name, more] = headOf(typed);
  const plan = planOf(session);
  if (name === '' || more !== '') throw wrongUse('missing name: one word');
  const description = await session.ask('Description: ');
  if (description === null) throw cancelled('Nothing saved.');
  const variables = await askVariables(plan, session);
  const request = { name, description: description.trim(), plan, arguments: variables };
  printReceipt(await session.service.saveTemplate?.(request), session);
}

/** Asks for the texts that become variables of the template, until an empty line. */
async function askVariables(plan: SoundPlan, session: LineSession): Promise<TemplateRequest['arguments']> {
  const asked = async (prompt: string): Promise<string> => ((await session.ask(prompt)) ?? '').trim();
  const values: { name: string; text: string }[] = [];
  for (;;) {
    const text = await asked('Text of the tasks that becomes a variable (Enter ends): ');
    if (text === '') return values;
    if (plan.tasks.some((task) => task.description.includes(text))) {
      const name = (await asked('Name of the variable, one word: ')).toLowerCase();
      if (!/^[a-z][a-z0-9_-]{0,39}$/.test(name)) session.say('That is not one word of letters: skipped.');
      else if (values.some((one) => one.name === name)) session.say(`The variable ${name} already exists: skipped.`);
      else values.push({ name, text });
    } else session.say('No task contains this text.');
  }
}
