/** The tries of one model in one turn. Every try is a call with its own id, reservation and end in the log, because no vendor promises not
 * to bill a repeated id again. Waiting happens in the provider's queue or for this agent alone; when the tries are used up, ask.ts decides. */
import { type Millis, providerOf, ROOT } from '../../../domain/ids.ts';
import { RETRY_FOR } from '../../../domain/models/provider.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import type { ModelFault } from '../../../ports/model.ts';
import { timeLeft } from '../budget/limits.ts';
import * as scope from './call-scope.ts';
import { type Asking, type BrokenCall, newCall, oneCall } from './call.ts';
import type { Entry, Ticket, QueueStatus } from '../provider-queue.ts';

/** A model whose tries are used up. */
export interface GaveUp {
  readonly is: 'gave up';
  readonly fault: ModelFault;
  readonly tries: number;
}

interface Trial extends Asking {
  /** Whether another model may replace it for a fault. */
  readonly hasFallback: (cause: scope.Cause) => boolean;
}

/** One reply of `model`, after as many tries as its faults allow. */
export async function tryModel(trial: Trial): Promise<Result<ModelReply, scope.GateFault | GaveUp>> {
  const { parts, question, signal } = trial;
  const progress: Progress = { tries: 0, lost: 0, since: null };
  for (;;) {
    const entry = await enter(trial, progress);
    if (!entry.ok) return entry;
    const ticket = entry.value;
    progress.tries += 1;
    let next: Retry | null;
    try {
      const reply = await oneCall(trial, ticket);
      if (reply.ok) return reply;
      if (reply.fault.is !== 'broken') return fail(reply.fault);
      next = planRetry(trial, progress, reply.fault, ticket);
      if (next === null) return fail({ is: 'gave up', fault: reply.fault.fault, tries: progress.tries });
    } finally {
      ticket.end();
    }
    if (next.shared) continue;
    const waited = await scope.sleepFor(parts, question.order, next, signal);
    if (!waited.ok) return waited;
  }
}

interface Progress {
  tries: number;
  lost: number;
  /** When the call first failed or had to wait (monotonic clock); null before. */
  since: Millis | null;
}

function courseOf({ parts, question, model, hasFallback }: Trial, progress: Progress, now: Now): scope.Course {
  const retryFor = parts.models.termsOf?.(model.id)?.retryFor ?? RETRY_FOR;
  return {
    tries: progress.tries,
    lost: progress.lost,
    failing: progress.since === null ? 0 : parts.world.elapsed() - progress.since,
    downFor: now.downFor,
    // A draft is optional for the person, who would otherwise wait.
    retryFor: question.purpose?.is === 'draft' ? Math.min(retryFor, scope.LEAVE_AFTER) : retryFor,
    hasFallback: hasFallback(now.fault.is),
  };
}

type Now = Pick<QueueStatus, 'fault' | 'downFor'>;

interface Retry {
  readonly wait: Millis;
  readonly why: scope.WaitReason;
  /** The provider's queue does the waiting. */
  readonly shared: boolean;
}

/** Records a failed call and informs the provider's queue. The wait before the next try, or null when there is none. */
function planRetry(trial: Trial, progress: Progress, { fault, call }: BrokenCall, ticket: Ticket): Retry | null {
  const { parts, question, model } = trial;
  const { recorder, world } = parts;
  const { agent } = question.order;
  const provider = providerOf(model.id);
  const queue = parts.providers.of(provider);
  const shared = scope.isShared(fault.is);
  if (!shared) progress.lost += 1;
  progress.since ??= world.elapsed();
  const course = courseOf(trial, progress, { fault, downFor: queue.downFor() });
  const remaining = scope.timeForMore(fault, course);
  const usual = scope.waitAfter(fault, progress.tries, scope.chanceOf(world.name(8)));
  // The last try is made when the time is over.
  const wait = remaining > 0 ? Math.min(usual, Math.ceil(remaining)) : usual;
  if (shared) ticket.refused(fault, wait);
  else ticket.accepted();
  if (fault.is === 'unauthorised') queue.close(fault);
  // The agent's clock is paused while it waits, but the run's is not: a wait longer than the run's remaining time is pointless.
  if (remaining <= 0 || wait > timeLeft(recorder.state(), ROOT, world.now())) return null;
  const attempt = progress.tries + 1;
  const attempts = scope.mostTries(fault, course);
  const most = attempts === null ? {} : { attempts: Math.max(attempts, attempt) };
  const said = fault.is === 'unreachable' ? { message: fault.message } : {};
  recorder.record({
    type: 'model.retry',
    agent,
    call,
    model: model.id,
    cause: fault.is,
    ...said,
    wait,
    attempt,
    ...most,
  });
  return { wait, why: scope.waitReason(provider, { cause: fault.is, wait, attempt, attempts }), shared };
}

/** Slack for waiting calls: a queue may open just after their time is over, and they still make their last try. */
const QUEUE_SLACK: Millis = 1000;

/** Waits for a ticket of the provider; returns at once while the provider works. Adds tries that other calls made meanwhile to `progress`. */
async function enter(trial: Trial, progress: Progress): Promise<Result<Ticket, scope.GateFault | GaveUp>> {
  const { parts, question, model, signal } = trial;
  const { recorder, world } = parts;
  const provider = providerOf(model.id);
  const queue = parts.providers.of(provider);
  const now = queue.ticket();
  if (now !== null) return ok(now);
  progress.since ??= world.elapsed();
  const runTimeLeft = timeLeft(recorder.state(), ROOT, world.now());
  const { value: entry, early } = await scope.whileWaiting(parts, question.order, signal, (onWait, ended) =>
    queue.enter({
      tries: progress.tries,
      mayWait: ({ fault, wait, tries, downFor }) => {
        const remaining = scope.timeForMore(fault, courseOf(trial, { ...progress, tries }, { fault, downFor }));
        return remaining > 0 && wait <= Math.min(remaining + QUEUE_SLACK, runTimeLeft);
      },
      onWait: ({ fault, wait, tries, downFor }) => {
        const attempts = scope.mostTries(fault, courseOf(trial, { ...progress, tries }, { fault, downFor }));
        onWait(scope.waitReason(provider, { cause: fault.is, wait, attempt: tries + 1, attempts }));
      },
      signal: ended,
    }),
  );
  if (early !== null) {
    if (entry.is === 'ticket') entry.ticket.end();
    return fail(early);
  }
  if (entry.is === 'left') throw new Error('a call left the provider queue without a reason');
  progress.tries = entry.tries;
  return entry.is === 'ticket' ? ok(entry.ticket) : fail(notSent(trial, entry));
}

/** Records a failed call although none was made, so that a resumed run knows what ended the agent. */
function notSent({ parts, question, model }: Trial, { fault, tries }: Extract<Entry, { is: 'hopeless' }>): GaveUp {
  const what = { agent: question.order.agent, call: newCall(parts.world), model: model.id, cause: fault.is };
  parts.recorder.record({ type: 'model.failed', ...what, message: `request not sent: ${fault.message}` });
  return { is: 'gave up', fault, tries };
}
