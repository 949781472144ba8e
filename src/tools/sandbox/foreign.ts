/** Starts an agent of another program in the sandbox of its own tree. Beyond what commands there see, it gets its login folder to write, and a
 * socket that leads to the hosts of its provider: its programs find it as a proxy on the loopback of the sandbox. */
import { closeSync, constants, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import { headOf } from '../../domain/text/text.ts';
import { checkRoot, isFolder } from '../paths/root.ts';
import { type Environment, ownVariables, programOn, quoted } from '../process/environment.ts';
import { runBriefly, startedByAnother, startTalking } from '../process/run-program.ts';
import type { TalkingProgram, TerminalProgram } from '../../ports/program.ts';
import { SANDBOX_HOME } from '../toolchains/toolchains.ts';
import type { Bind } from './mounts.ts';
import { openSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';

export interface ForeignProgram {
  /** The program's name, which is looked for on the PATH, or its absolute path; and its arguments. */
  readonly command: readonly string[];
  readonly agent: string;
  /** Places of the person's home that it may write, relative to it. Those that do not exist are left out. */
  readonly home: readonly string[];
  /** Variables in addition to those of all commands. */
  readonly env: Environment;
  /** The socket of a proxy; null for an agent that reaches nothing. */
  readonly proxy: string | null;
}

export interface Place {
  readonly sandbox: Sandbox;
  readonly environment: Environment;
  readonly home: string;
  /** The root of the agent's tree. */
  readonly root: string;
  /** A Node that can be shown in the sandbox. */
  readonly node: string;
}

const PROXY = path.join(SANDBOX_HOME, '.mimir-proxy');
const READY = path.join(SANDBOX_HOME, '.mimir-proxy-ready');
const PORT = 3128;

/** Passes connections to the port on to the socket. Runs in the sandbox. */
const RELAY = `import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
createServer((from) => {
  const to = connect('${PROXY}');
  for (const one of [from, to]) one.on('error', () => { from.destroy(); to.destroy(); });
  from.pipe(to); to.pipe(from);
}).listen(${PORT}, '127.0.0.1', () => writeFileSync('${READY}', ''));`;

const WITH_RELAY = `"$1" --input-type=module -e "$2" </dev/null >/dev/null 2>&1 &
until [ -e '${READY}' ] || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
shift 2; exec "$@"`;

const PROXY_ENV: Environment = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, `http://127.0.0.1:${PORT}`]),
);

/** The absolute path of a program by name or path, or null. */
export const foreignFile = (environment: Environment, name: string): string | null =>
  path.isAbsolute(name) ? (existsSync(name) ? name : null) : programOn(environment, name);

/** What a program says of its version: the first line with a number in it that it prints for `--version`; null where it prints none. */
export async function foreignVersion(environment: Environment, name: string): Promise<string | null> {
  const file = foreignFile(environment, name);
  if (file === null) return null;
  const printed = await runBriefly({ file, args: ['--version'], cwd: '/', env: environment }, VERSION_MS);
  const lines = printed.ok ? printed.value.split('\n') : [];
  return headOf(lines.find((line) => /\d+\.\d+/.test(line))?.trim() ?? '', 100) || null;
}

const VERSION_MS = 3000;

/** Starts the program; a fault, in words, where that is not possible. */
export async function startForeign(place: Place, program: ForeignProgram): Promise<Result<TalkingProgram, string>> {
  const wrapped = await wrap(place, program, {});
  if (!wrapped.ok) return wrapped;
  const { file, argv, env } = wrapped.value;
  const started = startTalking({ file, args: argv, env, cwd: '/' });
  if (started.ok) void started.value.ended.then(() => wrapped.value.end());
  else await wrapped.value.end();
  return started;
}

/** Starts the program in an empty folder, in the sandbox of a tree of the project. At its end the folder goes. */
export async function tryForeign(
  options: SandboxOptions & Required<Pick<SandboxOptions, 'environment' | 'program'>>,
  program: ForeignProgram,
): Promise<Result<{ readonly process: TalkingProgram; readonly cwd: string }, string>> {
  const of = checkRoot(options.root, { home: options.home, state: options.stateDir, rules: options.paths });
  if (!of.ok) return of;
  const root = mkdtempSync(path.join(tmpdir(), 'mimir-doctor-'));
  const sandbox = await openSandbox({ ...options, root, tree: { of: of.value, objects: [] } });
  const started = await startForeign({ ...options, sandbox, root, node: options.program.node }, program);
  const over = async (): Promise<void> => {
    await sandbox.ended(program.agent);
    rmSync(root, { recursive: true, force: true });
  };
  if (started.ok) return ok({ process: { ...started.value, end: () => started.value.end().then(over) }, cwd: root });
  await over();
  return started;
}

async function wrap(place: Place, program: ForeignProgram, more: Environment): ReturnType<Sandbox['wrap']> {
  const { environment, root, node } = place;
  const [name = '', ...args] = program.command;
  const file = foreignFile(environment, name);
  const bash = programOn(environment, 'bash');
  if (file === null || bash === null) return fail(`${file === null ? name : 'bash'} is not on the PATH`);
  const words =
    program.proxy === null ? [file, ...args] : [bash, '-c', WITH_RELAY, 'mimir', node, RELAY, file, ...args];
  const [first = file, ...rest] = words;
  return place.sandbox.wrap({
    box: 'read-write',
    file: first,
    args: rest,
    cwd: root,
    env: { ...environment, ...program.env, ...(program.proxy === null ? {} : PROXY_ENV), ...more },
    agent: program.agent,
    own: { shown: shownTo(place, program), kept: loginOf(place, program) },
  });
}

