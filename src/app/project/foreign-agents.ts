/** Starts the agents of other programs for a run: each in its own tree, with a proxy to its provider. Loaded only where some are configured. */
import path from 'node:path';
import type { ForeignSetup, Loaded } from '../../config/index.ts';
import type { AgentId } from '../../domain/ids.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { AgentProcess, ForeignModels, Proxy } from '../../integrations/index.ts';
import { foreignModels, openProxy } from '../../integrations/index.ts';
import type { ProjectTools } from '../../tools/index.ts';
import { world } from '../process/index.ts';
import { foreignAgents } from '../workspace/foreign.ts';
import type { ProjectPlace } from '../workspace/index.ts';

export interface ForeignRun {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly startForeign: ProjectTools['startForeign'];
  readonly folder: (tree: string) => string;
  /** The own tree of an agent of the run; undefined where it has none. */
  readonly treeOf: (agent: AgentId) => string | undefined;
}

export function foreignFor(run: ForeignRun): ForeignModels {
  const { config } = run;
  const agents = foreignAgents(config);
  const asks = config.rules.foreignAgents?.value !== 'allow';
  return foreignModels({
    agents: agents.map(({ option, setup }) => ({ ...setup, option, asks, command: setup.command.join(' ') })),
    world,
    async start({ name }, agent) {
      const setup = agents.find((one) => one.setup.name === name)?.setup;
      const tree = run.treeOf(agent);
      if (setup === undefined || tree === undefined) return fail(`${name} works only in a tree of its own`);
      const started = await startIn(run, setup, { agent, tree });
      return started.ok ? ok({ process: started.value, cwd: run.folder(tree) }) : started;
    },
  });
}

async function startIn(
  { project, config, startForeign }: ForeignRun,
  { hosts, command, home, env: names }: ForeignSetup,
  { agent, tree }: { readonly agent: AgentId; readonly tree: string },
): Promise<Result<AgentProcess, string>> {
  const proxy = await proxyFor(project, hosts);
  if (!proxy.ok) return proxy;
  const env = Object.fromEntries(
    config.secrets.flatMap(({ name, value }) => (names.includes(name) ? [[name, value] as const] : [])),
  );
  const program = { command, agent, home, env, proxy: proxy.value?.socket ?? null };
  const started = await startForeign(tree, program);
  if (!started.ok) {
    proxy.value?.close();
    return started;
  }
  void started.value.ended.then(() => proxy.value?.close());
  return ok({
    ...started.value,
    errors: () => [started.value.errors(), refusedText(proxy.value?.refused() ?? [])].join('\n').trim(),
  });
}

/** Null for an agent that reaches no host. */
async function proxyFor({ places }: ProjectPlace, hosts: readonly string[]): Promise<Result<Proxy | null, string>> {
  if (hosts.length === 0) return ok(null);
  return openProxy(path.join(places.state, 'proxies', `${process.pid}.${world.name(8)}`), hosts);
}

const refusedText = (hosts: readonly string[]): string =>
  hosts.length === 0 ? '' : `it wanted to reach ${hosts.join(', ')}; agents.NAME.hosts lists what it may`;
