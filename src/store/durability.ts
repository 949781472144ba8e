/**
 * Which events a power cut must not take back: what a person decided or was told, and both ends of what can't be
 * repeated. The rest is done again when it is lost, so nobody waits for the disk because of it. Decides only; the disk
 * is database.ts's and trail.ts's.
 */
import type { SessionId } from '../domain/ids.ts';
import type { EventBody, EventType } from '../events/event.ts';

/** True for what has to be on the disk before anybody goes on; `by call` depends on the tool, `by outcome` on how the agent ended. */
const LASTS: Readonly<Record<EventType, boolean | 'by call' | 'by outcome'>> = {
  'session.started': true,
  'session.resumed': true,
  'session.mode': true,
  'plan.amended': true,
  'agent.model': true,
  'agent.pinned': true,
  'budget.changed': true,
  'forced.began': true,
  'forced.verdict': true,
  'forced.gate': true,
  'session.finished': true,
  'plan.proposed': false,
  'plan.edited': true,
  'plan.approved': true,
  'plan.rejected': true,
  // One that somebody was told of by its id.
  'agent.created': 'by call',
  'agent.signalled': true,
  'agent.adopted': false,
  'agent.changed': false,
  'agent.status': false,
  'agent.told': false,
  'agent.environment': false,
  'agent.todos': false,
  'agent.message': false,
  'agent.finished': 'by outcome',
  'model.started': false,
  'model.finished': false,
  'model.failed': false,
  'model.retry': false,
  'model.fallback': false,
  'context.compacted': false,
  'tool.noted': false,
  'clock.moved': false,
  'tool.started': 'by call',
  'tool.finished': 'by call',
  'approval.requested': true,
  'approval.answered': true,
  'policy.decided': true,
  'grant.withdrawn': true,
  'act.unanswered': true,
  'act.done': false,
  'budget.warned': false,
  'budget.exhausted': true,
  'message.sent': true,
};

/**
 * Tells whether `bodies`, which are about to be appended, must be on the disk when they are. Remembers the calls that
 * may be repeated until they end: an end whose start it has not seen lasts, and so does a type that it doesn't know.
 */
export function lastingIn(): (session: SessionId, bodies: readonly EventBody[]) => boolean {
  const repeatable = new Set<string>();
  const lasts = (session: SessionId, body: EventBody): boolean => {
    // An answer that was given is known without this word about it; a kill was somebody's decision.
    if (body.type === 'agent.finished') return body.outcome !== 'completed';
    if (body.type === 'agent.created') return body.spawned !== undefined;
    if (body.type !== 'tool.started' && body.type !== 'tool.finished') return LASTS[body.type] !== false;
    const call = JSON.stringify([session, body.agent, body.call]);
    if (body.type === 'tool.finished') return !repeatable.delete(call);
    if (body.repeat === 'safe') repeatable.add(call);
    return body.repeat !== 'safe';
  };
  // Every body is looked at, even behind one that lasts: calls begin and end in any of them.
  return (session, bodies) => bodies.map((body) => lasts(session, body)).includes(true);
}
