/** Which sessions can be gone on with: those that were stopped or cut off, and by name those that failed. */
import type { SessionId } from '../domain/ids.ts';
import { foldAll } from '../events/fold.ts';
import type { Log } from '../ports/log.ts';
import { orExit } from './log-of.ts';

/** Why `session` has nothing left to do, or null when it can go on. A failed run may, with a wider limit say. */
export function overBecause(log: Pick<Log, 'read'>, session: SessionId): string | null {
  const { finished } = foldAll(orExit(() => log.read(session)));
  if (finished?.status === 'completed') return `session ${session} has completed`;
  return finished?.status === 'rejected' ? `the plan of session ${session} was rejected` : null;
}
