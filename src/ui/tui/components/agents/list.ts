/** The agents that the run screen lists, in their order. Pure; a list is made once for each state of the agents. */
import { inOrder, modelName, shownStatus, wantsAttention } from '../../../../app/views/index.ts';
import { type AgentId, ROOT } from '../../../../domain/ids.ts';
import { memoize } from '../../../../domain/memoize.ts';
import { type AgentState, isAtWork, type RunState, tokensOfAgent } from '../../../../events/index.ts';
import { type Editor, editorText } from '../../text/editor.ts';

/** `auto`: in the order of their start; more than `FEW` agents by status, with the queued ones in one row. */
export const SORTS = ['auto', 'status', 'cost', 'tokens', 'start'] as const;
export type Sort = (typeof SORTS)[number];

export interface ListUi {
  /** Words that must all occur in the texts of an agent; empty shows all. */
  readonly filter: string;
  /** The field while the filter is typed; null otherwise. */
  readonly field: Editor | null;
  readonly only: boolean;
  readonly sort: Sort;
  /** Agents whose sub-agents are not listed. */
  readonly folded: ReadonlySet<AgentId>;
  /** Queued agents have rows of their own, whatever their number. */
  readonly queue: boolean;
}

export const WHOLE: ListUi = { filter: '', field: null, only: false, sort: 'auto', folded: new Set(), queue: false };

/** Most agents beside main that are listed in the order of their start, without folding the queue. */
export const FEW = 8;

/** The text of the filter: that of the field while it is typed, else the kept one. */
export const filterOf = ({ filter, field }: ListUi): string =>
  (field === null ? filter : editorText(field).replaceAll('\n', ' ')).trim();

/** The agents that are listed, in their order. */
export const listed = memoize((list: ListUi, { agents }: RunState) => [agents, list], makeList);

/** Queued agents that share one row, that of the first of them; empty where they have rows of their own. */
export const queueOf = memoize(
  (list: ListUi, { agents }: RunState) => [agents, list],
  (list, state): readonly AgentState[] => {
    if (!isCrowded(list, state) || list.queue || list.only || filterOf(list) !== '') return [];
    const queued = inOrder(state).filter(
      (agent) => agent.id !== ROOT && agent.outcome === null && shownStatus(agent) === 'queued',
    );
    return queued.length < 2 ? [] : queued;
  },
);

const isCrowded = ({ sort }: ListUi, { agents }: RunState): boolean => sort === 'auto' && agents.size > FEW + 1;

/** Number of agents that a filter or a fold hides; those in the row of the queue are not hidden. */
export const hiddenBy = (list: ListUi, state: RunState): number =>
  state.agents.size - listed(list, state).length - queueOf(list, state).slice(1).length;

function makeList(list: ListUi, state: RunState): readonly AgentState[] {
  const words = filterOf(list).toLowerCase().split(/\s+/).filter(Boolean);
  const all = inOrder(state);
  const inQueue = new Set(queueOf(list, state).slice(1));
  const shown = all.filter(
    (agent) =>
      !inQueue.has(agent) &&
      !isFolded(agent, list.folded, state) &&
      (!list.only || isAtWork(agent)) &&
      (words.length === 0 || matches(agent, words)),
  );
  const order = isCrowded(list, state) ? 'status' : list.sort;
  return order === 'start' || order === 'auto' ? shown : shown.toSorted(ORDERS[order](state));
}

function isFolded(agent: AgentState, folded: ReadonlySet<AgentId>, { agents }: RunState): boolean {
  if (folded.size === 0) return false;
  for (let parent = agent.parent; parent !== null; parent = agents.get(parent)?.parent ?? null)
    if (folded.has(parent)) return true;
  return false;
}

const matches = (agent: AgentState, words: readonly string[]): boolean =>
  words.every((word) => textOf(agent).includes(word));

const textOf = memoize(
  (agent: AgentState) => [agent],
  ({ name, role, model, status, outcome, task, id }) =>
    [name, role, model.asked, modelName(model.used), status, outcome ?? '', id, task].join(' ').toLowerCase(),
);

type Order = (state: RunState) => (a: AgentState, b: AgentState) => number;

const ORDERS: Readonly<Record<Exclude<Sort, 'auto' | 'start'>, Order>> = {
  cost: () => (a, b) => b.cost - a.cost,
  tokens: () => (a, b) => tokensOfAgent(b) - tokensOfAgent(a),
  status: (state) => {
    const asking = new Set(state.approvals.map(({ agent }) => agent));
    const rank = (agent: AgentState): number =>
      agent.id === ROOT
        ? 0
        : asking.has(agent.id) || wantsAttention(state, agent)
          ? 1
          : isAtWork(agent)
            ? 2
            : agent.outcome === null
              ? 3
              : 4;
    const ranks = new Map(inOrder(state).map((agent) => [agent.id, rank(agent)]));
    return (a, b) => (ranks.get(a.id) ?? 0) - (ranks.get(b.id) ?? 0);
  },
};

/** `3 of 12, "test", by cost`; empty when all agents are listed in the default order. */
export function listWords(list: ListUi, state: RunState): string {
  const filter = filterOf(list);
  const hidden = hiddenBy(list, state);
  const parts = [
    hidden === 0 && filter === '' && !list.only ? '' : `${state.agents.size - hidden} of ${state.agents.size}`,
    filter === '' ? '' : `"${filter}"`,
    list.only ? 'active' : '',
    list.sort === 'auto' ? '' : `by ${list.sort}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The list with the subtree of an agent folded, or unfolded where it was folded. */
export function withFold(list: ListUi, agent: AgentId): ListUi {
  const folded = new Set(list.folded);
  if (!folded.delete(agent)) folded.add(agent);
  return { ...list, folded };
}
