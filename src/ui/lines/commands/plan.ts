/** Commands about the whole plan: print, accept or discard it, undo and redo, compare model tiers, plan again, save it as a template. */
import {
  acceptPlan,
  cancelPlan,
  COMMIT_REQUEST,
  commitText,
  NO_PLAN,
  NO_RUN,
  PLAN_EDITS,
  planAgain,
  neighbourPlan,
  redoEdit,
  undoEdit,
  whyNotTalk,
} from '../../../app/actions/index.ts';
import { expectedPlan, figuresText, formatDuration, toolsText } from '../../../app/views/index.ts';
import type { SoundPlan } from '../../../domain/plan/plan.ts';
import type { TemplateRequest } from '../../../ports/project-service.ts';
import { variantsOf } from '../../../domain/plan/estimate.ts';
import { scheduleOf } from '../../../domain/plan/plan-view.ts';
import { otherNumbers, listed } from '../agents.ts';
import {
  at,
  commandOf,
  type LineCommand,
  type LineContext,
  perform,
  printReceipt,
  sayLong,
  wordsOf,
} from '../command.ts';
import { change, headOf, sumWords } from './edits.ts';
import { plainPlanLines } from '../../../app/reports/index.ts';

export const PLAN_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['plan', 'run', 'result'],
    {
      name: 'plan',
      short: ['p'],
      help: 'Print the plan with numbers, estimates and dependencies.',
      actions: ['run.plan', 'result.plan'],
      run: (_, context) =>
        context.state.plan === null
          ? context.refuse(NO_PLAN)
          : sayLong(context, [...plainPlanLines(context.state), ...agentNumbers(context)]),
    },
    {
      name: 'schedule',
      help: 'Print when each task would run, and the critical path.',
      run: saySchedule,
    },
    {
      name: 'keep',
      arguments: 'NAME',
      help: 'Save the plan as a template of this project; asks for a description and variables.',
      actions: ['plan.keep'],
      run: keep,
    },
    { ...wordsOf(PLAN_EDITS.commit, 'result.commit'), run: commit },
  ),
  ...at(
    ['plan'],
    commandOf(acceptPlan, () => null, 'plan.anyway'),
    commandOf(cancelPlan, () => null),
    { ...wordsOf(planAgain), run: again },
  ),
  ...at(
    ['plan', 'run'],
    { ...wordsOf(undoEdit), run: (_, context) => step(context, -1) },
    { ...wordsOf(redoEdit), run: (_, context) => step(context, 1) },
    { ...wordsOf(PLAN_EDITS.models), short: ['what-if'], run: whatIf },
    {
      name: 'models',
      help: 'List the available models, and why others are unavailable.',
      run: (_, context) =>
        sayLong(
          context,
          (context.state.choices?.models ?? []).map(({ id, aliases, price, usable }) => {
            const cost =
              price === null ? 'price unknown' : `$${price.input} in and $${price.output} out per million tokens`;
            return `${[aliases[0], id].filter(Boolean).join(', ')}: ${usable.yes ? cost : `unavailable: ${usable.because}`}`;
          }),
        ),
    },
    {
      name: 'roles',
      help: 'List the roles with their purpose, tools and models.',
      run: (_, context) =>
        sayLong(
          context,
          (context.state.choices?.roles ?? []).map(
            ({ name, description, tools, model }) =>
              `${name}: ${description} Model ${model.asked}; tools: ${toolsText(tools)}.`,
          ),
        ),
    },
  ),
];

/** In a run, commands take the numbers of agents: says where these differ from the places in the plan. */
function agentNumbers({ state, place }: LineContext): readonly string[] {
  const others = place === 'run' ? otherNumbers(state) : [];
  return others.length === 0 ? [] : [`Commands take the numbers of agents: ${listed(others, 'and')}.`];
}

function saySchedule(_: string, context: LineContext): void {
  const { plan, maxParallel } = context.state;
  if (plan === null) return context.refuse(NO_PLAN);
  const slots = scheduleOf(expectedPlan(plan, context.state.choices), maxParallel);
  sayLong(context, [
    `About ${sumWords(plan, context.state)}, at most ${maxParallel} at once.`,
    ...slots.map(({ start, end, critical }, index) => {
      const from = start === 0 ? 'at once' : `after ${formatDuration(start * 1000)}`;
      const suffix = critical ? '; on the critical path' : '';
      return `${index + 1} ${plan.tasks[index]?.role ?? ''}: starts ${from}, takes ${formatDuration((end - start) * 1000)}${suffix}`;
    }),
  ]);
}

