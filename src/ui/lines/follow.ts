/** The ways into line mode: one run to its end, with a person or without; a run of another process; a session with several runs. */
import {
  type Arguments,
  EXIT,
  Exit,
  exitCodeOf,
  sanitise,
  type Io,
  SIGNAL_WORDS,
  world,
  wrongUse,
} from '../../app/process/index.ts';
import {
  type LocalProjectService,
  type OpenProject,
  openProject,
  openProjectService,
} from '../../app/project/index.ts';
import { escapeHidden } from '../../app/views/index.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Run } from '../../engine/run/index.ts';
import type { Approval, RunState } from '../../events/index.ts';
import type { ProjectService } from '../../ports/project-service.ts';
import { type Joined, LineRun, type PrintParts } from './run.ts';
import { LINE_COMMANDS } from './commands/commands.ts';
import { fitting, type LineConsole, openConsole } from './console.ts';
import { LineSession } from './session.ts';
import { tag } from './agents.ts';

export interface Following {
  readonly json: boolean;
  /** A person is at the terminal, is asked, and may type commands. */
  readonly person: boolean;
  /** The person is asked to approve the plan; false where it was approved beforehand. */
  readonly approves: boolean;
  /** Editing the plan asks for models as well. */
  readonly models: boolean;
  /** The folder of the last copy. */
  readonly folder: string;
  /** The run had begun before: its stored events are not printed again. */
  readonly joined?: Joined;
  /** Starts a process that continues the run after it was handed over. */
  readonly detach?: ProjectService['detach'];
}

/** Resolves when the run has recorded its end here; true when it continues in another process. */
export async function followRun({ controls, result }: Run, io: Io, how: Following): Promise<boolean> {
  if (how.json) {
    const since = typeof how.joined === 'object' ? how.joined.resumed : 0;
    for await (const event of controls.events(0)) {
      io.json(event);
      await io.taken();
      // A program reads standard output; a person reads on standard error why an agent failed.
      if (event.type === 'agent.finished' && event.outcome === 'failed' && Date.parse(event.time) >= since)
        io.complain(`mimir: ${event.agent} failed: ${sanitise((event.error ?? event.summary).split('\n')[0] ?? '')}`);
    }
    return false;
  }
  if (!how.person) {
    await new LineRun(controls, printing(io), {}, how.joined).ended;
    return false;
  }
  const console = openConsole({ io, words: wordsOf, interrupted: () => process.kill(process.pid, 'SIGINT') });
  const mimir = (words: readonly string[]): Promise<void> => runCommand(words, io, console);
  const session = new LineSession({ io, console, projectService: null, mimir, ...how });
  // An ended run waits for no answer.
  const close = (): void => console.close();
  void result.then(close, close);
  session.follow(controls, how.joined);
  try {
    await session.work();
    await session.handedOver;
    return session.continues;
  } finally {
    console.close();
  }
}

/** Prints a run of another process without taking input, until it ends or its process is lost; the exit code. */
export async function watchLines(io: Io, opened: OpenProject, session: SessionId): Promise<number> {
  const { reachRun } = await import('../../app/client/index.ts');
  const reached = await reachRun(opened.project, session);
  if (reached === null) throw wrongUse(`session ${session} has ended meanwhile`);
  const { controls } = reached;
  const printPending = pendingPrinter(session, printing(io));
  const run = new LineRun(controls, printing(io), { happened: (_, state) => printPending(state) }, 'attached');
  await run.ended;
  const { finished } = run.state;
  reached.close();
  opened.close();
  if (finished === null)
    throw new Exit(EXIT.agentFailed, `${(await controls.lost) ?? ''}\n  \`mimir resume ${session}\` continues it`);
  return finished.status === 'completed' ? EXIT.done : EXIT.agentFailed;
}

/** How a run is printed when nobody types. */
const printing = (io: Io): PrintParts => ({
  say: (line) => io.say(fitting(process.stdout)(line)),
  paint: io.paint,
  now: () => world.now(),
  verbosity: () => 'normal',
});

const wordsOf = (): readonly string[] => LINE_COMMANDS.map(({ name }) => `${name} `);

/** What a session starts with. */
export type First =
  | { readonly start: string }
  | { readonly resume: SessionId; readonly followUp?: string }
  | { readonly attach: SessionId }
  | null;

/** A second Ctrl-C within this time quits. */
const TWICE_MS = 3000;
/** A signal that ends the process waits this long for the run to record its end. */
const PATIENCE_MS = 2000;

