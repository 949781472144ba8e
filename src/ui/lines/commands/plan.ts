/** Commands about the plan as a whole: hear it, accept or cancel it, go back and forth, other models at once, plan again, keep it. */
import { expectedPlan } from '../../../app/views/spending/expected-plan.ts';
import type { SoundPlan } from '../../../domain/plan/plan.ts';
import type { TemplateWish } from '../../../ports/project-service.ts';
import { variantsOf } from '../../../domain/plan/what-if.ts';
import { scheduleOf } from '../../../domain/plan/plan-view.ts';
import { formatCost, formatDuration, formatTokens } from '../../../app/views/text/format.ts';
import { otherNumbers, listed } from '../words/agents.ts';
import { change, sumWords } from '../change.ts';
import { type LineCommand, type LineDesk, type Place, sayLong } from '../command.ts';
import { headOf } from './edits.ts';
import { planBeside } from '../memory.ts';
import { plainPlanLines } from '../../../app/reports/plan-lines.ts';

const PLANNED: readonly Place[] = ['plan', 'run', 'result'];
const CHANGING: readonly Place[] = ['plan', 'run'];

export const PLAN_COMMANDS: readonly LineCommand[] = [
  {
    name: 'plan',
    short: ['p'],
    arguments: '',
    help: 'Says the plan with its numbers, estimates and what each task needs.',
    where: PLANNED,
    actions: ['run.plan', 'result.plan'],
    run: (_, desk) =>
      desk.state.plan === null
        ? desk.refuse('the plan is still being made')
        : sayLong(desk, [...plainPlanLines(desk.state), ...numbersSaid(desk)]),
  },
  {
    name: 'schedule',
    short: [],
    arguments: '',
    help: 'Says when each task would run, and which decide how long it takes.',
    where: PLANNED,
    actions: [],
    run: saySchedule,
  },
  {
    name: 'accept',
    short: [],
    arguments: '',
    help: 'Accepts the plan and starts its agents, as Y and Enter do.',
    where: ['plan'],
    actions: ['plan.accept', 'plan.anyway'],
    run: async (_, desk) => {
      if (desk.state.plan === null) return desk.refuse('the plan is still being made');
      await desk.submit({ do: 'approve plan', digest: desk.state.planDigest });
    },
  },
  {
    name: 'cancel',
    short: [],
    arguments: '',
    help: 'Cancels the plan, as n does; while it is made, the run.',
    where: ['plan'],
    actions: ['plan.cancel'],
    run: async (_, desk) => {
      if (desk.state.phase === 'approving') await desk.submit({ do: 'reject plan' });
      else await desk.submit({ do: 'stop run', reason: 'cancelled while it was planned' });
    },
  },
  {
    name: 'undo',
    short: ['u'],
    arguments: '',
    help: 'Takes the last change of the plan back.',
    where: CHANGING,
    actions: ['plan.undo'],
    run: (_, desk) => step(desk, -1),
  },
  {
    name: 'redo',
    short: ['U'],
    arguments: '',
    help: 'Makes a change again that was taken back.',
    where: CHANGING,
    actions: ['plan.redo'],
    run: (_, desk) => step(desk, 1),
  },
  {
    name: 'whatif',
    short: ['what-if'],
    arguments: '[cheap|balanced|best]',
    help: 'Says what the plan would cost with other models; with a name, takes them.',
    where: CHANGING,
    actions: ['plan.whatIf'],
    run: whatIf,
  },
  {
    name: 'again',
    short: [],
    arguments: '[HINT]',
    help: 'Plans again, with a hint for the planner.',
    where: ['plan'],
    actions: ['plan.again'],
    run: again,
  },
  {
    name: 'keep',
    short: [],
    arguments: 'NAME',
    help: 'Keeps the plan as a template of this project; asks for a line about it and what is asked for anew each time.',
    where: PLANNED,
    actions: ['plan.keep'],
    run: keep,
  },
  {
    name: 'models',
    short: [],
    arguments: '',
    help: 'Lists the models that may be chosen, and why others may not.',
    where: CHANGING,
    actions: [],
    run: (_, desk) =>
      sayLong(
        desk,
        (desk.state.choices?.models ?? []).map(({ id, aliases, price, usable }) => {
          const cost =
            price === null ? 'price not known' : `$${price.input} in and $${price.output} out per million tokens`;
          return `${[aliases[0], id].filter(Boolean).join(', ')}: ${usable.yes ? cost : `can't be used: ${usable.because}`}`;
        }),
      ),
  },
  {
    name: 'roles',
    short: [],
    arguments: '',
    help: 'Lists the roles with what they are for, their tools and models.',
    where: CHANGING,
    actions: [],
    run: (_, desk) =>
      sayLong(
        desk,
        (desk.state.choices?.roles ?? []).map(
          ({ name, description, tools, model }) =>
            `${name}: ${description} Model ${model.asked}; tools ${tools.join(', ') || 'none'}.`,
        ),
      ),
  },
];

