/** Commands about the plan. One that waits for approval is edited at once; of a running one the difference is confirmed. */
import { type Interaction, tryChecks } from '../../../app/actions/index.ts';
import { acceptPlan, amendment, cancelPlan, COMMIT_REQUEST, commitText } from '../../../app/actions/index.ts';
import { dropWarning, neighbourPlan, NO_PLAN, parseWrites, PLAN_EDITS, planAgain } from '../../../app/actions/index.ts';
import { plannedTask, redoEdit, SAME_PLAN, setBudget, setModel, undoEdit } from '../../../app/actions/index.ts';
import { IS_YES, wrongUse } from '../../../app/process/index.ts';
import { outlookLines, plainPlanLines, planFigures } from '../../../app/reports/index.ts';
import { orderLines, approvalText, turnCandidates, writableText } from '../../../app/views/index.ts';
import { type Budget, typedBudget } from '../../../domain/budget.ts';
import { ROOT } from '../../../domain/ids.ts';
import { cappedEffort, EFFORTS } from '../../../domain/models/provider.ts';
import { variantsOf } from '../../../domain/plan/estimate.ts';
import type { Permissions, Permitted, PlanTask, SoundPlan } from '../../../domain/plan/plan.ts';
import { Permission, PERMITTED } from '../../../domain/plan/plan.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import { checksText, readChecks } from '../../../domain/plan/task-checks.ts';
import { defined } from '../../../domain/result.ts';
import { ARGUMENT_NAME } from '../../../domain/text/text.ts';
import { dependantsOf } from '../../../domain/plan/plan-view.ts';
import type { AgentState } from '../../../events/index.ts';
import type { TemplateRequest } from '../../../ports/project-service.ts';
import { agentNamed, listed, otherNumbers } from '../agents.ts';
import { headOf } from '../command.ts';
import type { LineCommand, LineSession } from '../session.ts';
import type { Placeless } from './perform.ts';
import { confirm, askText, at, cancelled, commandOf, own, perform, previewed, printReceipt, rowOf } from './perform.ts';
import { followUp } from './sessions.ts';

/** Edits the task whose number is the first argument; `read` turns the other words into an edit. */
const edit =
  (read: (task: PlanTask, rest: string, session: LineSession) => PlanEdit | Promise<PlanEdit>): LineCommand['run'] =>
  async (typed, session) => {
    const [which, rest] = headOf(typed);
    await change(session, await read(taskNamed(session, which), rest, session));
  };

const editOf = (row: Interaction, read: Parameters<typeof edit>[0]): Placeless => rowOf(row, edit(read));

export const PLAN_COMMANDS: readonly LineCommand[] = [
  ...at(['plan', 'run', 'result'], own('plan', printPlan), own('keep', keep), rowOf(PLAN_EDITS.commit, commit)),
  ...at(
    ['plan'],
    commandOf(acceptPlan, () => null),
    commandOf(cancelPlan, () => null),
    commandOf(tryChecks, () => null),
    rowOf(planAgain, again),
  ),
  ...at(
    ['plan', 'run'],
    rowOf(undoEdit, (_, session) => step(session, -1)),
    rowOf(redoEdit, (_, session) => step(session, 1)),
    rowOf(PLAN_EDITS.models, whatIf),
    editOf(PLAN_EDITS.describe, describe),
    editOf(PLAN_EDITS.role, ({ id }, role, session) => {
      if (role === '') throw wrongUse(whichRole(session));
      return { is: 'role', task: id, role };
    }),
    rowOf(setModel, changeModel),
    rowOf(setBudget, changeBudget),
    own('effort', edit(setEffort)),
    editOf(PLAN_EDITS.tools, ({ id, tools }, names) => {
      if (names === '') throw wrongUse(`which tools? It has ${listed(tools, 'and')}`);
      return { is: 'tools', task: id, tools: names.split(/[\s,]+/) };
    }),
    editOf(PLAN_EDITS.depends, ({ id }, numbers, session) => ({
      is: 'depends',
      task: id,
      dependsOn: idsOf(tasksNamed(session, numbers)),
    })),
    rowOf(PLAN_EDITS.add, add),
    editOf(PLAN_EDITS.drop, drop),
    editOf(PLAN_EDITS.split, split),
    editOf(PLAN_EDITS.join, ({ id }, number, session) => ({
      is: 'join',
      task: id,
      other: taskNamed(session, number).id,
    })),
    editOf(PLAN_EDITS.moveDown, ({ id }, direction) => {
      if (direction !== 'up' && direction !== 'down') throw wrongUse('move it up or down?');
      return { is: 'move', task: id, by: direction === 'up' ? -1 : 1 };
    }),
    rowOf(PLAN_EDITS.permissions, permissions),
    editOf(PLAN_EDITS.writes, (task, globs, session) => {
      if (globs === '') throw cancelled(...writesLines(task, session));
      return { is: 'writes', task: task.id, writes: parseWrites(globs) };
    }),
    editOf(PLAN_EDITS.alongside, turns),
    editOf(PLAN_EDITS.checks, checks),
  ),
];

