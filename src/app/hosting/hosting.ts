/**
 * Starts runs in processes of their own, from a verb or from a screen that lets go of one. What such a process does is hosted.ts's,
 * how it is made remote/host.ts's.
 */
import type { StartedProcess } from '../../remote/host.ts';
import { startProcess } from '../../remote/host.ts';
import type { SessionId } from '../../domain/ids.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Receipt } from '../../ports/controls.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Arguments } from '../process/flags/flags.ts';
import type { Io } from '../process/io.ts';
import { openReader, orExit } from '../client/log-of.ts';
import { ownProgram } from '../process/own-program.ts';
import { sessionFrom } from './hosted.ts';
import type { ProjectPlace } from '../project/project-place.ts';
import { environmentWithout } from '../project/secrets.ts';
import { newSession, reachRun, saidMeanwhile } from '../client/connect.ts';
import { world } from '../process/world.ts';

/** How often it is looked whether the socket answers, and for how long. */
const LOOK_MS = 20;
const PATIENCE_MS = 30_000;

/**
 * Starts `mimir ARGV` as a process of its own and resolves when the run answers there. `argv` is a whole command (`run …`, `resume
 * …`); its session is the one behind `--hosted`, a new one where that is missing. Rejects with an `Exit` in the words of that
 * process where it ended instead. `words`: what somebody wrote, behind `--`, where none of it is taken for a flag.
 */
export async function startHosted(
  argv: readonly string[],
  project: ProjectPlace,
  io: Io,
  words: readonly string[] = [],
): Promise<SessionId> {
  const named = argv[argv.indexOf('--hosted') + 1];
  const session = argv.includes('--hosted') && named !== undefined ? sessionFrom(named) : newSession();
  const more = [
    ...(argv.includes('--hosted') ? [] : ['--hosted', session]),
    ...(argv.includes('--cwd') ? [] : ['--cwd', project.root]),
    ...(io.terminal ? ['--watched'] : []),
  ];
  const { node, entry } = ownProgram();
  const said = words.length === 0 ? [] : ['--', ...words];
  const command = [node, ...process.execArgv, entry, ...argv, ...more, ...said];
  try {
    const started = startProcess({
      command,
      cwd: project.root,
      env: environmentWithout(io.env, project.places.state),
      stateDir: project.places.state,
      session,
    });
    await answering(started, session, project);
  } catch (error) {
    if (error instanceof ControlFault) throw new Exit(EXIT.wrongUse, error.message);
    throw error;
  }
  return session;
}

/** The same, for a verb that is waited for: somebody at a terminal is told that it takes its time. */
export function startSaid(...given: Parameters<typeof startHosted>): Promise<SessionId> {
  const [, , io] = given;
  const starting = startHosted(...given);
  return io.terminal ? saidMeanwhile(io, 'the run begins: its process is not ready yet', starting) : starting;
}

/** Resolves when its socket answers. */
async function answering(started: StartedProcess, session: SessionId, project: ProjectPlace): Promise<void> {
  const until = world.elapsed() + PATIENCE_MS;
  for (;;) {
    const ended = started.ended();
    if (ended !== null && (ended.code === EXIT.done || (ended.words.trim() === '' && isKept(session, project)))) return;
    if (ended !== null) throw new Exit(ended.code, wordsOf(ended.words, started.file));
    const reached = await reachRun(project, session);
    reached?.close();
    if (reached !== null) return;
    if (world.elapsed() > until) break;
    await world.sleep(LOOK_MS);
  }
  started.stop();
  throw new Exit(EXIT.bug, `the process of session ${session} does not answer\n  what it says is in ${started.file}`);
}

/** A short run may have ended, well or not, before anybody knocked: the log has it then. */
function isKept(session: SessionId, project: ProjectPlace): boolean {
  const reader = openReader(project);
  try {
    return orExit(() => reader.sessions()).some((one) => one.session === session);
  } finally {
    reader.close();
  }
}

/** What the other process said, without the prefix that is said again here. */
function wordsOf(words: string, file: string): string {
  const said = words.trim().replace(/^mimir: /, '');
  return said === '' ? `the process ended without a word\n  is the disk full? It writes to ${file}` : said;
}

/** A run of this screen or verb goes on in a process of its own. The receipt says how to come back. */
export async function goOnElsewhere(
  session: SessionId,
  args: Arguments,
  project: ProjectPlace,
  io: Io,
): Promise<Receipt> {
  await startHosted(['resume', session, '--hosted', session, ...carriedOn(args)], project, io);
  return { text: `session ${session} goes on in a process of its own\n  mimir attach ${session}` };
}

/**
 * What was typed for this run and is kept by no log: which models, how much it may cost. The mode is in the log, as it was changed
 * since.
 */
export const carriedOn = (args: Arguments): readonly string[] => [
  ...['model', 'max-cost', 'max-tokens', 'max-duration'].flatMap((flag) => {
    const value = args.get(flag);
    return value === undefined ? [] : [`--${flag}=${value}`];
  }),
  ...args.all('role-model').map((value) => `--role-model=${value}`),
  ...(args.has('no-offline') ? ['--no-offline'] : []),
];

/** All flags of a start that a process of its own is to have as well. */
export const startFlags = (args: Arguments): readonly string[] => [
  ...carriedOn(args),
  ...(args.get('mode') === undefined ? [] : [`--mode=${args.get('mode') ?? ''}`]),
  ...(args.get('allow') === undefined ? [] : [`--allow=${args.get('allow') ?? ''}`]),
  ...(args.has('commit') ? ['--commit'] : []),
  ...(args.has('yes') ? ['--yes'] : []),
  ...(args.has('direct') ? ['--direct'] : []),
];

/** `--detach`: starts it with `words` as its own, and says how to come back and how to stop it. */
export async function detach(
  argv: readonly string[],
  args: Arguments,
  project: ProjectPlace,
  io: Io,
  words: readonly string[] = [],
): Promise<number> {
  const session = await startSaid([...argv, ...startFlags(args)], project, io, words);
  if (args.has('json')) {
    io.json({ session, attach: `mimir attach ${session}`, stop: `mimir kill ${session}` });
    return EXIT.done;
  }
  io.say(`Session ${session} runs in a process of its own.`);
  io.say(
    `  mimir attach ${session}   shows it; ${args.has('yes') ? 'its questions wait' : 'its plan and its questions wait'} for you there`,
  );
  io.say(`  mimir kill ${session}     stops it, so that mimir resume ${session} can go on with it`);
  return EXIT.done;
}
