/** The order of agents on the screen, sums over an agent's descendants, and short texts and predicates about one agent that several panes need. */
import type { ModelChoice } from '../../../domain/agents/agent.ts';
import { type AgentId, depthOf, fromMicro, parentOf, ROOT, toMicro, type Usd } from '../../../domain/ids.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { Todo } from '../../../domain/turn.ts';
import { type AgentState, isInterruptible, type RunState, type Spawned, tokensOfAgent } from '../../../events/index.ts';
import { ALIASES } from '../../../policy/index.ts';
import { plural, formatTokens } from '../text/format.ts';
import { toLabel } from '../text/sanitise.ts';

/** All agents: ROOT first, then its children in order, each followed by its own children. */
export const inOrder = memoize(({ agents }: RunState) => [agents], makeOrder);

function makeOrder(state: RunState): readonly AgentState[] {
  const out: AgentState[] = [];
  const visit = (agent: AgentState): void => {
    out.push(agent);
    for (const child of agent.children) {
      const found = state.agents.get(child);
      if (found) visit(found);
    }
  };
  for (const agent of state.agents.values()) {
    if (agent.parent === null || !state.agents.has(agent.parent)) visit(agent);
  }
  return out;
}

/** Sums over an agent and its descendants. */
export interface Subtree {
  readonly below: number;
  /** The cost of the agent and its descendants, in US dollars. */
  readonly cost: Usd;
  readonly priced: boolean;
}

/** The sums of an agent and its descendants. */
export const subtreeOf = (state: RunState, { id, cost, priced }: AgentState): Subtree =>
  subtrees(state).get(id) ?? { below: 0, cost, priced };

const subtrees = memoize(({ agents }: RunState) => [agents], sumSubtrees);

/** Parents precede children in `inOrder`, so that the reverse order visits each child before its parent. */
function sumSubtrees(state: RunState): ReadonlyMap<AgentId, Subtree> {
  const sums = new Map<AgentId, { below: number; micro: number; priced: boolean }>();
  for (const { id, parent, cost, priced } of inOrder(state).toReversed()) {
    const own = sums.get(id) ?? { below: 0, micro: 0, priced: true };
    own.micro += toMicro(cost);
    own.priced &&= priced;
    sums.set(id, own);
    if (parent === null) continue;
    const above = sums.get(parent) ?? { below: 0, micro: 0, priced: true };
    above.below += own.below + 1;
    above.micro += own.micro;
    above.priced &&= own.priced;
    sums.set(parent, above);
  }
  return new Map([...sums].map(([id, { below, micro, priced }]) => [id, { below, cost: fromMicro(micro), priced }]));
}

/** The indentation of an agent's card: 0 for tasks of the plan, 1 for their children, and so on. */
export const indentOf = (agent: AgentState): number => Math.max(0, depthOf(agent.id) - 1);

/** The number by which a person names an agent, the same while the run lasts: `4`, its first child `4.1`; 0 for main. */
export const agentNumber = (agent: AgentId): string =>
  agent === ROOT ? '0' : agent.replace(/^ROOT::S/, '').replaceAll('::S', '.');

/** Number and name: `#1 finder`; for main only its name. */
export function labelOf(state: RunState, agent: AgentId): string {
  const name = state.agents.get(agent)?.name ?? parentOf(agent) ?? '';
  return agent === ROOT ? name : `#${agentNumber(agent)} ${name}`;
}

/** The name of the agent that spawned a child, or `you`. */
export const spawnerName = ({ by }: Spawned, { agents }: RunState): string =>
  by === 'person' ? 'you' : toLabel(agents.get(by)?.name ?? by);

/** Why the agent reads no more messages, as a predicate after its name; null if it does. */
export function closedReason({ outcome, forced, call }: AgentState): string | null {
  if (outcome === null) return null;
  if (outcome === 'killed' || outcome === 'abandoned' || outcome === 'skipped')
    return `was ${outcome} and no longer reads messages`;
  return forced !== null || call !== null ? 'has finished and no longer reads messages' : null;
}

