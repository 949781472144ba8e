/** Changes of a running plan, sent after a question with the difference. The engine decides what can still be changed. */
import type { Ink, Line } from '../../../../app/views/index.ts';
import { plural, expectedPlan, formatCost, formatDuration, formatTokens } from '../../../../app/views/index.ts';
import { parallelOf } from '../../../../app/views/index.ts';
import { type Amendment, amendment, NO_RUNNING_PLAN, SAME_PLAN } from '../../../../app/actions/index.ts';
import type { TaskId } from '../../../../domain/ids.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { totalsOf, type PlanTotals } from '../../../../domain/plan/plan-view.ts';
import type { Result } from '../../../../domain/result.ts';
import type { PlanChange, PlanPreview } from '../../../../ports/controls.ts';
import type { Dialog, DialogEffect, Context } from '../../frame/screen.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { overCap } from '../../components/plan/estimate.ts';
import type { Subject } from '../../components/plan-form.ts';
import { addDialog, budgetDialog, modelDialog } from './dialogs.ts';
import { strong, tint } from '../../text/blocks.ts';

/** The question about `edits`; a toast where they are not possible or change nothing. Repeated once the run has answered. */
export function amendQuestion(edits: readonly PlanEdit[], context: Context): DialogEffect {
  const preview = context.amended?.(edits);
  if (preview === null) return { checking: true };
  const shown = amendment(edits, preview);
  if (!shown.ok) return { toast: { level: shown.fault === SAME_PLAN ? 'info' : 'warn', text: shown.fault } };
  return { dialog: differenceDialog(shown.value, context) };
}

/** Adds a task to the running plan: its form, then the question. */
export const addToRunning = (context: Context): DialogEffect => ofRunning(context, null, addDialog);

/** Changes the model of a task that has not started: the list of models, then the question. */
export const modelOfPending = (task: TaskId, context: Context): DialogEffect => ofRunning(context, task, modelDialog);

/** Changes the budget of a task that has not started: its form, then the question. */
export const budgetOfPending = (task: TaskId, context: Context): DialogEffect => ofRunning(context, task, budgetDialog);

function ofRunning(context: Context, id: TaskId | null, dialog: (of: Subject) => Dialog): DialogEffect {
  const { plan, choices } = context.state;
  const task = plan?.tasks.find((each) => each.id === id) ?? (id === null ? plan?.tasks.at(-1) : undefined);
  if (plan === null || choices === null || task === undefined || context.amended === undefined)
    return { toast: { level: 'warn', text: NO_RUNNING_PLAN } };
  return { dialog: dialog({ plan, choices, task, ...oneEdit(context) }) };
}

/** Why edits are not possible; null where they are, and until the run has answered. */
export const faultOf = (preview: Result<PlanPreview, string> | null | undefined): string | null =>
  preview?.ok === false ? preview.fault : null;

const oneEdit = (context: Context): Pick<Subject, 'problem' | 'send' | 'fixed'> => ({
  fixed: () => null,
  problem: (edit) => faultOf(context.amended?.([edit])),
  send: (edit) => amendQuestion([edit], context),
});

const differenceDialog = ({ preview, command }: Amendment, context: Context): Dialog => ({
  is: 'confirm',
  title: `Change ${plural(preview.changes.length, 'task')} of the running plan?`,
  lines: differenceLines(preview, context),
  yes: 'apply',
  no: 'keep editing',
  then: () => ({ commands: [command] }),
});

/** A line for each changed task, then the totals before and after. */
function differenceLines({ changes, plan }: PlanPreview, context: Context): readonly Line[] {
  const { state, glyphs } = context;
  const before = state.plan === null ? null : totalsOf(expectedPlan(state.plan, state.choices), parallelOf(state));
  const after = totalsOf(expectedPlan(plan, state.choices), parallelOf(state));
  const over = overCap(plan, state);
  return [
    ...changes.map((change) => changeLine(change, glyphs)),
    [],
    ...(before === null ? [] : [totalsOfPlan('Now', before, glyphs)]),
    totalsOfPlan('After', after, glyphs),
    ...(over === null ? [] : [[strong(`! ${over}`, 'err')] as const]),
  ];
}

const SIGNS: Readonly<Record<PlanChange['is'], readonly [sign: string, ink: Ink]>> = {
  added: ['+', 'ok'],
  dropped: ['-', 'err'],
  changed: ['~', 'warn'],
};

function changeLine({ is, text }: PlanChange, { arrow }: Glyphs): Line {
  const [sign, ink] = SIGNS[is];
  return [strong(`${sign} `, ink), tint(text.replaceAll(' -> ', ` ${arrow} `), 'fg')];
}

/** `After 180k tokens · $0.74 · about 6m 3s`. */
function totalsOfPlan(label: string, { tokens, cost, knownCost, seconds }: PlanTotals, { dot }: Glyphs): Line {
  const price = cost === null ? `at least ${formatCost(knownCost)}` : formatCost(cost);
  return [
    tint(label.padEnd(6), 'faint'),
    tint(`${formatTokens(tokens).padStart(5)} tokens`, 'fg'),
    tint(` ${dot} `, 'faint'),
    tint(price, 'fg'),
    tint(` ${dot} `, 'faint'),
    tint(`about ${formatDuration(seconds * 1000)}`, 'fg'),
  ];
}
