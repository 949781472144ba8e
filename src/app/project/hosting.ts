/** Starts runs in background processes, for commands and for screens that detach. hosted.ts is the other side. */
import { SessionId } from '../../domain/ids.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Receipt } from '../../ports/controls.ts';
import type { Log } from '../../ports/log.ts';
import { type StartedProcess, startProcess } from '../../remote/index.ts';
import type { LogReader } from '../../store/index.ts';
import { reachRun, saidMeanwhile } from '../client/index.ts';
import type { Arguments, Io } from '../process/index.ts';
import { EXIT, Exit, newSession, exitOnFault, ownProgram, world, wrongUse } from '../process/index.ts';
import { openProjectLog, openReader, projectOf, type ProjectPlace } from '../workspace/index.ts';
import { environmentWithout } from '../workspace/secrets.ts';
import { sessionFrom } from './hosted.ts';

/** Milliseconds between two attempts to connect, and until giving up. */
const CONNECT_RETRY_MS = 20;
const CONNECT_TIMEOUT_MS = 30_000;

/** Starts `mimir ARGV` as a background process and resolves when its run accepts connections. The session is that of `--hosted`, or a new one. `words`
 * follow `--`, so that none is read as a flag. Rejects with an `Exit` in the words of that process if it ended. */
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
    await waitForSocket(started, session, project);
  } catch (error) {
    if (error instanceof ControlFault) throw wrongUse(error.message);
    throw error;
  }
  return session;
}

/** As `startHosted`; tells a person at a terminal that it takes time. */
export function startWithNotice(...given: Parameters<typeof startHosted>): Promise<SessionId> {
  const [, , io] = given;
  const starting = startHosted(...given);
  return io.terminal ? saidMeanwhile(io, 'the run is starting: its process is not ready yet', starting) : starting;
}

async function waitForSocket(started: StartedProcess, session: SessionId, project: ProjectPlace): Promise<void> {
  const until = world.elapsed() + CONNECT_TIMEOUT_MS;
  for (;;) {
    const ended = started.ended();
    if (ended !== null && (ended.code === EXIT.done || (ended.words.trim() === '' && isLogged(session, project))))
      return;
    if (ended !== null) throw new Exit(ended.code, wordsOf(ended.words, started.file));
    const reached = await reachRun(project, session);
    reached?.close();
    if (reached !== null) return;
    if (world.elapsed() > until) break;
    await world.sleep(CONNECT_RETRY_MS);
  }
  started.stop();
  throw new Exit(EXIT.bug, `the process of session ${session} does not answer\n  its output is in ${started.file}`);
}

/** A short run may have ended before the first connection; the log has it then. */
const isLogged = (session: SessionId, project: ProjectPlace): boolean =>
  sessionsOf(project).some((one) => one.session === session);

function sessionsOf(project: ProjectPlace): ReturnType<LogReader['sessions']> {
  const reader = openReader(project);
  try {
    return exitOnFault(() => reader.sessions());
  } finally {
    reader.close();
  }
}

/** The output of the other process without its own prefix. */
function wordsOf(words: string, file: string): string {
  const said = words.trim().replace(/^mimir: /, '');
  return said === '' ? `the process ended without output\n  check the disk; it writes to ${file}` : said;
}

/** Continues a run of this process in a background process. The receipt says how to return. */
export async function continueInBackground(
  session: SessionId,
  args: Arguments,
  project: ProjectPlace,
  io: Io,
): Promise<Receipt> {
  await startHosted(['resume', session, '--hosted', session, ...unloggedFlags(args)], project, io);
  return { text: `session ${session} continues in the background\n  mimir attach ${session}` };
}

/** Flags of this run that the log does not hold: models and limits. The mode is in the log. */
export const unloggedFlags = (args: Arguments): readonly string[] => [
  ...valueFlags(args, ['model', 'max-cost', 'max-tokens', 'max-duration']),
  ...args.all('role-model').map((value) => `--role-model=${value}`),
  ...switches(args, ['no-offline', 'cluster']),
];

const valueFlags = (args: Arguments, flags: readonly string[]): readonly string[] =>
  flags.flatMap((flag) => (args.has(flag) ? [`--${flag}=${args.get(flag) ?? ''}`] : []));

const switches = (args: Arguments, flags: readonly string[]): readonly string[] =>
  flags.filter((flag) => args.has(flag)).map((flag) => `--${flag}`);

/** All start flags that a background process needs. */
export const startFlags = (args: Arguments): readonly string[] => [
  ...unloggedFlags(args),
  ...valueFlags(args, ['mode', 'allow']),
  ...switches(args, ['commit', 'yes', 'direct']),
];

/** `--detach`: starts a background run and prints how to return to it and how to stop it. */
export async function detach(
  argv: readonly string[],
  args: Arguments,
  project: ProjectPlace,
  io: Io,
  words: readonly string[] = [],
): Promise<number> {
  const session = await startWithNotice([...argv, ...startFlags(args)], project, io, words);
  if (args.has('json')) {
    io.json({ session, attach: `mimir attach ${session}`, stop: `mimir kill ${session}` });
    return EXIT.done;
  }
  io.say(`Session ${session} runs in the background.`);
  io.say(
    `  mimir attach ${session}   shows it; ${args.has('yes') ? 'its questions wait' : 'its plan and its questions wait'} for you there`,
  );
  io.say(`  mimir kill ${session}     stops it; mimir resume ${session} continues it`);
  return EXIT.done;
}

/** The claim under which one process at a time starts the first run; it ends with that process. */
const STARTING = SessionId.parse('first-run');
const CLAIM_RETRY_MS = 20;

/** Starts a run for children unless one is running, once for all processes; true if it did. `check` throws if it is pointless. */
export async function startFirstRun(args: Arguments, io: Io, check: (root: string) => void): Promise<boolean> {
  const project = projectOf(args, io);
  if (hasRunning(sessionsOf(project))) return false;
  check(project.root);
  const log = openProjectLog(project);
  try {
    await saidMeanwhile(io, 'another process is starting a run in this project: waiting', claimStart(log));
    try {
      if (hasRunning(exitOnFault(() => log.sessions()))) return false;
      await start(project, io);
      return true;
    } finally {
      log.release(STARTING);
    }
  } finally {
    log.close();
  }
}

async function claimStart(log: Pick<Log, 'claim'>): Promise<void> {
  while (!exitOnFault(() => log.claim(STARTING)).ok) await world.sleep(CLAIM_RETRY_MS);
}

const hasRunning = (sessions: ReturnType<LogReader['sessions']>): boolean =>
  sessions.some(({ state }) => state === 'running');

/** Loads the client while the process starts. */
async function start(project: ProjectPlace, io: Io): Promise<void> {
  await Promise.all([startWithNotice(['run', '--idle'], project, io), import('../client/person-client.ts')]);
}
