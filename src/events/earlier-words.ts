/**
 * Reasons that earlier versions recorded only as sentences, as the fields that events have for them now. The log is read through this,
 * so that nothing else has to know those sentences. Events that have the fields are returned as they are.
 */
import type { EventBody, WaitingFor } from './event.ts';

/** The event with the reasons that its sentences tell; the same object when it needs none, or when they tell nothing. */
export function withReasons<T extends EventBody>(event: T): T;
export function withReasons(event: EventBody): EventBody {
  if (event.type !== 'agent.status' || event.status !== 'waiting' || event.waitingFor !== undefined) return event;
  const waitingFor = waitIn(event.reason);
  return waitingFor === null ? event : { ...event, waitingFor };
}

/** Without a sentence it may be a person, a child or a slot: nobody can tell. */
function waitIn(reason: string): WaitingFor | null {
  if (reason === '') return null;
  if (reason === 'idle') return { is: 'message' };
  if (reason === 'waits for its children') return { is: 'children' };
  if (reason === 'its work is judged' || reason === 'its commit is judged') return { is: 'review' };
  if (reason.startsWith('waits for the answer about ')) return { is: 'limit' };
  return providerWait(reason);
}

/** `anthropic is rate limited; next try in 12 s (2 of 5)`: why, when, and which try. All other waits were for providers. */
function providerWait(reason: string): WaitingFor {
  const [, why = reason, when = ''] = /^(.*?)(;[^;]*\bnext try\b.*)?$/is.exec(reason) ?? [];
  const [, seconds] = /\bin (\d+(?:\.\d+)?) ?s\b/.exec(when) ?? [];
  const [, attempt, attempts] = / \((?:try )?(\d+)(?: of (\d+))?\)$/.exec(when) ?? [];
  return {
    is: 'provider',
    why: why.trim(),
    wait: seconds === undefined ? null : Number(seconds) * 1000,
    ...(attempt === undefined ? {} : { attempt: Number(attempt) }),
    ...(attempts === undefined ? {} : { attempts: Number(attempts) }),
  };
}
