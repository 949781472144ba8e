/** Commands that change one task, while the plan waits and, for what has not begun, while it runs; of an agent at work its model and budget. */
import { durationMs } from '../../../config/schema/schema.ts';
import type { Budget } from '../../../domain/budget.ts';
import { cappedEffort, EFFORTS } from '../../../domain/models/effort.ts';
import { ROOT } from '../../../domain/ids.ts';
import type { PlanTask } from '../../../domain/plan/plan.ts';
import { type Result, fail, ok } from '../../../domain/result.ts';
import { dependantsOf } from '../../../domain/plan/plan-view.ts';
import { typedNumber } from '../../../domain/text/text.ts';
import type { AgentState } from '../../../events/state.ts';
import { agentNamed, listed } from '../words/agents.ts';
import { change, taskNamed, tasksNamed } from '../change.ts';
import { SAYS_YES } from '../../../app/process/asker.ts';
import type { LineCommand, LineDesk, Place } from '../command.ts';

const PLANNED: readonly Place[] = ['plan', 'run'];

type Doing = (task: PlanTask, rest: string, desk: LineDesk) => Promise<void> | void;

/** A command whose first word is the number of a task. */
function onTask(name: string, of: Pick<LineCommand, 'arguments' | 'help' | 'actions'>, run: Doing): LineCommand {
  return {
    name,
    short: [],
    ...of,
    where: PLANNED,
    run(typed, desk) {
      const [which, rest] = headOf(typed);
      const found = taskNamed(desk, which);
      return found.ok ? run(found.value, rest, desk) : desk.refuse(found.fault);
    },
  };
}

/** The first word, and the rest as it was typed. */
export function headOf(typed: string): readonly [string, string] {
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(typed) ?? [];
  return [first, rest.trim()];
}

export const EDIT_COMMANDS: readonly LineCommand[] = [
  onTask(
    'edit',
    {
      arguments: 'N [TEXT]',
      help: 'Says what task N is to do; without the text it is asked for.',
      actions: ['plan.describe', 'plan.describeOutside', 'plan.manual', 'plan.change'],
    },
    describe,
  ),
  onTask(
    'role',
    { arguments: 'N ROLE', help: 'Gives task N another role; roles lists them.', actions: ['plan.role'] },
    (task, role, desk) =>
      role === '' ? desk.refuse(rolesWords(desk)) : change(desk, { is: 'role', task: task.id, role }),
  ),
  {
    name: 'model',
    short: [],
    arguments: 'N MODEL',
    help: 'Gives task or agent N another model, a running one from its next turn on; models lists them.',
    where: PLANNED,
    actions: ['plan.model', 'run.model'],
    run: setModel,
  },
  {
    name: 'budget',
    short: [],
    arguments: 'N LIMITS',
    help: 'Sets what task or agent N may use: 20k (tokens), $2.50, 10m, one or several; N 0 is the whole run.',
    where: PLANNED,
    actions: ['plan.budget', 'plan.cap', 'run.budget'],
    run: setBudget,
  },
  onTask(
    'effort',
    {
      arguments: 'N low|medium|high|role',
      help: 'Sets how much the model of task N is to think; role is what its role says.',
      actions: [],
    },
    setEffort,
  ),
  onTask(
    'tools',
    { arguments: 'N NAMES', help: 'Leaves task N only these of the tools of its role.', actions: ['plan.tools'] },
    (task, names, desk) => {
      const tools = names.split(/[\s,]+/).filter((name) => name !== '');
      if (tools.length === 0) return desk.refuse(`which tools? It has ${listed(task.tools, 'and')}`);
      return change(desk, { is: 'tools', task: task.id, tools });
    },
  ),
  onTask(
    'needs',
    {
      arguments: 'N [NUMBERS]',
      help: 'Says which tasks have to be done before task N; without numbers none.',
      actions: ['plan.needs'],
    },
    (task, numbers, desk) => {
      const needs = tasksNamed(desk, numbers);
      if (!needs.ok) return desk.refuse(needs.fault);
      return change(desk, { is: 'depends', task: task.id, dependsOn: needs.value.map(({ id }) => id) });
    },
  ),
  {
    name: 'add',
    short: [],
    arguments: 'ROLE TEXT',
    help: 'Adds a task, or to a run that goes on an agent; then asks what it needs.',
    where: PLANNED,
    actions: ['plan.add', 'run.add'],
    run: add,
  },
  onTask(
    'drop',
    { arguments: 'N', help: 'Takes task N out; names first what depends on it.', actions: ['plan.drop'] },
    drop,
  ),
  onTask(
    'split',
    { arguments: 'N', help: 'Makes several tasks of task N, whose texts are asked for.', actions: ['plan.split'] },
    split,
  ),
  onTask(
    'join',
    { arguments: 'N M', help: 'Makes task M a part of task N.', actions: ['plan.join'] },
    (task, number, desk) => {
      const other = taskNamed(desk, number);
      return other.ok ? change(desk, { is: 'join', task: task.id, other: other.value.id }) : desk.refuse(other.fault);
    },
  ),
  onTask(
    'move',
    { arguments: 'N up|down', help: 'Moves task N in the list.', actions: ['plan.moveUp', 'plan.moveDown'] },
    (task, way, desk) => {
      if (way !== 'up' && way !== 'down') return desk.refuse('move it up or down?');
      return change(desk, { is: 'move', task: task.id, by: way === 'up' ? -1 : 1 });
    },
  ),
];

