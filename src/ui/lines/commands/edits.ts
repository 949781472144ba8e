/**
 * Commands that edit the plan by the numbers of its tasks; the edits are rows of app/actions. A plan that waits for approval is edited at once,
 * with undo. Of a running plan the difference is printed, and the person confirms it. An agent at work takes a model and a budget.
 */
import {
  type Action,
  amendment,
  dropWarning,
  PLAN_EDITS,
  plannedTask,
  SAME_PLAN,
  setBudget,
  setModel,
  parseWrites,
} from '../../../app/actions/index.ts';
import { IS_YES } from '../../../app/process/index.ts';
import {
  expectedPlan,
  figuresText,
  writableText,
  parallelCandidates,
  orderLines,
  permittedText,
} from '../../../app/views/index.ts';
import { type Budget, typedLimit } from '../../../domain/budget.ts';
import { ROOT } from '../../../domain/ids.ts';
import { cappedEffort, EFFORTS } from '../../../domain/models/provider.ts';
import {
  Permission,
  type Permissions,
  PERMITTED,
  type Permitted,
  type PlanTask,
  type SoundPlan,
} from '../../../domain/plan/plan.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import { dependantsOf, totalsOf } from '../../../domain/plan/plan-view.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { AgentState, RunState } from '../../../events/index.ts';
import { agrees, at, type LineCommand, type LineContext, perform, previewed, wordsOf } from '../command.ts';
import { agentNamed, listed } from '../agents.ts';

type TaskCommand = (task: PlanTask, rest: string, context: LineContext) => Promise<void> | void;
type Words = Omit<LineCommand, 'where' | 'run'>;

/** A command whose first argument is the number of a task. `more`: other actions of the screen that it covers. */
const onTask = (
  of: Action<PlanEdit> | Words,
  run: TaskCommand,
  ...more: readonly string[]
): Omit<LineCommand, 'where'> => ({
  ...('id' in of ? wordsOf(of, ...more) : of),
  run(typed, context) {
    const [which, rest] = headOf(typed);
    const found = taskNamed(context, which);
    return found.ok ? run(found.value, rest, context) : context.refuse(found.fault);
  },
});

/** The first word and the rest of a typed text. */
export function headOf(typed: string): readonly [string, string] {
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(typed) ?? [];
  return [first, rest.trim()];
}

export const EDIT_COMMANDS: readonly LineCommand[] = at(
  ['plan', 'run'],
  onTask(PLAN_EDITS.describe, describe, 'plan.describeOutside', PLAN_EDITS.form.id, 'plan.change'),
  onTask(PLAN_EDITS.role, (task, role, context) =>
    role === '' ? context.refuse(whichRole(context)) : change(context, { is: 'role', task: task.id, role }),
  ),
  { ...wordsOf(setModel, PLAN_EDITS.model.id), run: changeModel },
  { ...wordsOf(setBudget, PLAN_EDITS.budget.id, 'plan.cap'), run: changeBudget },
  onTask(
    {
      name: 'effort',
      arguments: 'N low|medium|high|role',
      help: 'Set the effort of task N; role is the role default.',
    },
    setEffort,
  ),
  onTask(PLAN_EDITS.tools, (task, names, context) => {
    const tools = names.split(/[\s,]+/).filter((name) => name !== '');
    if (tools.length === 0) return context.refuse(`which tools? It has ${listed(task.tools, 'and')}`);
    return change(context, { is: 'tools', task: task.id, tools });
  }),
  onTask(PLAN_EDITS.depends, (task, numbers, context) =>
    withTasks(numbers, context, (needs) => change(context, { is: 'depends', task: task.id, dependsOn: idsOf(needs) })),
  ),
  { ...wordsOf(PLAN_EDITS.add, 'run.add'), run: add },
  onTask(PLAN_EDITS.drop, drop),
  onTask(PLAN_EDITS.split, split),
  onTask(PLAN_EDITS.join, (task, number, context) => {
    const other = taskNamed(context, number);
    if (!other.ok) return context.refuse(other.fault);
    return change(context, { is: 'join', task: task.id, other: other.value.id });
  }),
  onTask(
    PLAN_EDITS.moveDown,
    (task, direction, context) => {
      if (direction !== 'up' && direction !== 'down') return context.refuse('move it up or down?');
      return change(context, { is: 'move', task: task.id, by: direction === 'up' ? -1 : 1 });
    },
    PLAN_EDITS.moveUp.id,
  ),
  { ...wordsOf(PLAN_EDITS.permissions), run: permissions },
  onTask(PLAN_EDITS.writes, (task, globs, context) =>
    globs === ''
      ? printWrites(task, context)
      : change(context, { is: 'writes', task: task.id, writes: parseWrites(globs) }),
  ),
  onTask(PLAN_EDITS.alongside, beside),
);

