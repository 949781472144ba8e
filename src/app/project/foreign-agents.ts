/** Starts the agents of other programs for a run: each in its own tree, with a proxy to its provider. Loaded only where some are configured. */
import { closeSync, constants, openSync, readdirSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { type ForeignSetup, type Loaded, secondsMs } from '../../config/index.ts';
import { terminalOf } from '../../domain/digest.ts';
import type { AgentId, SessionId } from '../../domain/ids.ts';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import type { ForeignModels, Proxy, StartedAgent, TerminalSettings } from '../../integrations/index.ts';
import { COMPLETION_PHRASES, connectAgent, connectInTerminal, foreignModels } from '../../integrations/index.ts';
import { AgentSession, openProxy } from '../../integrations/index.ts';
import { childRules } from '../../policy/index.ts';
import { type ProjectTools, tryForeign } from '../../tools/index.ts';
import { ownProgram, world } from '../process/index.ts';
import { foreignAgents } from '../workspace/foreign.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import type { TriedSandbox } from '../workspace/sandbox.ts';
import type { TalkingProgram } from '../../ports/program.ts';

export interface ForeignRun {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly session: SessionId;
  readonly foreign: ProjectTools['foreign'];
  readonly folder: (tree: string) => string;
  /** The own tree of an agent of the run; undefined where it has none. */
  readonly treeOf: (agent: AgentId) => string | undefined;
}

export function foreignFor(run: ForeignRun): ForeignModels {
  const { config } = run;
  const agents = foreignAgents(config);
  const asks = config.rules.foreignAgents?.value !== 'allow';
  return foreignModels({
    agents: agents.map(({ option, setup: { name, command } }) => ({ name, option, asks, command: command.join(' ') })),
    world,
    async start({ name }, agent, isResumed) {
      const setup = agents.find((one) => one.setup.name === name)?.setup;
      const tree = run.treeOf(agent);
      if (setup === undefined || tree === undefined) return fail(`${name} works only in a tree of its own`);
      const proxy = await proxyFor(run.project.places, setup.hosts);
      if (!proxy.ok) return proxy;
      const started = await (setup.by === 'protocol' ? startIn : startInTerminal)(run, setup, {
        agent,
        tree,
        proxy: proxy.value,
        isResumed,
      });
      if (!started.ok) proxy.value?.close();
      return started;
    },
  });
}

/** How long an agent that is only asked what it is may take for each answer. */
const PATIENCE_MS = 10_000;

/** What an agent says of itself and its protocol when it is started as in a run, but in an empty folder and for no task. A fault, in words, where it
 * cannot be used. */
export async function askForeign(
  { root, places }: ProjectPlace,
  config: Loaded,
  { environment, paths }: TriedSandbox,
  setup: ForeignSetup,
): Promise<Result<string, string>> {
  const proxy = await proxyFor(places, setup.hosts);
  if (!proxy.ok) return proxy;
  const place = { root, home: places.home, stateDir: places.state, hide: [places.runtime], environment, paths };
  const program = programOf({ config }, setup, { agent: 'doctor', proxy: proxy.value });
  const tried = await tryForeign({ ...place, program: ownProgram() }, program);
  if (!tried.ok) {
    proxy.value?.close();
    return tried;
  }
  const of = { ...setup, ...tried.value, earlier: null, events: new AgentSession(world), world, patience: PATIENCE_MS };
  const opened = await connectAgent({ ...of, process: withProxy(tried.value.process, proxy.value) });
  if (!opened.ok) return opened;
  await opened.value.end();
  return ok(`(${opened.value.agent}), by the Agent Client Protocol, version ${opened.value.protocol}; opens a session`);
}

interface Start {
  readonly agent: AgentId;
  readonly tree: string;
  readonly proxy: Proxy | null;
  readonly isResumed: boolean;
}

async function startIn(run: ForeignRun, setup: ForeignSetup, start: Start): Promise<Result<StartedAgent, string>> {
  const started = await run.foreign.start(start.tree, programOf(run, setup, start));
  if (!started.ok) return started;
  const of = { ...setup, process: withProxy(started.value, start.proxy), cwd: run.folder(start.tree), world };
  return ok((events, earlier) => connectAgent({ ...of, events, earlier }));
}

async function startInTerminal(run: ForeignRun, setup: ForeignSetup, start: Start): ReturnType<typeof startIn> {
  const { project, config } = run;
  const session = terminalOf(run.session, start.agent);
  const cwd = run.folder(start.tree);
  const folder = setup.transcript === null ? null : path.join(project.places.home, setup.transcript);
  const written = start.isResumed ? transcriptsOf(folder, cwd, 0) : new Map<string, number>();
  const continues = written.size === 0 ? [] : setup.continues;
  const [file = '', ...args] = setup.command;
  const program = programOf(run, { ...setup, command: [file, ...continues, ...args] }, start);
  const started = await run.foreign.startInTerminal(start.tree, program, {
    session,
    folder: path.join(project.places.state, 'terminals', `${process.pid}.${world.name(8)}`),
    closes: config.preferences.childAgents?.cleanup?.closeTmuxSession === true,
  });
  if (!started.ok) return started;
  const terminal = {
    ...started.value,
    newLines: transcriptIn((since) => transcriptsOf(folder, cwd, since), written),
    errors: () => refusedText(start.proxy?.refused() ?? []),
    end: () => started.value.end().finally(() => start.proxy?.close()),
  };
  const settings = settingsIn(config);
  const of = { process: terminal, name: setup.name, settings, world, isLoaded: continues.length > 0 };
  return ok((events) => connectInTerminal({ ...of, events }));
}

function settingsIn({ preferences, rules }: Loaded): TerminalSettings {
  const { autoComplete: { detectCompletionPhrases, completionPatterns } = {}, progress = {} } =
    preferences.childAgents ?? {};
  return {
    complete: detectCompletionPhrases === false ? null : (completionPatterns ?? COMPLETION_PHRASES),
    idleAfter: childRules(rules).idleTimeout || Infinity,
    tokens: progress.enableTokenTracking !== false,
    tools: progress.enableToolTracking !== false,
    snapshotEvery: secondsMs(progress.snapshotInterval ?? 30),
  };
}

function programOf(
  { config }: Pick<ForeignRun, 'config'>,
  { command, home, env: names }: ForeignSetup,
  { agent, proxy }: Pick<Start, 'proxy'> & { readonly agent: string },
): Program {
  const env = Object.fromEntries(
    config.secrets.flatMap(({ name, value }) => (names.includes(name) ? [[name, value] as const] : [])),
  );
  return { command, agent, home, env, proxy: proxy?.socket ?? null };
}

type Program = Parameters<ProjectTools['foreign']['start']>[1];

/** The process, at whose end its proxy is closed. */
function withProxy(process: TalkingProgram, proxy: Proxy | null): TalkingProgram {
  void process.ended.then(() => proxy?.close());
  return { ...process, errors: () => [process.errors(), refusedText(proxy?.refused() ?? [])].join('\n').trim() };
}

type Sizes = ReadonlyMap<string, number>;

/** How many bytes of a transcript are read at once. */
const CHUNK = 1024 * 1024;
/** In so many bytes at its beginning a transcript names its folder. */
const HEAD = 256 * 1024;

/**
 * Reads what is added to the first of these files that is written from now on, behind what was `written` before. The agent itself writes there: what is
 * no file is left alone. */
function transcriptIn(files: (since: number) => Sizes, written: Sizes) {
  const begun = Date.now();
  let [file, at]: [string | null, number] = [null, 0];
  return () =>
    tried(() => {
      file ??= files(begun).keys().next().value ?? null;
      if (file === null) return [];
      at = Math.max(at, written.get(file) ?? 0);
      const bytes = read(file, at);
      const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
      at += whole.length;
      // A line that is longer than a chunk is skipped.
      if (whole.length === 0 && bytes.length === CHUNK) at += CHUNK;
      return whole
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '');
    }, []);
}