async function describe(task: PlanTask, text: string, desk: LineDesk): Promise<void> {
  if (text === '') desk.say(`It says now: ${task.description}`);
  const description = text === '' ? ((await desk.ask('New text (Enter keeps): ')) ?? '').trim() : text;
  if (description === '') return desk.say('Nothing changed.');
  await change(desk, { is: 'describe', task: task.id, description });
}

/** The agent that a number means while it runs, where it has begun or is none of the plan; null: it is about the plan. */
function begunAgent(desk: LineDesk, which: string): Result<AgentState | null, string> {
  if (desk.place !== 'run') return ok(null);
  const found = agentNamed(desk.state, which);
  if (!found.ok) return found;
  const { taskId, status } = found.value;
  return ok(taskId !== null && status === 'pending' ? null : found.value);
}

async function setModel(typed: string, desk: LineDesk): Promise<void> {
  const [which, model] = headOf(typed);
  if (model === '') return desk.refuse('which model? models lists them');
  const agent = begunAgent(desk, which);
  if (!agent.ok) return desk.refuse(agent.fault);
  if (agent.value !== null) {
    await desk.submit({ do: 'set model', agent: agent.value.id, model });
    return;
  }
  const task = taskNamed(desk, which);
  return task.ok ? change(desk, { is: 'model', task: task.value.id, model }) : desk.refuse(task.fault);
}

function setEffort(task: PlanTask, typed: string, desk: LineDesk): Promise<void> | void {
  const effort = typed === 'role' ? null : EFFORTS.find((one) => one === typed.toLowerCase());
  if (effort === undefined) return desk.refuse(`how much? ${listed([...EFFORTS, 'role'])}`);
  const max = desk.state.choices?.limits.maxEffort;
  if (effort !== null && max !== undefined && cappedEffort(effort, max.value) !== effort)
    return desk.refuse(`${effort} is more than is allowed: ${max.because}`);
  return change(desk, { is: 'effort', task: task.id, effort });
}

async function setBudget(typed: string, desk: LineDesk): Promise<void> {
  const [which, limits] = headOf(typed);
  const budget = budgetOf(limits);
  if (!budget.ok) return desk.refuse(budget.fault);
  if (/^(?:0|run|main)$/.test(which)) {
    await desk.submit({ do: 'set budget', agent: ROOT, budget: budget.value });
    return;
  }
  const agent = begunAgent(desk, which);
  if (!agent.ok) return desk.refuse(agent.fault);
  if (agent.value !== null) {
    await desk.submit({ do: 'set budget', agent: agent.value.id, budget: budget.value });
    return;
  }
  const task = taskNamed(desk, which);
  if (!task.ok) return desk.refuse(task.fault);
  await change(desk, { is: 'budget', task: task.value.id, budget: { ...task.value.budget, ...budget.value } });
}

