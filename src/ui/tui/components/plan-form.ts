/** Parts of the dialogs about a plan: names of tasks, forms that become one edit, their fields, and the check of an edit. */
import { askedName } from '../../../domain/plan/estimate.ts';
import { formatWrites, parseWrites } from '../../../app/actions/index.ts';
import { formatTimeLimit, formatTokens, type Line, turnCandidates, priceText } from '../../../app/views/index.ts';
import { type Budget, typedLimit } from '../../../domain/budget.ts';
import { TaskId } from '../../../domain/ids.ts';
import { cappedEffort, type Effort, EFFORTS } from '../../../domain/models/provider.ts';
import { applyEdit } from '../../../domain/plan/apply-edit.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { PlanContext } from '../../../domain/plan/check-plan.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import { type ModelOption, type PlanChoices, type PlanTask, type SoundPlan, TREES } from '../../../domain/plan/plan.ts';
import { checkText, readChecks, USUAL_ATTEMPTS } from '../../../domain/plan/task-checks.ts';
import { treeText } from '../../../domain/plan/writes.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import { writtenName } from '../../../domain/text/text.ts';
import type { RunState } from '../../../events/index.ts';
import type { Choice, Dialog, DialogEffect, Field, FormValues } from '../frame/screen.ts';
import { checksField, choiceField, choice, textField } from '../frame/screen.ts';
import { tint } from '../text/blocks.ts';

/** `#4 oracle`, the task of a dialog. */
export const titleOf = ({ plan, task }: Subject): string => nameOf(plan, task);

/** `#4 oracle`. */
export const nameOf = (plan: SoundPlan, task: PlanTask): string => `#${plan.tasks.indexOf(task) + 1} ${task.role}`;

/** `#4 oracle  Explain the race`, in the role's colour. */
export const taskLine = (plan: SoundPlan, task: PlanTask): Line => [
  tint(`#${plan.tasks.indexOf(task) + 1} `, 'muted'),
  tint(task.role, `role:${task.role}`),
  tint(`  ${task.description.split('\n')[0] ?? ''}`, 'fg'),
];

type Form = Extract<Dialog, { readonly is: 'form' }>;
type Fields = Form['fields'];

/** A form whose values are read as a whole; a fault is shown below its fields. */
export const readForm = <Value>(
  title: string,
  fields: Fields,
  read: (values: FormValues) => Result<Value, string>,
  then: (value: Value) => DialogEffect,
): Form => ({
  is: 'form',
  title,
  fields,
  check: (values) => {
    const value = read(values);
    return value.ok ? null : value.fault;
  },
  then: (values) => {
    const value = read(values);
    return value.ok ? then(value.value) : { toast: { level: 'error', text: value.fault } };
  },
});

/** A form that becomes one edit, checked before it is sent. */
export const editForm = (
  of: Subject,
  title: string,
  fields: Fields,
  read: (values: FormValues) => Result<PlanEdit, string>,
): Form =>
  readForm(
    title,
    fields,
    (values) => {
      const edit = read(values);
      const problem = edit.ok ? of.problem(edit.value) : null;
      return problem === null ? edit : fail(problem);
    },
    (edit) => of.send(edit),
  );

// Checks an edit before it is sent, so that the reason is shown in the form. The engine checks again by all rules; this check may accept
// more, never less.

/** The task of a dialog, with everything that the dialog needs. */
export interface Subject {
  readonly plan: SoundPlan;
  readonly choices: PlanChoices;
  readonly task: PlanTask;
  /** Why an edit is not possible; null when it is as far as can be judged here. */
  problem(edit: PlanEdit): string | null;
  /** Sends an edit: to the run before the approval, into a draft or a question afterwards. */
  send(edit: PlanEdit): DialogEffect;
  /** Why another task cannot be changed; null when it can. */
  fixed(task: PlanTask): string | null;
}

/** The subject of a plan that is not approved yet; null without a plan. */
export function proposedSubject({ plan, choices }: RunState, task: PlanTask): Subject | null {
  if (plan === null || choices === null) return null;
  return {
    plan,
    choices,
    task,
    problem(edit) {
      const result = edited({ plan, choices }, edit);
      return result.ok ? null : result.fault;
    },
    send: (edit) => ({ commands: [{ do: 'edit plan', edit }] }),
    fixed: () => null,
  };
}

const edited = ({ plan, choices }: Pick<Subject, 'plan' | 'choices'>, edit: PlanEdit): Result<SoundPlan, string> =>
  applyEdit(plan, edit, contextOf(choices, plan));

/** The plan with an edit, as far as it can be judged here; null where the edit is not possible. */
export function planAfter(of: Subject, edit: PlanEdit): SoundPlan | null {
  const result = edited(of, edit);
  return result.ok ? result.value : null;
}

/** The model with this id, label or alias, or undefined. */
export const modelNamed = (choices: PlanChoices, asked: string): ModelOption | undefined =>
  choices.models.find(({ id, label, aliases }) => id === asked || label === asked || aliases.includes(asked));

