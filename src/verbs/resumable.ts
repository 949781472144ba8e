/** Which sessions can be gone on with: those that were stopped or cut off, by name those that failed, and any that has mail. */
import type { SessionId } from '../domain/ids.ts';
import type { MimirEvent } from '../events/event.ts';
import { foldAll } from '../events/fold.ts';
import type { Log, SessionSummary } from '../ports/log.ts';
import { openMailbox } from '../store/mailbox.ts';
import { orExit } from './log-of.ts';
import type { ProjectPlace } from './project-trust.ts';

/** The newest of `all` that was stopped; a draft that was cut off is none to go on with. */
export const newestStoppedOf = (all: readonly SessionSummary[]): SessionSummary | undefined =>
  all.find(({ state, draft }) => state === 'stopped' && draft !== true);

/** The newest of `all` that can be resumed without a message: it was stopped, or it failed and its failed tasks can run again. */
export const newestToResumeOf = (all: readonly SessionSummary[]): SessionSummary | undefined =>
  all.find(
    ({ state, draft, ended }) =>
      draft !== true && (state === 'stopped' || (state === 'finished' && ended?.status === 'failed')),
  );

/** Why `session` has nothing left to do, or null when it can go on. A failed run may, with a wider limit say; one that is told something in any case. */
export function overBecause(
  { log, project }: { readonly log: Pick<Log, 'read'>; readonly project: ProjectPlace },
  session: SessionId,
  isFollowUp = false,
): string | null {
  const events = orExit(() => log.read(session));
  if (isDraft(events)) return `session ${session} only drafted an agent: there is nothing to go on with`;
  const { finished } = foldAll(events);
  if (finished?.status === 'rejected') return `the plan of session ${session} was rejected`;
  if (finished?.status !== 'completed' || isFollowUp) return null;
  // Those who were written to since go on with that.
  return hasMail(project, session) ? null : `session ${session} has completed`;
}

const isDraft = ([first]: readonly MimirEvent[]): boolean => first?.type === 'session.started' && first.draft === true;

const hasMail = ({ root, places }: ProjectPlace, session: SessionId): boolean =>
  orExit(() => openMailbox({ stateDir: places.state, project: root }).waiting(session)).length > 0;