/** `20k $2.50 10m`: tokens, dollars and time, in any order. */
function budgetOf(typed: string): Result<Budget, string> {
  // The comma of 5,000 separates nothing.
  const words = typed.split(/\s+|(?<!\d),|,(?!\d{3}(?!\d))/).filter((word) => word !== '');
  if (words.length === 0) return fail('how much? Such as 20k (tokens), $2.50 or 10m, one or several');
  let budget: Budget = {};
  for (const word of words) {
    const one = limitOf(word);
    if (one === null)
      return fail(`"${word}" is no limit: expected tokens such as 20k, dollars such as $2.50, or a time such as 10m`);
    const again = Object.keys(one).find((limit) => limit in budget);
    if (again !== undefined) return fail(`"${word}" sets a second time what another word sets already`);
    budget = { ...budget, ...one };
  }
  return ok(budget);
}

function limitOf(word: string): Budget | null {
  const cost = /^\$[\d.,]+$|^\d+\.\d+$/.test(word) ? typedNumber(word.replace('$', '')) : null;
  if (cost !== null) return { maxCost: cost };
  const [, digits = '', kilo] = /^([\d.,]{1,16})(k?)$/i.exec(word) ?? [];
  const tokens = typedNumber(digits);
  if (tokens !== null) return { maxTokens: Math.round(tokens * (kilo === '' ? 1 : 1000)) };
  const ms = durationMs(word);
  return ms === null ? null : { maxDuration: ms };
}

const rolesWords = ({ state }: LineDesk): string =>
  `which role? There are ${listed(
    (state.choices?.roles ?? []).map(({ name }) => name),
    'and',
  )}`;

async function add(typed: string, desk: LineDesk): Promise<void> {
  const [role, description] = headOf(typed);
  const known = desk.state.choices?.roles.some(({ name }) => name === role) ?? true;
  if (!known) return desk.refuse(role === '' ? rolesWords(desk) : `there is no role ${role}: ${rolesWords(desk)}`);
  const text = description === '' ? ((await desk.ask('What is it to do? ')) ?? '').trim() : description;
  const numbers = text === '' ? null : await desk.ask('Which tasks does it need, by number? Enter is none: ');
  if (numbers === null) return desk.say('Nothing added.');
  const needs = tasksNamed(desk, numbers);
  if (!needs.ok) return desk.refuse(`${needs.fault}. Nothing added`);
  await change(desk, { is: 'add', description: text, role, dependsOn: needs.value.map(({ id }) => id) });
}

async function drop(task: PlanTask, _: string, desk: LineDesk): Promise<void> {
  const { plan } = desk.state;
  const behind = plan === null ? [] : dependantsOf(plan, task.id);
  if (behind.length > 0 && plan !== null && desk.place === 'plan') {
    const words = behind.map((one) => `${plan.tasks.indexOf(one) + 1} ${one.role}`);
    desk.say(`${listed(words, 'and')} will need what it needed instead.`);
    const typed = await desk.ask('Drop it? yes, anything else no: ');
    if (!SAYS_YES.test(typed?.trim() ?? '')) return desk.say('Nothing dropped.');
  }
  await change(desk, { is: 'drop', task: task.id });
}

async function split(task: PlanTask, _: string, desk: LineDesk): Promise<void> {
  desk.say(`It says now: ${task.description}`);
  const descriptions: string[] = [];
  for (;;) {
    const typed = await desk.ask(`Text of part ${descriptions.length + 1} (Enter ends): `);
    if (typed === null) return desk.say('Nothing split.');
    if (typed.trim() === '') break;
    descriptions.push(typed.trim());
  }
  if (descriptions.length < 2) return desk.say('Nothing split: it takes two parts at least.');
  const order = await desk.ask('One after the other? y yes, anything else side by side: ');
  if (order === null) return desk.say('Nothing split.');
  await change(desk, { is: 'split', task: task.id, descriptions, inOrder: SAYS_YES.test(order.trim()) });
}