/** The sizes of the transcripts below `folder` that were written since then and name the folder in which an agent works. */
function transcriptsOf(folder: string | null, cwd: string, since: number): Sizes {
  const sizeOf = (file: string): readonly (readonly [string, number])[] => {
    const { mtimeMs, size } = statSync(file);
    const isOne = mtimeMs >= since && read(file, 0, HEAD).toString('utf8').includes(JSON.stringify(cwd));
    return isOne ? [[file, size]] : [];
  };
  return tried(() => new Map(filesBelow(folder ?? '').flatMap(sizeOf)), new Map<string, number>());
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && entry.name.endsWith('.jsonl') ? [path.join(entry.parentPath, entry.name)] : [],
  );

function read(file: string, from: number, most = CHUNK): Buffer {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(most);
    return bytes.subarray(0, readSync(handle, bytes, 0, most, from));
  } finally {
    closeSync(handle);
  }
}

/** Null for an agent that reaches no host. */
async function proxyFor(
  places: ProjectPlace['places'],
  hosts: readonly string[],
): Promise<Result<Proxy | null, string>> {
  if (hosts.length === 0) return ok(null);
  return openProxy(path.join(places.state, 'proxies', `${process.pid}.${world.name(8)}`), hosts);
}

const refusedText = (hosts: readonly string[]): string =>
  hosts.length === 0 ? '' : `it wanted to reach ${hosts.join(', ')}; agents.NAME.hosts lists what it may`;
