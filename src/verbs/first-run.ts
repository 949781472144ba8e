/**
 * The run that a person's spawn starts where none lives (CONTRACT D33): one, however many spawn at once. Who is first holds a claim in
 * the project's log meanwhile, which no death of that process outlives; the others wait and find the run.
 */
import { SessionId } from '../domain/ids.ts';
import { openLog } from '../store/log.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import { orExit } from './log-of.ts';
import type { ProjectPlace } from './project.ts';
import { projectOf } from './project.ts';
import { world } from './world.ts';

/** Claimed like a session; none is ever called so. */
const STARTING = SessionId.parse('first-run');
const LOOK_MS = 20;

/** Starts a run without a plan that waits for children, unless one lives when it is our turn. */
export async function startFirstRun(args: Arguments, io: Io): Promise<void> {
  const project = projectOf(args, io);
  const log = orExit(() => openLog({ stateDir: project.places.state, project: project.root }));
  try {
    while (!orExit(() => log.claim(STARTING)).ok) await world.sleep(LOOK_MS);
    if (!orExit(() => log.sessions()).some(({ state }) => state === 'running')) await start(project, io);
  } finally {
    log.release(STARTING);
    log.close();
  }
}

async function start(project: ProjectPlace, io: Io): Promise<void> {
  const { startHosted } = await import('./hosting.ts');
  await startHosted(['run', '--idle'], project, io);
}
