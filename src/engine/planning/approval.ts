/** A proposed plan and the person: edits, each checked and recorded, until it is approved, rejected or made again. */
import { applyEdit, editText } from '../../domain/plan/apply-edit.ts';
import { planDigest } from '../../domain/digest.ts';
import { ROOT } from '../../domain/ids.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import { choicesOf } from './model-selection.ts';
import type { RunParts } from '../run/parts.ts';
import { planContextOf } from './context.ts';

export type PlanDecision =
  | { readonly is: 'approved' }
  | { readonly is: 'rejected' }
  | { readonly is: 'again'; readonly hint: string };

/** Resolves when the plan on the table is decided. Nothing of an agent happens before `plan.approved` is in the log. */
export async function agreeOnPlan(parts: RunParts): Promise<PlanDecision> {
  const { options, recorder } = parts;
  switch (options.approval) {
    case 'flag':
      return approve(parts, '--yes');
    case 'config':
      return approve(parts, 'agentOrchestration.promptForApproval: false');
    case 'direct':
      return approve(parts, 'person (main was asked directly)');
    case 'nobody':
      return reject(parts, 'not approved: there is nobody to ask');
    case 'person':
      break;
    default:
      throw new Error('unknown approval');
  }
  recorder.record({ type: 'agent.status', agent: ROOT, status: 'waiting', reason: '', waitingFor: { is: 'person' } });
  const decision = await decisionOf(parts);
  if (parts.signal.aborted) return decision;
  recorder.record({ type: 'agent.status', agent: ROOT, status: 'running', reason: '' });
  return decision.is === 'rejected' ? reject(parts, 'User rejected plan') : decision;
}

/** One decision ends the question at once: a second one in the same breath finds nothing to decide. */
function decisionOf({ deciding, signal }: RunParts): Promise<PlanDecision> {
  return new Promise((resolve) => {
    const decided = (decision: PlanDecision): void => {
      deciding.now = null;
      signal.removeEventListener('abort', stopped);
      resolve(decision);
    };
    const stopped = (): void => decided({ is: 'rejected' });
    deciding.now = decided;
    if (signal.aborted) stopped();
    else signal.addEventListener('abort', stopped, { once: true });
  });
}

function approve({ recorder }: RunParts, by: string): PlanDecision {
  recorder.record({ type: 'plan.approved', digest: recorder.state().planDigest, by });
  return { is: 'approved' };
}

function reject({ recorder }: RunParts, reason: string): PlanDecision {
  recorder.record({ type: 'plan.rejected', reason });
  return { is: 'rejected' };
}

/** The person approves what was shown: the digest must be that of the plan on the table. */
export function approveShown(parts: RunParts, digest: string): Result<string, string> {
  const state = parts.recorder.state();
  if (parts.deciding.now === null) return fail('there is no plan to approve');
  if (digest !== state.planDigest) return fail('the plan has changed meanwhile: look at it again');
  approve(parts, 'person');
  parts.deciding.now({ is: 'approved' });
  return ok('plan approved');
}

/** One edit, checked by the same rules as the plan itself. */
export function editPlan(parts: RunParts, edit: PlanEdit): Result<string, string> {
  const { options, recorder } = parts;
  const state = recorder.state();
  if (parts.deciding.now === null || state.plan === null)
    return fail('the plan can be changed only before it is approved');
  const edited = applyEdit(state.plan, edit, planContextOf(options, state.choices ?? choicesOf(options)));
  if (!edited.ok) return fail(edited.fault);
  const words = editText(edit, state.plan);
  recorder.record({ type: 'plan.edited', plan: edited.value, edit: words, digest: planDigest(edited.value) });
  return ok(words);
}
