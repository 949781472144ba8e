/** The keys of the plan screen (SCREENS, section 7; CONTRACT D25). Each says when it can't be used, and why. */
import type { ForcedNode } from '../../domain/forced.ts';
import type { RunState } from '../../events/state.ts';
import type { Command } from '../../ports/controls.ts';
import type { Dialog } from '../dialog.ts';
import type { Binding, Context, Effect } from '../screen.ts';
import { overCap } from '../view/plan-totals.ts';
import { editProblem, proposedSubject } from './plan-check.ts';
import type { Subject } from './plan-check.ts';
import {
  addDialog,
  againDialog,
  budgetDialog,
  cancelDialog,
  describeDialog,
  dropDialog,
  manualDialog,
  modelDialog,
  needsDialog,
  roleDialog,
  toolsDialog,
} from './plan-dialogs.ts';
import type { PlanUi } from './plan-ui.ts';
import { isEdited, isSeen, neighbour, select, selectedForced, selectedRow, selectedTask, tracked } from './plan-ui.ts';

type Key = Binding<PlanUi>;
type Run = (ui: PlanUi, context: Context, key: string) => Effect<PlanUi>;
type WhyNot = (ui: PlanUi, context: Context) => string | null;

/** Rows that a page is, whatever the size: keys don't know it. */
const PAGE = 8;

export const PLAN_KEYS: readonly Key[] = [
  key(
    'plan.accept',
    ['enter', 'Y', 'y'],
    'accept',
    'Accept the plan and start its agents.',
    whyNotAccept,
    (ui, { state }) => command(ui, { do: 'approve plan', digest: state.planDigest }),
  ),
  edit('plan.describe', 'e', 'edit', 'Edit what the task says.', describeDialog),
  edit('plan.model', 'M', 'model', 'Choose another model for the task.', modelDialog),
  edit('plan.manual', 'm', 'manual', 'Set everything about the task by hand, in one form.', manualDialog),
  edit('plan.add', 'a', 'add', 'Add a task.', addDialog, () => null, isAsked),
  edit('plan.drop', 'd', 'drop', 'Drop the task; what depends on it is named first.', dropDialog, (_, { state }) =>
    state.plan?.tasks.length === 1 ? 'a plan needs at least one task' : null,
  ),
  key('plan.undo', ['u'], 'undo', 'Take the last edit back.', whyNotStep(-1, 'nothing to undo'), stepTo(-1)),
  key('plan.redo', ['U'], '', 'Make an edit that was taken back again.', whyNotStep(1, 'nothing to redo'), stepTo(1)),
  edit('plan.role', 'r', '', 'Choose another role for the task.', roleDialog),
  edit('plan.budget', 'b', '', "Set the task's budget of tokens, dollars and time.", budgetDialog),
  edit('plan.tools', 't', '', 'Choose which of its tools the agent has.', toolsDialog),
  edit('plan.needs', 'D', '', 'Choose what has to be done before the task.', needsDialog),
  key('plan.moveDown', ['J'], '', 'Move the task down.', whyNotEdit, move(1)),
  key('plan.moveUp', ['K'], '', 'Move the task up.', whyNotEdit, move(-1)),
  key('plan.cancel', ['esc', 'n'], 'cancel', 'Cancel the plan, asking when it was edited.', whyNotCancel, cancel),
  key('plan.back', ['esc', 'p', 'n'], 'back', 'Back to the agents, once the plan runs.', whyNotBack, back),
  key(
    'plan.again',
    ['ctrl-r'],
    'regenerate',
    'Plan again, with a hint for the planner.',
    whyNotChange,
    (ui, context) => ({
      ui: tracked(ui, context.state),
      dialog: againDialog(isEdited(ui, context.state)),
    }),
  ),
  key(
    'plan.down',
    ['down', 'j'],
    '',
    'Next task, or scroll down.',
    () => null,
    go((row) => row + 1, 1),
  ),
  key(
    'plan.up',
    ['up', 'k'],
    '',
    'Previous task, or scroll up.',
    () => null,
    go((row) => row - 1, -1),
  ),
  key(
    'plan.pageDown',
    ['pagedown', 'ctrl-d'],
    '',
    'A page down.',
    () => null,
    go((row) => row + PAGE, PAGE),
  ),
  key(
    'plan.pageUp',
    ['pageup', 'ctrl-u'],
    '',
    'A page up.',
    () => null,
    go((row) => row - PAGE, -PAGE),
  ),
  key(
    'plan.first',
    ['g', 'home'],
    '',
    'First task.',
    () => null,
    go(() => 0, -100_000),
  ),
  key(
    'plan.last',
    ['G', 'end'],
    '',
    'Last task.',
    () => null,
    go(() => 100_000, PAGE),
  ),
  key(
    'plan.pane',
    ['tab'],
    '',
    'To the other pane: list or task.',
    () => null,
    (ui) => ({
      ui: { ...ui, pane: ui.pane === 'list' ? 'inspector' : 'list' },
    }),
  ),
];

