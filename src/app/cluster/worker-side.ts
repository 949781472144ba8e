/** What a worker does for the agents of others: calls its own models, and uses tools in trees that it keeps for them, under its own rules. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Loaded, MANAGED_ROOT, managedMark } from '../../config/index.ts';
import type { PerformedStep, Performer, SharedStore, TreeAt, TreeState } from '../../distributed/index.ts';
import { CAPABILITIES } from '../../domain/agents/role.ts';
import { reasonText } from '../../domain/reason.ts';
import { messageOf, type Result } from '../../domain/result.ts';
import { type OpenModels, publishedOf } from '../../models/index.ts';
import { fixedAtStart, meet, modelProblem, type Rules } from '../../policy/index.ts';
import { decide } from '../../policy/decide.ts';
import type { Tool, ToolContext, ToolHost } from '../../ports/tool.ts';
import { placeProject, toolEnvironment } from '../../tools/index.ts';
import { world } from '../process/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import { portOf } from '../workspace/model-port.ts';
import { openProjectTools, type ProjectTools, trySandbox } from '../workspace/sandbox.ts';
import { Parts, Place, StepBody } from './body.ts';

export interface WorkerPlace {
  /** For its own settings; no project of anybody. */
  readonly project: ProjectPlace;
  /** Asked before each step. Rejects where they cannot be read, which refuses the step. */
  readonly settings: () => Promise<Settings>;
  /** The folder of what it keeps for agents. */
  readonly folder: string;
}

/** What a worker may do, and the models that it can call. */
interface Settings {
  readonly config: Loaded;
  readonly models: OpenModels;
}

/** The settings of a worker, by `read`; again where one of its files has changed since, and until they can be read. */
export function openSettings(
  { places, managed }: Pick<Loaded, 'places' | 'managed'>,
  read: () => Loaded,
  say: (line: string) => void,
): WorkerPlace['settings'] {
  const files = new Set([path.join(places.config, 'config.yml'), ...managed.map(({ shown }) => shown)]);
  let mark = '';
  let current: Promise<Settings>;
  const anew = async (): Promise<Settings> => {
    try {
      const config = read();
      for (const { shown } of config.managed) files.add(shown);
      const models = portOf(config, await publishedOf(config.providers, world.now()), 'none');
      say('has read its configuration');
      return { config, models };
    } catch (error) {
      mark = '';
      const because = `its configuration cannot be read: ${messageOf(error)}`;
      say(`refuses steps: ${because}`);
      throw new Error(`denied on the worker: ${because}`, { cause: error });
    }
  };
  return () => {
    // From before the reading, so that a change during it is seen.
    const seen = managedMark(MANAGED_ROOT, [...files]);
    if (seen !== mark) {
      mark = seen;
      current = anew();
    }
    return current;
  };
}

/** The tree of an agent here. */
interface OpenAgent {
  readonly tools: ProjectTools;
  readonly base: string;
  readonly content: string;
}

/** The same with its state, which is known as soon as it is being made: steps that begin at the same time share it. */
interface AgentTree {
  at: TreeAt;
  /** The rules of the sandbox in which its tools were opened. */
  readonly fixed: string;
  readonly folder: string;
  readonly opened: Promise<OpenAgent>;
}

/** Making a tree and looking at it are not stopped: a tree that is half made could not be used. */
const { signal: unending } = new AbortController();

/** The name of the only tree of each project here. */
const TREE = 'agent';

export function openPerformer(worker: WorkerPlace, store: SharedStore): Performer {
  const open = new Map<string, AgentTree>();
  let made = 0;
  /** The agent's tree in the state in which the step begins, made anew where another worker has changed it meanwhile. */
  const treeFor = ({ workflow, parts }: PerformedStep, at: TreeAt, { rules }: Settings['config']): AgentTree => {
    const known = open.get(workflow);
    const fixed = fixedAtStart(rules);
    if (known?.at.chain === at.chain && known.at.n === at.n && known.fixed === fixed) return known;
    ended(workflow);
    // Never again in the same folder: what worked in the other may not have ended yet.
    const folder = path.join(worker.folder, `${(made += 1)}`);
    const tree = { at, fixed, folder, opened: openAgent(worker.project, rules, store, folder, parts, at) };
    open.set(workflow, tree);
    tree.opened.catch(() => (open.get(workflow) === tree ? ended(workflow) : undefined));
    return tree;
  };
  /** In the background: a large tree takes long, and the lease has to be renewed meanwhile. */
  const ended = (workflow: string): void => {
    const folder = open.get(workflow)?.folder;
    open.delete(workflow);
    if (folder !== undefined) void rm(folder, { recursive: true, force: true }).catch(() => undefined);
  };
  return {
    async perform(step, signal, onLive) {
      const body = StepBody.parse(JSON.parse(step.body));
      const settings = await worker.settings();
      if (body.is === 'model')
        return { output: JSON.stringify(await callModel(settings, body, step.parts, signal, onLive)) };
      if (step.tree === undefined) throw new Error('the step names no tree');
      const tree = treeFor(step, step.tree, settings.config);
      return useTool(settings, store, tree, body, signal, onLive);
    },
    ended,
  };
}

