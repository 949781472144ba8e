/**
 * Starts an agent of another program in the sandbox of its own tree. Beyond what commands there see, it gets its login folder to write, and a
 * socket that leads to the hosts of its provider: its programs find it as a proxy on the loopback of the sandbox.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fail, type Result } from '../../domain/result.ts';
import { isFolder } from '../paths/root.ts';
import { type Environment, programOn } from '../process/environment.ts';
import { startTalking, type TalkingProgram } from '../process/run-program.ts';
import { SANDBOX_HOME } from '../toolchains/toolchains.ts';
import type { Bind } from './mounts.ts';
import type { Sandbox } from './sandbox.ts';

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

interface Place {
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

/** Starts the program; a fault, in words, where that is not possible. */
export async function startForeign(place: Place, program: ForeignProgram): Promise<Result<TalkingProgram, string>> {
  const { environment, root, node } = place;
  const [name = '', ...args] = program.command;
  const file = foreignFile(environment, name);
  const bash = programOn(environment, 'bash');
  if (file === null || bash === null) return fail(`${file === null ? name : 'bash'} is not on the PATH`);
  const words =
    program.proxy === null ? [file, ...args] : [bash, '-c', WITH_RELAY, 'mimir', node, RELAY, file, ...args];
  const [first = file, ...rest] = words;
  const wrapped = await place.sandbox.wrap({
    box: 'read-write',
    file: first,
    args: rest,
    cwd: root,
    env: { ...environment, ...program.env, ...(program.proxy === null ? {} : PROXY_ENV) },
    agent: program.agent,
    own: { shown: shownTo(place, program), kept: loginOf(place, program) },
  });
  if (!wrapped.ok) return wrapped;
  const { file: bubblewrap, argv, env } = wrapped.value;
  const started = startTalking({ file: bubblewrap, args: argv, env, cwd: '/' });
  if (started.ok) void started.value.ended.then(() => wrapped.value.end());
  else await wrapped.value.end();
  return started;
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
