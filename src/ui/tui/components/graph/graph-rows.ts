/**
 * Which rows the graph of a running plan has: a row a task, and, as far as there is room, its description and its sub-agents; at
 * the end what the rules add. Only what they stand for, so that a plan of hundreds costs a frame nothing; graph.ts draws them.
 */
import type { ForcedNode } from '../../../../domain/agents/mandatory-review.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { agentOfTask } from '../plan/status.ts';
import { windowTop } from './schedule.ts';

/** `index` is that of the task whose lanes stand at the left; the forced ones have none. */
export type GraphRow =
  | { readonly is: 'task'; readonly index: number; readonly task: PlanTask }
  | { readonly is: 'text'; readonly index: number; readonly task: PlanTask }
  | { readonly is: 'child'; readonly index: number; readonly agent: AgentState }
  | { readonly is: 'forced'; readonly node: ForcedNode; readonly agent: AgentState | null };

/** All rows of the graph in `height` rows: the fullest of three forms that fits, else a row a task. */
export function graphRows(plan: SoundPlan, state: RunState, height: number): readonly GraphRow[] {
  const forced = (plan.forced ?? []).map(
    (node): GraphRow => ({ is: 'forced', node, agent: agentOfForced(node, state) }),
  );
  const room = height - forced.length;
  const tall = plan.tasks.length * 2 <= room;
  const children = plan.tasks.reduce((sum, { id }) => sum + (agentOfTask(state, id)?.children.length ?? 0), 0);
  const withChildren = plan.tasks.length * (tall ? 2 : 1) + children <= room;
  const rows = plan.tasks.flatMap((task, index): readonly GraphRow[] => {
    const below = withChildren ? childrenOf(agentOfTask(state, task.id), state) : [];
    return [
      { is: 'task', index, task },
      ...(tall ? [{ is: 'text', index, task } as const] : []),
      ...below.map((agent): GraphRow => ({ is: 'child', index, agent })),
    ];
  });
  return [...rows, ...forced];
}

const childrenOf = (agent: AgentState | null, { agents }: RunState): readonly AgentState[] =>
  agent === null ? [] : agent.children.flatMap((id) => agents.get(id) ?? []);

/** The last agent that the rules made run for this role; null before the first one. */
const agentOfForced = ({ role }: ForcedNode, { agents }: RunState): AgentState | null =>
  [...agents.values()].findLast((agent) => agent.forced !== null && agent.role === role) ?? null;

/** The row of the selected agent, else that of its nearest ancestor that has one; -1 for main. */
export function selectedRow(rows: readonly GraphRow[], selected: AgentState | undefined, state: RunState): number {
  for (let agent = selected; agent !== undefined; ) {
    const { id, taskId, parent } = agent;
    const at = rows.findIndex((row) =>
      row.is === 'task' ? taskId !== null && row.task.id === taskId : row.is !== 'text' && row.agent?.id === id,
    );
    if (at !== -1) return at;
    agent = parent === null ? undefined : state.agents.get(parent);
  }
  return -1;
}

/** First of the `height` rows that are seen. */
export const topRow = (rows: readonly GraphRow[], selected: number, height: number): number =>
  windowTop(Math.max(0, selected), rows.length, height);

/** The agent of a row; null of a task that has none yet. */
export const agentOfRow = (row: GraphRow, state: RunState): AgentState | null =>
  row.is === 'task' || row.is === 'text' ? agentOfTask(state, row.task.id) : row.agent;
