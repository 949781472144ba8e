/** The ways into line mode: a run that is carried to its end, with a person or without, and a session in which runs are begun one after the other. */
import { exitCodeOf } from '../../app/process/exit-codes.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { world } from '../../app/process/world.ts';
import { openWorkshop } from '../../app/project/open-project.ts';
import type { Workshop } from '../../app/project/open-project.ts';
import { openLobby } from '../../app/project/service/service.ts';
import type { RunLobby } from '../../app/project/service/service.ts';
import { visible } from '../../app/views/text/sanitise.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Run } from '../../engine/run/run.ts';
import type { Approval, RunState } from '../../events/state.ts';
import type { Lobby } from '../../ports/project-service.ts';
import type { AnnouncerParts } from './announce.ts';
import { LINE_COMMANDS } from './commands/commands.ts';
import { openConsole } from './console.ts';
import { forgiving } from './run-ownership.ts';
import { LineRun } from './run.ts';
import type { Joined } from './run.ts';
import { LineSession } from './session.ts';
import { tag } from './words/agents.ts';
import { fitting } from './console.ts';

export interface Following {
  readonly json: boolean;
  /** Somebody sits there: is asked, and may type commands. */
  readonly person: boolean;
  /** The plan is put to the person; false where it was approved beforehand. */
  readonly approves: boolean;
  /** The plan's models are asked for as well, where it is edited. */
  readonly models: boolean;
  /** Where the last copy is kept. */
  readonly folder: string;
  /** The run had begun before: what was said of it then is not said again. */
  readonly joined?: Joined;
  /** Starts a process that goes on with the run, which has ended here. */
  readonly detach?: Lobby['detach'];
}

/** Resolves when the run has recorded its end here; true when it goes on in a process of its own. */
export async function followRun({ controls, result }: Run, io: Io, how: Following): Promise<boolean> {
  if (how.json) {
    const since = typeof how.joined === 'object' ? how.joined.resumed : 0;
    for await (const event of controls.events(0)) {
      io.json(event);
      // Standard output is a program's: why an agent failed is told a person too.
      if (event.type === 'agent.finished' && event.outcome === 'failed' && Date.parse(event.time) >= since)
        io.complain(`mimir: ${event.agent} failed: ${harmless((event.error ?? event.summary).split('\n')[0] ?? '')}`);
    }
    return false;
  }
  if (!how.person) {
    await new LineRun(controls, announcing(io), undefined, how.joined).ended;
    return false;
  }
  const console = openConsole({ io, words: wordsOf, interrupted: () => process.kill(process.pid, 'SIGINT') });
  const session = new LineSession({ io, console, lobby: null, ...how });
  // A run that was ended waits for no answer.
  const close = (): void => console.close();
  void result.then(close, close);
  session.follow(controls, how.joined);
  try {
    await session.work();
    await session.parted();
    return session.goesOn;
  } finally {
    console.close();
  }
}

/** A run of another process in lines, for nobody who types; to its end, or until its process is gone. */
export async function watchLines(io: Io, workshop: Workshop, session: SessionId): Promise<number> {
  const { reachRun } = await import('../../app/client/connect.ts');
  const reached = await reachRun(workshop.project, session);
  if (reached === null) throw new Exit(EXIT.wrongUse, `session ${session} has ended meanwhile`);
  const controls = forgiving(reached.controls);
  const waits = waitingSaid(session, announcing(io));
  const run = new LineRun(controls, announcing(io), (_, state) => waits(state), 'attached');
  await run.ended;
  const { finished } = run.state;
  reached.close();
  workshop.close();
  if (finished === null)
    throw new Exit(EXIT.agentFailed, `${(await controls.lost) ?? ''}\n  \`mimir resume ${session}\` goes on with it`);
  return finished.status === 'completed' ? EXIT.done : EXIT.agentFailed;
}

/** For nobody who types. */
const announcing = (io: Io): AnnouncerParts => ({
  say: (line) => io.say(fitting(process.stdout)(line)),
  paint: io.paint,
  now: () => world.now(),
  verbosity: () => 'normal',
});

const wordsOf = (): readonly string[] => LINE_COMMANDS.map(({ name }) => `${name} `);

/** What a session begins with. */
export type First =
  | { readonly start: string }
  | { readonly resume: SessionId; readonly followUp?: string }
  | { readonly attach: SessionId }
  | null;

