/** The keys of the plan screen. Edits go to the run before the approval, later into a draft. */
import type { Action, Interaction } from '../../../../app/actions/index.ts';
import { acceptPlan, cancelPlan, isApproved, NO_PLAN, PLAN_EDITS, planAgain } from '../../../../app/actions/index.ts';
import { redoEdit, tryChecks, undoEdit, whyNotEdit } from '../../../../app/actions/index.ts';
import { turnCandidates } from '../../../../app/views/index.ts';
import type { MandatoryReview } from '../../../../domain/agents/agent.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { AgentState, RunState } from '../../../../events/index.ts';
import { ZOOMS } from '../../components/layout.ts';
import { overCap } from '../../components/plan/estimate.ts';
import { orderDialog, proposedSubject, type Subject } from '../../components/plan-form.ts';
import { agentOfTask } from '../../components/progress.ts';
import { ALL, bind, cycled, limited } from '../../frame/keymap.ts';
import type { Binding, Context, Dialog, Effect } from '../../frame/screen.ts';
import { amendQuestion, faultOf } from './amend.ts';
import * as dialogs from './dialogs.ts';
import type { Draft, PlanPane, PlanUi } from './ui.ts';
import { isEdited, isSeen, neighbour, NO_DRAFT, select, selectedForced, selectedRow, selectedTask } from './ui.ts';
import { tracked } from './ui.ts';
import { whatIf } from './what-if.ts';

type Key = Binding<PlanUi>;
type Run = Key['run'];
type WhyNot = Key['whyNot'];

// Why an action is not available; null when it is.

/** The plan cannot be changed while it is drafted, and after it has run. */
function whyNotChange(_: PlanUi, context: Context): string | null {
  const isFixed = context.state.phase === 'running' && context.amended === undefined;
  return whyNotEdit(context.state) ?? (isFixed ? 'The plan is already running and cannot be edited.' : null);
}

/** Actions on a task need a selected task that can still be changed. */
function whyNotTask(ui: PlanUi, context: Context): string | null {
  const plan = shownPlan(ui, context);
  const why = whyNotChange(ui, context);
  if (why !== null || plan === null) return why;
  const forced = selectedForced(ui, plan);
  if (forced !== null) return `${forced.role} is required by policy${placeOf(forced)}`;
  const task = selectedTask(ui, plan);
  if (task === null || context.state.choices === null) return 'There is no task to edit.';
  return isApproved(context.state) ? begunWords(context.state, plan, task) : null;
}

/** ` (user, ~/.config/mimir/config.yml:3)`, the place of the rule; empty where it is not known. */
const placeOf = ({ because }: MandatoryReview): string => / \([^()]*\)$/.exec(because)?.[0] ?? '';

const whyNotFew =
  (words: string): WhyNot =>
  (ui, context) =>
    shownPlan(ui, context)?.tasks.length === 1 ? words : null;

const whyNotOrder: WhyNot = (ui, context) => {
  const plan = shownPlan(ui, context);
  const task = plan === null ? null : selectedTask(ui, plan);
  return plan === null || task === null || task.tree === 'own' || turnCandidates(plan, task).length > 0
    ? null
    : 'No other task may change the same files.';
};

/** Why the shown plan cannot be started; empty where it runs already. */
function whyNotRun(ui: PlanUi, context: Context): string | null {
  const { state } = context;
  if (isApproved(state)) return '';
  return whyNotChange(ui, context) ?? (state.plan === null ? null : overCap(state.plan, state));
}

/** The only reason that disappears by itself. */
const NOT_SEEN = 'Just arrived: press Enter again to start.';

const whyNotSeen: WhyNot = (ui, { state, now }) => (isSeen(ui, state, now) ? null : NOT_SEEN);

/** After planning failed, Enter does not start the substitute plan: the person may have pressed it for the message. */
function whyNotAccept(ui: PlanUi, context: Context): string | null {
  const why = whyNotRun(ui, context);
  if (why !== null) return why;
  return context.state.planFault === ''
    ? whyNotSeen(ui, context)
    : 'No planner made this plan. Press ^R to retry, or Y to run it as is.';
}

