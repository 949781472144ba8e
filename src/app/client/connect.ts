/** Connects to the process that carries a session, hands a run over to another process, and stops one resumably. */
import type { Millis, SessionId } from '../../domain/ids.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { RunState } from '../../events/index.ts';
import { ControlFault, type RemoteRun } from '../../ports/control.ts';
import type { Controls, Receipt, Refusal } from '../../ports/controls.ts';
import type { ProjectService } from '../../ports/project-service.ts';
import type { World } from '../../ports/world.ts';
import { reach, type Where, whereOf } from '../../remote/index.ts';
import { type Io, world } from '../process/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';

/** The run of the live process that carries `session`, or null without such a process. Throws `ControlFault` when it does not answer, or answers in another protocol. */
export async function reachRun(project: ProjectPlace, session: SessionId): Promise<RemoteRun | null> {
  try {
    return await reach(placeOf(project, session), session);
  } catch (error) {
    if (!(error instanceof ControlFault)) throw error;
    throw new ControlFault(
      `run ${session} cannot be reached: ${error.message}\n  \`mimir status ${session}\` shows its state from the log`,
    );
  }
}

const NOTE_AFTER_MS = 1000;

/** The value of `asking`; prints after a second that the run does not answer yet. */
export const patiently = <T>(io: Pick<Io, 'complain'>, session: SessionId, asking: Promise<T>): Promise<T> =>
  saidMeanwhile(io, `run ${session} does not answer yet: its process is busy, or stopped`, asking);

/** The value of `waiting`; prints `words` when it takes more than a second. */
export async function saidMeanwhile<T>(io: Pick<Io, 'complain'>, words: string, waiting: Promise<T>): Promise<T> {
  const done = new AbortController();
  void world.sleep(NOTE_AFTER_MS, done.signal).then(() => {
    if (!done.signal.aborted) io.complain(`mimir: ${words}`);
  });
  try {
    return await waiting;
  } finally {
    done.abort();
  }
}

/** A run that has just started listens within this time, and is polled this often. */
const LISTENS_WITHIN_MS = 5000;
const POLL_MS = 20;

/** The same as `reachRun`, but waits while the process `lives` and does not listen yet. */
export async function reachSoon(
  project: ProjectPlace,
  session: SessionId,
  lives: () => boolean,
): Promise<RemoteRun | null> {
  const until = world.elapsed() + LISTENS_WITHIN_MS;
  for (;;) {
    const reached = await reachRun(project, session);
    if (reached !== null || world.elapsed() > until || !lives()) return reached;
    await world.sleep(POLL_MS);
  }
}

/** The places where the sockets of a session may be. */
export const placeOf = ({ root, places }: ProjectPlace, session: SessionId): Where =>
  whereOf({ stateDir: places.state, runtimeDir: places.runtime, project: root, session });

/** The controls of a run of another process; a refusal when it cannot be reached. */
export const attachTo = (projectService: ProjectService, session: SessionId): ReturnType<ProjectService['resume']> =>
  projectService.attach(session).catch(asRefusal);

/** That the process of a run cannot be reached, as a refusal like others; every other error is thrown. */
export function asRefusal(error: unknown): Result<never, Refusal> {
  if (error instanceof ControlFault) return fail({ text: error.message });
  throw error;
}

/** A stopped run may take this long to record its end. */
const GRACE: Millis = 5000;

/** `kept`: the run continues here. `halted`: it has stopped here, and the background process did not start. */
type NotHandedOver = Refusal & { readonly is: 'kept' | 'halted' };

/** Hands a run of this process over to a process that `detach` starts, after the calls that are in flight have ended. */
export async function handOver(
  controls: Controls,
  detach: ProjectService['detach'],
): Promise<Result<Receipt, NotHandedOver>> {
  const done = await controls.submit({ do: 'hand over', how: 'when quiet' });
  if (!done.ok) return fail({ ...done.fault, is: 'kept' });
  const started = await detach(controls.session);
  return started.ok ? ok(started.value) : fail({ ...started.fault, is: 'halted' });
}

/** Stops a run of this process resumably; resolves when no more events come (`ended`), or after five seconds. */
export async function stopKept(controls: Controls, ended: Promise<void>, world: Pick<World, 'sleep'>): Promise<void> {
  const stopped = controls.submit({ do: 'stop run', reason: 'the person left' }).then(() => ended);
  await Promise.race([stopped, world.sleep(GRACE)]);
}

/** Does the run continue in another process when it is left here? `isLost`: that process cannot be reached any more. */
export const goesOnElsewhere = (controls: Controls | null, isLost: boolean, { finished }: RunState): boolean =>
  controls?.lost !== undefined && !isLost && finished === null;
