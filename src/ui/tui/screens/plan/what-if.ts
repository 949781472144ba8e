/** What if the same plan ran on other models: cheap, balanced and best beside how it is now. Enter makes one of them the plan. */
import { expectedPlan } from '../../../../app/views/spending/expected-plan.ts';
import { parallelOf } from '../../../../app/views/agent-counts.ts';
import { totalsOf } from '../../../../domain/plan/plan-view.ts';
import type { PlanTotals } from '../../../../domain/plan/plan-view.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { variantsOf } from '../../../../domain/plan/what-if.ts';
import type { Variant } from '../../../../domain/plan/what-if.ts';
import type { RunState } from '../../../../events/state.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import type { CompareColumn, Dialog } from '../../shell/overlays/dialog.ts';
import { formatCost, formatDuration, formatTokens } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../components/glyphs.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { overCap } from '../../components/plan/totals.ts';
import type { Subject } from './check.ts';
import { nameOf } from '../../components/plan-form/form.ts';

/** A variant as far as it can still be: tasks that have begun keep their models. */
interface Way {
  readonly variant: Variant;
  readonly plan: SoundPlan;
  readonly edit: Extract<PlanEdit, { readonly is: 'models' }>;
  readonly totals: PlanTotals;
  /** Name of the new model by task. */
  readonly models: ReadonlyMap<string, string>;
}

/** The box with the variants; the first that differs is selected. */
export function whatIfDialog(of: Subject, state: RunState, glyphs: Glyphs): Dialog {
  const { plan, choices } = of;
  const ways = variantsOf(plan, choices, parallelOf(state)).map((variant) => wayOf(of, variant, parallelOf(state)));
  const now = totalsOf(expectedPlan(plan, state.choices), parallelOf(state));
  // Tasks that no variant changes say nothing.
  const tasks = plan.tasks.filter(({ id }) => ways.some(({ models }) => models.has(id)));
  const first = ways.findIndex(({ models }) => models.size > 0);
  return {
    is: 'compare',
    title: 'What if it ran on other models?',
    next: '$',
    yes: 'make it the plan',
    at: first + 1,
    heads: ['Cost', 'Time', 'Tokens', 'Changes'].map((label): Line => [span(label, { fg: 'muted' })]),
    rows: tasks.map(
      (task): Line => [
        span(`#${plan.tasks.indexOf(task) + 1} `, { fg: 'faint' }),
        span(task.role, { fg: `role:${task.role}` }),
      ],
    ),
    columns: [presentColumn(now, tasks, glyphs), ...ways.map((way) => columnOf(way, of, now, tasks, state, glyphs))],
    then: (column) => {
      const way = ways[column - 1];
      if (way === undefined) return {};
      const problem = of.problem(way.edit);
      return problem === null ? of.send(way.edit) : { toast: { level: 'warn', text: problem } };
    },
  };
}

function wayOf(of: Subject, variant: Variant, maxParallel: number): Way {
  const { plan } = of;
  const free = new Set(plan.tasks.filter((task) => of.fixed(task) === null).map(({ id }) => id));
  const models = variant.edit.models.filter(({ task }) => free.has(task));
  const tasks = plan.tasks.map((task, index) => (free.has(task.id) ? (variant.plan.tasks[index] ?? task) : task));
  const after: SoundPlan = { ...plan, tasks };
  return {
    variant,
    plan: after,
    edit: { is: 'models', models },
    totals: totalsOf(expectedPlan(after, of.choices), maxParallel),
    models: new Map(models.map(({ task, model }) => [task, model])),
  };
}

function presentColumn(now: PlanTotals, tasks: readonly PlanTask[], glyphs: Glyphs): CompareColumn {
  return {
    title: 'now',
    heads: [
      [span(costText(now), { fg: 'fg' })],
      [span(formatDuration(now.seconds * 1000), { fg: 'fg' })],
      [span(formatTokens(now.tokens), { fg: 'fg' })],
      [span(glyphs.dot, { fg: 'faint' })],
    ],
    rows: tasks.map(({ model }): Line => [span(modelName(model.used), { fg: 'muted' })]),
    notes: [[span('The plan as it is.', { fg: 'muted' })]],
    whyNot: 'that is the plan as it is',
  };
}

function columnOf(
  { variant, plan, totals, models }: Way,
  of: Subject,
  now: PlanTotals,
  tasks: readonly PlanTask[],
  state: RunState,
  glyphs: Glyphs,
): CompareColumn {
  const over = variant.overBudget.flatMap((id) => plan.tasks.filter((task) => task.id === id && models.has(id)));
  const cap = overCap(plan, state);
  return {
    title: variant.name,
    heads: [
      [span(costText(totals), { fg: 'title', bold: true }), ...share(totals.knownCost, now.knownCost)],
      [span(formatDuration(totals.seconds * 1000), { fg: 'title', bold: true }), ...share(totals.seconds, now.seconds)],
      [span(formatTokens(totals.tokens), { fg: 'fg' }), ...share(totals.tokens, now.tokens)],
      [span(models.size === 0 ? 'none' : `${models.size} of ${plan.tasks.length}`, { fg: 'fg' })],
    ],
    rows: tasks.map(({ id }): Line => {
      const to = models.get(id);
      return [to === undefined ? span(glyphs.dot, { fg: 'faint' }) : span(modelName(to), { fg: 'warn' })];
    }),
    notes: [
      [span(`${variant.name}: `, { fg: 'fg', bold: true }), span(variant.meaning, { fg: 'muted' })],
      ...(over.length === 0
        ? []
        : [warning(`${over.map((task) => nameOf(of.plan, task)).join(', ')}: more than its budget has`)]),
      ...(cap === null ? [] : [warning(cap)]),
    ],
    whyNot: models.size === 0 ? 'that is the plan as it is' : null,
  };
}

const warning = (text: string): Line => [span(`! ${text}`, { fg: 'warn' })];

const costText = ({ cost, knownCost }: PlanTotals): string =>
  cost === null ? `${formatCost(knownCost)}+` : formatCost(cost);

/** ` -59%`: less is good, more is to be looked at; nothing where it is the same. */
function share(after: number, before: number): Line {
  const percent = before === 0 ? 0 : Math.round((after / before - 1) * 100);
  if (percent === 0) return [];
  const ink: Ink = percent < 0 ? 'ok' : 'warn';
  return [span(` ${percent > 0 ? '+' : ''}${percent}%`, { fg: ink })];
}
