/** The keys of the plan screen in the order of the footer, and the comparison of model tiers. Effects are in acts.ts. */
import {
  acceptPlan,
  cancelPlan,
  type Interaction,
  PLAN_EDITS,
  planAgain,
  redoEdit,
  undoEdit,
} from '../../../../app/actions/index.ts';
import {
  expectedPlan,
  formatCost,
  formatDuration,
  formatTokens,
  type Ink,
  type Line,
  modelName,
  parallelOf,
} from '../../../../app/views/index.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { totalsOf, type PlanTotals } from '../../../../domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { variantsOf, type Variant } from '../../../../domain/plan/estimate.ts';
import type { RunState } from '../../../../events/index.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { nameOf, orderDialog, type Subject } from '../../components/plan-form.ts';
import { overCap } from '../../components/plan/estimate.ts';
import { ALL, bind } from '../../frame/keymap.ts';
import type { CompareColumn, Dialog, DialogEffect, Binding, Context } from '../../frame/screen.ts';
import {
  type WhyNot,
  accept,
  again,
  amend,
  asks,
  back,
  cancel,
  does,
  go,
  keep,
  move,
  nextPane,
  NOT_SEEN,
  paneNumber,
  raiseCap,
  stepTo,
  whyNotAccept,
  whyNotAmend,
  whyNotAnyway,
  whyNotBack,
  whyNotCancel,
  whyNotCap,
  whyNotChange,
  whyNotFew,
  whyNotKeep,
  whyNotOrder,
  whyNotStep,
  whyNotTask,
  zoomBy,
} from './acts.ts';
import {
  addDialog,
  describeOutside,
  dropDialog,
  joinDialog,
  modelDialog,
  permissionsDialog,
  splitDialog,
  taskForm,
} from './dialogs.ts';
import type { PlanUi } from './ui.ts';
import { strong, tint } from '../../text/blocks.ts';

type Key = Binding<PlanUi>;

/** Rows per page, whatever the size of the screen. */
const PAGE = 8;
const whyNotLeave: WhyNot = (_, { state }) =>
  state.session === null ? 'No run has started yet.' : state.finished ? 'The run has ended.' : null;

const TABLE: readonly Key[] = [
  bind(acceptPlan, accept, whyNotAccept),
  bind('plan.anyway', accept, whyNotAnyway),
  bind('plan.change', amend, whyNotAmend),
  task(PLAN_EDITS.describe, taskForm('task')),
  task(PLAN_EDITS.model, modelDialog),
  task(PLAN_EDITS.form, taskForm('task')),
  bind(PLAN_EDITS.add, asks(addDialog), whyNotChange),
  task(PLAN_EDITS.drop, dropDialog, whyNotFew('A plan needs at least one task.')),
  bind(undoEdit, stepTo(-1), whyNotStep(-1)),
  bind(redoEdit, stepTo(1), whyNotStep(1)),
  task(PLAN_EDITS.split, splitDialog),
  task(PLAN_EDITS.join, joinDialog, whyNotFew('There is no other task to merge.')),
  bind(
    PLAN_EDITS.models,
    does((of, { state, glyphs }) => whatIf(of, state, glyphs)),
    whyNotChange,
  ),
  bind('plan.describeOutside', does(describeOutside), whyNotTask),
  task(PLAN_EDITS.role, taskForm('role')),
  task(PLAN_EDITS.budget, taskForm('tokens')),
  task(PLAN_EDITS.tools, taskForm('tools')),
  task(PLAN_EDITS.depends, taskForm('needs')),
  bind(PLAN_EDITS.permissions, asks(permissionsDialog), whyNotChange),
  bind(
    PLAN_EDITS.commit,
    does((of) => of.send({ is: 'commit', commit: of.plan.commit !== true })),
    whyNotChange,
  ),
  task(PLAN_EDITS.writes, taskForm('writes')),
  task(PLAN_EDITS.alongside, orderDialog, whyNotOrder),
  bind(PLAN_EDITS.moveDown, move(1), whyNotTask),
  bind(PLAN_EDITS.moveUp, move(-1), whyNotTask),
  bind('plan.cap', raiseCap, whyNotCap),
  bind('plan.keep', keep, whyNotKeep),
  bind(cancelPlan, cancel, whyNotCancel),
  bind('plan.back', back, whyNotBack),
  bind(planAgain, again, (ui, context) => planAgain.whyNot(context.state, { hint: '' }) ?? whyNotChange(ui, context)),
  bind('plan.down', go(1)),
  bind('plan.up', go(-1)),
  bind('plan.pageDown', go(PAGE)),
  bind('plan.pageUp', go(-PAGE)),
  bind('plan.first', go(-ALL)),
  bind('plan.last', go(ALL, PAGE)),
  // Without a key, since d deletes a task; found by its name in the palette.
  bind('plan.detach', () => ({ app: 'detach' }), whyNotLeave),
  bind('plan.pane', nextPane),
  bind('plan.paneNumber', paneNumber),
  bind('plan.zoom', zoomBy(1)),
  bind('plan.unzoom', zoomBy(-1)),
];

export const PLAN_KEYS = TABLE.map(
  (binding): Key => ({ ...binding, soon: (ui, context) => binding.whyNot(ui, context) === NOT_SEEN }),
);

/** A key that opens a dialog about the selected task. */
function task(of: Interaction, dialog: (of: Subject, context: Context) => Dialog, also: WhyNot = () => null): Key {
  return bind(of, asks(dialog), (ui, context) => whyNotTask(ui, context) ?? also(ui, context));
}

// The comparison of model tiers: the same plan on cheap, balanced and best models.

/** A variant of the plan; tasks that have started keep their models. */
interface Way {
  readonly variant: Variant;
  readonly plan: SoundPlan;
  readonly edit: Extract<PlanEdit, { readonly is: 'models' }>;
  readonly totals: PlanTotals;
  /** Name of the new model by task id. */
  readonly models: ReadonlyMap<string, string>;
}

/** The comparison with the first variant that differs selected; a toast where none would change a model. */
export function whatIf(of: Subject, state: RunState, glyphs: Glyphs): DialogEffect {
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
      if (way === undefined) return {};
      const problem = of.problem(way.edit);
      return problem === null ? of.send(way.edit) : { toast: { level: 'warn', text: problem } };
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

function presentColumn(now: PlanTotals, tasks: readonly PlanTask[], glyphs: Glyphs): CompareColumn {
  return {
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
  };
}

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