function whyNotAnyway(ui: PlanUi, context: Context): string | null {
  return context.state.planFault === '' ? '' : (whyNotRun(ui, context) ?? whyNotSeen(ui, context));
}

function whyNotAmend(ui: PlanUi, context: Context): string | null {
  if (!isApproved(context.state)) return '';
  return whyNotChange(ui, context) ?? (isDrafted(ui) ? null : 'Nothing changed yet. Edit a task that has not started.');
}

const whyNotCap: WhyNot = (_, { state }) =>
  state.plan === null ? NO_PLAN : state.finished === null ? null : 'The run has ended.';

function whyNotStep(by: 1 | -1): WhyNot {
  const words = (by === -1 ? undoEdit : redoEdit).none;
  return (ui, context) => {
    const why = whyNotChange(ui, context);
    if (why !== null) return why;
    if (!isApproved(context.state)) return neighbour(ui, context.state, by) === null ? words : null;
    const at = ui.draft.at + by;
    return at < 0 || at > ui.draft.edits.length ? words : null;
  };
}

/** An effect on the selected task, or on the last one where a review is selected, since dialogs about the whole plan need a task as well.
 * The selection stays with the task when an edit moves it to another row. */
const does =
  (effect: (of: Subject, context: Context) => Effect<never>): Run =>
  (ui, context) => {
    const plan = shownPlan(ui, context);
    const of = subjectFor(ui, context, selectedTask(ui, plan) ?? plan?.tasks.at(-1) ?? null);
    return of === null ? {} : { ...effect(of, context), ui: { ...tracked(ui, context.state), selected: of.task.id } };
  };

const asks = (dialog: (of: Subject) => Dialog): Run => does((of) => ({ dialog: dialog(of) }));
const move = (by: 1 | -1): Run => does((of) => dialogs.sendChecked(of, { is: 'move', task: of.task.id, by }));
const commit = does((of) => of.send({ is: 'commit', commit: of.plan.commit !== true }));
const sends =
  (action: Action<null>): Run =>
  (_, { state }) => ({ commands: [action.command(state, null)] });

function stepTo(by: 1 | -1): Run {
  return (ui, context) => {
    const { state } = context;
    if (isApproved(state)) return stepped(ui, context, by);
    const plan = neighbour(ui, state, by);
    if (plan === null) return {};
    return { ui: tracked(ui, state), commands: [{ do: 'edit plan', edit: { is: 'replace', plan } }] };
  };
}

const keep: Run = (ui, context) => {
  const plan = shownPlan(ui, context);
  return plan === null ? {} : { dialog: dialogs.keepDialog(plan, context.state.task) };
};

/** Back to the run or its result; asks before drafted changes are lost. */
const back: Run = (ui, context) => {
  const leave = { app: { show: context.state.phase === 'finished' ? 'result' : 'run' } } as const;
  return isDrafted(ui) ? { dialog: dialogs.forgetDialog(context.state, leave) } : leave;
};

/** Ends the run while it is being planned; rejects a proposed plan, after a question if it was edited. */
const cancel: Run = (ui, { state }) =>
  state.phase === 'approving' && isEdited(ui, state)
    ? { ui: tracked(ui, state), dialog: dialogs.cancelDialog(state) }
    : { commands: [cancelPlan.command(state, null)] };

/** Moves the selection of the list and the schedule by rows; scrolls the inspector by lines. */
function go(rows: number, lines: number = rows): Run {
  return (ui, context) => {
    const next = tracked(ui, context.state);
    if (ui.pane === 'inspector') return { ui: { ...next, scroll: Math.max(0, next.scroll + lines) } };
    const plan = shownPlan(next, context);
    return { ui: select(next, plan, selectedRow(next, plan) + rows) };
  };
}

const PANES: readonly PlanPane[] = ['list', 'inspector', 'schedule'];

const zoomBy =
  (by: 1 | -1): Run =>
  (ui) => ({ ui: { ...ui, zoom: limited(ZOOMS, ui.zoom, by) } });

