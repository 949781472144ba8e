/** Actions on a plan: accept, discard, plan again, and the edits before and during the run. Also the undo history. */
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { dependantsOf } from '../../domain/plan/plan-view.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { RunState } from '../../events/index.ts';
import type { Command, PlanPreview } from '../../ports/controls.ts';
import { type Action, type Interaction, rowOf } from './action.ts';

export const NO_PLAN = 'The plan is still being drafted.';

/** Why the plan cannot be edited now, or null. */
export function whyNotEdit({ session, phase, plan }: RunState): string | null {
  if (session === null) return 'The run is still being opened.';
  if (plan === null || phase === 'planning' || phase === 'starting') return NO_PLAN;
  return phase === 'approving' || phase === 'running' ? null : 'The plan has run and cannot be edited.';
}

export const acceptPlan: Action<null> = {
  ...rowOf('plan.accept'),
  whyNot: whyNotEdit,
  command: ({ planDigest }) => ({ do: 'approve plan', digest: planDigest }),
};

export const cancelPlan: Action<null> = {
  ...rowOf('plan.cancel'),
  whyNot: () => null,
  command: ({ phase }) =>
    phase === 'starting' || phase === 'planning'
      ? { do: 'stop run', reason: 'cancelled while it was planned' }
      : { do: 'reject plan' },
};

/** Runs the checks of the plan on the project as it is; while they run, stops them. */
export const tryChecks: Action<null> = {
  ...rowOf('plan.try'),
  whyNot: (state) =>
    planAgain.whyNot(state, { hint: '' }) ??
    (state.plan?.tasks.some(({ checks }) => checks !== undefined) === true ? null : 'The plan has no checks.'),
  command: ({ planDigest: digest, firstChecks = [] }) =>
    firstChecks.some(({ end }) => end === null) ? { do: 'stop checks' } : { do: 'try checks', digest },
};

export const planAgain: Action<{ readonly hint: string }> = {
  ...rowOf('plan.again'),
  whyNot: (state) => (isApproved(state) ? 'The plan is already running.' : whyNotEdit(state)),
  command: (_, { hint }) => ({ do: 'plan again', hint: hint.trim() }),
};

/** True if the plan has been approved. Differences are then measured against the plan in force. */
export const isApproved = ({ phase }: Pick<RunState, 'phase'>): boolean =>
  phase === 'running' || phase === 'merging' || phase === 'finished';

/** What the deletion of a task does to the tasks that depend on it; null when there are none. */
export function dropWarning(plan: SoundPlan, task: PlanTask): string | null {
  const { length } = dependantsOf(plan, task.id);
  if (length === 0) return null;
  const depend = length === 1 ? '1 task depends' : `${length} tasks depend`;
  return `${depend} on it and will ${task.dependsOn.length === 0 ? 'lose that dependency' : 'depend on what it needs'}:`;
}

export interface Amendment {
  readonly preview: PlanPreview;
  readonly command: Command;
}

export const NO_RUNNING_PLAN = 'No plan is running.';
export const SAME_PLAN = 'This is the current plan: nothing would change.';

/** A change of the running plan with its preview; else why it is impossible: `SAME_PLAN` if nothing would change. */
export function amendment(
  edits: readonly PlanEdit[],
  shown: Result<PlanPreview, string> | undefined,
): Result<Amendment, string> {
  if (shown === undefined) return fail(NO_RUNNING_PLAN);
  if (!shown.ok) return shown;
  const { base, digest } = shown.value;
  return base === digest
    ? fail(SAME_PLAN)
    : ok({ preview: shown.value, command: { do: 'amend plan', edits, base, digest } });
}

/** The plans that a person has seen of one proposal, oldest first: undo and redo move between them. */
export interface PlanHistory {
  /** The proposal that the plans belong to; a new proposal starts a new history. */
  readonly proposal: string;
  readonly plans: readonly { readonly plan: SoundPlan; readonly digest: string }[];
  readonly at: number;
}

export const NO_HISTORY: PlanHistory = { proposal: '', plans: [], at: 0 };

/** Identifies the proposal that the run's plan started from. */
export const proposalOf = ({ session, planBy, planMs }: RunState): string => `${session ?? ''} ${planBy} ${planMs}`;

/** The history including the present plan: a known neighbour is an undo or redo, any other plan is appended. */
export function trackPlan(history: PlanHistory, state: RunState): PlanHistory {
  const { plan, planDigest: digest } = state;
  const proposal = proposalOf(state);
  if (plan === null) return history;
  if (history.proposal !== proposal) return { proposal, plans: [{ plan, digest }], at: 0 };
  if (history.plans[history.at]?.digest === digest) return history;
  const step = [history.at + 1, history.at - 1].find((at) => history.plans[at]?.digest === digest);
  if (step !== undefined) return { ...history, at: step };
  const plans = [...history.plans.slice(0, history.at + 1), { plan, digest }];
  return { proposal, plans, at: plans.length - 1 };
}

/** The plan before (`-1`) or after (`1`) the present one, or null. */
export const neighbourPlan = ({ plans, at }: PlanHistory, by: 1 | -1): SoundPlan | null => plans[at + by]?.plan ?? null;

export const undoEdit: Interaction & { readonly none: string } = {
  ...rowOf('plan.undo'),
  none: 'Nothing to undo.',
};

export const redoEdit: Interaction & { readonly none: string } = {
  ...rowOf('plan.redo'),
  none: 'Nothing to redo.',
};

// The edits of a plan. Before approval an edit is applied at once, afterwards it becomes an amendment.

const row = (id: Parameters<typeof rowOf>[0]): Action<PlanEdit> => ({
  ...rowOf(id),
  whyNot: whyNotEdit,
  command: (_, edit) => ({ do: 'edit plan', edit }),
});

export const PLAN_EDITS = {
  describe: row('plan.describe'),
  model: row('plan.model'),
  role: row('plan.role'),
  budget: row('plan.budget'),
  tools: row('plan.tools'),
  depends: row('plan.needs'),
  add: row('plan.add'),
  drop: row('plan.drop'),
  split: row('plan.split'),
  join: row('plan.join'),
  models: row('plan.whatIf'),
  form: row('plan.manual'),
  moveDown: row('plan.moveDown'),
  moveUp: row('plan.moveUp'),
  permissions: row('plan.permissions'),
  commit: row('plan.commit'),
  writes: row('plan.writes'),
  alongside: row('plan.order'),
  checks: row('plan.checks'),
} as const;

/** Text for a header or a printed plan; empty if the plan commits nothing. */
export const commitText = ({ commit }: Pick<SoundPlan, 'commit'>): string =>
  commit === true ? 'main commits at the end' : '';
/** Parses typed globs, separated by spaces (`\ ` is a space inside one). `nothing` gives none, `all` the whole project. */
export function parseWrites(typed: string): readonly string[] {
  const words = typed.split(/(?<!\\)\s+/).filter((word) => word !== '');
  const [only = ''] = words;
  if (words.length === 1 && /^(?:nothing|none|-)$/i.test(only)) return [];
  return words.length === 1 && /^(?:all|everything)$/i.test(only) ? ['**'] : words;
}

/** Formats a task's globs for `parseWrites`. */
export const formatWrites = ({ writes }: Pick<PlanTask, 'writes'>): string =>
  writes.map((glob) => glob.replaceAll(/(?<!\\) /g, String.raw`\ `)).join(' ');
