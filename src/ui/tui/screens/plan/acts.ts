/** The effects of the plan screen's keys, and when they are not available. Edits go to the run before the approval, later into a draft. */
import {
  acceptPlan,
  cancelPlan,
  isApproved,
  NO_PLAN,
  redoEdit,
  undoEdit,
  whyNotEdit,
} from '../../../../app/actions/index.ts';
import { parallelCandidates } from '../../../../app/views/index.ts';
import type { MandatoryReview } from '../../../../domain/agents/agent.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { type Result, fail, ok } from '../../../../domain/result.ts';
import type { AgentState, RunState } from '../../../../events/index.ts';
import type { Command } from '../../../../ports/controls.ts';
import type { TemplateRequest } from '../../../../ports/project-service.ts';
import { ZOOMS } from '../../components/layout.ts';
import { agentOfTask } from '../../components/progress.ts';
import { overCap } from '../../components/plan/estimate.ts';
import { cycled, limited } from '../../frame/keymap.ts';
import { type Dialog, type FormValues, type Context, type Effect, textField, textIn } from '../../frame/screen.ts';
import { amendQuestion, faultOf } from './amend.ts';
import { type Subject, proposedSubject, readForm } from '../../components/plan-form.ts';
import { againDialog, cancelDialog, capDialog, forgetDialog } from './dialogs.ts';
import {
  type Draft,
  type PlanPane,
  type PlanUi,
  isEdited,
  isSeen,
  neighbour,
  NO_DRAFT,
  select,
  selectedForced,
  selectedRow,
  selectedTask,
  tracked,
} from './ui.ts';

export type Run = (ui: PlanUi, context: Context, key: string) => Effect<PlanUi>;
export type WhyNot = (ui: PlanUi, context: Context) => string | null;

// Why an action is not available; null when it is.

/** The plan cannot be changed while it is drafted, and after it has run. */
export function whyNotChange(_: PlanUi, context: Context): string | null {
  const isFixed = context.state.phase === 'running' && context.amended === undefined;
  return whyNotEdit(context.state) ?? (isFixed ? 'The plan is already running and cannot be edited.' : null);
}

