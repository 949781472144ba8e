/** What `mimir doctor` finds of runs that go on: whether somebody who asks reaches them. It knocks at their sockets, and asks nothing. */
import { knownPaths } from '../../remote/socket-paths.ts';
import type { SessionId } from '../../domain/ids.ts';
import { ControlFault } from '../../ports/control.ts';
import type { SessionSummary } from '../../ports/log.ts';
import type { Finding } from './policy.ts';
import type { Io } from '../../app/process/io.ts';
import type { ProjectPlace } from '../../app/project/project-place.ts';
import { patiently, placeOf, reachRun } from '../../app/client/connect.ts';

/** One finding for each that goes on; a single one where none does. */
export async function runFindings(
  project: ProjectPlace,
  sessions: readonly SessionSummary[],
  io: Io,
): Promise<readonly Finding[]> {
  const living = sessions.filter(({ state }) => state === 'running');
  if (living.length === 0) return [{ what: 'runs', state: 'ok', words: 'none goes on' }];
  return Promise.all(living.map(({ session }) => reachedAt(project, session, io)));
}

async function reachedAt(project: ProjectPlace, session: SessionId, io: Io): Promise<Finding> {
  const note = (words: string): Finding => ({ what: 'runs', state: 'note', words });
  try {
    const reached = await patiently(io, session, reachRun(project, session));
    if (reached === null)
      return note(`${session} goes on in a process that nobody can ask: end it where it runs, then mimir resume`);
    reached.close();
    const [path = 'its socket'] = knownPaths(placeOf(project, session));
    return { what: 'runs', state: 'ok', words: `${session} goes on and answers at ${path}, to this user alone` };
  } catch (error) {
    if (error instanceof ControlFault) return note(error.message.replaceAll(/\n */g, '; '));
    throw error;
  }
}
