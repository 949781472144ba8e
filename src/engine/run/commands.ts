/** What a person, a verb or a parent may ask of a run: each command becomes an act of its part, with a receipt or a reason. */
import type { AgentId } from '../../domain/ids.ts';
import { fail, ok, type Result, unreachable } from '../../domain/result.ts';
import type { Command, Controls, Receipt } from '../../ports/controls.ts';
import { LogFault, readOrNull } from '../../ports/log.ts';
import { steer } from '../agents/agent-control.ts';
import { setBudget } from '../gate/budget/budget-change.ts';
import { withdrawGrant } from '../gate/approvals.ts';
import { whyOver } from '../messaging/child-again.ts';
import { isOfFamily, ofFamily, type OfFamily, ONLY_A_PERSON, whyNotBy } from '../messaging/authorization.ts';
import { amendPlan, previewPlan } from '../planning/amend.ts';
import { approveShown, editPlan } from '../planning/approval.ts';
import { setModel } from '../planning/set-model.ts';
import { review } from '../reviews/by-hand.ts';
import { dueWords } from '../reviews/record.ts';
import { pinMode, previewMode, setMode } from './modes.ts';
import type { RunParts } from './parts.ts';

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
    events: (afterSeq, how) => parts.recorder.events(afterSeq, how),
    at: (seq) => readOrNull(() => parts.options.log.at(parts.options.session, seq)),
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
      return setBudget(
        { ...parts, rules: parts.options.rules, whyOver: (one) => whyOver(parts, one) },
        command.agent,
        command.budget,
      );
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

// Gives a run to another process: nothing new is begun, what runs comes to its end, and then the run stops as it stands.

/**
 * Resolves when the run has stopped, or with why it goes on here. Calls of models and tools count as running; whoever waits for a
 * child or a person does not: that goes on where the run does.
 */
function handOver(
  parts: RunParts,
  { how }: Extract<Command, { readonly do: 'hand over' }>,
): Promise<Result<Receipt, string>> {
  if (parts.recorder.state().finished !== null) return Promise.resolve(fail('the run has ended'));
  switch (how) {
    case 'when quiet':
      return whenQuiet(parts);
    case 'now':
      stopAndLeave(parts);
      return whenStopped(parts);
    case 'stay':
      return Promise.resolve(stay(parts));
    default:
      return unreachable(how);
  }
}

const HANDED_OVER = 'handed over';

/** Who stops the run first says why. */
function stopAndLeave(parts: RunParts): void {
  parts.handing.isOver = !parts.signal.aborted;
  parts.stop(HANDED_OVER);
}

async function whenQuiet(parts: RunParts): Promise<Result<Receipt, string>> {
  const { hold, handing } = parts;
  if (handing.now !== null) return fail(`it is being handed over, and waits for ${wordsFor(hold.running())}`);
  const stays = new AbortController();
  handing.now = () => stays.abort('stays');
  hold.close();
  const waited = wordsFor(hold.running());
  await hold.quiet();
  handing.now = null;
  if (stays.signal.aborted) return fail(`it goes on here; the hand-over had waited for ${waited}`);
  if (parts.recorder.state().finished === null) stopAndLeave(parts);
  return whenStopped(parts);
}

function stay({ hold, handing }: RunParts): Result<Receipt, string> {
  if (handing.now === null) return fail('it is not being handed over');
  handing.now();
  hold.open();
  return ok({ text: 'it goes on here' });
}

/** Somebody else may have ended it meanwhile, and it may have come to its own end. */
async function whenStopped({ recorder }: RunParts): Promise<Result<Receipt, string>> {
  const { finished, seq } = recorder.state();
  if (finished === null) for await (const event of recorder.events(seq)) if (event.type === 'session.finished') break;
  const end = recorder.state().finished;
  if (end?.status === 'stopped') return ok({ text: `${HANDED_OVER}: it goes on where it is resumed` });
  return fail(
    end === null ? "the run has ended without a word: its log can't be written" : 'the run has ended meanwhile',
  );
}

const wordsFor = (running: readonly string[]): string =>
  running.length === 0 ? 'nothing any more' : running.join('; ');