/** Actions on a task need a selected task that can still be changed. */
export function whyNotTask(ui: PlanUi, context: Context): string | null {
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

export const whyNotFew =
  (words: string): WhyNot =>
  (ui, context) =>
    shownPlan(ui, context)?.tasks.length === 1 ? words : null;

/** The selected task must have an order with another one. */
export const whyNotOrder: WhyNot = (ui, context) => {
  const plan = shownPlan(ui, context);
  const task = plan === null ? null : selectedTask(ui, plan);
  return plan === null || task === null || parallelCandidates(plan, task).length > 0
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
export const NOT_SEEN = 'Just arrived: press Enter again to start.';

const whyNotSeen: WhyNot = (ui, { state, now }) => (isSeen(ui, state, now) ? null : NOT_SEEN);

/** After planning failed, Enter does not start the substitute plan: the person may have pressed it for the message. */
export function whyNotAccept(ui: PlanUi, context: Context): string | null {
  const why = whyNotRun(ui, context);
  if (why !== null) return why;
  return context.state.planFault === ''
    ? whyNotSeen(ui, context)
    : 'No planner made this plan. Press ^R to retry, or Y to run it as is.';
}

/** Available only after planning failed. */
export function whyNotAnyway(ui: PlanUi, context: Context): string | null {
  return context.state.planFault === '' ? '' : (whyNotRun(ui, context) ?? whyNotSeen(ui, context));
}

export function whyNotAmend(ui: PlanUi, context: Context): string | null {
  if (!isApproved(context.state)) return '';
  return whyNotChange(ui, context) ?? (isDrafted(ui) ? null : 'Nothing changed yet. Edit a task that has not started.');
}

export const whyNotCancel: WhyNot = (_, { state }) => (isApproved(state) ? '' : null);
export const whyNotBack: WhyNot = (_, { state }) => (isApproved(state) ? null : '');

export const whyNotCap: WhyNot = (_, { state }) =>
  state.plan === null ? NO_PLAN : state.finished === null ? null : 'The run has ended.';

export const whyNotKeep: WhyNot = (ui, context) => (shownPlan(ui, context) === null ? NO_PLAN : null);

export function whyNotStep(by: 1 | -1): WhyNot {
  const words = (by === -1 ? undoEdit : redoEdit).none;
  return (ui, context) => {
    const why = whyNotChange(ui, context);
    if (why !== null) return why;
    if (!isApproved(context.state)) return neighbour(ui, context.state, by) === null ? words : null;
    const at = ui.draft.at + by;
    return at < 0 || at > ui.draft.edits.length ? words : null;
  };
}

// Effects.

/** Opens a dialog about the selected task. The selection stays with the task when an edit moves it to another row. */
export const asks =
  (dialog: (of: Subject, context: Context) => Dialog): Run =>
  (ui, context) => {
    const of = subjectFor(ui, context, focusTask(ui, shownPlan(ui, context)));
    if (of === null) return {};
    return { ui: { ...tracked(ui, context.state), selected: of.task.id }, dialog: dialog(of, context) };
  };

/** The same for an effect without a dialog, such as the person's editor. */
export const does =
  (effect: (of: Subject, context: Context) => Effect<never>): Run =>
  (ui, context) => {
    const of = subjectFor(ui, context, focusTask(ui, shownPlan(ui, context)));
    return of === null ? {} : { ...effect(of, context), ui: { ...tracked(ui, context.state), selected: of.task.id } };
  };

/** The selected task; the last task where a review is selected, since dialogs about the whole plan need a task as well. */
const focusTask = (ui: PlanUi, plan: SoundPlan | null): Subject['task'] | null =>
  selectedTask(ui, plan) ?? plan?.tasks.at(-1) ?? null;

const command = (ui: PlanUi, ...commands: readonly Command[]): Effect<PlanUi> => ({ ui, commands });

export const accept: Run = (ui, { state }) => command(ui, acceptPlan.command(state, null));

/** Shows the difference of the drafted edits and asks whether to apply it. */
export const amend: Run = (ui, context) => ({ ui, ...amendQuestion(draftedEdits(ui), context) });

export function stepTo(by: 1 | -1): Run {
  return (ui, context) => {
    const { state } = context;
    if (isApproved(state)) return stepped(ui, context, by);
    const plan = neighbour(ui, state, by);
    return plan === null ? {} : command(tracked(ui, state), { do: 'edit plan', edit: { is: 'replace', plan } });
  };
}

export function move(by: 1 | -1): Run {
  return (ui, context) => {
    const of = subjectFor(ui, context, selectedTask(ui, shownPlan(ui, context)));
    if (of === null) return {};
    const wish = { is: 'move', task: of.task.id, by } as const;
    const problem = of.problem(wish);
    if (problem !== null) return { toast: { level: 'warn', text: problem } };
    return { ...of.send(wish), ui: { ...tracked(ui, context.state), selected: of.task.id } };
  };
}

export const again: Run = (ui, { state }) => ({
  ui: tracked(ui, state),
  dialog: againDialog(isEdited(ui, state), state),
});

export const raiseCap: Run = (ui, { state }) => ({ ui, dialog: capDialog(state) });

export const keep: Run = (ui, context) => {
  const plan = shownPlan(ui, context);
  return plan === null ? {} : { ui, dialog: keepDialog(plan, context.state.task) };
};

/** Back to the run or its result; asks before drafted changes are lost. */
export const back: Run = (ui, context) => {
  const leave = { app: { show: context.state.phase === 'finished' ? 'result' : 'run' } } as const;
  return isDrafted(ui) ? { ui, dialog: forgetDialog(context.state, leave) } : leave;
};

/** Ends the run while it is being planned; rejects a proposed plan, after a question if it was edited. */
export const cancel: Run = (ui, context) => {
  const { state } = context;
  if (state.phase === 'approving' && isEdited(ui, state))
    return { ui: tracked(ui, state), dialog: cancelDialog(state) };
  return command(ui, cancelPlan.command(state, null));
};

/** Moves the selection of the list and the schedule by rows; scrolls the inspector by lines. */
export function go(rows: number, lines: number = rows): Run {
  return (ui, context) => {
    const next = tracked(ui, context.state);
    if (ui.pane === 'inspector') return { ui: { ...next, scroll: Math.max(0, next.scroll + lines) } };
    const plan = shownPlan(next, context);
    return { ui: select(next, plan, selectedRow(next, plan) + rows) };
  };
}

const PANES: readonly PlanPane[] = ['list', 'inspector', 'schedule'];

export const nextPane: Run = (ui) => ({ ui: { ...ui, pane: cycled(PANES, ui.pane) } });

export const paneNumber: Run = (ui, _, key) => ({ ui: { ...ui, pane: PANES[Number(key) - 1] ?? ui.pane } });

export const zoomBy =
  (by: 1 | -1): Run =>
  (ui) => ({ ui: { ...ui, zoom: limited(ZOOMS, ui.zoom, by) } });

// Saving a plan as a template.

const keepDialog = (plan: SoundPlan, task: string): Dialog =>
  readForm(
    'Save as template',
    [
      textField('name', 'Name', slug(task.split('\n')[0] ?? ''), 'audit, release-check …'),
      textField('description', 'Description', task.split('\n')[0] ?? '', 'when to use it'),
      textField('words', 'Variables', '', 'one per line: path = src/auth', 4),
    ],
    (values) => wishOf(plan, values),
    (keep) => ({ app: { keep } }),
  );

const NAME = /^[a-z][a-z0-9-]{0,39}$/;

function wishOf(plan: SoundPlan, values: FormValues): Result<TemplateRequest, string> {
  const name = textIn(values, 'name');
  if (!NAME.test(name))
    return fail('Name: use lower-case letters, digits and "-" (at most 40), for example release-check');
  const lines = textIn(values, 'words')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const parsed = lines.map((line) => argumentOf(line, plan));
  const wrong = parsed.find((one) => !one.ok);
  if (wrong !== undefined && !wrong.ok) return wrong;
  const words = parsed.flatMap((one) => (one.ok ? [one.value] : []));
  const twice = words.find(({ name: own }, index) => words.findIndex((other) => other.name === own) !== index);
  if (twice !== undefined) return fail(`Variables: ${twice.name} is defined twice`);
  return ok({ name, description: textIn(values, 'description'), plan, arguments: words });
}

/** `path = src/auth`, or the words alone, from which the name is made. */
function argumentOf(line: string, plan: SoundPlan): Result<TemplateRequest['arguments'][number], string> {
  const [, named, rest] = /^([A-Za-z][\w-]*)\s*=\s*(.+)$/.exec(line) ?? [];
  const text = rest ?? line;
  const name = slug(named ?? text);
  if (!NAME.test(name)) return fail(`Variables: give "${text}" a name, for example path = ${text}`);
  const stands = plan.tasks.some(({ description }) => description.includes(text));
  return stands ? ok({ name, text }) : fail(`Variables: no task contains "${text}"`);
}

/** `Fix the race` as `fix-the-race`. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');

// The draft: edits of a running plan, shown as if they were made and checked by the run. amend.ts sends them after a question.

/** The shown plan: that of the run with the drafted edits; null while it is being planned. */
export function shownPlan({ draft }: PlanUi, { state }: Pick<Context, 'state'>): SoundPlan | null {
  if (state.phase === 'planning' || state.phase === 'starting') return null;
  return draft.preview?.ok === true && isApproved(state) ? draft.preview.value.plan : state.plan;
}

/** The drafted edits in effect. */
const draftedEdits = ({ draft }: PlanUi): readonly PlanEdit[] => draft.edits.slice(0, draft.at);

/** True if there are drafted edits. */
export const isDrafted = ({ draft }: PlanUi): boolean => draft.at > 0;

/** The subject of a dialog about a task; null where it cannot be changed. */
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

/** Undoes or redoes an edit of the draft. */
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