async function step(context: LineContext, by: 1 | -1): Promise<void> {
  const plan = neighbourPlan(context.memory.plans, by);
  if (plan === null) return context.refuse((by === -1 ? undoEdit : redoEdit).none);
  await change(context, { is: 'replace', plan });
}

async function whatIf(name: string, context: LineContext): Promise<void> {
  const { plan, choices, maxParallel } = context.state;
  if (plan === null || choices === null) return context.refuse(NO_PLAN);
  const variants = variantsOf(plan, choices, maxParallel);
  if (name === '') {
    return sayLong(context, [
      `Current: ${sumWords(plan, context.state)}.`,
      ...variants.map((one) => {
        const over = one.overBudget.length === 0 ? '' : `; over the budget of ${one.overBudget.length} tasks`;
        return `${one.name}: ${one.meaning}. ${one.same ? 'The current plan.' : `${figuresText(one.totals)}${over}. Changes ${one.changes.length} models.`}`;
      }),
    ]);
  }
  const chosen = variants.find((one) => one.name.startsWith(name.toLowerCase()));
  if (chosen === undefined)
    return context.refuse(`"${name}" is not a tier: expected ${listed(variants.map((one) => one.name))}`);
  if (chosen.same) return context.say('That is the current plan: nothing changed.');
  await change(context, chosen.edit);
}

async function again(hint: string, context: LineContext): Promise<void> {
  const why = planAgain.whyNot(context.state, { hint });
  if (why !== null) return context.refuse(why);
  const text = hint === '' ? await context.ask('Hint for the planner (Enter for none): ') : hint;
  if (text === null) return context.say('The plan is unchanged.');
  await perform(planAgain, { hint: text }, context);
}

async function commit(typed: string, context: LineContext): Promise<void> {
  const word = typed.trim();
  if (context.place === 'result') return commitNow(word, context);
  const { plan } = context.state;
  if (plan === null) return context.refuse(NO_PLAN);
  if (word === '') return context.say(commitText(plan) || 'main does not commit at the end');
  if (word !== 'on' && word !== 'off') return context.refuse('expected on or off: commit on');
  await change(context, { is: 'commit', commit: word === 'on' });
}

/** Resumes an ended run, with the request to commit as a message to main. */
async function commitNow(word: string, context: LineContext): Promise<void> {
  const { state } = context;
  if (word !== '') return context.refuse('the run has ended: type commit alone to let main commit its changes');
  const why = whyNotTalk(state);
  if (why !== null || state.session === null) return context.refuse(why ?? NO_RUN);
  await context.go({ resume: state.session, followUp: COMMIT_REQUEST });
}

async function keep(typed: string, context: LineContext): Promise<void> {
  const [name, more] = headOf(typed);
  const { plan } = context.state;
  if (plan === null) return context.refuse(NO_PLAN);
  const { projectService } = context;
  if (projectService?.saveTemplate === undefined)
    return context.refuse('templates can be saved only in a session: mimir --plain, not mimir run');
  if (name === '' || more !== '') return context.refuse('missing name: one word');
  const description = await context.ask('Description: ');
  if (description === null) return context.say('Nothing saved.');
  const variables = await variablesFor(plan, context);
  const done = await projectService.saveTemplate({ name, description: description.trim(), plan, arguments: variables });
  printReceipt(done, context);
}

/** Asks for the texts that become variables of the template, until an empty line. */
async function variablesFor(plan: SoundPlan, context: LineContext): Promise<TemplateRequest['arguments']> {
  const asked = async (prompt: string): Promise<string> => ((await context.ask(prompt)) ?? '').trim();
  const values: { name: string; text: string }[] = [];
  for (;;) {
    const text = await asked('Text of the tasks that becomes a variable (Enter ends): ');
    if (text === '') return values;
    if (plan.tasks.some((task) => task.description.includes(text))) {
      const called = await asked('Name of the variable, one word: ');
      const word = called.toLowerCase();
      if (!/^[a-z][a-z0-9_-]{0,39}$/.test(word)) context.say('That is not one word of letters: skipped.');
      else if (values.some((one) => one.name === word)) context.say(`The variable ${word} already exists: skipped.`);
      else values.push({ name: word, text });
    } else context.say('No task contains this text.');
  }
}