function key(action: string, keys: readonly string[], hint: string, help: string, whyNot: WhyNot, run: Run): Key {
  return { keys, action, hint, help, whyNot, run };
}

/** A key that opens a dialog about the selected task. */
function edit(
  action: string,
  name: string,
  hint: string,
  help: string,
  dialog: (of: Subject) => Dialog,
  also: WhyNot = () => null,
  silent: (context: Context) => boolean = () => false,
): Key {
  const whyNot: WhyNot = (ui, context) => (silent(context) ? '' : (whyNotEdit(ui, context) ?? also(ui, context)));
  return key(action, [name], hint, help, whyNot, (ui, context) => {
    const of = subject(ui, context);
    // Dependencies may move the task to another row: the selection stays with it.
    return of === null ? {} : { ui: { ...tracked(ui, context.state), selected: of.task.id }, dialog: dialog(of) };
  });
}

function subject(ui: PlanUi, { state }: Context): Subject | null {
  const task = selectedTask(ui, state.plan);
  return task === null ? null : proposedSubject(state, task);
}

const command = (ui: PlanUi, ...commands: readonly Command[]): Effect<PlanUi> => ({ ui, commands });

function whyNotChange(_: PlanUi, { state }: Context): string | null {
  if (state.phase === 'approving' && state.plan !== null) return null;
  return state.plan === null ? 'the plan is still being made' : 'the plan runs already; it can only be looked at';
}

/** Once it runs there is nothing to cancel: then the same keys go back. */
function whyNotCancel(_: PlanUi, { state }: Context): string | null {
  return runsAlready(state) ? '' : null;
}

const runsAlready = ({ phase }: RunState): boolean => ['running', 'merging', 'finished'].includes(phase);

function whyNotBack(_: PlanUi, { state }: Context): string | null {
  return runsAlready(state) ? null : 'nothing runs yet';
}

/** A question waits while a plan is made or runs: then the key is the app's, to answer it. */
function isAsked({ state }: Context): boolean {
  return state.approvals.length > 0 && state.phase !== 'approving';
}

function whyNotEdit(ui: PlanUi, context: Context): string | null {
  const why = whyNotChange(ui, context);
  const forced = selectedForced(ui, context.state.plan);
  if (why === null && forced !== null) return `${forced.role} is locked: a rule added it${placeOf(forced)}`;
  return why ?? (subject(ui, context) === null ? 'there is no task to change' : null);
}

/** ` (user, ~/.config/mimir/config.yml:3)`, where the rule says so; the rule itself stands beside the list. */
const placeOf = ({ because }: ForcedNode): string => / \([^()]*\)$/.exec(because)?.[0] ?? '';

function whyNotAccept(ui: PlanUi, context: Context): string | null {
  const { state, now } = context;
  const { plan } = state;
  const why = whyNotChange(ui, context) ?? (plan === null ? null : overCap(plan, state));
  return why ?? (isSeen(ui, state, now) ? null : 'This plan is new on the screen: look at it first.');
}

function whyNotStep(by: 1 | -1, words: string): WhyNot {
  return (ui, context) => whyNotChange(ui, context) ?? (neighbour(ui, context.state, by) === null ? words : null);
}

function stepTo(by: 1 | -1): Run {
  return (ui, { state }) => {
    const plan = neighbour(ui, state, by);
    const next = tracked(ui, state);
    return plan === null ? {} : command(next, { do: 'edit plan', edit: { is: 'replace', plan } });
  };
}

function move(by: 1 | -1): Run {
  return (ui, context) => {
    const { state } = context;
    const task = selectedTask(ui, state.plan);
    if (task === null) return {};
    const wish = { is: 'move', task: task.id, by } as const;
    const problem = editProblem(state, wish);
    if (problem !== null) return { toast: { level: 'warn', text: problem } };
    return command({ ...tracked(ui, state), selected: task.id }, { do: 'edit plan', edit: wish });
  };
}

function back(_: PlanUi, { state }: Context): Effect<PlanUi> {
  return { app: { show: state.phase === 'finished' ? 'result' : 'run' } };
}

/** While the planner still thinks, cancelling ends the run; later, it rejects the plan. */
function cancel(ui: PlanUi, context: Context): Effect<PlanUi> {
  const { state } = context;
  if (state.phase === 'starting' || state.phase === 'planning') {
    return command(ui, { do: 'stop run', reason: 'cancelled while it was planned' });
  }
  if (isEdited(ui, state)) return { ui: tracked(ui, state), dialog: cancelDialog() };
  return command(ui, { do: 'reject plan' });
}

function go(to: (row: number) => number, lines: number): Run {
  return (ui, { state }) => {
    const next = tracked(ui, state);
    if (ui.pane === 'inspector') return { ui: { ...next, scroll: Math.max(0, next.scroll + lines) } };
    return { ui: select(next, state.plan, to(selectedRow(next, state.plan))) };
  };
}