/** A second Ctrl-C within this time leaves. */
const TWICE_MS = 3000;
/** An end from outside waits so long for the log. */
const PATIENCE_MS = 2000;

/** A session in lines, to its end; the exit code is that of the last run. */
export async function openLines(args: Arguments, io: Io, workshop: Workshop, first: First): Promise<number> {
  if (workshop.mode === 'yolo') await workshop.ready();
  const lobby = openLobby(workshop, {
    reopen: () => openWorkshop(args, io, workshop.project),
    goesOn: async (id) => (await import('../../app/hosting/hosting.ts')).goOnElsewhere(id, args, workshop.project, io),
    pace: 'none',
  });
  let stoppedAt = Number.NEGATIVE_INFINITY;
  const interrupted = (): void => {
    if (session.stoppable.stop()) return;
    const now = world.elapsed();
    const again = now - stoppedAt < TWICE_MS;
    stoppedAt = now;
    if (again) void session.leave();
    else
      session.say(
        'Nothing was interrupted. Ctrl-C again leaves, and the state of the run is kept; stop stops it, interrupt N one agent.',
      );
  };
  const console = openConsole({ io, words: wordsOf, interrupted });
  const session = new LineSession({
    io,
    console,
    lobby,
    approves: workshop.config.rules.promptForApproval.value,
    models: workshop.config.rules.promptForModels.value,
    folder: workshop.project.places.state,
  });
  const unwatch = watch(lobby, interrupted);
  try {
    if (first === null) await welcomed(session, lobby);
    else await session.go(first);
    await session.work();
    return session.goesOn ? EXIT.done : await codeOf(lobby);
  } finally {
    unwatch();
    console.close();
    await lobby.close();
  }
}

/** What takes a moment to find out is waited for a moment: said once, it is not said anew. */
async function welcomed(session: LineSession, lobby: RunLobby): Promise<void> {
  const known = Promise.withResolvers<void>();
  lobby.onChange(() => {
    if (lobby.info().suggestions.length > 0) known.resolve();
  });
  await Promise.race([known.promise, world.sleep(WELCOME_MS)]);
  session.welcome();
}

const WELCOME_MS = 3000;

const OF_SIGNAL = { SIGTERM: EXIT.terminated, SIGHUP: EXIT.hangUp } as const;

function watch(lobby: RunLobby, interrupted: () => void): () => void {
  const ended = async (signal: 'SIGTERM' | 'SIGHUP'): Promise<void> => {
    const run = lobby.current();
    run?.stop(signal);
    await Promise.race([run?.result, world.sleep(PATIENCE_MS)]);
    process.exit(OF_SIGNAL[signal]);
  };
  const term = (): void => void ended('SIGTERM');
  const hup = (): void => void ended('SIGHUP');
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', term);
  process.on('SIGHUP', hup);
  return () => {
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', term);
    process.off('SIGHUP', hup);
  };
}

/** A run whose agents didn't stop in time has no result to wait for. */
async function codeOf(lobby: RunLobby): Promise<number> {
  const run = lobby.current();
  if (run === null) return EXIT.done;
  const result = await Promise.race([run.result, world.sleep(PATIENCE_MS).then(() => null)]);
  return result === null ? EXIT.agentFailed : exitCodeOf(result, null);
}

// What of a run that another process carries waits for a person, said where nobody types: that it waits, and where it is answered.

/** Called after each event: says the plan and each question that begins to wait, once. */
export function waitingSaid(session: SessionId, { say, paint }: Pick<Io, 'say' | 'paint'>): (state: RunState) => void {
  let plan = false;
  let told: ReadonlySet<string> = new Set();
  const where = `answer it in a terminal: mimir attach ${session}`;
  return (state) => {
    const waits = state.phase === 'approving';
    if (waits && !plan) say(paint.yellow(`The plan waits for you; ${where}`));
    plan = waits;
    for (const one of state.approvals) if (!told.has(one.id)) say(paint.yellow(`${askWords(one, state)}; ${where}`));
    told = new Set(state.approvals.map(({ id }) => id));
  };
}

/** `[tester] asks you: npm test`; its role in front of that would say who asks once more. */
function askWords({ agent, request }: Approval, { agents }: RunState): string {
  const found = agents.get(agent);
  const title = visible(request.title);
  if (found === undefined) return `${agent} asks you: ${title}`;
  const role = `${visible(found.role)}: `;
  return `${tag(found)} asks you: ${title.startsWith(role) ? title.slice(role.length) : title}`;
}