function contextOf(choices: PlanChoices, plan: SoundPlan): PlanContext {
  const known = new Map([...choices.roles, ...plan.tasks].map(({ model }) => [model.asked, model] as const));
  return {
    choices,
    resolveModel: (asked, role) => {
      const before = known.get(asked);
      if (before !== undefined) return ok(before);
      const option = modelNamed(choices, asked);
      if (option === undefined) return fail(`there is no model "${writtenName(asked)}"`);
      if (option.usable.yes) return ok({ asked, used: option.id, because: null });
      // Policy chooses the substitute; the model of the role is a likely one.
      const own = choices.roles.find(({ name }) => name === role)?.model.used ?? option.id;
      return ok({ asked, used: own, because: option.usable.because });
    },
    roleProblem: () => null,
  };
}

type Empty = Readonly<Record<'tokens' | 'cost' | 'time', string>>;
const OF_ONE: Empty = { tokens: 'twice the estimate', cost: 'set by policy', time: 'none' };
/** An empty limit of the run stays unchanged. */
export const OF_RUN: Empty = { tokens: 'unchanged', cost: 'unchanged', time: 'unchanged' };

/** The three limits of an agent or of the run. */
export function budgetFields({ maxTokens, maxCost, maxDuration }: Budget, empty: Empty = OF_ONE): readonly Field[] {
  const field = (name: keyof Empty, label: string, value: string, hint: string): Field =>
    textField(name, label, value, `${empty[name]} (e.g. ${hint})`);
  return [
    field('tokens', 'Token limit', String(maxTokens ?? ''), '64k'),
    field('cost', 'Cost limit', maxCost === undefined ? '' : `$${maxCost}`, '0.50'),
    field('time', 'Time limit', maxDuration === undefined ? '' : formatTimeLimit(maxDuration), '10m'),
  ];
}

/** The budget in the fields of a form, or the fault of a field. An empty field sets no limit. */
export function readBudget(values: FormValues): Result<Budget, string> {
  let budget: Budget = {};
  for (const [limit, field, problem] of LIMIT_FIELDS) {
    const typed = (values.texts[field] ?? '').trim();
    const amount = typed === '' ? undefined : typedLimit(limit, typed);
    if (amount === null) return fail(problem);
    if (amount !== undefined) budget = { ...budget, [limit]: amount };
  }
  return ok(budget);
}

const LIMIT_FIELDS = [
  ['maxTokens', 'tokens', 'Token limit: enter a number such as 64000 or 64k'],
  ['maxCost', 'cost', 'Cost limit: enter dollars such as 0.50'],
  ['maxDuration', 'time', 'Time limit: enter a time such as 90s, 10m or 1h'],
] as const;

/** Every model; those that cannot be used come last, with the reason. */
export function modelChoices(choices: PlanChoices): readonly Choice[] {
  const longest = Math.max(0, ...choices.models.map(({ id }) => providerOf(id).length));
  const all = choices.models.map((model): Choice => {
    const whyNot = model.usable.yes ? null : model.usable.because;
    return { value: askedName(model), label: model.label, note: modelNote(model, longest), whyNot };
  });
  return [...all.filter(({ whyNot }) => whyNot === null), ...all.filter(({ whyNot }) => whyNot !== null)];
}

const providerOf = (id: string): string => id.split('/')[0] ?? '';

/** `$15 / $75 per M      200k     deep   anthropic`: prices of input and output, window, grade, provider, in columns. */
function modelNote({ id, grade, window, price, tools }: ModelOption, longest: number): string {
  const can = tools === false ? 'no tools' : (grade ?? '');
  return `${ratesText(price)} ${formatTokens(window).padEnd(7)}  ${can.padEnd(5)}  ${providerOf(id).padEnd(longest)}`;
}

/** Headings of a list of models, aligned with `modelNote`. */
export const MODEL_HEADS = ['model', `${'price in / out'.padEnd(20)} context  depth  provider`] as const;

/** Columns of a price: `$0.075 / $0.3 per M`. */
const PRICE = 20;

function ratesText(price: ModelOption['price']): string {
  if (price === null) return priceText(null).padEnd(PRICE);
  if (price.input === 0 && price.output === 0) return 'free'.padEnd(PRICE);
  // Cheap models cost fractions of a cent.
  const dollars = (value: number): string => `$${Number(value.toFixed(3))}`;
  return `${dollars(price.input)} / ${dollars(price.output)} per M`.padEnd(PRICE);
}

/** The roles that a task can have in a plan of so many `tasks`. */
export const roleChoices = (choices: PlanChoices, tasks: number): readonly Choice[] =>
  choices.roles.flatMap(({ name, description, single }) =>
    single === true && tasks > 1 ? [] : [choice(name, description)],
  );

/** The default of the role first; efforts above the limit of the policy cannot be chosen. */
export function effortChoices({ roles, limits }: PlanChoices, task: PlanTask): readonly Choice[] {
  const own = roles.find(({ name }) => name === task.role)?.effort;
  const max = limits.maxEffort;
  const over = (effort: Effort): string | null =>
    cappedEffort(effort, max?.value) === effort ? null : `not allowed: ${max?.because ?? ''}`;
  return [
    choice('', own ?? "the provider's default", 'role default'),
    ...EFFORTS.map((effort) => ({ ...choice(effort), whyNot: over(effort) })),
  ];
}

