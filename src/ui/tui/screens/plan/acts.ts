/** What the keys of the plan screen do, and when they can't: before the plan is approved to the run, later to a draft. */
import { orderedWith } from '../../../../app/views/plan-order.ts';
import type { ForcedNode } from '../../../../domain/agents/mandatory-review.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { type Result, fail, ok } from '../../../../domain/result.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import type { Command } from '../../../../ports/controls.ts';
import type { TemplateWish } from '../../../../ports/project-service.ts';
import { agentOfTask } from '../../components/plan/status.ts';
import { overCap } from '../../components/plan/totals.ts';
import type { Dialog, FormValues, Context, Effect } from '../../frame/screen.ts';
import { amendQuestion } from './amend.ts';
import { type Subject, proposedSubject } from '../../components/plan-form/check.ts';
import { againDialog, cancelDialog, capDialog, forgetDialog } from './dialogs.ts';
import {
  type Draft,
  type PlanPane,
  type PlanUi,
  type Zoom,
  isApproved,
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

// When something can be done

/** Nothing can be changed while a plan is made, and once all of it has run. */
export function whyNotChange(_: PlanUi, context: Context): string | null {
  const { state } = context;
  if (state.phase === 'approving' && state.plan !== null) return null;
  if (state.plan === null || state.phase === 'planning' || state.phase === 'starting')
    return 'the plan is still being made';
  if (state.phase !== 'running') return 'the plan has run; it can only be looked at';
  return context.amended === undefined ? 'the plan runs already; it can only be looked at' : null;
}

/** For what only makes sense before it runs: the same key may mean something else then. */
const whyNotApproving: WhyNot = (ui, context) =>
  isApproved(context.state) ? 'the plan runs already' : whyNotChange(ui, context);

/** The dialog is about the selected task: there must be one that may still be changed. */
export function whyNotTask(ui: PlanUi, context: Context): string | null {
  const plan = shownPlan(ui, context);
  const why = whyNotChange(ui, context);
  if (why !== null || plan === null) return why;
  const forced = selectedForced(ui, plan);
  if (forced !== null) return `${forced.role} is locked: a rule added it${placeOf(forced)}`;
  const task = selectedTask(ui, plan);
  if (task === null || context.state.choices === null) return 'there is no task to change';
  return isApproved(context.state) ? begunWords(context.state, plan, task) : null;
}

/** ` (user, ~/.config/mimir/config.yml:3)`, where the rule says so; the rule itself stands beside the list. */
const placeOf = ({ because }: ForcedNode): string => / \([^()]*\)$/.exec(because)?.[0] ?? '';

export const whyNotFew =
  (words: string): WhyNot =>
  (ui, context) =>
    shownPlan(ui, context)?.tasks.length === 1 ? words : null;

/** There is no order with the selected task that could be removed. */
export const whyNotOrder: WhyNot = (ui, context) => {
  const plan = shownPlan(ui, context);
  const task = plan === null ? null : selectedTask(ui, plan);
  return plan === null || task === null || orderedWith(plan, task).length > 0
    ? null
    : 'no other task may change the same files';
};

/** What keeps the plan that is shown from running, whoever made it; empty where it runs already. */
function whyNotRun(ui: PlanUi, context: Context): string | null {
  const { state } = context;
  if (isApproved(state)) return '';
  return whyNotChange(ui, context) ?? (state.plan === null ? null : overCap(state.plan, state));
}

/** Why a plan can't be accepted yet, for a moment: the only reason that goes by itself. */
export const NOT_SEEN = 'This plan is new on the screen: look at it first.';

const whyNotSeen: WhyNot = (ui, { state, now }) => (isSeen(ui, state, now) ? null : NOT_SEEN);

/** What stands there after planning failed is Mimir's own, and a person who presses Enter for the message has not asked for it. */
export function whyNotAccept(ui: PlanUi, context: Context): string | null {
  const why = whyNotRun(ui, context);
  if (why !== null) return why;
  return context.state.planFault === ''
    ? whyNotSeen(ui, context)
    : 'Planning failed, and no planner made this plan: plan again with ^R, or run it as it is with Y.';
}

/** Only after planning failed. */
export function whyNotAnyway(ui: PlanUi, context: Context): string | null {
  return context.state.planFault === '' ? '' : (whyNotRun(ui, context) ?? whyNotSeen(ui, context));
}

export function whyNotAmend(ui: PlanUi, context: Context): string | null {
  if (!isApproved(context.state)) return '';
  return (
    whyNotChange(ui, context) ??
    (isDrafted(ui) ? null : 'nothing was changed: edit what has not begun, then look at it')
  );
}

export const whyNotCancel: WhyNot = (_, { state }) => (isApproved(state) ? '' : null);
export const whyNotBack: WhyNot = (_, { state }) => (isApproved(state) ? null : '');

/** A plan that failed can be made again; one that runs can't. */
export const whyNotAgain: WhyNot = whyNotApproving;

export const whyNotCap: WhyNot = (_, { state }) =>
  state.plan === null ? 'the plan is still being made' : state.finished === null ? null : 'the run has ended';

export const whyNotKeep: WhyNot = (ui, context) =>
  shownPlan(ui, context) === null ? 'the plan is still being made' : null;

export function whyNotStep(by: 1 | -1, words: string): WhyNot {
  return (ui, context) => {
    const why = whyNotChange(ui, context);
    if (why !== null) return why;
    if (!isApproved(context.state)) return neighbour(ui, context.state, by) === null ? words : null;
    const at = ui.draft.at + by;
    return at < 0 || at > ui.draft.edits.length ? words : null;
  };
}

// What is done

/** A dialog about the selected task. Dependencies may move it to another row: the selection stays with it. */
export const asks =
  (dialog: (of: Subject, context: Context) => Dialog): Run =>
  (ui, context) => {
    const of = subjectFor(ui, context, focusTask(ui, shownPlan(ui, context)));
    if (of === null) return {};
    return { ui: { ...tracked(ui, context.state), selected: of.task.id }, dialog: dialog(of, context) };
  };

/** The same for what is no dialog: the person's editor. */
export const does =
  (effect: (of: Subject, context: Context) => Effect<never>): Run =>
  (ui, context) => {
    const of = subjectFor(ui, context, focusTask(ui, shownPlan(ui, context)));
    return of === null ? {} : { ...effect(of, context), ui: { ...tracked(ui, context.state), selected: of.task.id } };
  };

/** The selected task; beside what the rules added, the last one, since what is about the whole plan needs one as well. */
const focusTask = (ui: PlanUi, plan: SoundPlan | null): Subject['task'] | null =>
  selectedTask(ui, plan) ?? plan?.tasks.at(-1) ?? null;

const command = (ui: PlanUi, ...commands: readonly Command[]): Effect<PlanUi> => ({ ui, commands });

export const accept: Run = (ui, { state }) => command(ui, { do: 'approve plan', digest: state.planDigest });

/** The difference, and whether it is meant. */
export const amend: Run = (ui, context) => ({ ui, ...amendQuestion(draftedEdits(ui), context) });

export function stepTo(by: 1 | -1): Run {
  return (ui, context) => {
    const { state } = context;
    if (isApproved(state)) return { ui: stepped(ui, context, by) };
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
  dialog: againDialog(isEdited(ui, state)),
});

export const raiseCap: Run = (ui, { state }) => ({ ui, dialog: capDialog(state) });

export const keep: Run = (ui, context) => {
  const plan = shownPlan(ui, context);
  return plan === null ? {} : { ui, dialog: keepDialog(plan, context.state.task) };
};

/** To where the run is; drafted changes are asked about first. */
export const back: Run = (ui, context) => {
  const leave = { app: { show: context.state.phase === 'finished' ? 'result' : 'run' } } as const;
  return isDrafted(ui) ? { ui, dialog: forgetDialog(context.state, leave) } : leave;
};

/** While the planner still thinks, cancelling ends the run; later, it rejects the plan. */
export const cancel: Run = (ui, context) => {
  const { state } = context;
  if (state.phase === 'starting' || state.phase === 'planning') {
    return command(ui, { do: 'stop run', reason: 'cancelled while it was planned' });
  }
  if (isEdited(ui, state)) return { ui: tracked(ui, state), dialog: cancelDialog() };
  return command(ui, { do: 'reject plan' });
};

/** The list and the schedule move the selection, the inspector scrolls. */
export function go(to: (row: number) => number, lines: number): Run {
  return (ui, context) => {
    const next = tracked(ui, context.state);
    if (ui.pane === 'inspector') return { ui: { ...next, scroll: Math.max(0, next.scroll + lines) } };
    const plan = shownPlan(next, context);
    return { ui: select(next, plan, to(selectedRow(next, plan))) };
  };
}

const PANES: readonly PlanPane[] = ['list', 'inspector', 'schedule'];

export const nextPane: Run = (ui) => ({
  ui: { ...ui, pane: PANES[(PANES.indexOf(ui.pane) + 1) % PANES.length] ?? 'list' },
});

export const paneNumber: Run = (ui, _, key) => ({ ui: { ...ui, pane: PANES[Number(key) - 1] ?? ui.pane } });

const ZOOMS: readonly Zoom[] = ['normal', 'half', 'full'];

export const zoomBy =
  (by: 1 | -1): Run =>
  (ui) => ({ ui: { ...ui, zoom: ZOOMS[Math.max(0, Math.min(2, ZOOMS.indexOf(ui.zoom) + by))] ?? 'normal' } });

// Keeping a plan as a template: its name, what it is for, and the words of its tasks that are asked for anew each time.

function keepDialog(plan: SoundPlan, task: string): Dialog {
  const text = (name: string, label: string, value: string, lines: number, hint: string) =>
    ({ is: 'text', name, label, value, lines, hint }) as const;
  return {
    is: 'form',
    title: 'Keep as a template',
    fields: [
      text('name', 'Name', slug(task.split('\n')[0] ?? ''), 1, 'audit, release-check …'),
      text('description', 'What for', task.split('\n')[0] ?? '', 1, 'a line that says when it is of use'),
      text('words', 'Arguments', '', 4, 'words of the tasks to ask for anew, a line each: path = src/auth'),
    ],
    check: (values) => {
      const wish = wishOf(plan, values);
      return wish.ok ? null : wish.fault;
    },
    then: (values) => {
      const wish = wishOf(plan, values);
      return wish.ok ? { app: { keep: wish.value } } : { toast: { level: 'warn', text: wish.fault } };
    },
  };
}

const NAME = /^[a-z][a-z0-9-]{0,39}$/;

function wishOf(plan: SoundPlan, { texts }: FormValues): Result<TemplateWish, string> {
  const name = (texts['name'] ?? '').trim();
  if (!NAME.test(name)) return fail('Name: small letters, digits and "-", at most 40, such as release-check');
  const lines = (texts['words'] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const parsed = lines.map((line) => argumentOf(line, plan));
  const wrong = parsed.find((one) => !one.ok);
  if (wrong !== undefined && !wrong.ok) return wrong;
  const words = parsed.flatMap((one) => (one.ok ? [one.value] : []));
  const twice = words.find(({ name: own }, index) => words.findIndex((other) => other.name === own) !== index);
  if (twice !== undefined) return fail(`Arguments: ${twice.name} is there twice`);
  return ok({ name, description: (texts['description'] ?? '').trim(), plan, arguments: words });
}

/** `path = src/auth`, or the words alone, which then name themselves. */
function argumentOf(line: string, plan: SoundPlan): Result<TemplateWish['arguments'][number], string> {
  const [, named, rest] = /^([A-Za-z][\w-]*)\s*=\s*(.+)$/.exec(line) ?? [];
  const text = rest ?? line;
  const name = slug(named ?? text);
  if (!NAME.test(name)) return fail(`Arguments: give "${text}" a name: path = ${text}`);
  const stands = plan.tasks.some(({ description }) => description.includes(text));
  return stands ? ok({ name, text }) : fail(`Arguments: "${text}" stands in no task of this plan`);
}

/** Words as a name: `Fix the race` is `fix-the-race`. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');

// Edits of a plan that runs, collected on the plan screen: shown as if they were made, judged one after the other by the run, and
// sent by nobody but the question that shows the difference (amend.ts). Nothing here touches the run.

/** The plan that is looked at: the run's, with the edits that were drafted; null while one is being made. */
export function shownPlan({ draft }: PlanUi, { state }: Pick<Context, 'state'>): SoundPlan | null {
  if (state.phase === 'planning' || state.phase === 'starting') return null;
  return draft.preview?.ok === true && isApproved(state) ? draft.preview.value.plan : state.plan;
}

/** Edits that count. */
const draftedEdits = ({ draft }: PlanUi): readonly PlanEdit[] => draft.edits.slice(0, draft.at);

/** Is anything drafted that the run doesn't know? */
export const isDrafted = ({ draft }: PlanUi): boolean => draft.at > 0;

/** What a dialog needs about a task, or null where there is none to change; what it leads to is an edit or a draft. */
function subjectFor(ui: PlanUi, context: Context, task: PlanTask | null): Subject | null {
  const { state } = context;
  if (task === null) return null;
  if (!isApproved(state)) return proposedSubject(state, task);
  const plan = shownPlan(ui, context);
  if (plan === null || state.choices === null || context.amended === undefined) return null;
  return {
    plan,
    choices: state.choices,
    task,
    problem: (edit) => {
      const preview = context.amended?.([...draftedEdits(ui), edit]);
      return preview === undefined || preview.ok ? null : preview.fault;
    },
    send: (edit) => ({ drafted: edit }),
    fixed: (other) => begunWords(context.state, plan, other),
  };
}

/** Adds an edit behind those that count; a `replace` by the plan in force is how a draft is given up. */
export function withEdit(ui: PlanUi, context: Context, edit: PlanEdit): Effect<PlanUi> {
  if (edit.is === 'replace') return { ui: { ...ui, draft: NO_DRAFT } };
  const edits = [...draftedEdits(ui), edit];
  const draft = judged({ base: '', edits, at: edits.length, preview: null }, context);
  if (draft.preview?.ok === false) return { toast: { level: 'warn', text: draft.preview.fault } };
  return { ui: { ...ui, draft } };
}

/** The last edit taken back, or made again. */
const stepped = (ui: PlanUi, context: Context, by: 1 | -1): PlanUi => ({
  ...ui,
  draft: judged({ ...ui.draft, at: Math.max(0, Math.min(ui.draft.edits.length, ui.draft.at + by)) }, context),
});

/** Before each painting and key: a draft that has become the plan in force is done, one for an older plan is judged anew. */
export function settledDraft(ui: PlanUi, context: Context): PlanUi {
  const { draft } = ui;
  const { state } = context;
  if (draft.edits.length === 0) return ui;
  if (state.phase !== 'running') return { ...ui, draft: NO_DRAFT };
  if (draft.base === state.planDigest) return ui;
  const went = draft.preview?.ok === true && draft.preview.value.digest === state.planDigest;
  return { ...ui, draft: went ? NO_DRAFT : judged(draft, context) };
}

function judged(draft: Draft, context: Context): Draft {
  const edits = draft.edits.slice(0, draft.at);
  return {
    ...draft,
    base: context.state.planDigest,
    preview: edits.length === 0 ? null : (context.amended?.(edits) ?? null),
  };
}

/** Why a task can't be changed any more; null where its agent has not begun. */
export function begunWords(state: RunState, plan: SoundPlan, task: PlanTask): string | null {
  const agent = agentOfTask(state, task.id);
  return agent === null || !hasBegun(agent)
    ? null
    : `#${plan.tasks.indexOf(task) + 1} ${task.role} has begun: it can't be changed any more`;
}

const hasBegun = ({ status, outcome, firstRunAt }: AgentState): boolean =>
  status !== 'pending' || outcome !== null || firstRunAt !== null;
