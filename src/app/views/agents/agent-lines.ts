/** Agents in the order of the screen, and the few words that several panes say about one. */
import type { ModelChoice } from '../../../domain/agents/agent.ts';
import { depthOf, fromMicro, parentOf, ROOT, toMicro } from '../../../domain/ids.ts';
import type { AgentId, Usd } from '../../../domain/ids.ts';
import { isFinal } from '../../../events/queries.ts';
import type { Spawned } from '../../../events/event.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import type { Todo } from '../../../domain/turn.ts';
import { ALIASES } from '../../../policy/aliases.ts';
import { counted } from '../text/format.ts';
import { toLabel } from '../text/sanitise.ts';

/** ROOT first, then its children in their order, each followed by its own children. */
export function inOrder(state: RunState): readonly AgentState[] {
  const known = ORDER.get(state.agents);
  if (known) return known;
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
  ORDER.set(state.agents, out);
  return out;
}

/** The order changes only with the map, and several panes ask for it in each frame. */
const ORDER = new WeakMap<RunState['agents'], readonly AgentState[]>();

/** An agent with all below it. */
export interface Subtree {
  /** How many are below it. */
  readonly below: number;
  /** Of all of them and of itself. */
  readonly cost: Usd;
  readonly priced: boolean;
}

/** What an agent and those below it come to; summed up once for each state of the agents. */
export function subtreeOf(state: RunState, agent: AgentState): Subtree {
  const known = SUBTREES.get(state.agents) ?? sumSubtrees(state);
  SUBTREES.set(state.agents, known);
  return known.get(agent.id) ?? { below: 0, cost: agent.cost, priced: agent.priced };
}

const SUBTREES = new WeakMap<RunState['agents'], ReadonlyMap<AgentId, Subtree>>();

/** Children stand behind their parents, so that from the end each is summed up before it is added. */
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

/** How far a card is indented: what the plan made stands at the edge, its sub-agents deeper. */
export const indentOf = (agent: AgentState): number => Math.max(0, depthOf(agent.id) - 1);

/** `#4`, `#4.1`; empty for ROOT. */
const numberOf = (agent: AgentId): string =>
  agent === ROOT ? '' : `#${agent.replace(/^ROOT::S/, '').replaceAll('::S', '.')}`;

/** `#1 finder`, as dependencies are written. */
export function labelOf(state: RunState, agent: AgentId): string {
  const found = state.agents.get(agent);
  return `${numberOf(agent)} ${found?.name ?? parentOf(agent) ?? ''}`.trim();
}

/** `you`, `finder 2`: who spawned a child. */
export const whoSpawned = ({ by }: Spawned, { agents }: RunState): string =>
  by === 'person' ? 'you' : toLabel(agents.get(by)?.name ?? by);

/** Why nobody reads a message to this agent any more, in words behind its name; null where somebody does. */
export function closedWords({ outcome, forced, call }: AgentState): string | null {
  if (outcome === null) return null;
  if (outcome === 'killed' || outcome === 'abandoned' || outcome === 'skipped')
    return `was ${outcome}, and reads no messages any more`;
  return forced !== null || call !== null ? 'has finished, and reads no messages any more' : null;
}

/** Its own list; of main, which writes none, the steps of the run: plan, the agents, the report. */
export function todosOf(state: RunState, agent: AgentState): readonly Todo[] {
  if (agent.id !== ROOT || agent.todos.length > 0 || state.plan === null) return agent.todos;
  const many = counted(state.plan.tasks.length, 'agent');
  const at = agent.outcome === 'completed' || agent.outcome === 'partial' ? 3 : STEPS[state.phase];
  return ['Plan', `Run ${many}`, 'Merge what they found'].map((description, index) => ({
    description,
    status: index < at ? 'completed' : index === at && agent.outcome === null ? 'active' : 'pending',
  }));
}

/** How many of main's steps are done in each phase; a run that ended before its report stays at the agents. */
const STEPS: Readonly<Record<RunState['phase'], number>> = {
  starting: 0,
  planning: 0,
  approving: 0,
  running: 1,
  merging: 2,
  finished: 1,
};

/** A model as people call it: by its short name where it has one, else without the provider and the date of its release. */
export const modelName = (model: string): string =>
  SHORT.get(undated(model)) ?? undated(model.slice(model.indexOf('/') + 1));

const undated = (model: string): string => model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');

/** The first alias of a model, whichever of its dated forms is named. */
const SHORT: ReadonlyMap<string, string> = new Map([...ALIASES].reverse().map(([alias, id]) => [undated(id), alias]));

/** The model that works, with the one asked for in front where they differ: `haiku-4.5 → offline`. */
export const modelText = (model: ModelChoice, glyphs: { readonly arrow: string }): string =>
  model.because === null
    ? modelName(model.asked)
    : `${modelName(model.asked)} ${glyphs.arrow} ${modelName(model.used)}`;

/** Calls of a model: the tries of one turn are one iteration, those that were lost come on top. */
export const callsOf = ({ iterations, lost }: AgentState): number => iterations + lost.calls;

/** True when it was skipped, or its turn has not come: it has no numbers. */
export const neverRan = (agent: AgentState): boolean => agent.firstRunAt === null && agent.iterations === 0;

/** True while it works, or waits in the midst of it. Whoever waits for a free slot does not. */
export const isAtWork = (agent: AgentState): boolean =>
  !isFinal(agent) && (agent.status === 'running' || agent.status === 'waiting');

/** True of what a person can interrupt: also of who waits for a free slot. */
export const isInterruptible = (agent: AgentState): boolean =>
  isAtWork(agent) || (!isFinal(agent) && agent.status === 'initializing');

/** True when a person should look: it asks, failed, or was interrupted. */
export const wantsAttention = (state: RunState, agent: AgentState): boolean =>
  agent.status === 'failed' ||
  agent.status === 'interrupted' ||
  state.approvals.some((approval) => approval.agent === agent.id);

/** Does anything work right now? */
export const someoneWorks = (state: RunState): boolean => [...state.agents.values()].some(isInterruptible);

/** True when no language model answers: every screen says so. */
export const isOffline = (provider: string): boolean => /^offline\b/i.test(provider);

/** True when commands run without a sandbox: every screen says so. */
export const isUnboxed = (sandbox: string): boolean => /^none\b/i.test(sandbox);