function callModel(
  { models, config }: Settings,
  { request }: Extract<StepBody, { is: 'model' }>,
  [system, tools, ...turns]: readonly Buffer[],
  signal: AbortSignal,
  onLive: (text: string) => void,
): ReturnType<OpenModels['call']> {
  const problem = modelProblem(request.model, config.rules);
  if (problem !== null) throw new Error(`the worker may not use ${request.model}: ${reasonText(problem)}`);
  const read = (part: Buffer | undefined): unknown => JSON.parse(String(part ?? 'null'));
  const sent = Parts.parse({ system: read(system), tools: read(tools), turns: turns.map(read) });
  return models.call({ ...request, ...sent }, signal, (delta) => {
    if (delta.is === 'text') onLive(delta.text);
  });
}

function given<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Error(result.fault);
  return result.value;
}

async function openAgent(
  project: ProjectPlace,
  rules: Rules,
  store: SharedStore,
  folder: string,
  parts: PerformedStep['parts'],
  at: TreeAt,
): Promise<OpenAgent> {
  const { packed, packs, closed } = Place.parse(JSON.parse(String(parts[0])));
  const later = at.n === 0 ? [] : await store.trees(at.chain, 0, at.n);
  const content = await store.read([...packs, ...later.map(({ pack }) => pack)]);
  const place: ProjectPlace = {
    root: path.join(folder, 'project'),
    places: { ...project.places, state: path.join(folder, 'state'), runtime: path.join(folder, 'run') },
  };
  const environment = toolEnvironment(place.root);
  given(await placeProject(place.root, place.places.state, environment, { ...packed, packs: content }, unending));
  const both = closed && meet(rules, { ...rules, box: { passthrough: [], ...rules.box, ...closed } });
  const tools = openProjectTools(place, await trySandbox(place, both ?? rules));
  const from = { of: TREE, ours: packed.base, content: `${at.commit ?? packed.content}^{tree}` };
  const { base } = given(await tools.workspaces.make(TREE, unending, from));
  return { tools, base, content: packed.content };
}

async function useTool(
  { config }: Settings,
  store: SharedStore,
  tree: AgentTree,
  { tool: name, input, context }: Extract<StepBody, { is: 'tool' }>,
  signal: AbortSignal,
  onLive: (text: string) => void,
): Promise<{ readonly output: string; readonly tree?: TreeState }> {
  const one = await tree.opened;
  const tool = one.tools.tools.tools.find((known) => known.name === name);
  if (tool === undefined) throw new Error(`the worker has no tool ${name}`);
  const parsed = tool.input.parse(input);
  const denied = denialOf(config, tool, parsed, context);
  if (denied !== null) throw new Error(`denied on the worker: ${denied}`);
  const { transport } = one.tools;
  const output = await tool.run(parsed, { ...context, workspace: TREE, signal, toolHost: NO_HOST, onOutput: onLive });
  // Also after a stop: what it did until then counts.
  if (tool.repeat === 'safe') return { output: JSON.stringify(output) };
  const before = tree.at;
  const step = await transport.stepSince(TREE, one.base, before.commit ?? one.content, unending);
  // It has run: that must not count as refused.
  if (!step.ok)
    return {
      output: JSON.stringify({ ok: false, text: `${output.text}\n\nIts changes cannot be sent: ${step.fault}` }),
    };
  if (step.value === null) return { output: JSON.stringify(output) };
  const { commit, pack } = step.value;
  const kept = await store.keep(pack);
  tree.at = { chain: before.chain, n: before.n + 1, commit };
  return { output: JSON.stringify(output), tree: { n: tree.at.n, commit, pack: kept } };
}

/** Why the worker's own rules deny the call, in words; null if they do not. Where they would ask, the run has asked. */
function denialOf(
  { rules }: Pick<Loaded, 'rules'>,
  tool: Tool,
  input: unknown,
  context: Pick<ToolContext, 'sandbox'>,
): string | null {
  const { capability } = tool;
  // Outside of it a command needs an approval, and one that the run says to have is none of the worker's.
  if (capability === 'shell' && context.sandbox !== 'read-only' && context.sandbox !== 'read-write')
    return 'commands run only in its sandbox';
  const command = capability === 'shell' ? { command: tool.label(input) } : {};
  const decision = decide({ is: 'tool', tool: tool.name, capability, ...command }, rules, {
    mode: rules.maxMode.value,
    interactive: true,
    sandbox: context.sandbox,
    capabilities: CAPABILITIES,
    answered: true,
  });
  return decision.verdict === 'deny' ? reasonText(decision.because) : null;
}

const elsewhere = { ok: false, text: 'not on a worker' };
const NO_HOST: ToolHost = {
  setTodos: () => elsewhere,
  sendMessage: () => elsewhere,
  readFinding: () => elsewhere,
  spawn: () => Promise.resolve(elsewhere),
  askUser: () => Promise.resolve(elsewhere),
  giveVerdict: () => elsewhere,
};