/** Makes the edits one after the other until one is refused, and prints the refusal. */
export async function change(context: LineContext, ...edits: readonly PlanEdit[]): Promise<void> {
  if (context.place === 'run') return amend(context, edits);
  for (const edit of edits) if (!(await perform(PLAN_EDITS.describe, edit, context))) return;
}

async function amend(context: LineContext, edits: readonly PlanEdit[]): Promise<void> {
  const { state } = context;
  const shown = amendment(edits, await previewed(context.controls?.previewPlan(edits), context));
  if (!shown.ok)
    return shown.fault === SAME_PLAN ? context.say(SAME_PLAN) : context.refuse(`not changed: ${shown.fault}`);
  const { preview, command } = shown.value;
  const sums = state.plan === null ? '' : `Now ${sumWords(state.plan, state)}. Then ${sumWords(preview.plan, state)}.`;
  const changes = preview.changes.map(({ is, text }) => `- ${is}: ${text}`);
  const lines = ['The running plan would change:', ...changes, ...(sums === '' ? [] : [sums])] as const;
  const question = { title: 'Change the plan?', lines, yes: 'apply', no: 'cancel', word: '' };
  if (await agrees(question, context)) await context.submit(command);
}

/** `12k tokens, $0.0504, about 38s` */
export const sumWords = (
  plan: SoundPlan,
  { maxParallel, choices }: Pick<RunState, 'maxParallel' | 'choices'>,
): string => figuresText(totalsOf(expectedPlan(plan, choices), maxParallel));

