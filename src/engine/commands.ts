/** What a person, a verb or a parent may ask of a run: each command becomes an act of its part, with a receipt or a reason. */
import type { AgentId } from '../domain/ids.ts';
import { ROOT } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok, unreachable } from '../domain/result.ts';
import { isFinal } from '../events/queries.ts';
import type { Command, Controls, Delivery, Receipt } from '../ports/controls.ts';
import { LogFault } from '../ports/log.ts';
import { amendPlan, previewPlan } from './amend.ts';
import { setBudget } from './budget-change.ts';
import { ofFamily } from './family.ts';
import { review } from './forced-by-hand.ts';
import { handOver } from './hand-over.ts';
import { pinMode, previewMode, setMode } from './modes.ts';
import type { RunParts } from './parts.ts';
import { approveShown, editPlan } from './plan-approval.ts';
import { setModel } from './set-model.ts';
import { steer } from './steer.ts';

type Done = Result<string, string>;

export function openControls(parts: RunParts): Controls {
  return {
    session: parts.options.session,
    previewMode: (mode, agent) => previewMode(parts, mode, agent),
    previewPlan: (edits) => previewPlan(parts, edits),
    submit: async (command, by) => {
      const done = command.do === 'hand over' ? await handOver(parts, command) : performed(parts, command, by ?? null);
      return done.ok ? done : fail({ text: done.fault });
    },
    events: (afterSeq) => parts.recorder.events(afterSeq),
    ticks: (listener) => {
      parts.ticks.add(listener);
      return () => parts.ticks.delete(listener);
    },
  };
}

type Submitted = Exclude<Command, { readonly do: 'hand over' }>;
type InWords = Exclude<Submitted, { readonly do: 'spawn' | 'complete' }>;

function performed(parts: RunParts, command: Submitted, by: AgentId | null): Result<Receipt, string> {
  if (parts.recorder.state().finished !== null) return fail('the run has ended');
  try {
    if (command.do === 'spawn' || command.do === 'complete') return ofFamily(parts, command, by);
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
    case 'message':
      return command.to === 'all' ? broadcast(parts, command) : message(parts, command.to, command);
    case 'answer':
      return answer(parts, command);
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
      return ok('stopping; `mimir resume` goes on with it');
    case 'interrupt':
    case 'resume':
    case 'kill':
    case 'retry':
    case 'skip':
      return steer(parts, command);
    default:
      return unreachable(command);
  }
}

function answer({ approvals }: RunParts, { approval, allow, scope, text }: Extract<Command, { do: 'answer' }>): Done {
  return approvals.answer(approval, { allow, scope, text: text ?? '' })
    ? ok(allow ? 'answered' : 'denied')
    : fail('this question was answered or withdrawn meanwhile');
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

interface Letter {
  readonly text: string;
  readonly delivery: Delivery;
}

function message({ recorder, inbox }: RunParts, to: AgentId, { text, delivery }: Letter): Done {
  const one = recorder.state().agents.get(to);
  if (!one) return fail(`there is no agent ${to}`);
  if (isFinal(one)) return fail(`${one.name} has finished and reads no messages any more`);
  if (text.trim() === '') return fail('an empty message is not sent');
  inbox.send({ from: 'person', sender: null, to, kind: 'request', delivery, content: text });
  return ok(`sent to ${one.name}${delivery === 'sequential' ? ' (read when its work is done)' : ''}`);
}

function broadcast(parts: RunParts, letter: Letter): Done {
  const open = [...parts.recorder.state().agents.values()].filter((one) => one.id !== ROOT && !isFinal(one));
  const sent = open.filter(({ id }) => message(parts, id, letter).ok);
  return sent.length === 0
    ? fail('no agent is left to read it')
    : ok(`sent to ${sent.length === 1 ? '1 agent' : `${sent.length} agents`}`);
}
