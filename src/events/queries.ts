/** Questions to a run's state that several modules ask. Pure; `now` is passed in. */
import { takeTurns } from '../domain/plan/writes.ts';
import { firstLine } from '../domain/text/text.ts';
import { MAIN } from '../domain/agents/role.ts';
import { limitTokens, tokensOf } from '../domain/budget.ts';
import { type AgentId, type CallId, fromMicro, type Millis, ROOT, type TaskId, toMicro } from '../domain/ids.ts';
import { type Usd } from '../domain/ids.ts';
import type { ApprovalRequest } from './event.ts';
import { piecesOf } from './roster.ts';
import type { AgentState, RunState } from './state.ts';

/** Milliseconds of running so far. */
export const elapsedOf = (agent: AgentState, now: Millis): Millis =>
  agent.ranMs + (agent.runningSince === null ? 0 : Math.max(0, now - agent.runningSince));

export const tokensOfAgent = (agent: AgentState): number => tokensOf(agent.usage);

/** The model of an agent: the one it was given, or what has replaced it. */
export const modelNow = (
  { agents }: Pick<RunState, 'agents'>,
  { agent, model }: { readonly agent: AgentId; readonly model: Pick<AgentState['model'], 'used'> },
): AgentState['model']['used'] => agents.get(agent)?.model.used ?? model.used;

/** The fold's key of a warning at twice the estimate. */
export const estimateKey = (agent: AgentId): string => `${agent}:estimate`;

export const isFinal = (agent: AgentState): boolean => agent.outcome !== null;

/** How its work has ended; a kill after that changes nothing about it. */
export const workOf = ({ closed, outcome }: AgentState): AgentState['outcome'] => closed?.outcome ?? outcome;

/** The end of an agent whose task was removed from the plan. */
export const TAKEN_OUT = { error: 'taken out of the plan', endedBy: { is: 'plan' } } as const;

/** Whether its task was removed from the plan. It never ran and is no part of the work. */
export const isTakenOut = ({ outcome, endedBy }: AgentState): boolean =>
  outcome === 'skipped' && endedBy?.is === 'plan';

/** The agent that a person means by `main`: the agent that does the plan's only task as `main`, otherwise ROOT, which knows less about that task. */
export function mainAgent({ agents }: Pick<RunState, 'agents'>): AgentId {
  for (const one of agents.values()) if (one.role === MAIN && one.taskId !== null && !isTakenOut(one)) return one.id;
  return ROOT;
}

/** The agents that a planned one follows because both may change the same files, with the reason; with which it takes turns, once they run. */
export function comesAfter(
  { plan, agents }: Pick<RunState, 'plan' | 'agents'>,
  { taskId }: AgentState,
): readonly { readonly id: AgentId; readonly because: string }[] {
  const task = plan?.tasks.find(({ id }) => id === taskId);
  if (plan === null || task === undefined) return [];
  const turns = plan.tasks.flatMap((other) => (takeTurns(task, other) ? [[other.id, TURNS] as const] : []));
  const after = new Map([...(task.after ?? []).map((one) => [one.task, one.because] as const), ...turns]);
  if (after.size === 0) return [];
  return [...agents.values()].flatMap(({ id, taskId: of, status }) => {
    const because = of === null ? undefined : after.get(of);
    return because === undefined || (because === TURNS && status === 'pending') ? [] : [{ id, because }];
  });
}

const TURNS = 'they take turns';

/** Amounts used and reserved by calls in flight; limits apply to the sum. */
export interface Committed {
  readonly tokens: number;
  readonly limitTokens: number;
  readonly cost: Usd;
  /** The part that is reserved by unsettled calls. */
  readonly reservedTokens: number;
  readonly reservedCost: Usd;
}

/** The sums of `agent` and its descendants; for ROOT, of the whole run with planner and merge. */
export function committed(state: RunState, agent: AgentId): Committed {
  // Uses the children lists, and cached sums for the whole run, because this is called for every model call.
  const pieces = agent === ROOT ? piecesOf(state.agents) : [within(state, agent)];
  const sum = (key: keyof Sums): number => pieces.reduce((all, piece) => all + sumsOf(piece)[key], 0);
  const [reservedTokens, reservedMicro] = [sum('reservedTokens'), sum('reservedMicro')];
  return {
    tokens: sum('tokens') + reservedTokens,
    limitTokens: sum('weighed') + reservedTokens,
    cost: fromMicro(sum('micro') + reservedMicro),
    reservedTokens,
    reservedCost: fromMicro(reservedMicro),
  };
}

interface Sums {
  readonly tokens: number;
  readonly weighed: number;
  readonly micro: number;
  readonly reservedTokens: number;
  readonly reservedMicro: number;
}

/** Keyed by the list itself, which is immutable. */
const known = new WeakMap<readonly AgentState[], Sums>();

