/**
 * Edits of a plan that runs, collected on the plan screen: shown as if they were made, judged one after the other by the run, and
 * sent by nobody but the question that shows the difference (amend.ts). Nothing here touches the run.
 */
import type { AgentState, RunState } from '../../../../events/state.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { Context, Effect } from '../../shell/screen.ts';
import { agentOfTask } from '../../components/plan/status.ts';
import type { Subject } from './check.ts';
import { proposedSubject } from './check.ts';
import type { Draft, PlanUi } from './ui.ts';
import { isApproved, NO_DRAFT } from './ui.ts';

/** The plan that is looked at: the run's, with the edits that were drafted; null while one is being made. */
export function shownPlan({ draft }: PlanUi, { state }: Pick<Context, 'state'>): SoundPlan | null {
  if (state.phase === 'planning' || state.phase === 'starting') return null;
  return draft.preview?.ok === true && isApproved(state) ? draft.preview.value.plan : state.plan;
}

/** Edits that count. */
export const draftedEdits = ({ draft }: PlanUi): readonly PlanEdit[] => draft.edits.slice(0, draft.at);

/** Is anything drafted that the run doesn't know? */
export const isDrafted = ({ draft }: PlanUi): boolean => draft.at > 0;

/** What a dialog needs about a task, or null where there is none to change; what it leads to is an edit or a draft. */
export function subjectFor(ui: PlanUi, context: Context, task: PlanTask | null): Subject | null {
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
export const stepped = (ui: PlanUi, context: Context, by: 1 | -1): PlanUi => ({
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