/** A session of tmux on Mimir's own server. */
export interface TerminalPlace {
  readonly session: string;
  /** A private folder for its script and its exit code, which is made and removed. */
  readonly folder: string;
  /** Whether the terminal is closed with the program; otherwise it stays to be looked at. */
  readonly closes: boolean;
}

/** What screens are drawn for. */
const TERM = 'screen-256color';
/** How long the script may take to start. */
const START_MS = 10_000;

/** Starts the program in a session of tmux. tmux runs outside of the sandbox, because a person's client obeys its server; what it starts is in the
 * sandbox. Without a client in control mode: tmux 3.3 crashes where several of them begin at once. */
export async function startInTerminal(
  place: Place,
  program: ForeignProgram,
  terminal: TerminalPlace,
): Promise<Result<TerminalProgram, string>> {
  const { session, folder, closes } = terminal;
  const [tmux, env] = [programOn(place.environment, 'tmux'), programOn(place.environment, 'env')];
  if (tmux === null || env === null) return fail(`${tmux === null ? 'tmux' : 'env'} is not on the PATH`);
  const wrapped = await wrap(place, program, { TERM });
  if (!wrapped.ok) return wrapped;
  const marked = startedByAnother();
  const { script, code, alive } = writeScript(folder, wrapped.value, marked.env);
  const run: TerminalProgram['tmux'] = (args, input = '') =>
    runBriefly({
      file: tmux,
      args: ['-u', '-L', 'mimir', '-f', '/dev/null', ...args],
      cwd: '/',
      env: { ...place.environment, ...ownVariables(['TMUX_TMPDIR']) },
      input,
    });
  const close = async (held: number | null): Promise<void> => {
    await marked.end();
    if (held !== null) closeSync(held);
    if (closes) await run(['kill-session', '-t', `=${session}`]);
    rmSync(folder, { recursive: true, force: true });
    await wrapped.value.end();
  };
  // Left by an earlier attempt.
  await run(['kill-session', '-t', `=${session}`]);
  const shell = `exec ${quoted(env)} -i /bin/sh ${quoted(script)}`;
  const stays = ['set-option', '-g', 'remain-on-exit', 'on', ';'];
  const started = await startPatiently(() =>
    run([...stays, 'new-session', '-d', '-s', session, '-x', '120', '-y', '50', shell]),
  );
  const held = started.ok ? await hold(alive) : null;
  if (held === null) {
    await close(null);
    return fail(`tmux did not start it${started.ok ? '' : `: ${started.fault.trim()}`}`);
  }
  let ending: Promise<void> | null = null;
  return ok({ session, tmux: run, exitCode: () => exitIn(code), end: () => (ending ??= close(held)) });
}

/** The server ends with its last session, perhaps in the moment of the start; the next start makes a new one. */
async function startPatiently(start: () => Promise<Result<string, string>>): Promise<Result<string, string>> {
  for (let tries = 1; ; tries += 1) {
    const started = await start();
    if (started.ok || tries === STARTS || !IS_ENDING.test(started.fault)) return started;
    await new Promise((again) => setTimeout(again, AGAIN_MS));
  }
}

const IS_ENDING = /server exited|lost server|no server running/;
const STARTS = 5;
const AGAIN_MS = 100;

/** The script that the terminal runs. It ends what it has started when nobody holds the pipe `alive` open for writing any more: with the process of
 * Mimir. Variables stand in it, since the arguments of a process can be read by others. */
function writeScript(
  folder: string,
  { file, argv, env }: { readonly file: string; readonly argv: readonly string[]; readonly env: Environment },
  mark: Environment,
): Readonly<Record<'script' | 'code' | 'alive', string>> {
  const [script, code, alive] = [path.join(folder, 'start.sh'), path.join(folder, 'exit'), path.join(folder, 'alive')];
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lines = [
    ...Object.entries({ ...env, ...mark }).map(([name, value]) => `export ${name}=${quoted(value)}`),
    `rm -f ${quoted(script)}; mkfifo -m 600 ${quoted(alive)} || exit`,
    `{ read -r _ <${quoted(alive)}; kill -9 0; } &`,
    `${[file, ...argv].map(quoted).join(' ')} 3>/dev/null`,
    `echo $? >${quoted(code)}`,
  ];
  writeFileSync(script, lines.join('\n'), { mode: 0o600, flag: 'wx' });
  return { script, code, alive };
}

/** Opens the pipe for writing, once its reader is there; null if that does not come. */
async function hold(pipe: string): Promise<number | null> {
  for (const end = performance.now() + START_MS; performance.now() < end; await pause(10)) {
    const held = tried(() => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK), null);
    if (held !== null) return held;
  }
  return null;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function exitIn(file: string): number | null {
  const text = tried(() => readFileSync(file, 'utf8').trim(), '');
  return text === '' ? null : Number(text);
}

const loginOf = ({ home }: Place, program: ForeignProgram): readonly Bind[] =>
  program.home.flatMap((part): readonly Bind[] => {
    const from = path.join(home, part);
    return existsSync(from) ? [[from, path.join(SANDBOX_HOME, part)]] : [];
  });

const shownTo = (place: Place, { proxy }: ForeignProgram): readonly Bind[] =>
  proxy === null ? [] : [[proxy, PROXY], ...nodeBind(place)];

/** Node may lie in a folder that the sandbox covers. */
const nodeBind = ({ home, node }: Place): readonly Bind[] =>
  [home, '/tmp', '/run', '/mnt'].some((hidden) => isFolder(hidden) && node.startsWith(`${hidden}/`))
    ? [[node, node]]
    : [];