export const toolChoices = (choices: PlanChoices, task: PlanTask): readonly Choice[] => {
  const own = choices.roles.find(({ name }) => name === task.role)?.tools ?? task.tools;
  return own.map((tool) => choice(tool, '', tool === '*' ? 'all tools' : tool));
};

/** The other tasks as dependencies of `task`; those that depend on it cannot be chosen. Null: for a new task. */
export function needChoices(plan: SoundPlan, task: PlanTask | null): readonly Choice[] {
  const below = task === null ? new Set<string>() : descendants(plan, task.id);
  const number = plan.tasks.findIndex(({ id }) => id === task?.id) + 1;
  return plan.tasks
    .filter(({ id }) => id !== task?.id)
    .map((other) => ({
      ...choice(other.id, other.description.split('\n')[0], nameOf(plan, other)),
      whyNot: below.has(other.id) ? `depends on #${number}: would create a cycle` : null,
    }));
}

/** All tasks that depend on `id`, directly or through others. */
export function descendants(plan: SoundPlan, id: string): ReadonlySet<string> {
  const all = belowIn(plan);
  const known = all.get(id);
  if (known !== undefined) return known;
  const found = new Set<string>();
  for (const task of plan.tasks) {
    if (task.dependsOn.some((need) => need === id || found.has(need))) found.add(task.id);
  }
  all.set(id, found);
  return found;
}

const belowIn = memoize(
  (plan: SoundPlan) => [plan],
  () => new Map<string, ReadonlySet<string>>(),
);

/** The task ids that are checked in a form. */
export const readIds = (values: FormValues, name: string): readonly TaskId[] =>
  (values.checks[name] ?? []).flatMap((id) => {
    const parsed = TaskId.safeParse(id);
    return parsed.success ? [parsed.data] : [];
  });

export const writesField = ({ task }: Subject): Field =>
  textField('writes', 'Writes', formatWrites(task), 'nothing (e.g. src/** docs/*.md; ** is the whole project)');

/** The typed globs; left out where they are unchanged, so that another role brings its own. */
export function writesOf({ task }: Subject, { texts }: FormValues): { readonly writes?: readonly string[] } {
  const typed = texts['writes'] ?? '';
  return typed === formatWrites(task) ? {} : { writes: parseWrites(typed) };
}

export const checkFields = ({ task }: Subject): readonly Field[] => [
  textField('checks', 'Checks', formatChecks(task), 'none (e.g. npm test, one per line)', 2),
  textField('attempts', 'Attempts', String(task.attempts ?? USUAL_ATTEMPTS), 'until the checks pass'),
];

/** The typed checks and attempts; left out where they are unchanged. */
export function checksOf({ task }: Subject, { texts }: FormValues): Pick<FormEdit, 'checks' | 'attempts'> {
  const [typed = '', attempts = ''] = [texts['checks'], texts['attempts']];
  const isSame = typed === formatChecks(task);
  const number = Number(attempts);
  return {
    ...(isSame ? {} : { checks: readChecks(typed) }),
    ...(attempts === '' || number === (task.attempts ?? USUAL_ATTEMPTS) ? {} : { attempts: number }),
  };
}

const formatChecks = ({ checks = [] }: PlanTask): string => checks.map(checkText).join('\n');
type FormEdit = Extract<PlanEdit, { readonly is: 'form' }>;

export function orderDialog(of: Subject): Dialog {
  const { plan, task } = of;
  const others = turnCandidates(plan, task);
  const isBeside = ({ id, alongside = [] }: PlanTask): boolean =>
    alongside.includes(task.id) || (task.alongside ?? []).includes(id);
  const choices = others.map((other) => choice(other.id, whyOrdered(of, other), nameOf(plan, other)));
  const beside = others.filter(isBeside).map(({ id }) => id);
  const now = task.tree ?? 'shared';
  const places = TREES.map((tree) =>
    choice(tree, tree === 'own' ? 'waits for nobody, merged when done' : '', treeText({ tree })),
  );
  const turns = choices.length === 0 ? [] : [checksField('turns', 'Take turns', beside, choices)];
  return editForm(of, `Order of ${titleOf(of)}`, [choiceField('tree', 'Works', now, places), ...turns], (values) => {
    const tree = TREES.find((one) => one === values.texts['tree']) ?? now;
    // In a tree of its own a task has no order with other writers.
    if (tree !== now) return ok({ is: 'tree', task: task.id, tree });
    return ok({ is: 'alongside', task: task.id, others: choices.length === 0 ? [] : readIds(values, 'turns') });
  });
}

function whyOrdered({ task }: Subject, other: PlanTask): string {
  const behind = (one: PlanTask, first: PlanTask): readonly string[] =>
    (one.after ?? []).flatMap(({ task: id, because }) => (id === first.id ? [because] : []));
  return [...behind(task, other), ...behind(other, task)].join('; ') || 'they take turns';
}
