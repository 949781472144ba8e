/** The keys of the plan screen, in the order of the footer. What they do is acts.ts. */
import { commitAtEnd, commitEdit, setAlongside, setPermissions, setWrites } from '../../../../app/actions/index.ts';
import { parallelOf } from '../../../../app/views/agent-counts.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import { expectedPlan } from '../../../../app/views/spending/expected-plan.ts';
import { span } from '../../../../app/views/text/clip.ts';
import { formatCost, formatDuration, formatTokens } from '../../../../app/views/text/format.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { totalsOf, type PlanTotals } from '../../../../domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { variantsOf, type Variant } from '../../../../domain/plan/what-if.ts';
import type { RunState } from '../../../../events/state.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { nameOf } from '../../components/plan-form/form.ts';
import { orderDialog, writesDialog } from '../../components/plan-form/writes.ts';
import { overCap } from '../../components/plan/totals.ts';
import type { CompareColumn, Dialog, Binding, Context } from '../../frame/screen.ts';
import {
  type Run,
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
  whyNotAgain,
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
import type { Subject } from '../../components/plan-form/check.ts';
import {
  budgetDialog,
  describeDialog,
  describeOutside,
  manualDialog,
  modelDialog,
  needsDialog,
  permissionsDialog,
  roleDialog,
  toolsDialog,
} from './dialogs.ts';
import { addDialog, dropDialog, joinDialog, splitDialog } from './reshape.ts';
import type { PlanUi } from './ui.ts';

type Key = Binding<PlanUi>;

/** Rows that a page is, whatever the size: keys don't know it. */
const PAGE = 8;
const always: WhyNot = () => null;
const whyNotLeave: WhyNot = (_, { state }) =>
  state.session === null ? 'there is no run yet' : state.finished ? 'the run has ended' : null;

export const PLAN_KEYS: readonly Key[] = [
  key('plan.accept', ['enter', 'Y', 'y'], 'accept', 'Accept the plan and start its agents.', whyNotAccept, accept),
  key('plan.anyway', ['Y'], 'run as it is', 'Run this plan although planning failed.', whyNotAnyway, accept),
  key(
    'plan.change',
    ['enter', 'Y', 'y'],
    'change it',
    'Show what your changes of the running plan differ in, and ask.',
    whyNotAmend,
    amend,
  ),
  task('plan.describe', 'e', 'edit', 'Edit what the task says.', describeDialog),
  task('plan.model', 'M', 'model', 'Choose another model for the task.', modelDialog),
  task('plan.manual', 'm', 'manual', 'Set everything about the task by hand, in one form.', manualDialog),
  key('plan.add', ['a'], 'add', 'Add a task.', whyNotChange, asks(addDialog)),
  task(
    'plan.drop',
    'd',
    'drop',
    'Drop the task; what depends on it is named first.',
    dropDialog,
    whyNotFew('a plan needs at least one task'),
  ),
  key('plan.undo', ['u'], 'undo', 'Take the last edit back.', whyNotStep(-1, 'nothing to undo'), stepTo(-1)),
  key('plan.redo', ['U'], '', 'Make an edit that was taken back again.', whyNotStep(1, 'nothing to redo'), stepTo(1)),
  task('plan.split', 's', 'split', 'Split the task into several, a line each.', splitDialog),
  task(
    'plan.join',
    'S',
    'join',
    'Join another task to this one.',
    joinDialog,
    whyNotFew('there is no other task to join'),
  ),
  key(
    'plan.whatIf',
    ['$'],
    'what if',
    'The same plan on cheap, balanced or best models: what it would cost, and choose one.',
    whyNotChange,
    asks((of, { state, glyphs }) => whatIfDialog(of, state, glyphs)),
  ),
  key('plan.describeOutside', ['E'], '', 'Edit what the task says in $EDITOR.', whyNotTask, does(describeOutside)),
  task('plan.role', 'r', '', 'Choose another role for the task.', roleDialog),
  task('plan.budget', 'b', '', "Set the task's budget of tokens, dollars and time.", budgetDialog),
  task('plan.tools', 't', '', 'Choose which of its tools the agent has.', toolsDialog),
  task('plan.needs', 'D', '', 'Choose what has to be done before the task.', needsDialog),
  key(
    'plan.permissions',
    setPermissions.keys,
    'permit',
    setPermissions.help,
    whyNotChange,
    asks((of) => permissionsDialog(of)),
  ),
  key(
    'plan.commit',
    commitAtEnd.keys,
    '',
    commitAtEnd.help,
    whyNotChange,
    does((of) => of.send(commitEdit({ commit: of.plan.commit !== true }))),
  ),
  task('plan.writes', setWrites.keys[0] ?? '', '', setWrites.help, writesDialog),
  task('plan.order', setAlongside.keys[0] ?? '', '', setAlongside.help, orderDialog, whyNotOrder),
  key('plan.moveDown', ['J'], '', 'Move the task down.', whyNotTask, move(1)),
  key('plan.moveUp', ['K'], '', 'Move the task up.', whyNotTask, move(-1)),
  key('plan.cap', ['B'], '', 'Raise or lower what the whole run may use.', whyNotCap, raiseCap),
  key('plan.keep', ['w'], '', 'Keep the plan as a template, with words to fill in each time.', whyNotKeep, keep),
  key('plan.cancel', ['esc', 'n'], 'cancel', 'Cancel the plan, asking when it was edited.', whyNotCancel, cancel),
  key(
    'plan.back',
    ['esc', 'p', 'n'],
    'back',
    'Back to the agents, once the plan runs; asks when it was changed.',
    whyNotBack,
    back,
  ),
  key('plan.again', ['ctrl-r'], 'regenerate', 'Plan again, with a hint for the planner.', whyNotAgain, again),
  key(
    'plan.down',
    ['down', 'j'],
    '',
    'Next task, or scroll down.',
    always,
    go((row) => row + 1, 1),
  ),
  key(
    'plan.up',
    ['up', 'k'],
    '',
    'Previous task, or scroll up.',
    always,
    go((row) => row - 1, -1),
  ),
  key(
    'plan.pageDown',
    ['pagedown', 'ctrl-d'],
    '',
    'A page down.',
    always,
    go((row) => row + PAGE, PAGE),
  ),
  key(
    'plan.pageUp',
    ['pageup', 'ctrl-u'],
    '',
    'A page up.',
    always,
    go((row) => row - PAGE, -PAGE),
  ),
  key(
    'plan.first',
    ['g', 'home'],
    '',
    'First task.',
    always,
    go(() => 0, -100_000),
  ),
  key(
    'plan.last',
    ['G', 'end'],
    '',
    'Last task.',
    always,
    go(() => 100_000, PAGE),
  ),
  // d drops a task here: this one is found by its name.
  key('plan.detach', [], '', 'Let the run go on without this screen; the plan waits for one.', whyNotLeave, () => ({
    app: 'detach',
  })),
  key('plan.pane', ['tab'], '', 'To the next pane: list, task, schedule.', always, nextPane),
  key('plan.paneNumber', ['1', '2', '3'], '', 'To the list, the task or the schedule.', always, paneNumber),
  key('plan.zoom', ['+'], '', 'More room for the pane: half, then all of the screen.', always, zoomBy(1)),
  key('plan.unzoom', ['_'], '', 'Less room for the pane.', always, zoomBy(-1)),
];

function key(action: string, keys: readonly string[], hint: string, help: string, whyNot: WhyNot, run: Run): Key {
  return { keys, action, hint, help, whyNot, soon: (ui, context) => whyNot(ui, context) === NOT_SEEN, run };
}

/** A key that opens a dialog about the selected task. */
function task(
  action: string,
  name: string,
  hint: string,
  help: string,
  dialog: (of: Subject, context: Context) => Dialog,
  also: WhyNot = () => null,
): Key {
  const whyNot: WhyNot = (ui, context) => whyNotTask(ui, context) ?? also(ui, context);
  return key(action, [name], hint, help, whyNot, asks(dialog));
}

// What if the same plan ran on other models: cheap, balanced and best beside how it is now. Enter makes one of them the plan.

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
