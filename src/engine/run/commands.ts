/** What a person, a verb or a parent may ask of a run: each command becomes an act of its part, with a receipt or a reason. */
import type { AgentId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok, unreachable } from '../../domain/result.ts';
import type { Command, Controls, Receipt } from '../../ports/controls.ts';
import { LogFault } from '../../ports/log.ts';
import { amendPlan, previewPlan } from '../planning/amend.ts';
import { setBudget } from '../gate/budget/budget-change.ts';
import type { OfFamily } from '../messaging/authorization.ts';
import { isOfFamily, ofFamily, ONLY_A_PERSON, whyNotBy } from '../messaging/authorization.ts';
import { review } from '../reviews/by-hand.ts';
import { dueWords } from '../reviews/record.ts';
import { withdrawGrant } from '../gate/tools/grants.ts';
import { handOver } from './hand-over.ts';
import { pinMode, previewMode, setMode } from './modes.ts';
import type { RunParts } from './parts.ts';
import { approveShown, editPlan } from '../planning/approval.ts';
import { setModel } from '../planning/set-model.ts';
import { steer } from '../agents/agent-control.ts';

type Done = Result<string, string>;

export function openControls(parts: RunParts): Controls {
  return {
    session: parts.options.session,
    previewMode: (mode, agent) => previewMode(parts, mode, agent),
    previewPlan: (edits) => previewPlan(parts, edits),
    submit: async (command, by) => {
      const done = await carriedOut(parts, command, by ?? null);
      return done.ok ? done : fail({ text: done.fault });
    },
    events: (afterSeq) => parts.recorder.events(afterSeq),
    ticks: (listener) => {
      parts.ticks.add(listener);
      return () => parts.ticks.delete(listener);
    },
  };
}

/** An agent gives the run to nobody. */
const carriedOut = (parts: RunParts, command: Command, by: AgentId | null): Promise<Result<Receipt, string>> =>
  command.do === 'hand over' && by === null
    ? handOver(parts, command)
    : command.do === 'hand over'
      ? Promise.resolve(fail(ONLY_A_PERSON))
      : performed(parts, command, by);

type Submitted = Exclude<Command, { readonly do: 'hand over' }>;
type InWords = Exclude<Submitted, OfFamily>;

async function performed(parts: RunParts, command: Submitted, by: AgentId | null): Promise<Result<Receipt, string>> {
  if (parts.recorder.state().finished !== null) return fail('the run has ended');
  try {
    const refusal = by === null ? null : whyNotBy(parts, command, by);
    if (refusal !== null) return fail(refusal);
    if (isOfFamily(command)) return await ofFamily(parts, command, by);
    const done = perform(parts, command);
    return done.ok ? ok({ text: done.value }) : done;
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return fail(`not done, the log can't be written: ${error.message}`);
  }
}

function perform(parts: RunParts, command: InWords): Done {
  switch (command.do) {
    case 'edit plan':
      return editPlan(parts, command.edit);
    case 'approve plan':
      return approveShown(parts, command.digest);
    case 'reject plan':
      return decide(parts, { is: 'rejected' }, 'plan rejected');
    case 'plan again':
      return decide(parts, { is: 'again', hint: command.hint }, 'making another plan');
    case 'answer':
      return answer(parts, command);
    case 'withdraw grant':
      return withdrawGrant(parts.recorder, command.grant);
    case 'set mode':
      return setMode(parts, command.mode);
    case 'pin mode':
      return pinMode(parts, command.agent, command.mode);
    case 'set budget':
      return setBudget(parts, command.agent, command.budget);
    case 'review':
      return review(parts, command.role);
    case 'amend plan':
      return amendPlan(parts, command);
    case 'set model':
      return setModel(parts, command.agent, command.model);
    case 'stop run':
      parts.stop(command.reason);
      return ok(`stopping; \`mimir resume\` goes on with it${dueWords(parts.recorder.state())}`);
    case 'interrupt':
    case 'resume':
    case 'retry':
    case 'skip':
      return steer(parts, command);
    default:
      return unreachable(command);
  }
}

function answer({ approvals }: RunParts, { approval, allow, scope, text }: Extract<Command, { do: 'answer' }>): Done {
  return approvals.answer(approval, { allow, scope, text: text ?? '' });
}

function decide(
  { deciding }: RunParts,
  decision: Parameters<NonNullable<RunParts['deciding']['now']>>[0],
  text: string,
): Done {
  if (deciding.now === null) return fail('there is no plan waiting for you');
  deciding.now(decision);
  return ok(text);
}
