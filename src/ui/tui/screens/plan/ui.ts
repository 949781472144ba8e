/**
 * What the plan screen remembers by itself: the selected task, which pane has the keys, and the plans that were seen, for
 * undo, redo and the marks of what was edited. Pure; the plan itself is the run's state.
 */
import type { ForcedNode } from '../../../../domain/agents/mandatory-review.ts';
import type { Millis, TaskId } from '../../../../domain/ids.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { Result } from '../../../../domain/result.ts';
import type { RunState } from '../../../../events/state.ts';
import type { PlanPreview } from '../../../../ports/controls.ts';
import { forcedOf } from '../../components/plan/reviews.ts';

export interface PlanUi {
  /** The selected task; when it is gone, the one at `row` is. */
  readonly selected: TaskId | null;
  readonly row: number;
  readonly pane: PlanPane;
  /** How much of the screen that pane takes. */
  readonly zoom: Zoom;
  /** First line of the inspector. */
  readonly scroll: number;
  /** Edits of a plan that runs, not agreed to yet (draft.ts). */
  readonly draft: Draft;
  readonly history: History;
  /** What of the plans was on the screen; null where none was awaited yet. */
  readonly sight: Sight | null;
}

export type PlanPane = 'list' | 'inspector' | 'schedule';
export type Zoom = 'normal' | 'half' | 'full';

/** Edits collect here, each judged with those before it, until the difference is agreed to. */
export interface Draft {
  /** Digest of the plan in force that they were judged on. */
  readonly base: string;
  readonly edits: readonly PlanEdit[];
  /** So many of them count; the others were taken back. */
  readonly at: number;
  /** The plan with those that count; null where none does. A fault: the run went on, and they can't be made any more. */
  readonly preview: Result<PlanPreview, string> | null;
}

export const NO_DRAFT: Draft = { base: '', edits: [], at: 0, preview: null };

interface Sight {
  readonly proposal: string;
  /** Since when a plan of this proposal is on the screen; null before. */
  readonly since: Millis | null;
  /** The plan that was painted last. */
  readonly digest: string;
}

interface History {
  /** Which proposal the plans belong to: a new one starts anew. */
  readonly proposal: string;
  readonly plans: readonly { readonly plan: SoundPlan; readonly digest: string }[];
  readonly at: number;
}

export const FIRST: PlanUi = {
  selected: null,
  row: 0,
  pane: 'list',
  zoom: 'normal',
  scroll: 0,
  draft: NO_DRAFT,
  history: { proposal: '', plans: [], at: 0 },
  sight: null,
};

/** Keys within this time after a new plan was on the screen first were meant for something else. */
const DEAF: Millis = 300;

/** Which proposal the plan of a run goes back to. */
const proposalOf = ({ session, planBy, planMs }: RunState): string => `${session ?? ''} ${planBy} ${planMs}`;

/** Before each painting and key: a new proposal is one that nobody has seen. */
export function awaited(ui: PlanUi, state: RunState): PlanUi {
  const proposal = proposalOf(state);
  if (!isOffered(state) || ui.sight?.proposal === proposal) return ui;
  return { ...ui, sight: { proposal, since: null, digest: '' } };
}

/** The plan is on the screen now. */
export function painted(ui: PlanUi, state: RunState, now: Millis): PlanUi {
  const { sight } = ui;
  if (sight === null || !isOffered(state) || sight.digest === state.planDigest) return ui;
  return { ...ui, sight: { ...sight, since: sight.since ?? now, digest: state.planDigest } };
}

/** Was exactly this plan on the screen, long enough for a key to be meant for it? */
export const isSeen = ({ sight }: PlanUi, { planDigest }: RunState, now: Millis): boolean =>
  sight === null || (sight.since !== null && sight.digest === planDigest && now - sight.since >= DEAF);

/** Does a plan wait for the person? */
export const isOffered = ({ phase, plan }: RunState): boolean => phase === 'approving' && plan !== null;

/**
 * The ui that knows the plan that is shown. Screens learn of a change only when a key is pressed, which is in time: an
 * edit starts with a key.
 */
export function tracked(ui: PlanUi, state: RunState): PlanUi {
  const { plan, planDigest: digest } = state;
  if (plan === null) return ui;
  const proposal = proposalOf(state);
  const { history } = ui;
  if (history.proposal !== proposal) return { ...ui, history: { proposal, plans: [{ plan, digest }], at: 0 } };
  if (history.plans[history.at]?.digest === digest) return ui;
  const step = [history.at + 1, history.at - 1].find((at) => history.plans[at]?.digest === digest);
  if (step !== undefined) return { ...ui, history: { ...history, at: step } };
  const plans = [...history.plans.slice(0, history.at + 1), { plan, digest }];
  return { ...ui, history: { proposal, plans, at: plans.length - 1 } };
}

/** The plan before (`-1`) or after (`1`) the one that is shown; null when there is none. */
export function neighbour(ui: PlanUi, state: RunState, by: 1 | -1): SoundPlan | null {
  const { history } = tracked(ui, state);
  return history.plans[history.at + by]?.plan ?? null;
}

/** True when the plan is another one than was proposed. */
export function isEdited(ui: PlanUi, state: RunState): boolean {
  const first = tracked(ui, state).history.plans[0];
  return first !== undefined && first.digest !== state.planDigest;
}

/** The task as it was proposed, of a plan that runs as it was approved; null when a person added it. */
export function proposedTask(ui: PlanUi, state: RunState, id: TaskId): PlanTask | null {
  const before = isApproved(state) ? state.plan : tracked(ui, state).history.plans[0]?.plan;
  return before?.tasks.find((task) => task.id === id) ?? null;
}

/** Has the plan been approved? Then what differs is measured by what is in force. */
export const isApproved = ({ phase }: RunState): boolean => ['running', 'merging', 'finished'].includes(phase);

/** What a person did to a task since the proposal. */
export function changeOf(ui: PlanUi, state: RunState, task: PlanTask): 'edited' | 'added' | null {
  const before = proposedTask(ui, state, task.id);
  if (before === null) return 'added';
  return before === task || JSON.stringify(before) === JSON.stringify(task) ? null : 'edited';
}

/** Index of the selected task, or behind the tasks that of what the rules added; 0 in an empty list. */
export function selectedRow(ui: PlanUi, plan: SoundPlan | null): number {
  const count = rowsIn(plan);
  const found = plan?.tasks.findIndex(({ id }) => id === ui.selected) ?? -1;
  return found === -1 ? Math.max(0, Math.min(ui.row, count - 1)) : found;
}

/** Everything that can be selected: tasks, then the agents that the rules added. */
const rowsIn = (plan: SoundPlan | null): number => (plan === null ? 0 : plan.tasks.length + forcedOf(plan).length);

/** What the rules added, when that is selected: it can be looked at. */
export const selectedForced = (ui: PlanUi, plan: SoundPlan | null): ForcedNode | null =>
  plan === null ? null : (forcedOf(plan)[selectedRow(ui, plan) - plan.tasks.length] ?? null);

export const selectedTask = (ui: PlanUi, plan: SoundPlan | null): PlanTask | null =>
  plan?.tasks[selectedRow(ui, plan)] ?? null;

/** The ui with the task at `row` selected, the nearest there is. */
export function select(ui: PlanUi, plan: SoundPlan | null, row: number): PlanUi {
  const count = rowsIn(plan);
  const to = Math.max(0, Math.min(row, count - 1));
  const selected = plan?.tasks[to]?.id ?? null;
  return { ...ui, selected, row: to, scroll: selected === ui.selected && to === ui.row ? ui.scroll : 0 };
}