/** Commands of a run name tasks by their agents. */
function numbersSaid({ state, place }: LineDesk): readonly string[] {
  const others = place === 'run' ? otherNumbers(state) : [];
  return others.length === 0 ? [] : [`Commands take the numbers of agents: ${listed(others, 'and')}.`];
}

function saySchedule(_: string, desk: LineDesk): void {
  const { plan, maxParallel } = desk.state;
  if (plan === null) return desk.refuse('the plan is still being made');
  const slots = scheduleOf(expectedPlan(plan, desk.state.choices), maxParallel);
  sayLong(desk, [
    `About ${sumWords(plan, desk.state)}, at most ${maxParallel} at once.`,
    ...slots.map(({ start, end, critical }, index) => {
      const from = start === 0 ? 'at once' : `after ${formatDuration(start * 1000)}`;
      const decides = critical ? '; decides when everything ends' : '';
      return `${index + 1} ${plan.tasks[index]?.role ?? ''}: begins ${from}, takes ${formatDuration((end - start) * 1000)}${decides}`;
    }),
  ]);
}

async function step(desk: LineDesk, by: 1 | -1): Promise<void> {
  const plan = planBeside(desk.memory, by);
  if (plan === null) return desk.refuse(by === -1 ? 'nothing to undo' : 'nothing to redo');
  await change(desk, { is: 'replace', plan });
}

async function whatIf(name: string, desk: LineDesk): Promise<void> {
  const { plan, choices, maxParallel } = desk.state;
  if (plan === null || choices === null) return desk.refuse('the plan is still being made');
  const variants = variantsOf(plan, choices, maxParallel);
  if (name === '') {
    return sayLong(desk, [
      `As it is: ${sumWords(plan, desk.state)}.`,
      ...variants.map((one) => {
        const cost = one.totals.cost === null ? 'price not known' : formatCost(one.totals.cost);
        const sum = `${formatTokens(one.totals.tokens)} tokens, ${cost}, about ${formatDuration(one.totals.seconds * 1000)}`;
        const over = one.overBudget.length === 0 ? '' : `; over the budget of ${one.overBudget.length} tasks`;
        return `${one.name}: ${one.meaning}. ${one.same ? 'That is the plan as it is.' : `${sum}${over}. Changes ${one.changes.length} models.`}`;
      }),
    ]);
  }
  const chosen = variants.find((one) => one.name.startsWith(name.toLowerCase()));
  if (chosen === undefined)
    return desk.refuse(`"${name}" is none: expected ${listed(variants.map((one) => one.name))}`);
  if (chosen.same) return desk.say('That is the plan as it is: nothing changed.');
  await change(desk, chosen.edit);
}

async function again(hint: string, desk: LineDesk): Promise<void> {
  if (desk.state.phase !== 'approving') return desk.refuse('the plan is still being made');
  const text = hint === '' ? await desk.ask('A hint for the planner (Enter is none): ') : hint;
  if (text === null) return desk.say('The plan stays.');
  await desk.submit({ do: 'plan again', hint: text.trim() });
}

async function keep(typed: string, desk: LineDesk): Promise<void> {
  const [name, more] = headOf(typed);
  const { plan } = desk.state;
  if (plan === null) return desk.refuse('the plan is still being made');
  const { lobby } = desk;
  if (lobby?.saveTemplate === undefined)
    return desk.refuse('templates are kept in a session only: mimir --plain, not mimir run');
  if (name === '' || more !== '') return desk.refuse('under which name, of one word?');
  const description = await desk.ask('A line about it: ');
  if (description === null) return desk.say('Nothing kept.');
  const words = await wordsToFill(plan, desk);
  const done = await lobby.saveTemplate({ name, description: description.trim(), plan, arguments: words });
  if (done.ok) desk.say(done.value.text);
  else desk.refuse(done.fault.text);
}

/** What is asked for anew each time, until an empty line. */
async function wordsToFill(plan: SoundPlan, desk: LineDesk): Promise<TemplateWish['arguments']> {
  const asked = async (prompt: string): Promise<string> => ((await desk.ask(prompt)) ?? '').trim();
  const values: { name: string; text: string }[] = [];
  for (;;) {
    const text = await asked('Words of its tasks to be asked for anew each time (Enter ends): ');
    if (text === '') return values;
    if (plan.tasks.some((task) => task.description.includes(text))) {
      const called = await asked('What are they called, in one word? ');
      const word = called.toLowerCase();
      if (!/^[a-z][a-z0-9_-]{0,39}$/.test(word))
        desk.say('That is no one word of letters: these are left as they are.');
      else if (values.some((one) => one.name === word)) desk.say(`Others are called ${word} already: these are left.`);
      else values.push({ name: word, text });
    } else desk.say('These words stand in no task.');
  }
}