// The draft: edits of a running plan, shown as if they were made and checked by the run. amend.ts sends them after a question.

/** The shown plan: that of the run with the drafted edits; null while it is being planned. */
export function shownPlan({ draft }: PlanUi, { state }: Pick<Context, 'state'>): SoundPlan | null {
  if (state.phase === 'planning' || state.phase === 'starting') return null;
  return draft.preview?.ok === true && isApproved(state) ? draft.preview.value.plan : state.plan;
}

const draftedEdits = ({ draft }: PlanUi): readonly PlanEdit[] => draft.edits.slice(0, draft.at);

/** True if there are drafted edits. */
export const isDrafted = ({ draft }: PlanUi): boolean => draft.at > 0;

function subjectFor(ui: PlanUi, context: Context, task: PlanTask | null): Subject | null {
  const { state, amended } = context;
  if (task === null) return null;
  if (!isApproved(state)) return proposedSubject(state, task);
  const plan = shownPlan(ui, context);
  if (plan === null || state.choices === null || amended === undefined) return null;
  return {
    plan,
    choices: state.choices,
    task,
    problem: (edit) => faultOf(amended([...draftedEdits(ui), edit])),
    send: (edit) => (amended([...draftedEdits(ui), edit]) === null ? { checking: true } : { drafted: edit }),
    fixed: (other) => begunWords(context.state, plan, other),
  };
}

/** Adds an edit to the draft once the run has answered what it does; a `replace` discards the draft. */
export function withEdit(ui: PlanUi, context: Context, edit: PlanEdit): Effect<PlanUi> {
  if (edit.is === 'replace') return { ui: { ...ui, draft: NO_DRAFT } };
  const edits = [...draftedEdits(ui), edit];
  const draft = judged({ base: '', edits, at: edits.length, preview: null }, context);
  if (draft === null) return { checking: true };
  if (draft.preview?.ok === false) return { toast: { level: 'warn', text: draft.preview.fault } };
  return { ui: { ...ui, draft } };
}

function stepped(ui: PlanUi, context: Context, by: 1 | -1): Effect<PlanUi> {
  const at = Math.max(0, Math.min(ui.draft.edits.length, ui.draft.at + by));
  const draft = judged({ ...ui.draft, at }, context);
  return draft === null ? { checking: true } : { ui: { ...ui, draft } };
}

/** Called before each frame and key: clears an applied draft, and checks one for an older plan again. */
export function settledDraft(ui: PlanUi, context: Context): PlanUi {
  const { draft } = ui;
  const { state } = context;
  if (draft.edits.length === 0) return ui;
  if (state.phase !== 'running') return { ...ui, draft: NO_DRAFT };
  if (draft.base === state.planDigest) return ui;
  const went = draft.preview?.ok === true && draft.preview.value.digest === state.planDigest;
  // The old draft is shown until the run has answered.
  return { ...ui, draft: went ? NO_DRAFT : (judged(draft, context) ?? draft) };
}

/** The draft with the answer of the run; null until there is one. */
function judged(draft: Draft, context: Context): Draft | null {
  const edits = draft.edits.slice(0, draft.at);
  const preview = edits.length === 0 ? undefined : context.amended?.(edits);
  return preview === null ? null : { ...draft, base: context.state.planDigest, preview: preview ?? null };
}

/** Why a task can no longer be changed; null where its agent has not started. */
export function begunWords(state: RunState, plan: SoundPlan, task: PlanTask): string | null {
  const agent = agentOfTask(state, task.id);
  return agent === null || !hasBegun(agent)
    ? null
    : `#${plan.tasks.indexOf(task) + 1} ${task.role} has started and cannot be edited`;
}

const hasBegun = ({ status, outcome, firstRunAt }: AgentState): boolean =>
  status !== 'pending' || outcome !== null || firstRunAt !== null;

/** Rows per page, whatever the size of the screen. */
const PAGE = 8;
const whyNotLeave: WhyNot = (_, { state }) =>
  state.session === null ? 'No run has started yet.' : state.finished ? 'The run has ended.' : null;

