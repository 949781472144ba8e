/**
 * Which agents the run screen lists and in which order: a filter, only those at work, an order, folded subtrees. What is left
 * out is hidden, never gone. Pure; a list is made once for each state of the agents.
 */
import type { AgentId } from '../../../../domain/ids.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { inOrder, isAtWork, modelName, wantsAttention } from '../../../../app/views/agents/agent-lines.ts';
import type { Editor } from '../../text/editor.ts';
import { editorText } from '../../text/editor.ts';

export const SORTS = ['start', 'status', 'cost', 'tokens'] as const;
export type Sort = (typeof SORTS)[number];

export interface ListUi {
  /** Words that all have to be in what is known of an agent; empty shows all. */
  readonly filter: string;
  /** The field while the filter is typed. */
  readonly field: Editor | null;
  /** Only agents at work. */
  readonly only: boolean;
  readonly sort: Sort;
  /** Agents whose sub-agents are not listed. */
  readonly folded: ReadonlySet<AgentId>;
}

export const WHOLE: ListUi = { filter: '', field: null, only: false, sort: 'start', folded: new Set() };

/** What is looked for right now: what stands in the field, or was taken from it. */
export const filterOf = ({ filter, field }: ListUi): string =>
  (field === null ? filter : editorText(field).replaceAll('\n', ' ')).trim();

/** The agents that are listed, in their order. */
export function listed(list: ListUi, state: RunState): readonly AgentState[] {
  const known = KNOWN.get(state.agents);
  if (known?.list === list) return known.agents;
  const agents = made(list, state);
  KNOWN.set(state.agents, { list, agents });
  return agents;
}

/** The map is another one after each change of an agent, and several panes ask in each frame. */
const KNOWN = new WeakMap<RunState['agents'], { readonly list: ListUi; readonly agents: readonly AgentState[] }>();

/** How many a filter or a fold keeps from sight. */
export const hiddenBy = (list: ListUi, state: RunState): number => state.agents.size - listed(list, state).length;

function made(list: ListUi, state: RunState): readonly AgentState[] {
  const words = filterOf(list).toLowerCase().split(/\s+/).filter(Boolean);
  const all = inOrder(state);
  const shown = all.filter(
    (agent) =>
      !isFolded(agent, list.folded, state) &&
      (!list.only || isAtWork(agent)) &&
      (words.length === 0 || matches(agent, words)),
  );
  return list.sort === 'start' ? shown : shown.toSorted(ORDERS[list.sort](state));
}

function isFolded(agent: AgentState, folded: ReadonlySet<AgentId>, { agents }: RunState): boolean {
  if (folded.size === 0) return false;
  for (let parent = agent.parent; parent !== null; parent = agents.get(parent)?.parent ?? null)
    if (folded.has(parent)) return true;
  return false;
}

function matches(agent: AgentState, words: readonly string[]): boolean {
  const text = TEXTS.get(agent) ?? textOf(agent);
  TEXTS.set(agent, text);
  return words.every((word) => text.includes(word));
}

/** An agent never changes in place: of thousands only those are put into words again to which something happened. */
const TEXTS = new WeakMap<AgentState, string>();

const textOf = ({ name, role, model, status, outcome, task, id }: AgentState): string =>
  [name, role, model.asked, modelName(model.used), status, outcome ?? '', id, task].join(' ').toLowerCase();

type Order = (state: RunState) => (a: AgentState, b: AgentState) => number;

const ORDERS: Readonly<Record<Exclude<Sort, 'start'>, Order>> = {
  cost: () => (a, b) => b.cost - a.cost,
  tokens: () => (a, b) => tokensOfAgent(b) - tokensOfAgent(a),
  status: (state) => {
    const asking = new Set(state.approvals.map(({ agent }) => agent));
    const rank = (agent: AgentState): number =>
      asking.has(agent.id) || wantsAttention(state, agent) ? 0 : isAtWork(agent) ? 1 : agent.outcome === null ? 2 : 3;
    const ranks = new Map(inOrder(state).map((agent) => [agent.id, rank(agent)]));
    return (a, b) => (ranks.get(a.id) ?? 0) - (ranks.get(b.id) ?? 0);
  },
};

/** `3 of 12, "test", by cost`; empty when all are listed as they come. */
export function listWords(list: ListUi, state: RunState): string {
  const filter = filterOf(list);
  const hidden = hiddenBy(list, state);
  const parts = [
    hidden === 0 && filter === '' && !list.only ? '' : `${state.agents.size - hidden} of ${state.agents.size}`,
    filter === '' ? '' : `"${filter}"`,
    list.only ? 'at work' : '',
    list.sort === 'start' ? '' : `by ${list.sort}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The list with the subtree of an agent folded, or unfolded again. */
export function withFold(list: ListUi, agent: AgentId): ListUi {
  const folded = new Set(list.folded);
  if (!folded.delete(agent)) folded.add(agent);
  return { ...list, folded };
}