/** In a run, commands take the numbers of agents: names those that differ from the places in the plan. */
function printPlan(_: string, session: LineSession): void {
  planOf(session);
  session.say(...plainPlanLines(session.state));
  const others = session.place === 'run' ? otherNumbers(session.state) : [];
  if (others.length > 0) session.say(`Commands take the numbers of agents: ${listed(others, 'and')}.`);
}

async function step(session: LineSession, by: 1 | -1): Promise<void> {
  const plan = neighbourPlan(session.plans, by);
  if (plan === null) throw wrongUse((by === -1 ? undoEdit : redoEdit).none);
  await change(session, { is: 'replace', plan });
}

async function whatIf(name: string, session: LineSession): Promise<void> {
  const plan = planOf(session);
  const { choices, maxParallel } = session.state;
  if (name === '' || choices === null) return session.say(...outlookLines(session.state));
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
  printReceipt(await session.service.saveTemplate(request), session);
}

/** Asks for the texts that become variables of the template, until an empty line. */
async function askVariables(plan: SoundPlan, session: LineSession): Promise<TemplateRequest['arguments']> {
  const asked = async (prompt: string): Promise<string> => {
    const given = await session.ask(prompt);
    if (given === null) throw cancelled('Nothing saved.');
    return given.trim();
  };
  const values: { name: string; text: string }[] = [];
  for (;;) {
    const text = await asked('Text of the tasks that becomes a variable (Enter ends): ');
    if (text === '') return values;
    if (plan.tasks.some((task) => task.description.includes(text))) {
      const name = (await asked('Name of the variable, one word: ')).toLowerCase();
      if (!ARGUMENT_NAME.test(name)) session.say('That is not one word of letters: skipped.');
      else if (values.some((one) => one.name === name)) session.say(`The variable ${name} already exists: skipped.`);
      else values.push({ name, text });
    } else session.say('No task contains this text.');
  }
}

// Edits of tasks.

/** Makes the edit; in a running plan after the person has confirmed the difference. */
async function change(session: LineSession, edit: PlanEdit): Promise<void> {
  if (session.place === 'run') await amend(session, [edit]);
  else await perform(PLAN_EDITS.describe, edit, session);
}

async function amend(session: LineSession, edits: readonly PlanEdit[]): Promise<void> {
  const { state } = session;
  const shown = amendment(edits, await previewed(session.controls?.previewPlan(edits), session));
  if (!shown.ok) throw shown.fault === SAME_PLAN ? cancelled(SAME_PLAN) : wrongUse(`not changed: ${shown.fault}`);
  const { preview, command } = shown.value;
  const sums =
    state.plan === null ? '' : `Now ${planFigures(state.plan, state)}. Then ${planFigures(preview.plan, state)}.`;
  const changes = preview.changes.map(({ is, text }) => `- ${is}: ${text}`);
  const lines = ['The running plan would change:', ...changes, ...(sums === '' ? [] : [sums])] as const;
  await confirm({ title: 'Change the plan?', lines, yes: 'apply', no: 'cancel', word: '' }, session);
  await session.submit(command);
}

function planOf({ state: { plan } }: LineSession): SoundPlan {
  if (plan === null) throw wrongUse(NO_PLAN);
  return plan;
}

