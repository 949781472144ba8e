/** Fields of the plan's forms: what stands in them at first, how what was typed is read, what is wrong with it. */
import { type Budget, withoutAbsent } from '../../../../domain/budget.ts';
import { type Effort, cappedEffort, EFFORTS } from '../../../../domain/models/effort.ts';
import { TaskId } from '../../../../domain/ids.ts';
import type { ModelOption, PlanChoices, PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { type Result, fail, ok } from '../../../../domain/result.ts';
import { typedNumber } from '../../../../domain/text/text.ts';
import type { Choice, Field, FormValues } from '../../frame/screen.ts';
import { formatTokens } from '../../../../app/views/text/format.ts';
import { askedName } from './check.ts';

/** What an empty field means, by field. */
interface Empty {
  readonly tokens: string;
  readonly cost: string;
  readonly time: string;
}
const OF_ONE: Empty = { tokens: 'twice the estimate', cost: 'as the rules say', time: 'no limit' };
/** Of the run, a limit that is left empty stays as it is. */
export const OF_RUN: Empty = { tokens: 'as it is', cost: 'as it is', time: 'as it is' };

/** The three limits of one agent, or of the run; an empty field sets none. */
export function budgetFields({ maxTokens, maxCost, maxDuration }: Budget, empty: Empty = OF_ONE): readonly Field[] {
  const text = (name: string, label: string, value: string, hint: string): Field => ({
    is: 'text',
    name,
    label,
    value,
    lines: 1,
    hint,
  });
  return [
    text('tokens', 'Tokens', maxTokens === undefined ? '' : String(maxTokens), `64000 or 64k; empty: ${empty.tokens}`),
    text('cost', 'Dollars', maxCost === undefined ? '' : String(maxCost), `0.50; empty: ${empty.cost}`),
    text(
      'time',
      'Time',
      maxDuration === undefined ? '' : durationText(maxDuration),
      `90s, 10m or 1h; empty: ${empty.time}`,
    ),
  ];
}

/** The budget in a form's fields, or what is wrong with one of them. */
export function readBudget(values: FormValues): Result<Budget, string> {
  const tokens = amount(values.texts['tokens'], TOKEN_UNITS, 'Tokens: a number such as 64000 or 64k');
  if (!tokens.ok) return tokens;
  const cost = amount(values.texts['cost']?.replace(/^\s*\$/, ''), { '': 1 }, 'Dollars: a number such as 0.50');
  if (!cost.ok) return cost;
  const time = amount(values.texts['time'], TIME_UNITS, 'Time: such as 90s, 10m or 1h');
  if (!time.ok) return time;
  return ok(withoutAbsent({ maxTokens: whole(tokens.value), maxCost: cost.value, maxDuration: whole(time.value) }));
}

const TOKEN_UNITS = { '': 1, k: 1000, m: 1_000_000 } as const;
const TIME_UNITS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

const whole = (value: number | undefined): number | undefined => (value === undefined ? undefined : Math.round(value));

function amount(
  text: string | undefined,
  units: Readonly<Record<string, number>>,
  problem: string,
): Result<number | undefined, string> {
  const trimmed = (text ?? '').trim();
  if (trimmed === '') return ok(undefined);
  const [, digits = '', unit = ''] = /^([\d.,]+)\s*([a-z]?)$/i.exec(trimmed) ?? [];
  const number = typedNumber(digits);
  const factor = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
  return number === null || factor === undefined ? fail(problem) : ok(number * factor);
}

function durationText(ms: number): string {
  if (ms % 3_600_000 === 0 && ms > 0) return `${ms / 3_600_000}h`;
  return ms % 60_000 === 0 && ms > 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}

/** Every model, those that can't be used with the reason and put last. */
export function modelChoices(choices: PlanChoices): readonly Choice[] {
  const longest = Math.max(0, ...choices.models.map(({ id }) => providerOf(id).length));
  const all = choices.models.map((model): Choice => {
    const whyNot = model.usable.yes ? null : model.usable.because;
    return { value: askedName(model), label: model.label, note: modelNote(model, longest), whyNot };
  });
  return [...all.filter(({ whyNot }) => whyNot === null), ...all.filter(({ whyNot }) => whyNot !== null)];
}

const providerOf = (id: string): string => id.split('/')[0] ?? '';

/**
 * `   $15 / $75 per M      200k  deep   anthropic`: in and out, US dollars per million tokens, the window, what it is good
 * for, and who serves it. Padded, so that in a list like stands below like; where it is cut, the price stays.
 */
function modelNote({ id, grade, window, price, tools }: ModelOption, longest: number): string {
  const can = tools === false ? 'no tools' : (grade ?? '');
  return [priceText(price), formatTokens(window).padStart(5), can.padEnd(5), providerOf(id).padEnd(longest)].join('  ');
}

/** What all three kinds take: `$0.075 / $0.3 per M`. */
const PRICE = 21;

function priceText(price: ModelOption['price']): string {
  if (price === null) return 'price unknown'.padEnd(PRICE);
  if (price.input === 0 && price.output === 0) return '  free'.padEnd(PRICE);
  // Cheap models cost fractions of a cent: rounded to cents, they would cost something else.
  const dollars = (value: number): string => `$${Number(value.toFixed(3))}`;
  return `${dollars(price.input).padStart(6)} / ${dollars(price.output)} per M`.padEnd(PRICE);
}

/** The roles that a task of a plan with so many `tasks` can have. */
export const roleChoices = (choices: PlanChoices, tasks: number): readonly Choice[] =>
  choices.roles.flatMap(({ name, description, single }) =>
    single === true && tasks > 1 ? [] : [{ value: name, label: name, note: description, whyNot: null }],
  );

/** The role's own first; those beyond what the rules allow say so. */
export function effortChoices({ roles, limits }: PlanChoices, task: PlanTask): readonly Choice[] {
  const own = roles.find(({ name }) => name === task.role)?.effort;
  const max = limits.maxEffort;
  const over = (effort: Effort): string | null =>
    cappedEffort(effort, max?.value) === effort ? null : `not allowed: ${max?.because ?? ''}`;
  return [
    { value: '', label: "the role's own", note: own ?? "the provider's default", whyNot: null },
    ...EFFORTS.map((effort) => ({ value: effort, label: effort, note: '', whyNot: over(effort) })),
  ];
}

export const toolChoices = (choices: PlanChoices, task: PlanTask): readonly Choice[] => {
  const own = choices.roles.find(({ name }) => name === task.role)?.tools ?? task.tools;
  return own.map((tool) => ({ value: tool, label: tool, note: '', whyNot: null }));
};

/** The other tasks; those that need `task` themselves can't be needed by it. Null: each may be needed, for a new task. */
export function needChoices(plan: SoundPlan, task: PlanTask | null): readonly Choice[] {
  const below = task === null ? new Set<string>() : descendants(plan, task.id);
  return plan.tasks.flatMap((other, index) => {
    if (other.id === task?.id) return [];
    const number = plan.tasks.findIndex(({ id }) => id === task?.id) + 1;
    return {
      value: other.id,
      label: `#${index + 1} ${other.role}`,
      note: other.description.split('\n')[0] ?? '',
      whyNot: below.has(other.id) ? `it needs #${number} itself: that would be a circle` : null,
    };
  });
}

/** All tasks that need `id`, directly or through others. */
export function descendants(plan: SoundPlan, id: string): ReadonlySet<string> {
  const known = BELOW.get(plan)?.get(id);
  if (known !== undefined) return known;
  const found = new Set<string>();
  for (const task of plan.tasks) {
    if (task.dependsOn.some((need) => need === id || found.has(need))) found.add(task.id);
  }
  BELOW.set(plan, (BELOW.get(plan) ?? new Map<string, ReadonlySet<string>>()).set(id, found));
  return found;
}

/** A plan never changes in place; a list of what can be joined asks for all of it. */
const BELOW = new WeakMap<SoundPlan, Map<string, ReadonlySet<string>>>();

/** Ids as they stand in a form's checks. */
export const readIds = (values: FormValues, name: string): readonly TaskId[] =>
  (values.checks[name] ?? []).flatMap((id) => {
    const parsed = TaskId.safeParse(id);
    return parsed.success ? [parsed.data] : [];
  });
