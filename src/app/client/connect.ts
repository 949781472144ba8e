/** From the name of a session to the process that carries it: a fresh name, the place of its socket, the run behind it. Opens nothing else. */
import type { Where } from '../../remote/socket-paths.ts';
import { whereOf } from '../../remote/socket-paths.ts';
import { reach } from '../../remote/client/connect.ts';
import { isSessionId } from '../../domain/text/id-shapes.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Reached } from '../../ports/control.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Io } from '../process/io.ts';
import type { ProjectPlace } from '../project/project-place.ts';
import { world } from '../process/world.ts';

/** A fresh name for a session: short enough to type. */
export function newSession(): SessionId {
  const name = world.name(6);
  if (isSessionId(name)) return name;
  throw new Error(`${name} is no name for a session`);
}

/** The living process that carries `session`, or null. Throws `ControlFault` when it does not answer, or answers as none of ours. */
export async function reachRun(project: ProjectPlace, session: SessionId): Promise<Reached | null> {
  try {
    return await reach(placeOf(project, session), session);
  } catch (error) {
    if (!(error instanceof ControlFault)) throw error;
    throw new ControlFault(
      `run ${session} can't be asked now: ${error.message}\n  \`mimir status ${session}\` says by its log where it stands`,
    );
  }
}

/** Nobody is left to wonder for longer than this. */
const SAID_AFTER_MS = 1000;

/** What `asking` resolves with; says meanwhile that the run takes its time. */
export const patiently = <T>(io: Pick<Io, 'complain'>, session: SessionId, asking: Promise<T>): Promise<T> =>
  saidMeanwhile(io, `run ${session} does not answer yet: its process is busy, or stopped`, asking);

/** What `waiting` resolves with; `words` are said where that takes more than a second. */
export async function saidMeanwhile<T>(io: Pick<Io, 'complain'>, words: string, waiting: Promise<T>): Promise<T> {
  const done = new AbortController();
  void world.sleep(SAID_AFTER_MS, done.signal).then(() => {
    if (!done.signal.aborted) io.complain(`mimir: ${words}`);
  });
  try {
    return await waiting;
  } finally {
    done.abort();
  }
}

/** How long a run that has just begun may take until it listens, and how often that is looked at. */
const BEGINS_WITHIN_MS = 5000;
const LOOK_MS = 20;

/** The same for a run that `lives`: it may be about to listen. */
export async function reachSoon(
  project: ProjectPlace,
  session: SessionId,
  lives: () => boolean,
): Promise<Reached | null> {
  const until = world.elapsed() + BEGINS_WITHIN_MS;
  for (;;) {
    const reached = await reachRun(project, session);
    if (reached !== null || world.elapsed() > until || !lives()) return reached;
    await world.sleep(LOOK_MS);
  }
}

/** Where its sockets may be. */
export const placeOf = ({ root, places }: ProjectPlace, session: SessionId): Where =>
  whereOf({ stateDir: places.state, runtimeDir: places.runtime, project: root, session });
