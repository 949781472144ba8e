/** Actions on a plan: accept, discard, plan again, and the edits before and during the run. Also the undo history. */
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { dependantsOf } from '../../domain/plan/plan-view.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { RunState } from '../../events/index.ts';
import type { Command, PlanPreview } from '../../ports/controls.ts';
import type { Action, Interaction } from './action.ts';

export const NO_PLAN = 'The plan is still being drafted.';

/** Why the plan cannot be edited now, or null. */
export function whyNotEdit({ phase, plan }: RunState): string | null {
  if (plan === null || phase === 'planning' || phase === 'starting') return NO_PLAN;
  return phase === 'approving' || phase === 'running' ? null : 'The plan has run and cannot be edited.';
}

export const acceptPlan: Action<null> = {
  id: 'plan.accept',
  keys: ['enter', 'Y', 'y'],
  hint: 'accept',
  word: 'accept',
  help: 'Accept plan',
  whyNot: whyNotEdit,
  command: ({ planDigest }) => ({ do: 'approve plan', digest: planDigest }),
};

export const cancelPlan: Action<null> = {
  id: 'plan.cancel',
  keys: ['esc', 'n'],
  hint: 'cancel',
  word: 'cancel',
  help: 'Discard plan',
  whyNot: () => null,
  command: ({ phase }) =>
    phase === 'starting' || phase === 'planning'
      ? { do: 'stop run', reason: 'cancelled while it was planned' }
      : { do: 'reject plan' },
};

export const planAgain: Action<{ readonly hint: string }> = {
  id: 'plan.again',
  keys: ['ctrl-r'],
  hint: 'regenerate',
  word: 'again',
  arguments: '[HINT]',
  help: 'Re-plan with hint',
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

/**
 * A change of the running plan, with the preview that the person confirms. The fault says why the edits are impossible;
 * it is `SAME_PLAN` if nothing would change.
 */
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
  id: 'plan.undo',
  keys: ['u'],
  hint: 'undo',
  word: 'undo',
  short: ['u'],
  help: 'Undo',
  none: 'Nothing to undo.',
};

export const redoEdit: Interaction & { readonly none: string } = {
  id: 'plan.redo',
  keys: ['U'],
  hint: '',
  word: 'redo',
  short: ['U'],
  help: 'Redo',
  none: 'Nothing to redo.',
};

// The edits of a plan. Before approval an edit is applied at once, afterwards it becomes an amendment.

/** `typed`: the arguments in line mode. */
const row = (id: string, key: string, hint: string, word: string, typed: string, help: string): Action<PlanEdit> => ({
  id: `plan.${id}`,
  keys: [key],
  hint,
  word,
  arguments: typed,
  help,
  whyNot: whyNotEdit,
  command: (_, edit) => ({ do: 'edit plan', edit }),
});

export const PLAN_EDITS = {
  describe: row('describe', 'e', 'edit', 'edit', 'N [TEXT]', 'Edit task'),
  model: row('model', 'M', 'model', 'model', '', 'Change model'),
  role: row('role', 'r', '', 'role', 'N ROLE', 'Change role'),
  budget: row('budget', 'b', '', 'budget', '', 'Set task budget'),
  tools: row('tools', 't', '', 'tools', 'N NAMES', 'Choose tools'),
  depends: row('needs', 'D', '', 'needs', 'N [NUMBERS]', 'Edit dependencies'),
  add: row('add', 'a', 'add', 'add', 'ROLE TEXT', 'Add task'),
  drop: row('drop', 'd', 'delete', 'drop', 'N', 'Delete task'),
  split: row('split', 's', 'split', 'split', 'N', 'Split task'),
  join: row('join', 'S', 'merge', 'join', 'N M', 'Merge tasks'),
  models: row('whatIf', '$', 'what if', 'whatif', '[cheap|balanced|best]', 'Compare model tiers'),
  form: row('manual', 'm', 'edit all', 'edit', '', 'Edit all fields'),
  moveDown: row('moveDown', 'J', '', 'move', 'N up|down', 'Move task down'),
  moveUp: row('moveUp', 'K', '', 'move', '', 'Move task up'),
  permissions: row(
    'permissions',
    'P',
    'permit',
    'permissions',
    '[N] [edits|commands|all ask|allow]',
    'Set permissions',
  ),
  commit: row('commit', 'c', '', 'commit', '[on|off]', 'Commit at end'),
  writes: row('writes', 'W', '', 'writes', 'N [GLOBS|all|nothing]', 'Set writable files'),
  alongside: row('order', 'o', '', 'beside', 'N [NUMBERS|none]', 'Allow parallel tasks'),
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

/** Formats a task's globs for `writesIn`. */
export const formatWrites = ({ writes }: Pick<PlanTask, 'writes'>): string =>
  writes.map((glob) => glob.replaceAll(/(?<!\\) /g, String.raw`\ `)).join(' ');