/** A session in line mode, to its end; the exit code is that of the last run. */
export async function openLines(args: Arguments, io: Io, opened: OpenProject, first: First): Promise<number> {
  if (opened.mode === 'yolo') await opened.ready();
  const projectService = openProjectService(opened, {
    reopen: () => openProject(args, io, opened.project),
    continueInBackground: async (id) =>
      (await import('../../app/project/hosting.ts')).continueInBackground(id, args, opened.project, io),
    pace: 'none',
  });
  let stoppedAt = Number.NEGATIVE_INFINITY;
  const interrupted = (): void => {
    // Some work of a command waits for the signal.
    if (process.listenerCount('SIGINT') > 1) return;
    const now = world.elapsed();
    const again = now - stoppedAt < TWICE_MS;
    stoppedAt = now;
    if (again) void session.leave();
    else
      session.say(
        'Nothing was interrupted. Press Ctrl-C again to quit; the state of the run is kept. stop ends the run, interrupt N pauses one agent.',
      );
  };
  const console = openConsole({ io, words: wordsOf, interrupted: () => process.kill(process.pid, 'SIGINT') });
  const session = new LineSession({
    io,
    console,
    projectService,
    approves: opened.config.rules.promptForApproval.value,
    models: opened.config.rules.promptForModels.value,
    folder: opened.project.places.state,
    async mimir(words) {
      await runCommand([...words, '--cwd', opened.project.root], io, console);
      const done = CONFIGURING.has(words[0] ?? '') ? await projectService.reload() : null;
      if (done?.ok === false) session.refuse(done.fault.text);
    },
  });
  const unwatch = watch(projectService, interrupted);
  try {
    if (first === null) await welcome(session, projectService);
    else await session.go(first);
    await session.work();
    return session.continues ? EXIT.done : await codeOf(projectService);
  } finally {
    unwatch();
    console.close();
    await projectService.close();
  }
}

/** Commands of Mimir that may change the configuration of the next run. */
const CONFIGURING: ReadonlySet<string> = new Set(['agents', 'trust']);

/** Runs a command of Mimir with the console of the session. Handlers of signals that it leaves behind are for the end of a program. */
async function runCommand(words: readonly string[], io: Io, console: LineConsole): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const before = signals.map((signal) => new Set(process.listeners(signal)));
  const here: Io = {
    ...io,
    say: (line) => console.say(line),
    complain: (line) => console.complain(line),
    ask: (prompt, how) => console.ask(prompt, how),
    write: (text) => console.say(text.trimEnd()),
    json: (value) => console.say(JSON.stringify(value)),
  };
  try {
    await io.command?.(words, here);
  } finally {
    for (const [at, signal] of signals.entries())
      for (const added of process.listeners(signal)) if (!before[at]?.has(added)) process.off(signal, added);
  }
}

/** Waits a moment for the suggestions, since the welcome is printed only once. */
async function welcome(session: LineSession, projectService: LocalProjectService): Promise<void> {
  const known = Promise.withResolvers<void>();
  projectService.onChange(() => {
    if (projectService.info().suggestions.length > 0) known.resolve();
  });
  await Promise.race([known.promise, world.sleep(WELCOME_MS)]);
  session.welcome();
}

const WELCOME_MS = 3000;

const EXIT_CODES = { SIGTERM: EXIT.terminated, SIGHUP: EXIT.hangUp } as const;

function watch(projectService: LocalProjectService, interrupted: () => void): () => void {
  const end = async (signal: 'SIGTERM' | 'SIGHUP'): Promise<void> => {
    const run = projectService.current();
    run?.stop(SIGNAL_WORDS[signal]);
    await Promise.race([run?.result, world.sleep(PATIENCE_MS)]);
    process.exit(EXIT_CODES[signal]);
  };
  const handlers = [
    ['SIGINT', interrupted],
    ['SIGTERM', (): void => void end('SIGTERM')],
    ['SIGHUP', (): void => void end('SIGHUP')],
  ] as const;
  for (const [signal, handle] of handlers) process.on(signal, handle);
  return () => {
    for (const [signal, handle] of handlers) process.off(signal, handle);
  };
}

/** A run whose agents did not stop in time has no result. */
async function codeOf(projectService: LocalProjectService): Promise<number> {
  const run = projectService.current();
  if (run === null) return EXIT.done;
  const result = await Promise.race([run.result, world.sleep(PATIENCE_MS).then(() => null)]);
  return result === null ? EXIT.agentFailed : exitCodeOf(result, null);
}

// Where nobody types, a question of a run is printed together with the command that answers it.

/** A function to call after each event: prints once that the plan, or a question, waits for an answer. */
export function pendingPrinter(
  session: SessionId,
  { say, paint }: Pick<Io, 'say' | 'paint'>,
): (state: RunState) => void {
  let plan = false;
  let printed: ReadonlySet<string> = new Set();
  const where = `answer it in a terminal: mimir attach ${session}`;
  return (state) => {
    const waits = state.phase === 'approving';
    if (waits && !plan) say(paint.yellow(`The plan waits for approval; ${where}`));
    plan = waits;
    for (const one of state.approvals) if (!printed.has(one.id)) say(paint.yellow(`${askWords(one, state)}; ${where}`));
    printed = new Set(state.approvals.map(({ id }) => id));
  };
}

/** `[tester] asks you: npm test`, without the role that the title begins with. */
function askWords({ agent, request }: Approval, { agents }: RunState): string {
  const found = agents.get(agent);
  const title = escapeHidden(request.title);
  if (found === undefined) return `${agent} asks you: ${title}`;
  const role = `${escapeHidden(found.role)}: `;
  return `${tag(found)} asks you: ${title.startsWith(role) ? title.slice(role.length) : title}`;
}