function sumsOf(agents: readonly AgentState[]): Sums {
  const found = known.get(agents);
  if (found !== undefined) return found;
  const sums = { tokens: 0, weighed: 0, micro: 0, reservedTokens: 0, reservedMicro: 0 };
  for (const one of agents) {
    sums.tokens += tokensOf(one.usage);
    sums.weighed += limitTokens(one.usage);
    sums.micro += toMicro(one.cost);
    for (const call of one.open) {
      sums.reservedTokens += call.tokens;
      sums.reservedMicro += toMicro(call.cost);
    }
  }
  known.set(agents, sums);
  return sums;
}

function within(state: RunState, top: AgentId): readonly AgentState[] {
  const one = state.agents.get(top);
  return one === undefined ? [] : [one, ...one.children.flatMap((child) => within(state, child))];
}

/** The same sums without reservations. */
export function spentOf(state: RunState, agent: AgentId = ROOT): Pick<Committed, 'tokens' | 'cost'> {
  const all = committed(state, agent);
  return { tokens: all.tokens - all.reservedTokens, cost: fromMicro(toMicro(all.cost) - toMicro(all.reservedCost)) };
}

/** Agents whose last model call was lost by its provider; a resumed run starts them again. */
export const lostToProvider = ({ agents }: RunState): ReadonlySet<AgentId> =>
  new Set([...agents.values()].flatMap(({ id, providerLost }) => (providerLost === true ? [id] : [])));

/** The subject of a question, without the role before it, because every display names the asking agent. */
export const askedFor = ({ action, title }: Pick<ApprovalRequest, 'action' | 'title'>): string =>
  action === 'question' || action === 'turn' ? title : title.replace(/^[a-z][\w-]*: /, '');

/** What an agent is doing, in a few words: the running tool, otherwise its last message. */
export function activityOf(agent: AgentState): string {
  const block = agent.blocks.findLast(({ is }) => is === 'said' || is === 'tool');
  if (block === undefined) return agent.reason;
  if (block.is === 'tool') return block.label;
  // A planner's JSON is not shown.
  return /^\s*(?:```json\s*)?\{/.test(block.text) ? '' : firstLine(block.text);
}

/** The agent that this call spawned; undefined for all other calls. */
export const childOf = (call: CallId, { children }: AgentState, state: RunState): AgentState | undefined => {
  const id = children.find((child) => state.agents.get(child)?.call === call);
  return id === undefined ? undefined : state.agents.get(id);
};

/** Unfinished children that `agent` owns. */
export const openChildrenOf = ({ agents }: RunState, agent: AgentId): readonly AgentState[] =>
  [...agents.values()].filter((one) => one.spawned !== null && one.owner === agent && !isFinal(one));

/** Unfinished children outside of the plan, however they were created. */
export const openBelow = ({ agents }: RunState, parent: AgentId): readonly AgentState[] =>
  [...agents.values()].filter(
    (one) => one.parent === parent && (one.spawned !== null || one.call !== null) && !isFinal(one),
  );

/** Whether it waits for unfinished children. */
export const isOwed = (state: RunState, agent: AgentId): boolean =>
  openChildrenOf(state, agent).some(({ spawned }) => typeof spawned?.wait === 'number');

/** Whether it is ROOT of a run without a plan, waiting for a message. */
export const isIdle = ({ waitingFor }: { readonly waitingFor?: AgentState['waitingFor'] }): boolean =>
  waitingFor?.is === 'message';

/** The agent and its ancestors, nearest first; ends even if a damaged log has a cycle. */
export function* upwards(agents: RunState['agents'], agent: AgentId | null): Generator<AgentState> {
  const seen = new Set<AgentId>();
  for (let at = agent; at !== null && !seen.has(at); ) {
    seen.add(at);
    const one = agents.get(at);
    if (one === undefined) return;
    yield one;
    at = one.parent;
  }
}

/** The task of the plan that the agent works for: its own, or that of its nearest ancestor with one. */
export const taskOf = ({ agents }: Pick<RunState, 'agents'>, agent: AgentId): TaskId | null =>
  [...upwards(agents, agent)].find(({ taskId }) => taskId !== null)?.taskId ?? null;

/** The tree in which the agent works: its own or its nearest ancestor's, until that is merged; undefined: the project. */
export function workspaceOf({ agents }: Pick<RunState, 'agents'>, agent: AgentId): string | undefined {
  for (const { ownTree } of upwards(agents, agent))
    if (ownTree !== undefined) return ownTree.stands === 'merged' ? undefined : ownTree.name;
  return undefined;
}

/** Whether its tree has changes that the project may not have, although nothing of it runs any more. */
export const isUnmerged = ({ ownTree, outcome }: AgentState): boolean =>
  ownTree !== undefined && ownTree.stands !== 'merged' && outcome !== null;

/** Whether it is not to be merged any more unless a person does that by hand. */
export const staysUnmerged = ({ ownTree }: AgentState): boolean =>
  ownTree?.stands === 'unmerged' && ownTree.resolve === undefined;

/** The folder in which the agent's commands start: its own, or its nearest spawned ancestor's. Relative; empty: the root. */
export function workingDirOf({ agents }: Pick<RunState, 'agents'>, agent: AgentId): string {
  for (const { spawned } of upwards(agents, agent)) if (spawned !== null) return spawned.workingDir;
  return '';
}
