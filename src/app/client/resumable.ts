/** Which sessions can be gone on with: those that were stopped or cut off, by name those that failed, and any that has mail. */
import type { SessionId } from '../../domain/ids.ts';
import type { SessionSummary } from '../../ports/log.ts';
import type { Damage } from '../../store/damage.ts';
import { acceptDamage, damageOf } from '../../store/damage.ts';
import { openMailbox } from '../../store/message-store.ts';
import type { Place } from '../../store/log-path.ts';
import { EXIT, Exit } from '../process/exit.ts';
import { orExit } from './log-of.ts';
import type { ProjectPlace } from '../project/project-trust.ts';

/** The newest of `all` that was stopped; a draft that was cut off is none to go on with. */
export const newestStoppedOf = (all: readonly SessionSummary[]): SessionSummary | undefined =>
  all.find(({ state, draft }) => state === 'stopped' && draft !== true);

/** The newest of `all` that can be resumed without a message: it was stopped, or it failed and its failed tasks can run again. */
export const newestToResumeOf = (all: readonly SessionSummary[]): SessionSummary | undefined =>
  all.find(
    ({ state, draft, ended }) =>
      draft !== true && (state === 'stopped' || (state === 'finished' && ended?.status === 'failed')),
  );

/**
 * Why a session can't go on, or null. A failed run may, with a wider limit say; one that is told something in any case. Throws an
 * `Exit` where its log is damaged: a run that goes on with an older copy would do again what it had done.
 */
export function overBecause(
  project: ProjectPlace,
  { session, draft, ended }: SessionSummary,
  isFollowUp = false,
): string | null {
  const damage = orExit(() => damageOf(placeOf(project), session));
  if (damage !== null) throw new Exit(EXIT.wrongUse, damageWords(session, damage));
  if (draft === true) return `session ${session} only drafted an agent: there is nothing to go on with`;
  if (ended?.status === 'rejected') return `the plan of session ${session} was rejected`;
  if (ended?.status !== 'completed' || isFollowUp) return null;
  // Those who were written to since go on with that.
  return hasMail(project, session) ? null : `session ${session} has completed`;
}

/** What a person accepts who goes on all the same; null where there is no damage. */
export function acceptedDamage(project: ProjectPlace, session: SessionId, now: string): string | null {
  const place = placeOf(project);
  const damage = orExit(() => damageOf(place, session));
  if (damage === null) return null;
  orExit(() => {
    acceptDamage(place, session, now);
  });
  return `the log of session ${session} is damaged (record ${damage.seq} ${damage.problem}): the run goes on from record ${damage.last}, as you asked`;
}

const damageWords = (session: SessionId, { seq, problem, last, file }: Damage): string =>
  [
    `the log of session ${session} is damaged: record ${seq} ${problem}`,
    `what the run did after record ${last} is not in it, and could be done a second time`,
    `if you have a newer copy of ${file}, put it back; \`mimir audit verify\` lists all damage`,
    `\`mimir resume ${session} --accept-damaged-log\` goes on from record ${last} all the same`,
  ].join('\n  ');

const placeOf = ({ root, places }: ProjectPlace): Place => ({ stateDir: places.state, project: root });

const hasMail = (project: ProjectPlace, session: SessionId): boolean =>
  orExit(() => openMailbox(placeOf(project)).waiting(session)).length > 0;