/** The task of a number: its place in a plan that waits for approval, the number of its agent in a running one. */
function taskNamed(context: LineContext, typed: string): Result<PlanTask, string> {
  const { plan } = context.state;
  if (plan === null) return fail('there is no plan yet');
  if (context.place === 'run') {
    const agent = agentNamed(context.state, typed);
    if (!agent.ok) return agent;
    const task = plan.tasks.find(({ id }) => id === agent.value.taskId);
    return task === undefined ? fail(`the plan has no task ${typed}`) : ok(task);
  }
  const word = typed.replace(/^#/, '');
  const task = plan.tasks[Number(word) - 1] ?? plan.tasks.find(({ id }) => id === word);
  if (task !== undefined && word !== '') return ok(task);
  const many = plan.tasks.length;
  const numbers = many === 1 ? 'there is task 1 only' : `tasks are numbered 1 to ${many}`;
  return fail(typed === '' ? `which task? ${numbers}` : `there is no task ${typed}: ${numbers}`);
}

const NO_TASK: ReadonlySet<string> = new Set(['nothing', 'none', 'and']);

/** Calls `use` with the tasks of `1, 3`; prints which number is wrong. */
function withTasks(
  typed: string,
  context: LineContext,
  use: (tasks: readonly PlanTask[]) => Promise<void> | void,
): Promise<void> | void {
  const words = typed.split(/[\s,]+/).filter((word) => word !== '' && !NO_TASK.has(word.toLowerCase()));
  const found = words.map((word) => taskNamed(context, word));
  const wrong = found.find((one) => !one.ok);
  if (wrong !== undefined && !wrong.ok) return context.refuse(wrong.fault);
  return use(found.flatMap((one) => (one.ok ? [one.value] : [])));
}

const idsOf = (tasks: readonly PlanTask[]): readonly PlanTask['id'][] => tasks.map(({ id }) => id);

async function describe(task: PlanTask, text: string, context: LineContext): Promise<void> {
  if (text === '') context.say(`Current text: ${task.description}`);
  const description = text === '' ? ((await context.ask('New text (Enter keeps): ')) ?? '').trim() : text;
  if (description === '') return context.say('Nothing changed.');
  await change(context, { is: 'describe', task: task.id, description });
}

/** The agent or the task that a setting is for: an agent that has started or is not in the plan, else its task. */
function settingTarget(
  context: LineContext,
  which: string,
): Result<{ readonly agent: AgentState } | { readonly agent: null; readonly task: PlanTask }, string> {
  const agent = context.place === 'run' ? agentNamed(context.state, which) : null;
  if (agent?.ok === false) return agent;
  if (agent !== null && plannedTask(agent.value) === null) return ok({ agent: agent.value });
  const task = taskNamed(context, which);
  return task.ok ? ok({ agent: null, task: task.value }) : task;
}

async function changeModel(typed: string, context: LineContext): Promise<void> {
  const [which, model] = headOf(typed);
  if (model === '') return context.refuse('which model? models lists them');
  const target = settingTarget(context, which);
  if (!target.ok) return context.refuse(target.fault);
  const { value } = target;
  if (value.agent === null) return change(context, { is: 'model', task: value.task.id, model });
  await perform(setModel, { agent: value.agent.id, model }, context);
}

async function changeBudget(typed: string, context: LineContext): Promise<void> {
  const [which, limits] = headOf(typed);
  const read = budgetOf(limits);
  if (!read.ok) return context.refuse(read.fault);
  const budget = read.value;
  // The budget of the run can be set before it has agents.
  if (/^(?:0|run|main)$/.test(which))
    return void (await context.submit(setBudget.command(context.state, { agent: ROOT, budget })));
  const target = settingTarget(context, which);
  if (!target.ok) return context.refuse(target.fault);
  const { value } = target;
  if (value.agent !== null) return void (await perform(setBudget, { agent: value.agent.id, budget }, context));
  await change(context, { is: 'budget', task: value.task.id, budget: { ...value.task.budget, ...budget } });
}

/** `20k $2.50 10m`: tokens, dollars and time, in any order. The fault says what was expected. */
export function budgetOf(typed: string): Result<Budget, string> {
  // The comma in 5,000 separates no limits.
  const words = typed.split(/\s+|(?<!\d),|,(?!\d{3}(?!\d))/).filter((word) => word !== '');
  if (words.length === 0) return fail('how much? Such as 20k (tokens), $2.50 or 10m, one or several');
  let budget: Budget = {};
  for (const word of words) {
    const one = limitOf(word);
    if (one === null)
      return fail(
        `"${word}" is not a limit: expected tokens such as 20k, dollars such as $2.50, or a time such as 10m`,
      );
    const again = Object.keys(one).find((limit) => limit in budget);
    if (again !== undefined) return fail(`"${word}" sets the same limit again`);
    budget = { ...budget, ...one };
  }
  return ok(budget);
}

function limitOf(word: string): Budget | null {
  const kinds = /^\$|^\d+\.\d+$/.test(word) ? (['maxCost'] as const) : (['maxTokens', 'maxDuration'] as const);
  for (const limit of kinds) {
    const amount = typedLimit(limit, word);
    if (amount !== null) return { [limit]: amount };
  }
  return null;
}

function setEffort(task: PlanTask, typed: string, context: LineContext): Promise<void> | void {
  const effort = typed === 'role' ? null : EFFORTS.find((one) => one === typed.toLowerCase());
  if (effort === undefined) return context.refuse(`how much? ${listed([...EFFORTS, 'role'])}`);
  const max = context.state.choices?.limits.maxEffort;
  if (effort !== null && max !== undefined && cappedEffort(effort, max.value) !== effort)
    return context.refuse(`${effort} is above the allowed effort: ${max.because}`);
  return change(context, { is: 'effort', task: task.id, effort });
}

const whichRole = ({ state }: LineContext): string =>
  `which role? There are ${listed(
    (state.choices?.roles ?? []).map(({ name }) => name),
    'and',
  )}`;

async function add(typed: string, context: LineContext): Promise<void> {
  const [role, description] = headOf(typed);
  const known = context.state.choices?.roles.some(({ name }) => name === role) ?? true;
  if (!known)
    return context.refuse(role === '' ? whichRole(context) : `there is no role ${role}: ${whichRole(context)}`);
  const text = description === '' ? ((await context.ask('Task: ')) ?? '').trim() : description;
  const numbers = text === '' ? null : await context.ask('Depends on which tasks, by number? Enter for none: ');
  if (numbers === null) return context.say('Nothing added.');
  await withTasks(numbers, context, (needs) =>
    change(context, { is: 'add', description: text, role, dependsOn: idsOf(needs) }),
  );
}

async function drop(task: PlanTask, _: string, context: LineContext): Promise<void> {
  const { plan } = context.state;
  const warning = plan === null || context.place !== 'plan' ? null : dropWarning(plan, task);
  if (plan !== null && warning !== null) {
    const words = dependantsOf(plan, task.id).map((one) => `${plan.tasks.indexOf(one) + 1} ${one.role}`);
    const lines = [`${warning} ${listed(words, 'and')}.`] as const;
    if (!(await agrees({ title: 'Delete it?', lines, yes: 'delete', no: 'keep', word: '' }, context))) return;
  }
  await change(context, { is: 'drop', task: task.id });
}

async function split(task: PlanTask, _: string, context: LineContext): Promise<void> {
  context.say(`Current text: ${task.description}`);
  const descriptions: string[] = [];
  for (;;) {
    const typed = await context.ask(`Text of part ${descriptions.length + 1} (Enter ends): `);
    if (typed === null) return context.say('Nothing split.');
    if (typed.trim() === '') break;
    descriptions.push(typed.trim());
  }
  if (descriptions.length < 2) return context.say('Nothing split: enter at least two parts.');
  const order = await context.ask('Sequential? y yes, anything else parallel: ');
  if (order === null) return context.say('Nothing split.');
  await change(context, { is: 'split', task: task.id, descriptions, inOrder: IS_YES.test(order.trim()) });
}

const PERMITTED_BY_WORD: ReadonlyMap<string, readonly Permitted[]> = new Map<string, readonly Permitted[]>([
  ['edits', ['edits']],
  ['commands', ['commands']],
  ['all', PERMITTED],
]);

async function permissions(typed: string, context: LineContext): Promise<void> {
  const [first = '', ...rest] = typed.split(/\s+/).filter((word) => word !== '');
  const isNumber = /^#?\d+$/.test(first);
  const named = isNumber ? taskNamed(context, first) : ok(null);
  if (!named.ok) return context.refuse(named.fault);
  const words = isNumber || first === '' ? rest : [first, ...rest];
  if (words.length === 0) return printPermissions(named.value, context);
  const wanted = permissionsIn(words);
  if (wanted === null)
    return context.refuse('expected edits, commands or all, and ask or allow: permissions edits allow');
  await change(context, { is: 'permissions', task: named.value?.id ?? null, permissions: wanted });
}

/** `edits allow`, `all ask`; null for anything else. */
function permissionsIn([what = '', to, ...more]: readonly string[]): Permissions | null {
  const kinds = PERMITTED_BY_WORD.get(what);
  const permission = Permission.safeParse(to);
  if (kinds === undefined || !permission.success || more.length > 0) return null;
  return Object.fromEntries(kinds.map((one) => [one, permission.data]));
}

function printPermissions(task: PlanTask | null, context: LineContext): void {
  const { plan } = context.state;
  if (plan === null) return context.refuse('there is no plan yet');
  const tasks = task === null ? plan.tasks : [task];
  context.say(
    ...tasks.map((one) => `${plan.tasks.indexOf(one) + 1}. ${one.role}: ${permittedText(plan, one)} without approval`),
  );
}

function beside(task: PlanTask, numbers: string, context: LineContext): Promise<void> | void {
  if (numbers === '') return printWrites(task, context);
  return withTasks(numbers, context, (others) => {
    const { plan } = context.state;
    const ordered = plan === null ? [] : parallelCandidates(plan, task);
    const unordered = others.find((other) => !ordered.includes(other));
    if (unordered !== undefined) return context.refuse(`it has no order with ${unordered.role} to remove`);
    return change(context, { is: 'alongside', task: task.id, others: idsOf(others) });
  });
}

function printWrites(task: PlanTask, context: LineContext): void {
  const { plan } = context.state;
  context.say(`May change: ${writableText(task, true) ?? ''}`, ...(plan === null ? [] : orderLines(plan, task)));
}
