/** The ways into line mode: a session with a person, with one run or several; a run that is printed and takes no input. */
import type { Arguments, Io } from '../../app/process/index.ts';
import { EXIT, Exit, exitCodeOf, exitCodeOfEnd, sanitise, SIGNAL_WORDS } from '../../app/process/index.ts';
import { signalCode, watchSignals, world, wrongUse } from '../../app/process/index.ts';
import { attachTo } from '../../app/client/index.ts';
import { endCode, LocalProjectService, type OpenProject, type RunStart } from '../../app/project/index.ts';
import { authorsIn } from '../../app/workspace/index.ts';
import { escapeHidden } from '../../app/views/index.ts';
import type { AgentId, Millis, SessionId } from '../../domain/ids.ts';
import { ok } from '../../domain/result.ts';
import type { Run } from '../../engine/run/index.ts';
import type { RunState } from '../../events/index.ts';
import { LineRun, type PrintParts } from './run.ts';
import { LINE_COMMANDS } from './commands/commands.ts';
import { type LineConsole, LineTerminal } from './console.ts';
import { LineSession } from './session.ts';
import { tag } from './agents.ts';

/** Prints a run that takes no input, as lines or as JSON, until it has recorded its end. `resumed`: when a run that had begun before was resumed. */
export async function followRun(run: Run, io: Io, opened: OpenProject, json: boolean, resumed?: Millis): Promise<void> {
  if (!json) return new LineRun(run.controls, printing(io, opened), {}, resumed).ended;
  for await (const event of run.controls.events(0)) {
    io.json(event);
    await io.taken();
    // A program reads standard output; a person reads on standard error why an agent failed.
    if (event.type === 'agent.finished' && event.outcome === 'failed' && Date.parse(event.time) >= (resumed ?? 0))
      io.complain(`mimir: ${event.agent} failed: ${sanitise((event.error ?? event.summary).split('\n')[0] ?? '')}`);
  }
}

/** Prints a run of another process without taking input, until it ends or its process is lost; the exit code. */
export async function watchLines(io: Io, opened: OpenProject, session: SessionId): Promise<number> {
  const { reachRun } = await import('../../app/client/index.ts');
  const reached = await reachRun(opened.project, session);
  if (reached === null) throw wrongUse(`session ${session} has ended meanwhile`);
  const { controls } = reached;
  const printPending = pendingPrinter(session, printing(io, opened));
  const run = new LineRun(controls, printing(io, opened), { happened: (_, state) => printPending(state) }, world.now());
  await run.ended;
  const { finished } = run.state;
  reached.close();
  opened.close();
  if (finished === null)
    throw new Exit(EXIT.agentFailed, `${(await controls.lost) ?? ''}\n  \`mimir resume ${session}\` continues it`);
  return exitCodeOfEnd(finished);
}

const printing = (io: Io, { project, config, log }: OpenProject): PrintParts => ({
  say: (line) => io.say(line),
  paint: io.paint,
  now: () => world.now(),
  verbosity: () => 'normal',
  authors: (session) => authorsIn(project, config.rules.box, log, session).catch(() => null),
});

/** What a session starts with. */
export type First =
  | { readonly start: string }
  | { readonly resume: SessionId; readonly followUp?: string }
  /** `agent`: the one to open where it can be shown. */
  | { readonly attach: SessionId; readonly agent: AgentId | null }
  /** The only run of the session, which ends with it. `resumes`: it had begun before. */
  | { readonly only: RunStart; readonly resumes: boolean }
  | null;

/** A second Ctrl-C within this time quits. */
const TWICE_MS = 3000;
/** A signal that ends the process waits this long for the run to record its end. */
const PATIENCE_MS = 2000;

