/**
 * Changing a plan that runs: edits become a question that shows what would differ, a line each, and what it comes to.
 * Only a yes sends them, with the digests of what was shown. What can't be changed any more is the engine's to say.
 */
import { expectedPlan } from '../../../../app/views/spending/expected-plan.ts';
import { parallelOf } from '../../../../app/views/agent-counts.ts';
import type { TaskId } from '../../../../domain/ids.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { totalsOf, type PlanTotals } from '../../../../domain/plan/plan-view.ts';
import type { PlanChange, PlanPreview } from '../../../../ports/controls.ts';
import type { Dialog, DialogEffect, Context } from '../../frame/screen.ts';
import { counted, formatCost, formatDuration, formatTokens } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { overCap } from '../../components/plan/totals.ts';
import type { Subject } from '../../components/plan-form/check.ts';
import { budgetDialog, modelDialog } from './dialogs.ts';
import { addDialog } from './reshape.ts';

/** The question that shows what `edits` change in the plan in force; a toast where they can't be made, or change nothing. */
export function amendQuestion(edits: readonly PlanEdit[], context: Context): DialogEffect {
  const preview = context.amended?.(edits);
  if (preview === undefined) return { toast: { level: 'warn', text: 'There is no plan that runs.' } };
  if (!preview.ok) return { toast: { level: 'warn', text: preview.fault } };
  if (preview.value.digest === preview.value.base) {
    return { toast: { level: 'info', text: 'That is the plan in force: nothing would change.' } };
  }
  return { dialog: differenceDialog(edits, preview.value, context) };
}

/** Adds an agent to the plan that runs: its form, then the question. */
export const addToRunning = (context: Context): DialogEffect => ofRunning(context, null, addDialog);

/** Another model for a task that has not begun: its list, then the question. */
export const modelOfPending = (task: TaskId, context: Context): DialogEffect => ofRunning(context, task, modelDialog);

/** Another budget for a task that has not begun: its form, then the question. */
export const budgetOfPending = (task: TaskId, context: Context): DialogEffect => ofRunning(context, task, budgetDialog);

function ofRunning(context: Context, id: TaskId | null, dialog: (of: Subject) => Dialog): DialogEffect {
  const { plan, choices } = context.state;
  const task = plan?.tasks.find((each) => each.id === id) ?? (id === null ? plan?.tasks.at(-1) : undefined);
  if (plan === null || choices === null || task === undefined || context.amended === undefined) {
    return { toast: { level: 'warn', text: 'There is no plan that runs.' } };
  }
  return { dialog: dialog({ plan, choices, task, ...oneEdit(context) }) };
}

const oneEdit = (context: Context): Pick<Subject, 'problem' | 'send' | 'fixed'> => ({
  fixed: () => null,
  problem: (edit) => {
    const preview = context.amended?.([edit]);
    return preview === undefined || preview.ok ? null : preview.fault;
  },
  send: (edit) => amendQuestion([edit], context),
});

function differenceDialog(edits: readonly PlanEdit[], preview: PlanPreview, context: Context): Dialog {
  const { changes, base, digest } = preview;
  return {
    is: 'confirm',
    title: `Change the plan that runs: ${counted(changes.length, 'task')}`,
    lines: differenceLines(preview, context),
    yes: 'change it',
    no: 'go on as it is',
    word: '',
    then: () => ({ commands: [{ do: 'amend plan', edits, base, digest }] }),
  };
}

/** A line for each task that differs, then what the plan came to and would come to. */
function differenceLines({ changes, plan }: PlanPreview, context: Context): readonly Line[] {
  const { state, glyphs } = context;
  const before = state.plan === null ? null : totalsOf(expectedPlan(state.plan, state.choices), parallelOf(state));
  const after = totalsOf(expectedPlan(plan, state.choices), parallelOf(state));
  const over = overCap(plan, state);
  return [
    ...changes.map((change) => changeLine(change, glyphs)),
    [],
    ...(before === null ? [] : [totalsOfPlan('Now', before, glyphs)]),
    totalsOfPlan('Then', after, glyphs),
    ...(over === null ? [] : [[span(`! ${over}`, { fg: 'err', bold: true })] as const]),
  ];
}

const SIGNS: Readonly<Record<PlanChange['is'], readonly [sign: string, ink: Ink]>> = {
  added: ['+', 'ok'],
  dropped: ['-', 'err'],
  changed: ['~', 'warn'],
};

function changeLine({ is, text }: PlanChange, { arrow }: Glyphs): Line {
  const [sign, ink] = SIGNS[is];
  return [span(`${sign} `, { fg: ink, bold: true }), span(text.replaceAll(' -> ', ` ${arrow} `), { fg: 'fg' })];
}

/** `Then  180k tokens  $0.7432  6m 3s`, the numbers under each other. */
function totalsOfPlan(label: string, { tokens, cost, knownCost, seconds }: PlanTotals, { dot }: Glyphs): Line {
  const price = cost === null ? `at least ${formatCost(knownCost)}` : formatCost(cost);
  return [
    span(label.padEnd(6), { fg: 'faint' }),
    span(`${formatTokens(tokens).padStart(5)} tokens`, { fg: 'fg' }),
    span(` ${dot} `, { fg: 'faint' }),
    span(price, { fg: 'fg' }),
    span(` ${dot} `, { fg: 'faint' }),
    span(`about ${formatDuration(seconds * 1000)}`, { fg: 'fg' }),
  ];
}
