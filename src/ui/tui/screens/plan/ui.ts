/** The state of the plan screen: selection, focus, a draft of edits, and the history of plans. Pure. */
import type { MandatoryReview } from '../../../../domain/agents/agent.ts';
import type { PlanHistory } from '../../../../app/actions/index.ts';
import { isApproved, NO_HISTORY, neighbourPlan, proposalOf, trackPlan } from '../../../../app/actions/index.ts';
import type { Millis, TaskId } from '../../../../domain/ids.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { Result } from '../../../../domain/result.ts';
import type { RunState } from '../../../../events/index.ts';
import type { PlanPreview } from '../../../../ports/controls.ts';
import type { Zoom } from '../../components/layout.ts';
import { forcedOf } from '../../components/plan/inspector.ts';

export interface PlanUi {
  /** The selected task; when it no longer exists, the one at `row` is selected. */
  readonly selected: TaskId | null;
  readonly row: number;
  readonly pane: PlanPane;
  readonly zoom: Zoom;
  readonly scroll: number;
  readonly draft: Draft;
  readonly history: PlanHistory;
  /** Whether the proposed plan was visible; null before the first proposal. */
  readonly sight: Sight | null;
}

export type PlanPane = 'list' | 'inspector' | 'schedule';

/** Edits of a running plan, each checked with those before it, until the person applies them. */
export interface Draft {
  /** Digest of the plan with which they were checked. */
  readonly base: string;
  readonly edits: readonly PlanEdit[];
  /** Number of edits in effect; later ones were undone. */
  readonly at: number;
  /** The plan with the edits in effect; null without any. A fault: the run has moved on, and they are no longer possible. */
  readonly preview: Result<PlanPreview, string> | null;
}

export const NO_DRAFT: Draft = { base: '', edits: [], at: 0, preview: null };

interface Sight {
  readonly proposal: string;
  /** When a plan of this proposal was painted first; null before. */
  readonly since: Millis | null;
  readonly digest: string;
}

export const FIRST: PlanUi = {
  selected: null,
  row: 0,
  pane: 'list',
  zoom: 'normal',
  scroll: 0,
  draft: NO_DRAFT,
  history: NO_HISTORY,
  sight: null,
};

/** Enter is ignored for this time after a new plan appears, since it was meant for something else. */
const DEAF: Millis = 300;

/** Called before each frame and key: marks a new proposal as not seen yet. */
export function awaited(ui: PlanUi, state: RunState): PlanUi {
  const proposal = proposalOf(state);
  if (!isOffered(state) || ui.sight?.proposal === proposal) return ui;
  return { ...ui, sight: { proposal, since: null, digest: '' } };
}

/** Called after each frame: notes that the plan is visible. */
export function painted(ui: PlanUi, state: RunState, now: Millis): PlanUi {
  const { sight } = ui;
  if (sight === null || !isOffered(state) || sight.digest === state.planDigest) return ui;
  return { ...ui, sight: { ...sight, since: sight.since ?? now, digest: state.planDigest } };
}

/** True if exactly this plan was visible long enough for a key to be meant for it. */
export const isSeen = ({ sight }: PlanUi, { planDigest }: RunState, now: Millis): boolean =>
  sight === null || (sight.since !== null && sight.digest === planDigest && now - sight.since >= DEAF);

/** True while a plan waits for the person's approval. */
export const isOffered = ({ phase, plan }: RunState): boolean => phase === 'approving' && plan !== null;

/** The state with the shown plan in its history. Called at each key, which is early enough, since an edit starts with a key. */
export function tracked(ui: PlanUi, state: RunState): PlanUi {
  const history = trackPlan(ui.history, state);
  return history === ui.history ? ui : { ...ui, history };
}

/** The plan before (`-1`) or after (`1`) the shown one in the history; null when there is none. */
export const neighbour = (ui: PlanUi, state: RunState, by: 1 | -1): SoundPlan | null =>
  neighbourPlan(trackPlan(ui.history, state), by);

/** True when the plan differs from the proposed one. */
export function isEdited(ui: PlanUi, state: RunState): boolean {
  const first = tracked(ui, state).history.plans[0];
  return first !== undefined && first.digest !== state.planDigest;
}

/** The task as it was proposed or, in a running plan, approved; null when a person added it. */
export function proposedTask(ui: PlanUi, state: RunState, id: TaskId): PlanTask | null {
  const before = isApproved(state) ? state.plan : tracked(ui, state).history.plans[0]?.plan;
  return before?.tasks.find((task) => task.id === id) ?? null;
}

/** How a person changed a task since the proposal; null for not at all. */
export function changeOf(ui: PlanUi, state: RunState, task: PlanTask): 'edited' | 'added' | null {
  const before = proposedTask(ui, state, task.id);
  if (before === null) return 'added';
  return before === task || JSON.stringify(before) === JSON.stringify(task) ? null : 'edited';
}

/** Index of the selected task, or behind the tasks of the selected review; 0 in an empty list. */
export function selectedRow(ui: PlanUi, plan: SoundPlan | null): number {
  const count = rowsIn(plan);
  const found = plan?.tasks.findIndex(({ id }) => id === ui.selected) ?? -1;
  return found === -1 ? Math.max(0, Math.min(ui.row, count - 1)) : found;
}

const rowsIn = (plan: SoundPlan | null): number => (plan === null ? 0 : plan.tasks.length + forcedOf(plan).length);

/** The selected mandatory review; null when a task is selected. */
export const selectedForced = (ui: PlanUi, plan: SoundPlan | null): MandatoryReview | null =>
  plan === null ? null : (forcedOf(plan)[selectedRow(ui, plan) - plan.tasks.length] ?? null);

export const selectedTask = (ui: PlanUi, plan: SoundPlan | null): PlanTask | null =>
  plan?.tasks[selectedRow(ui, plan)] ?? null;

/** Selects the row nearest to `row`. */
export function select(ui: PlanUi, plan: SoundPlan | null, row: number): PlanUi {
  const count = rowsIn(plan);
  const to = Math.max(0, Math.min(row, count - 1));
  const selected = plan?.tasks[to]?.id ?? null;
  return { ...ui, selected, row: to, scroll: selected === ui.selected && to === ui.row ? ui.scroll : 0 };
}