const TABLE: readonly Key[] = [
  bind(acceptPlan, sends(acceptPlan), whyNotAccept),
  bind('plan.anyway', sends(acceptPlan), whyNotAnyway),
  bind('plan.change', (ui, context) => amendQuestion(draftedEdits(ui), context), whyNotAmend),
  task(PLAN_EDITS.describe, dialogs.taskForm('task')),
  task(PLAN_EDITS.model, dialogs.modelDialog),
  task(PLAN_EDITS.form, dialogs.taskForm('task')),
  bind(PLAN_EDITS.add, asks(dialogs.addDialog), whyNotChange),
  task(PLAN_EDITS.drop, dialogs.dropDialog, whyNotFew('A plan needs at least one task.')),
  bind(undoEdit, stepTo(-1), whyNotStep(-1)),
  bind(redoEdit, stepTo(1), whyNotStep(1)),
  task(PLAN_EDITS.split, dialogs.splitDialog),
  task(PLAN_EDITS.join, dialogs.joinDialog, whyNotFew('There is no other task to merge.')),
  bind(PLAN_EDITS.models, does(whatIf), whyNotChange),
  bind('plan.describeOutside', does(dialogs.describeOutside), whyNotTask),
  task(PLAN_EDITS.role, dialogs.taskForm('role')),
  task(PLAN_EDITS.budget, dialogs.taskForm('tokens')),
  task(PLAN_EDITS.tools, dialogs.taskForm('tools')),
  task(PLAN_EDITS.depends, dialogs.taskForm('needs')),
  bind(PLAN_EDITS.permissions, asks(dialogs.permissionsDialog), whyNotChange),
  bind(PLAN_EDITS.commit, commit, whyNotChange),
  task(PLAN_EDITS.writes, dialogs.taskForm('writes')),
  task(PLAN_EDITS.alongside, orderDialog, whyNotOrder),
  task(PLAN_EDITS.checks, dialogs.taskForm('checks')),
  bind(tryChecks, sends(tryChecks), (_, { state }) => tryChecks.whyNot(state, null)),
  bind(PLAN_EDITS.moveDown, move(1), whyNotTask),
  bind(PLAN_EDITS.moveUp, move(-1), whyNotTask),
  bind('plan.cap', (_, { state }) => ({ dialog: dialogs.capDialog(state) }), whyNotCap),
  bind('plan.keep', keep, (ui, context) => (shownPlan(ui, context) === null ? NO_PLAN : null)),
  bind(cancelPlan, cancel, (_, { state }) => (isApproved(state) ? '' : null)),
  bind('plan.back', back, (_, { state }) => (isApproved(state) ? null : '')),
  bind(
    planAgain,
    (ui, { state }) => ({ ui: tracked(ui, state), dialog: dialogs.againDialog(isEdited(ui, state), state) }),
    (ui, context) => planAgain.whyNot(context.state, { hint: '' }) ?? whyNotChange(ui, context),
  ),
  bind('plan.down', go(1)),
  bind('plan.up', go(-1)),
  bind('plan.pageDown', go(PAGE)),
  bind('plan.pageUp', go(-PAGE)),
  bind('plan.first', go(-ALL)),
  bind('plan.last', go(ALL, PAGE)),
  // Without a key, since d deletes a task; found by its name in the palette.
  bind('plan.detach', { app: 'detach' }, whyNotLeave),
  bind('plan.pane', (ui) => ({ ui: { ...ui, pane: cycled(PANES, ui.pane) } })),
  bind('plan.paneNumber', (ui, _, key) => ({ ui: { ...ui, pane: PANES[Number(key) - 1] ?? ui.pane } })),
  bind('plan.zoom', zoomBy(1)),
  bind('plan.unzoom', zoomBy(-1)),
];

export const PLAN_KEYS = TABLE.map(
  (binding): Key => ({ ...binding, soon: (ui, context) => binding.whyNot(ui, context) === NOT_SEEN }),
);

function task(of: Interaction, dialog: (of: Subject) => Dialog, also: WhyNot = () => null): Key {
  return bind(of, asks(dialog), (ui, context) => whyNotTask(ui, context) ?? also(ui, context));
}
