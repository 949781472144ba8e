/** The keys of the plan screen, in the order of the footer. What they do is acts.ts. */
import { commitAtEnd, commitEdit } from '../../../../app/actions/commit.ts';
import { setAlongside } from '../../../../app/actions/set-alongside.ts';
import { setPermissions } from '../../../../app/actions/set-permissions.ts';
import { setWrites } from '../../../../app/actions/set-writes.ts';
import type { Dialog } from '../../shell/overlays/dialog.ts';
import type { Binding, Context } from '../../shell/screen.ts';
import type { Run, WhyNot } from './acts.ts';
import {
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
import type { Subject } from './check.ts';
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
import { whatIfDialog } from './what-if.ts';
import { orderDialog, writesDialog } from '../../components/plan-form/writes.ts';

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