/** A session in line mode, to its end; the exit code is that of the last run. */
export async function openLines(args: Arguments, io: Io, opened: OpenProject, first: First): Promise<number> {
  if (opened.mode === 'yolo') await opened.ready();
  const service = new LocalProjectService(args, io, opened, 'none');
  const only = first !== null && 'only' in first ? first.only : null;
  const { rules } = opened.config;
  const console = new LineTerminal({
    io,
    words: () => LINE_COMMANDS.map(({ name }) => `${name} `),
    interrupted: () => process.kill(process.pid, 'SIGINT'),
  });
  const session: LineSession = new LineSession({
    io,
    console,
    service,
    commands: LINE_COMMANDS,
    approves: only === null ? rules.promptForApproval.value : only.approval === 'person',
    models: rules.promptForModels.value,
    folder: opened.project.places.state,
    mimir: async (words) => {
      await runCommand([...words, '--cwd', opened.project.root], io, console);
      const done = CONFIGURING.has(words[0] ?? '') ? await service.reload() : null;
      if (done?.ok === false) session.refuse(done.fault.text);
    },
    once: only !== null,
  });
  const watch = only === null ? watchSession(service, session) : watchSignals((signal) => stop(service, signal));
  try {
    await (first === null ? welcome(session, service) : begin(session, service, first));
    await session.work();
    if (session.continues) return EXIT.done;
    return await codeOf(service, session.state, only === null ? null : { io, signal: watch.received() });
  } finally {
    watch.end();
    console.close();
    await service.close();
  }
}

async function begin(session: LineSession, service: LocalProjectService, first: NonNullable<First>): Promise<void> {
  if ('start' in first) return session.begin(service.start(first.start));
  if ('resume' in first) return session.resume(first.resume, first.followUp);
  const joined = world.now();
  if ('attach' in first) return session.begin(attachTo(service, first.attach), joined);
  const controls = await service.begin(first.only);
  return session.begin(Promise.resolve(ok(controls)), first.resumes ? joined : undefined);
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
async function welcome(session: LineSession, service: LocalProjectService): Promise<void> {
  const known = Promise.withResolvers<void>();
  service.onChange(() => {
    if (service.info().suggestions.length > 0) known.resolve();
  });
  await Promise.race([known.promise, world.sleep(WELCOME_MS)]);
  session.welcome();
}

const WELCOME_MS = 3000;

const stop = (service: LocalProjectService, signal: keyof typeof SIGNAL_WORDS): void =>
  service.current()?.stop(SIGNAL_WORDS[signal]);

/** Ctrl-C is the session's; another signal stops the run, waits for its end and ends the program. */
function watchSession(service: LocalProjectService, session: LineSession): ReturnType<typeof watchSignals> {
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
  const ended = (signal: 'SIGTERM' | 'SIGHUP'): void => {
    stop(service, signal);
    void Promise.race([service.current()?.result, world.sleep(PATIENCE_MS)]).then(() =>
      process.exit(signalCode(signal)),
    );
  };
  process.on('SIGINT', interrupted).on('SIGTERM', ended).on('SIGHUP', ended);
  return {
    received: () => null,
    end: () => void process.off('SIGINT', interrupted).off('SIGTERM', ended).off('SIGHUP', ended),
  };
}

/** `only`: the run was the only one. A run whose agents did not stop in time has no result. */
async function codeOf(
  service: LocalProjectService,
  { session, finished }: RunState,
  only: { readonly io: Io; readonly signal: keyof typeof SIGNAL_WORDS | null } | null,
): Promise<number> {
  if (session !== null && session === service.attached()) return exitCodeOfEnd(finished);
  const run = service.current();
  if (run === null) return EXIT.done;
  const result = await Promise.race([run.result, world.sleep(PATIENCE_MS).then(() => null)]);
  if (result === null) return EXIT.agentFailed;
  return only === null ? exitCodeOf(result, null) : endCode(result, only.signal, run.controls.session, only.io);
}

// Where nobody types, a question of a run is printed together with the command that answers it.

/** A function to call after each event: prints once that the plan, or a question, waits for an answer. */
export function pendingPrinter(
  session: SessionId,
  { say, paint }: Pick<Io, 'say' | 'paint'>,
): (state: RunState) => void {
  const printed = new Set<string>();
  return ({ phase, approvals, agents }) => {
    const asked = approvals.map(({ id, agent, request }): [string, string] => {
      const found = agents.get(agent);
      const title = escapeHidden(request.title.replace(`${found?.role ?? ''}: `, ''));
      return [id, `${found === undefined ? agent : tag(found)} asks you: ${title}`];
    });
    if (phase === 'approving') asked.unshift(['plan', 'The plan waits for approval']);
    for (const [id, words] of asked) {
      if (!printed.has(id)) say(paint.yellow(`${words}; answer it in a terminal: mimir attach ${session}`));
      printed.add(id);
    }
  };
}
