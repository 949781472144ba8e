/**
 * The run that a person's spawn starts where none lives: one, however many spawn at once. Who is first holds a claim in
 * the project's log meanwhile, which no death of that process outlives; the others wait and find the run.
 */
import { SessionId } from '../../domain/ids.ts';
import type { Log } from '../../ports/log.ts';
import type { LogReader } from '../../store/log.ts';
import { openLog } from '../../store/log.ts';
import type { Arguments } from '../process/flags/flags.ts';
import type { Io } from '../process/io.ts';
import { openReader, orExit } from '../client/log-of.ts';
import type { ProjectPlace } from '../project/project-place.ts';
import { projectOf } from '../project/project-place.ts';
import { saidMeanwhile } from '../client/connect.ts';
import { world } from '../process/world.ts';

/** Claimed like a session; none is ever called so. */
const STARTING = SessionId.parse('first-run');
const LOOK_MS = 20;

/**
 * Starts a run without a plan that waits for children, unless one lives by now, or when it is our turn; true: it did. `check` throws
 * where it would be begun for nothing.
 */
export async function startFirstRun(args: Arguments, io: Io, check: (root: string) => void): Promise<boolean> {
  const project = projectOf(args, io);
  if (livesIn(project)) return false;
  check(project.root);
  const log = orExit(() => openLog({ stateDir: project.places.state, project: project.root }));
  try {
    await saidMeanwhile(io, 'another process begins a run in this project: waiting for it', ourTurn(log));
    try {
      if (lives(log)) return false;
      await start(project, io);
      return true;
    } finally {
      log.release(STARTING);
    }
  } finally {
    log.close();
  }
}

async function ourTurn(log: Pick<Log, 'claim'>): Promise<void> {
  while (!orExit(() => log.claim(STARTING)).ok) await world.sleep(LOOK_MS);
}

/** A look that waits for nobody. */
function livesIn(project: ProjectPlace): boolean {
  const reader = openReader(project);
  try {
    return lives(reader);
  } finally {
    reader.close();
  }
}

const lives = (log: Pick<LogReader, 'sessions'>): boolean =>
  orExit(() => log.sessions()).some(({ state }) => state === 'running');

/** What the spawn needs next is loaded while that process begins. */
async function start(project: ProjectPlace, io: Io): Promise<void> {
  const { startSaid } = await import('./hosting.ts');
  await Promise.all([startSaid(['run', '--idle'], project, io), import('../client/person-client.ts')]);
}