/** The task of a number: its place in a plan that waits for approval, the number of its agent in a running one. */
function taskNamed(session: LineSession, typed: string): PlanTask {
  const { tasks } = planOf(session);
  if (session.place === 'run') {
    const { taskId } = agentNamed(session.state, typed);
    const task = tasks.find(({ id }) => id === taskId);
    if (task === undefined) throw wrongUse(`the plan has no task ${typed}`);
    return task;
  }
  const word = typed.replace(/^#/, '');
  const task = tasks[Number(word) - 1] ?? tasks.find(({ id }) => id === word);
  if (task !== undefined && word !== '') return task;
  const numbers = tasks.length === 1 ? 'there is task 1 only' : `tasks are numbered 1 to ${tasks.length}`;
  throw wrongUse(typed === '' ? `which task? ${numbers}` : `there is no task ${typed}: ${numbers}`);
}

const NO_TASK: ReadonlySet<string> = new Set(['', 'nothing', 'none', 'and']);

const tasksNamed = (session: LineSession, typed: string): readonly PlanTask[] =>
  typed
    .split(/[\s,]+/)
    .filter((word) => !NO_TASK.has(word.toLowerCase()))
    .map((word) => taskNamed(session, word));

const idsOf = (tasks: readonly PlanTask[]): readonly PlanTask['id'][] => tasks.map(({ id }) => id);

async function describe({ id, description }: PlanTask, text: string, session: LineSession): Promise<PlanEdit> {
  if (text !== '') return { is: 'describe', task: id, description: text };
  session.say(`Current text: ${description}`);
  return {
    is: 'describe',
    task: id,
    description: await askText('New text (Enter keeps): ', 'Nothing changed.', session),
  };
}

/** The agent that a setting is for if it has started or is not in the plan; else null, and the setting is for its task. */
function startedAgent(session: LineSession, which: string): AgentState | null {
  const agent = session.place === 'run' ? agentNamed(session.state, which) : null;
  return agent !== null && plannedTask(agent) === null ? agent : null;
}

async function changeModel(typed: string, session: LineSession): Promise<void> {
  const [which, model] = headOf(typed);
  if (model === '') throw wrongUse('which model? models lists them');
  const agent = startedAgent(session, which);
  if (agent === null) return change(session, { is: 'model', task: taskNamed(session, which).id, model });
  await perform(setModel, { agent: agent.id, model }, session);
}

async function changeBudget(typed: string, session: LineSession): Promise<void> {
  const [which, limits] = headOf(typed);
  const budget = readBudget(limits);
  const isRun = /^(?:0|run|main)$/.test(which);
  if (isRun) return session.submit(setBudget.command(session.state, { agent: ROOT, budget }));
  const agent = startedAgent(session, which);
  if (agent !== null) return perform(setBudget, { agent: agent.id, budget }, session);
  const task = taskNamed(session, which);
  await change(session, { is: 'budget', task: task.id, budget: { ...task.budget, ...budget } });
}

export function readBudget(typed: string): Budget {
  const read = typedBudget(typed);
  if (!read.ok) throw wrongUse(read.fault);
  return read.value;
}

function setEffort({ id }: PlanTask, typed: string, { state }: LineSession): PlanEdit {
  const effort = typed === 'role' ? null : EFFORTS.find((one) => one === typed.toLowerCase());
  if (effort === undefined) throw wrongUse(`how much? ${listed([...EFFORTS, 'role'])}`);
  const max = state.choices?.limits.maxEffort;
  if (effort !== null && max !== undefined && cappedEffort(effort, max.value) !== effort)
    throw wrongUse(`${effort} is above the allowed effort: ${max.because}`);
  return { is: 'effort', task: id, effort };
}

const whichRole = ({ state }: LineSession): string => {
  const names = (state.choices?.roles ?? []).map(({ name }) => name);
  return `which role? There are ${listed(names, 'and')}`;
};

async function add(typed: string, session: LineSession): Promise<void> {
  const [role, text] = headOf(typed);
  const known = session.state.choices?.roles.some(({ name }) => name === role) ?? true;
  if (!known) throw wrongUse(`${role === '' ? '' : `there is no role ${role}: `}${whichRole(session)}`);
  const description = text === '' ? await askText('Task: ', 'Nothing added.', session) : text;
  const numbers = await session.ask('Depends on which tasks, by number? Enter for none: ');
  if (numbers === null) throw cancelled('Nothing added.');
  await change(session, { is: 'add', description, role, dependsOn: idsOf(tasksNamed(session, numbers)) });
}

async function drop(task: PlanTask, _: string, session: LineSession): Promise<PlanEdit> {
  const plan = planOf(session);
  const warning = session.place === 'plan' ? dropWarning(plan, task) : null;
  if (warning !== null) {
    const words = dependantsOf(plan, task.id).map((one) => `${plan.tasks.indexOf(one) + 1} ${one.role}`);
    const lines = [`${warning} ${listed(words, 'and')}.`] as const;
    await confirm({ title: 'Delete it?', lines, yes: 'delete', no: 'keep', word: '' }, session);
  }
  return { is: 'drop', task: task.id };
}

async function split(task: PlanTask, _: string, session: LineSession): Promise<PlanEdit> {
  session.say(`Current text: ${task.description}`);
  const descriptions: string[] = [];
  for (;;) {
    const typed = await session.ask(`Text of part ${descriptions.length + 1} (Enter ends): `);
    if (typed === null) throw cancelled('Nothing split.');
    if (typed.trim() === '') break;
    descriptions.push(typed.trim());
  }
  if (descriptions.length < 2) throw cancelled('Nothing split: enter at least two parts.');
  const order = await askText('Sequential? y yes, n parallel: ', 'Nothing split.', session);
  return { is: 'split', task: task.id, descriptions, inOrder: IS_YES.test(order) };
}

const PERMITTED_BY_WORD: Readonly<Record<string, readonly Permitted[]>> = {
  edits: ['edits'],
  commands: ['commands'],
  all: PERMITTED,
};

/** `permissions`, `permissions 2`, `permissions edits allow`, `permissions 2 all ask`. */
async function permissions(typed: string, session: LineSession): Promise<void> {
  const plan = planOf(session);
  const [, number = '', words = ''] = /^(?:#?(\d+)\b)?\s*([^]*)$/.exec(typed.trim()) ?? [];
  const task = number === '' ? null : taskNamed(session, number);
  if (words !== '')
    return change(session, { is: 'permissions', task: task?.id ?? null, permissions: readPermissions(words) });
  const tasks = task === null ? plan.tasks : [task];
  session.say(
    ...tasks.map(
      (one) => `${plan.tasks.indexOf(one) + 1}. ${one.role}: ${approvalText(plan, one, session.state.mode)}`,
    ),
  );
}

function readPermissions(words: string): Permissions {
  const [what, to] = headOf(words);
  const kinds = PERMITTED_BY_WORD[what];
  const permission = Permission.safeParse(to);
  if (kinds === undefined || !permission.success)
    throw wrongUse('expected edits, commands or all, and ask or allow: permissions edits allow');
  return Object.fromEntries(kinds.map((one) => [one, permission.data]));
}

/** `checks 2`, `checks 2 npm test`, `checks 2 3 attempts`, `checks 2 none`. A command is added to those of the task. */
function checks({ id, checks: before = [], attempts }: PlanTask, typed: string): PlanEdit {
  if (typed === '') throw cancelled(`Checks: ${checksText({ checks: before, ...defined({ attempts }) })}`);
  const [, number] = /^(\d+) attempts?$/.exec(typed) ?? [];
  if (number !== undefined) return { is: 'checks', task: id, checks: before, attempts: Number(number) };
  return { is: 'checks', task: id, checks: typed === 'none' ? [] : [...before, ...readChecks(typed)] };
}

function turns(task: PlanTask, numbers: string, session: LineSession): PlanEdit {
  if (numbers === '') throw cancelled(...writesLines(task, session));
  if (numbers === 'own') return { is: 'tree', task: task.id, tree: 'own' };
  if (numbers === 'project') return { is: 'tree', task: task.id, tree: 'shared' };
  const others = tasksNamed(session, numbers);
  const ordered = turnCandidates(planOf(session), task);
  const unordered = others.find((other) => !ordered.includes(other));
  if (unordered !== undefined) throw wrongUse(`it has no order with ${unordered.role}`);
  return { is: 'alongside', task: task.id, others: idsOf(others) };
}

const writesLines = (task: PlanTask, session: LineSession): readonly string[] => [
  `May change: ${writableText(task, true) ?? ''}`,
  ...orderLines(planOf(session), task),
];
