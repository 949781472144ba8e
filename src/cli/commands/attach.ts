/** `mimir attach`: shows a run in another process, on the screen or in line mode. Leaving it does not end the run. */
import * as cli from '../../app/process/index.ts';
import { ROOT, type SessionId } from '../../domain/ids.ts';
import { ControlFault, type RemoteRun } from '../../ports/control.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { newestStopped, whyNotResume, projectOf, sessionOf, sharedSession } from '../../app/workspace/index.ts';
import { patiently, reachRun, withSessionClient } from '../../app/client/index.ts';
import { targetOf } from '../sessions/target.ts';
import { command, openSession } from '../verb.ts';
import { type OpenProject, openProject } from '../../app/project/index.ts';

export const attachVerb = command('attach', async (args, io) => {
  const opened = await openProject(args, io, projectOf(args, io));
  if (args.has('cluster')) return attachElsewhere(args, io, opened);
  const wanted = await wantedBy(args, io, opened);
  const found = await liveRun(opened, wanted.session, io);
  if (found.is === 'down') return offer(found.session, args, io, opened);
  const { session } = found.reached;
  found.reached.close();
  if (io.terminal) return openSession(args, io, opened, { attach: session, agent: wanted.agent });
  return (await import('../../ui/lines/follow.ts')).watchLines(io, opened, session);
});

/** Shows a run on another machine, which the database of the cluster leads to. */
async function attachElsewhere(args: cli.Arguments, io: cli.Io, opened: OpenProject): Promise<number> {
  const session = sharedSession(args.words[0]);
  const { reachElsewhere } = await import('../../app/cluster/index.ts');
  const end = await reachElsewhere(opened, session);
  try {
    if (io.terminal) return await openSession(args, io, opened, { attach: session, agent: null });
    return await (await import('../../ui/lines/follow.ts')).watchLines(io, opened, session);
  } finally {
    await end();
  }
}

/** The arguments as a session (its start; undefined: the newest), an agent of it, or an agent by its name alone. */
async function wantedBy(args: cli.Arguments, io: cli.Io, { log }: OpenProject) {
  const [first, second] = args.words;
  const isSession = (): boolean =>
    cli.exitOnFault(() => log.sessions()).some(({ session }) => session.startsWith(first ?? ''));
  if (first === undefined || (second === undefined && isSession())) return { session: first, agent: null };
  return withSessionClient(args, io, async (client) => {
    const { record } = await targetOf(client, second === undefined ? first : `${first}/${second}`);
    return { session: record.run, agent: second === undefined && record.agent === ROOT ? null : record.agent };
  });
}

type Found =
  | { readonly is: 'live'; readonly reached: RemoteRun }
  /** No process owns it, but it can be resumed. */
  | { readonly is: 'down'; readonly session: SessionSummary };

/** The named run, or the newest that is reachable. Exits with 2 if none can be shown or resumed. */
async function liveRun(opened: OpenProject, name: string | undefined, io: cli.Io): Promise<Found> {
  const { log } = opened;
  const all = name === undefined ? cli.exitOnFault(() => log.sessions()) : [sessionOf(log, name)];
  for (const one of all.filter(({ state }) => state === 'running')) {
    const reached = await patiently(io, one.session, reachedOrExit(opened, one.session));
    if (reached !== null) return { is: 'live', reached };
  }
  const [running] = all.filter(({ state }) => state === 'running');
  if (running !== undefined) throw cli.wrongUse(unreachedWords(running.session));
  const session = name === undefined ? newestStopped(all) : all[0];
  if (session === undefined)
    throw cli.wrongUse(
      'no run is active in this project\n  `mimir run --detach "…"` starts one; `mimir sessions` lists the finished ones',
    );
  const over = whyNotResume(opened, session);
  if (over !== null) throw cli.wrongUse(`${over}\n  \`mimir report ${session.session}\` shows its report`);
  return { is: 'down', session };
}

async function reachedOrExit({ project }: OpenProject, session: SessionId): Promise<RemoteRun | null> {
  // A run that has just started opens its socket within a moment.
  for (let tries = 0; ; tries += 1) {
    try {
      const reached = await reachRun(project, session);
      if (reached !== null || tries === TRIES) return reached;
    } catch (error) {
      if (error instanceof ControlFault) throw cli.wrongUse(error.message);
      throw error;
    }
    await cli.world.sleep(PAUSE_MS);
  }
}

const TRIES = 5;
const PAUSE_MS = 100;

const unreachedWords = (session: SessionId): string =>
  `cannot reach the process of session ${session}\n  \`mimir events ${session} --follow\` shows what it does`;

/** Offers to resume a run that no process owns. */
async function offer(
  { session, task, asked }: SessionSummary,
  args: cli.Arguments,
  io: cli.Io,
  opened: OpenProject,
): Promise<number> {
  const words = `session ${session} is not running\n  \`mimir resume ${session}\` continues it`;
  if (!io.terminal) throw cli.wrongUse(words);
  io.say(`Session ${session}: ${cli.sanitise((asked ?? task).split('\n')[0] ?? '')}`);
  const typed = await io.ask('Continue it here? y yes, anything else no: ', 'fresh');
  if (typed?.trim().toLowerCase() !== 'y') throw cli.wrongUse(words);
  return openSession(args, io, opened, { resume: session });
}
