/** `mimir attach`: the screen of a run that another process carries, in lines where there is no terminal for it. Leaving it ends nothing. */
import type { AgentId, SessionId } from '../../domain/ids.ts';
import { foundIn } from '../../events/sessions/find.ts';
import type { Reached } from '../../ports/control.ts';
import { ControlFault } from '../../ports/control.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { CWD, MODELS, SCREEN } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { orExit, sessionOf } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import { newestStoppedOf, overBecause } from '../../app/client/resumable.ts';
import { patiently, reachRun } from '../../app/client/connect.ts';
import type { Verb } from '../verb.ts';
import type { Workshop } from '../../app/project/open-project.ts';
import { openWorkshop } from '../../app/project/open-project.ts';
import { world } from '../../app/process/world.ts';

export const attachVerb: Verb = {
  usage: 'mimir attach [SESSION] [AGENT]',
  summary:
    'Shows a run that another process carries; without an id the newest, with an agent opened where one is named.',
  example: 'mimir attach 4f9a2c finder',
  words: 2,
  flags: { ...CWD, ...SCREEN, ...MODELS },
  async run(args, io) {
    const workshop = await openWorkshop(args, io, projectOf(args, io));
    const wanted = await wantedOf(workshop, args.words, io);
    const found = await liveRun(workshop, wanted.session, io);
    if (found.is === 'down') return offer(found.session, args, io, workshop);
    const { session } = found.reached;
    const agent = await agentIn(found.reached, wanted.agent);
    found.reached.close();
    if (isScreen(args, io)) {
      const { openScreen } = await import('./screen.ts');
      return openScreen(args, io, workshop, { attach: { session, agent } });
    }
    const { openLines, watchLines } = await import('../../ui/lines/follow.ts');
    return io.terminal ? openLines(args, io, workshop, { attach: session }) : watchLines(io, workshop, session);
  },
};

const isScreen = (args: Arguments, io: Io): boolean => io.terminal && !args.has('plain') && io.env['TERM'] !== 'dumb';

type Found =
  | { readonly is: 'live'; readonly reached: Reached }
  /** Nobody carries it; `session` could be gone on with. */
  | { readonly is: 'down'; readonly session: SessionSummary };

/** The run that was named, or the newest that answers. Exit 2 where there is none that could be shown or gone on with. */
async function liveRun(workshop: Workshop, name: string | undefined, io: Io): Promise<Found> {
  const { log } = workshop;
  const all = name === undefined ? orExit(() => log.sessions()) : [sessionOf(log, name)];
  for (const one of all.filter(({ state }) => state === 'running')) {
    const reached = await patiently(io, one.session, reachedOrExit(workshop, one.session));
    if (reached !== null) return { is: 'live', reached };
  }
  const [running] = all.filter(({ state }) => state === 'running');
  if (running !== undefined) throw new Exit(EXIT.wrongUse, unreachedWords(running.session));
  const session = name === undefined ? newestStoppedOf(all) : all[0];
  if (session === undefined)
    throw new Exit(
      EXIT.wrongUse,
      'no run of this project goes on now\n  `mimir run --detach "…"` starts one; `mimir sessions` lists those that are over',
    );
  const over = overBecause(workshop.project, session);
  if (over !== null) throw new Exit(EXIT.wrongUse, `${over}\n  \`mimir report ${session.session}\` shows its report`);
  return { is: 'down', session };
}

async function reachedOrExit({ project }: Workshop, session: SessionId): Promise<Reached | null> {
  // A run that has just begun opens its socket in a moment.
  for (let tries = 0; ; tries += 1) {
    try {
      const reached = await reachRun(project, session);
      if (reached !== null || tries === TRIES) return reached;
    } catch (error) {
      if (error instanceof ControlFault) throw new Exit(EXIT.wrongUse, error.message);
      throw error;
    }
    await world.sleep(PAUSE_MS);
  }
}

const TRIES = 5;
const PAUSE_MS = 100;

const unreachedWords = (session: SessionId): string =>
  `session ${session} runs in another process, which can't be reached\n  \`mimir events ${session} --follow\` shows what it does`;

/** By any of its names. Exit 2 with what there is, where none or several are meant. */
async function agentIn(reached: Reached, name: string | undefined): Promise<AgentId | null> {
  if (name === undefined) return null;
  const family = await reached.family();
  const found = foundIn(family, name);
  if (found.ok) return found.value.agent;
  reached.close();
  const { is, candidates } = found.fault;
  const several = is === 'several';
  const known = (several ? candidates : family.sessions)
    .map((each) => `\n  ${each.agent}  ${each.session_id}  ${harmless(each.name)}`)
    .join('');
  const words = several
    ? `${candidates.length} agents are called "${name}"`
    : `there is no agent "${name}" in session ${reached.session}`;
  throw new Exit(EXIT.wrongUse, `${words}${known}`);
}

/** What was named: a session, an agent of it, or an agent of the newest run that goes on, by its name alone. */
async function wantedOf(workshop: Workshop, [first, second]: readonly string[], io: Io): Promise<Wanted> {
  const wanted = { session: first, agent: second };
  if (first === undefined || second !== undefined) return wanted;
  const sessions = orExit(() => workshop.log.sessions());
  const newest = sessions.find(({ state }) => state === 'running');
  if (newest === undefined || sessions.some(({ session }) => session.startsWith(first))) return wanted;
  const reached = await patiently(io, newest.session, reachedOrExit(workshop, newest.session));
  if (reached === null) return wanted;
  const { ok } = foundIn(await reached.family(), first);
  reached.close();
  return ok ? { session: newest.session, agent: first } : wanted;
}

interface Wanted {
  readonly session: string | undefined;
  readonly agent: string | undefined;
}

/** Nobody carries it: it can be gone on with here. */
async function offer(
  { session, task, asked }: SessionSummary,
  args: Arguments,
  io: Io,
  workshop: Workshop,
): Promise<number> {
  const words = `no process carries session ${session} now\n  \`mimir resume ${session}\` goes on with it`;
  if (!io.terminal) throw new Exit(EXIT.wrongUse, words);
  io.say(`No process carries session ${session} now: ${harmless((asked ?? task).split('\n')[0] ?? '')}`);
  const { openAsker } = await import('../../app/process/asker.ts');
  const asker = openAsker();
  const typed = await asker.ask('Go on with it here? y yes, anything else no: ', 'fresh');
  asker.close();
  if (typed?.trim().toLowerCase() !== 'y') throw new Exit(EXIT.wrongUse, words);
  if (isScreen(args, io)) {
    const { openScreen } = await import('./screen.ts');
    return openScreen(args, io, workshop, { resumeSession: session });
  }
  const { openLines } = await import('../../ui/lines/follow.ts');
  return openLines(args, io, workshop, { resume: session });
}
