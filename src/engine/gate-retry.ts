/**
 * The tries of one model in one turn. Every try is a call of its own, with its own id, reservation and end in the log:
 * no vendor documents that it answers a repeated id without billing it again. Waiting is the line's (for all agents
 * alike) or the agent's own; when the tries are used up, what now is gate-fallback.ts's to say.
 */
import type { WorkOrder } from '../domain/agent.ts';
import { CallId, ROOT } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { ModelReply } from '../domain/turn.ts';
import type { ModelFault } from '../ports/model.ts';
import { chanceOf, isShared, MOST_TRIES, providerOf, triesAfter, waitAfter, waitText } from './gate-backoff.ts';
import { oneCall } from './gate-call.ts';
import type { BrokenCall } from './gate-call.ts';
import type { GateFault, GateParts, Question } from './gate.ts';
import type { Entry, Pass } from './gate-line.ts';
import { sleepFor, whileWaiting } from './gate-wait.ts';
import { timeLeft } from './limits.ts';

/** A model that was tried as often as is worth it. */
export interface GaveUp {
  readonly is: 'gave up';
  readonly fault: ModelFault;
  readonly tries: number;
}

/** One reply of `model`, after as many tries as its faults are worth. */
export async function tryModel(
  parts: GateParts,
  question: Question,
  model: ModelOption,
  signal: AbortSignal,
): Promise<Result<ModelReply, GateFault | GaveUp>> {
  for (let tries = 0; ; ) {
    const entry = await enter(parts, question.order, model, tries, signal);
    if (!entry.ok) return entry;
    const { pass } = entry.value;
    tries = entry.value.tries + 1;
    let again: Again | null;
    try {
      const reply = await oneCall(parts, question, model, pass, signal);
      if (reply.ok) return reply;
      if (reply.fault.is !== 'broken') return fail(reply.fault);
      const { fault } = reply.fault;
      again = anotherTry(parts, question.order, model, { ...reply.fault, tries }, pass);
      if (again === null) return fail({ is: 'gave up', fault, tries });
    } finally {
      pass.end();
    }
    if (again.shared) continue;
    const slept = await sleepFor(parts, question.order, again, signal);
    if (!slept.ok) return slept;
  }
}

interface Again {
  readonly wait: number;
  readonly reason: string;
  /** The line in front of the provider does the waiting. */
  readonly shared: boolean;
}

/** Tells everybody who should know of a broken call; what is waited for before the next, or null when there is none. */
function anotherTry(
  { recorder, world, lines }: GateParts,
  { agent }: WorkOrder,
  model: ModelOption,
  { fault, call, tries }: BrokenCall & { readonly tries: number },
  pass: Pass,
): Again | null {
  const provider = providerOf(model.id);
  const wait = waitAfter(fault, tries, chanceOf(world.name(8)));
  const shared = isShared(fault.is);
  if (shared) pass.refused(fault, wait);
  else pass.through();
  if (fault.is === 'unauthorised') lines.close(provider, fault);
  const attempts = triesAfter(fault);
  // The agent's own clock stands still while it waits, the run's doesn't: what it has no time for is not waited for.
  if (tries >= attempts || wait > timeLeft(recorder.state(), ROOT, world.now())) return null;
  const attempt = tries + 1;
  recorder.record({ type: 'model.retry', agent, call, model: model.id, cause: fault.is, wait, attempt, attempts });
  return { wait, reason: waitText(provider, { cause: fault.is, wait, attempt, attempts }), shared };
}

/** The agent's turn with the provider: at once while nothing is wrong there. */
async function enter(
  parts: GateParts,
  order: WorkOrder,
  model: ModelOption,
  tries: number,
  signal: AbortSignal,
): Promise<Result<{ readonly pass: Pass; readonly tries: number }, GateFault | GaveUp>> {
  const { recorder, world, lines } = parts;
  const provider = providerOf(model.id);
  const now = lines.pass(provider);
  if (now !== null) return ok({ pass: now, tries });
  const patience = timeLeft(recorder.state(), ROOT, world.now());
  const { value: entry, early } = await whileWaiting(parts, order, signal, (say, ended) =>
    lines.enter(provider, {
      tries,
      most: MOST_TRIES,
      patience,
      onWait: ({ fault, wait, tries: made }) => {
        const attempts = triesAfter(fault);
        say(waitText(provider, { cause: fault.is, wait, attempt: made + 1, attempts: Math.max(attempts, made + 1) }));
      },
      signal: ended,
    }),
  );
  if (early !== null) {
    if (entry.is === 'pass') entry.pass.end();
    return fail(early);
  }
  if (entry.is === 'left') throw new Error('left a line without a reason');
  return entry.is === 'pass' ? ok(entry) : fail(notSent(parts, order, model, entry));
}

/** No call was made: written down as one that failed, so that a resumed run knows what ended the agent. */
function notSent(
  parts: GateParts,
  { agent }: WorkOrder,
  model: ModelOption,
  { fault, tries }: Extract<Entry, { is: 'hopeless' }>,
): GaveUp {
  const call = CallId.parse(parts.callId(agent));
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
