/**
 * The tries of one model in one turn. Every try is a call of its own, with its own id, reservation and end in the log:
 * no vendor documents that it answers a repeated id without billing it again. Waiting is the line's (for all agents
 * alike) or the agent's own; when the tries are used up, fallback.ts decides.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { type Millis, providerOf, ROOT } from '../../../domain/ids.ts';
import { RETRY_FOR } from '../../../domain/models/provider.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import type { ModelFault } from '../../../ports/model.ts';
import type { Cause, Course, WaitReason } from './backoff.ts';
import { chanceOf, isShared, LEAVE_AFTER, mostTries, timeForMore, waitAfter, waitReason } from './backoff.ts';
import { type BrokenCall, type CallParts, newCall, oneCall } from './call.ts';
import type { GateFault } from './call-scope.ts';
import type { Question } from '../question.ts';
import type { Entry, Lines, Pass } from './provider-queue.ts';
import { sleepFor, whileWaiting } from './provider-wait.ts';
import { timeLeft } from '../budget/limits.ts';

export type TryParts = CallParts & { readonly lines: Lines };

/** A model that was tried as often as is worth it. */
export interface GaveUp {
  readonly is: 'gave up';
  readonly fault: ModelFault;
  readonly tries: number;
}

/** What is asked of which model, and whether another may take its place for a fault. */
export interface Trial {
  readonly question: Question;
  readonly model: ModelOption;
  readonly mayLeave: (cause: Cause) => boolean;
}

/** One reply of `model`, after as many tries as its faults are worth. */
export async function tryModel(
  parts: TryParts,
  trial: Trial,
  signal: AbortSignal,
): Promise<Result<ModelReply, GateFault | GaveUp>> {
  const { question, model } = trial;
  const so: SoFar = { tries: 0, lost: 0, since: null };
  for (;;) {
    const entry = await enter(parts, trial, so, signal);
    if (!entry.ok) return entry;
    const pass = entry.value;
    so.tries += 1;
    let again: Again | null;
    try {
      const reply = await oneCall(parts, question, model, pass, signal);
      if (reply.ok) return reply;
      if (reply.fault.is !== 'broken') return fail(reply.fault);
      again = anotherTry(parts, trial, so, reply.fault, pass);
      if (again === null) return fail({ is: 'gave up', fault: reply.fault.fault, tries: so.tries });
    } finally {
      pass.end();
    }
    if (again.shared) continue;
    const slept = await sleepFor(parts, question.order, again, signal);
    if (!slept.ok) return slept;
  }
}

/** How the tries of one call went until now. */
interface SoFar {
  tries: number;
  lost: number;
  /** When it first failed or had to wait, by the clock that never goes back; null before. */
  since: Millis | null;
}

function courseOf({ world, models }: TryParts, { question, model, mayLeave }: Trial, so: SoFar, now: Now): Course {
  const retryFor = models.termsOf?.(model.id)?.retryFor ?? RETRY_FOR;
  return {
    tries: so.tries,
    lost: so.lost,
    failing: so.since === null ? 0 : world.elapsed() - so.since,
    trouble: now.trouble,
    // A draft has a stand-in: fixed rules write it where no model does.
    retryFor: question.purpose?.is === 'draft' ? Math.min(retryFor, LEAVE_AFTER) : retryFor,
    mayLeave: mayLeave(now.fault.is),
  };
}

interface Now {
  readonly fault: ModelFault;
  readonly trouble: Millis;
}

interface Again {
  readonly wait: Millis;
  readonly why: WaitReason;
  /** The line in front of the provider does the waiting. */
  readonly shared: boolean;
}

/** Tells everybody who should know of a broken call; what is waited for before the next, or null when there is none. */
function anotherTry(parts: TryParts, trial: Trial, so: SoFar, { fault, call }: BrokenCall, pass: Pass): Again | null {
  const { recorder, world, lines } = parts;
  const { question, model } = trial;
  const { agent } = question.order;
  const provider = providerOf(model.id);
  const shared = isShared(fault.is);
  if (!shared) so.lost += 1;
  so.since ??= world.elapsed();
  const course = courseOf(parts, trial, so, { fault, trouble: lines.trouble(provider) });
  const left = timeForMore(fault, course);
  const usual = waitAfter(fault, so.tries, chanceOf(world.name(8)));
  // The last try is made when the time is over.
  const wait = left > 0 ? Math.min(usual, Math.ceil(left)) : usual;
  if (shared) pass.refused(fault, wait);
  else pass.through();
  if (fault.is === 'unauthorised') lines.close(provider, fault);
  // The agent's own clock stands still while it waits, the run's doesn't: what it has no time for is not waited for.
  if (left <= 0 || wait > timeLeft(recorder.state(), ROOT, world.now())) return null;
  const attempt = so.tries + 1;
  const attempts = mostTries(fault, course);
  const most = attempts === null ? {} : { attempts: Math.max(attempts, attempt) };
  recorder.record({ type: 'model.retry', agent, call, model: model.id, cause: fault.is, wait, attempt, ...most });
  return { wait, why: waitReason(provider, { cause: fault.is, wait, attempt, attempts }), shared };
}

/** A line may open a moment after the time of who waits there is over: it lets them make their last try. */
const MOMENT: Millis = 1000;

/** The agent's turn with the provider: at once while nothing is wrong there. Counts into `so` what others tried meanwhile. */
async function enter(
  parts: TryParts,
  trial: Trial,
  so: SoFar,
  signal: AbortSignal,
): Promise<Result<Pass, GateFault | GaveUp>> {
  const { recorder, world, lines } = parts;
  const { question, model } = trial;
  const { order } = question;
  const provider = providerOf(model.id);
  const now = lines.pass(provider);
  if (now !== null) return ok(now);
  so.since ??= world.elapsed();
  const patience = timeLeft(recorder.state(), ROOT, world.now());
  const { value: entry, early } = await whileWaiting(parts, order, signal, (say, ended) =>
    lines.enter(provider, {
      tries: so.tries,
      stays: ({ fault, wait, tries, trouble }) => {
        const left = timeForMore(fault, courseOf(parts, trial, { ...so, tries }, { fault, trouble }));
        return left > 0 && wait <= Math.min(left + MOMENT, patience);
      },
      onWait: ({ fault, wait, tries, trouble }) => {
        const attempts = mostTries(fault, courseOf(parts, trial, { ...so, tries }, { fault, trouble }));
        say(waitReason(provider, { cause: fault.is, wait, attempt: tries + 1, attempts }));
      },
      signal: ended,
    }),
  );
  if (early !== null) {
    if (entry.is === 'pass') entry.pass.end();
    return fail(early);
  }
  if (entry.is === 'left') throw new Error('left a line without a reason');
  so.tries = entry.tries;
  return entry.is === 'pass' ? ok(entry.pass) : fail(notSent(parts, order, model, entry));
}

/** No call was made: written down as one that failed, so that a resumed run knows what ended the agent. */
function notSent(
  parts: TryParts,
  { agent }: WorkOrder,
  model: ModelOption,
  { fault, tries }: Extract<Entry, { is: 'hopeless' }>,
): GaveUp {
  const call = newCall(parts.world);
  parts.recorder.record({
    type: 'model.failed',
    agent,
    call,
    model: model.id,
    cause: fault.is,
    message: `not sent: ${fault.message}`,
  });
  return { is: 'gave up', fault, tries };
}
