/** From the name of a session to the process that carries it: a fresh name, the place of its socket, the run behind it. Opens nothing else. */
import type { Where } from '../control/places.ts';
import { whereOf } from '../control/places.ts';
import { reach } from '../control/reach.ts';
import { isSessionId } from '../domain/id-shapes.ts';
import type { SessionId } from '../domain/ids.ts';
import type { Reached } from '../ports/control.ts';
import type { ProjectPlace } from './project-place.ts';
import { world } from './world.ts';

/** A fresh name for a session: short enough to type. */
export function newSession(): SessionId {
  const name = world.name(6);
  if (isSessionId(name)) return name;
  throw new Error(`${name} is no name for a session`);
}

/** The living process that carries `session`, or null. Throws `ControlFault` when it answers as none of ours. */
export const reachRun = (project: ProjectPlace, session: SessionId): Promise<Reached | null> =>
  reach(placeOf(project, session), session);

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