/** The agent's todo list; for main, which keeps none, the steps of the run: plan, run, merge. */
export function todosOf(state: RunState, agent: AgentState): readonly Todo[] {
  if (agent.id !== ROOT || agent.todos.length > 0 || state.plan === null) return agent.todos;
  const many = plural(state.plan.tasks.length, 'agent');
  const at = agent.outcome === 'completed' || agent.outcome === 'partial' ? 3 : STEPS[state.phase];
  return ['Plan', `Run ${many}`, 'Merge results'].map((description, index) => ({
    description,
    status: index < at ? 'completed' : index === at && agent.outcome === null ? 'active' : 'pending',
  }));
}

/** The number of main's steps that are done in each phase. A run that ended before its report stays at the second. */
const STEPS: Readonly<Record<RunState['phase'], number>> = {
  starting: 0,
  planning: 0,
  approving: 0,
  running: 1,
  merging: 2,
  finished: 1,
};

/** The short name of a model: its alias, otherwise its id without provider and release date. */
export const modelName = (model: string): string =>
  SHORT.get(undated(model)) ?? undated(model.slice(model.indexOf('/') + 1));

const undated = (model: string): string => model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');

/** The first alias of each model, by the id without a date. */
const SHORT: ReadonlyMap<string, string> = new Map([...ALIASES].reverse().map(([alias, id]) => [undated(id), alias]));

/** The model in use, after the requested one if they differ: `haiku-4.5 → offline`. */
export const modelText = (model: ModelChoice, glyphs: { readonly arrow: string }): string =>
  model.because === null
    ? modelName(model.asked)
    : `${modelName(model.asked)} ${glyphs.arrow} ${modelName(model.used)}`;

/** The number of model calls: the iterations and the attempts that failed. */
export const callsOf = ({ iterations, lost }: AgentState): number => iterations + lost.calls;

/** True if the agent was skipped or has not started yet, so that it has no figures. */
export const neverRan = (agent: AgentState): boolean => agent.firstRunAt === null && agent.iterations === 0;

/** True if the run was stopped before the agent started. A resume queues it again, so it is shown as queued. */
export const isStoppedInQueue = ({ status, outcome, endedBy, firstRunAt }: AgentState): boolean =>
  status === 'interrupted' && outcome === null && endedBy?.is === 'run' && firstRunAt === null;

/** True if the agent asks, failed or was interrupted. */
export const wantsAttention = (state: RunState, agent: AgentState): boolean =>
  agent.status === 'failed' ||
  (agent.status === 'interrupted' && !isStoppedInQueue(agent)) ||
  state.approvals.some((approval) => approval.agent === agent.id);

/** True if any agent can be interrupted. */
export const hasRunningAgent = (state: RunState): boolean => [...state.agents.values()].some(isInterruptible);

/** True if the offline analyst answers instead of a language model. Every screen shows this. */
export const isOffline = (provider: string): boolean => /^offline\b/i.test(provider);

/** True if commands run without a sandbox. Every screen shows this. */
export const isUnsandboxed = (sandbox: string): boolean => /^none\b/i.test(sandbox);

/** How little its parent received: `child used 12.4k tokens, parent grew by 380 (counted)`; null unless a call returned. */
export function isolationText(child: AgentState, state: RunState): string | null {
  const grew = contextGrowth(child, state);
  return grew === null ? null : `child used ${formatTokens(tokensOfAgent(child))} tokens, parent grew by ${grew}`;
}

function contextGrowth({ call, parent }: AgentState, { agents }: RunState): string | null {
  const returned = parent === null ? undefined : agents.get(parent)?.returns?.find((one) => one.call === call);
  if (returned === undefined) return null;
  const many = formatTokens(returned.tokens);
  return returned.by === 'provider' ? `${many} (counted)` : `about ${many} (estimated)`;
}
