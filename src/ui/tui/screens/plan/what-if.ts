/** The comparison of model tiers: the same plan on cheap, balanced and best models. */
import type { Ink, Line } from '../../../../app/views/index.ts';
import { expectedPlan, formatCost, formatDuration, formatTokens, modelName } from '../../../../app/views/index.ts';
import { parallelOf } from '../../../../app/views/index.ts';
import { type Variant, variantsOf } from '../../../../domain/plan/estimate.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { type PlanTotals, totalsOf } from '../../../../domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { RunState } from '../../../../events/index.ts';
import { overCap } from '../../components/plan/estimate.ts';
import { nameOf, type Subject } from '../../components/plan-form.ts';
import type { CompareColumn, Context, Dialog, DialogEffect } from '../../frame/screen.ts';
import { strong, tint } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { sendChecked } from './dialogs.ts';

/** A variant of the plan; tasks that have started keep their models. */
interface Way {
  readonly variant: Variant;
  readonly plan: SoundPlan;
  readonly edit: Extract<PlanEdit, { readonly is: 'models' }>;
  readonly totals: PlanTotals;
  readonly models: ReadonlyMap<string, string>;
}

/** The comparison with the first variant that differs selected; a toast where none would change a model. */
export function whatIf(of: Subject, { state, glyphs }: Pick<Context, 'state' | 'glyphs'>): DialogEffect {
  const { plan, choices } = of;
  const ways = variantsOf(plan, choices, parallelOf(state)).map((variant) => wayOf(of, variant, parallelOf(state)));
  const now = totalsOf(expectedPlan(plan, state.choices), parallelOf(state));
  // Tasks that no variant changes are left out.
  const tasks = plan.tasks.filter(({ id }) => ways.some(({ models }) => models.has(id)));
  const first = ways.findIndex(({ models }) => models.size > 0);
  if (first === -1)
    return { toast: { level: 'info', text: 'No other models to compare: every tier keeps the current ones.' } };
  const dialog: Dialog = {
    is: 'compare',
    title: 'Compare model tiers',
    next: '$',
    yes: 'apply',
    at: first + 1,
    heads: ['Cost', 'Time', 'Tokens', 'Models changed'].map((label): Line => [tint(label, 'muted')]),
    rows: tasks.map(
      (task): Line => [tint(`#${plan.tasks.indexOf(task) + 1} `, 'faint'), tint(task.role, `role:${task.role}`)],
    ),
    columns: [presentColumn(now, tasks, glyphs), ...ways.map((way) => columnOf(way, of, now, tasks, state, glyphs))],
    then: (column) => {
      const way = ways[column - 1];
      return way === undefined ? {} : sendChecked(of, way.edit);
    },
  };
  return { dialog };
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

const presentColumn = (now: PlanTotals, tasks: readonly PlanTask[], glyphs: Glyphs): CompareColumn => ({
  title: 'Current',
  heads: [
    [tint(costText(now), 'fg')],
    [tint(formatDuration(now.seconds * 1000), 'fg')],
    [tint(formatTokens(now.tokens), 'fg')],
    [tint(glyphs.dot, 'faint')],
  ],
  rows: tasks.map(({ model }): Line => [tint(modelName(model.used), 'muted')]),
  notes: [],
  whyNot: 'This is the current plan.',
});

const VARIANT_TITLES = { cheap: 'Cheapest', balanced: 'Role default', best: 'Best' } as const;

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
    title: VARIANT_TITLES[variant.name],
    heads: [
      [strong(costText(totals), 'title'), ...share(totals.knownCost, now.knownCost)],
      [strong(formatDuration(totals.seconds * 1000), 'title'), ...share(totals.seconds, now.seconds)],
      [tint(formatTokens(totals.tokens), 'fg'), ...share(totals.tokens, now.tokens)],
      [tint(models.size === 0 ? '0' : `${models.size} of ${plan.tasks.length}`, 'fg')],
    ],
    rows: tasks.map(({ id }): Line => {
      const to = models.get(id);
      return [to === undefined ? tint(glyphs.dot, 'faint') : tint(modelName(to), 'warn')];
    }),
    notes: [
      [tint(variant.meaning, 'muted')],
      ...(over.length === 0
        ? []
        : [warning(`${over.map((task) => nameOf(of.plan, task)).join(', ')}: over the task budget`)]),
      ...(cap === null ? [] : [warning(cap)]),
    ],
    whyNot: models.size === 0 ? 'These are the current models.' : null,
  };
}

const warning = (text: string): Line => [tint(`! ${text}`, 'warn')];

const costText = ({ cost, knownCost }: PlanTotals): string =>
  cost === null ? `${formatCost(knownCost)}+` : formatCost(cost);

/** ` -59%`, green for less and amber for more; empty for no change. */
function share(after: number, before: number): Line {
  const percent = before === 0 ? 0 : Math.round((after / before - 1) * 100);
  if (percent === 0) return [];
  const ink: Ink = percent < 0 ? 'ok' : 'warn';
  return [tint(` ${percent > 0 ? '+' : ''}${percent}%`, ink)];
}
