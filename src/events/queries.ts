/** Questions to a run's state that more than one room asks. Pure; `now` is passed in. */
import { limitTokens, tokensOf } from '../domain/budget.ts';
import type { AgentId, CallId, Millis, Usd } from '../domain/ids.ts';
import { fromMicro, ROOT, toMicro } from '../domain/ids.ts';
import { PROVIDERS_FAULTS } from '../domain/models/provider.ts';
import { MAIN } from '../domain/agents/role.ts';
import type { ApprovalRequest, MimirEvent } from './event.ts';
import { piecesOf } from './roster.ts';
import type { AgentState, RunState } from './state.ts';

/** Milliseconds of running so far. */
export const elapsedOf = (agent: AgentState, now: Millis): Millis =>
  agent.ranMs + (agent.runningSince === null ? 0 : Math.max(0, now - agent.runningSince));

export const tokensOfAgent = (agent: AgentState): number => tokensOf(agent.usage);

/** How the fold remembers that an agent was warned of at twice its estimate. */
export const estimateKey = (agent: AgentId): string => `${agent}:estimate`;

export const isFinal = (agent: AgentState): boolean => agent.outcome !== null;

/** Why an agent ended whose task an amendment took out of the plan. */
export const TAKEN_OUT = { error: 'taken out of the plan', endedBy: { is: 'plan' } } as const;

/** Is its task in the plan no more? It never ran, and is no part of the work. */
export const isTakenOut = ({ outcome, endedBy }: AgentState): boolean =>
  outcome === 'skipped' && endedBy?.is === 'plan';

/**
 * Whom a person talks to who talks to `main`: the agent that does the plan's only task as `main`, else ROOT. ROOT plans and reports;
 * in a plan of one task by `main` it knows nothing that this agent does not know better.
 */
export function mainAgent({ agents }: Pick<RunState, 'agents'>): AgentId {
  for (const one of agents.values()) if (one.role === MAIN && one.taskId !== null && !isTakenOut(one)) return one.id;
  return ROOT;
}

/** The agents that a planned one comes after since both may change the same files, with the reason. */
export function comesAfter(
  { plan, agents }: Pick<RunState, 'plan' | 'agents'>,
  { taskId }: AgentState,
): readonly { readonly id: AgentId; readonly because: string }[] {
  const after = plan?.tasks.find(({ id }) => id === taskId)?.after ?? [];
  if (after.length === 0) return [];
  return [...agents.values()].flatMap(({ id, taskId: task }) =>
    after.flatMap((one) => (one.task === task ? [{ id, because: one.because }] : [])),
  );
}

/** What is used and what is promised to calls in flight: limits are judged on the sum. */
export interface Committed {
  readonly tokens: number;
  /** The same as limits on tokens count them (`limitTokens`). */
  readonly limitTokens: number;
  readonly cost: Usd;
  /** Part of it: reserved by calls that have not been settled. */
  readonly reservedTokens: number;
  readonly reservedCost: Usd;
}

/** Of `agent` and all its descendants. Of ROOT: the run, planner and merge included. */
export function committed(state: RunState, agent: AgentId): Committed {
  // By their children, not by looking through everybody, and of everybody by pieces: this is asked at every call.
  const pieces = agent === ROOT ? piecesOf(state.agents) : [within(state, agent)];
  let [tokens, weighed, micro, reservedTokens, reservedMicro] = [0, 0, 0, 0, 0];
  for (const piece of pieces) {
    const sums = sumsOf(piece);
    tokens += sums.tokens;
    weighed += sums.weighed;
    micro += sums.micro;
    reservedTokens += sums.reservedTokens;
    reservedMicro += sums.reservedMicro;
  }
  return {
    tokens: tokens + reservedTokens,
    limitTokens: weighed + reservedTokens,
    cost: fromMicro(micro + reservedMicro),
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

/** By the very list, which never changes. */
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

/** `top` and all below it. */
function within(state: RunState, top: AgentId): readonly AgentState[] {
  const one = state.agents.get(top);
  return one === undefined ? [] : [one, ...one.children.flatMap((child) => within(state, child))];
}

/** Settled sums of the run, reservations left out. */
export function spentOf(state: RunState): { readonly tokens: number; readonly cost: Usd } {
  const all = committed(state, ROOT);
  return { tokens: all.tokens - all.reservedTokens, cost: fromMicro(toMicro(all.cost) - toMicro(all.reservedCost)) };
}

/** Agents whose last call of a model was lost to its provider: a resumed run lets them in again. */
export function lostToProvider(events: Iterable<MimirEvent>): ReadonlySet<AgentId> {
  const lost = new Set<AgentId>();
  for (const event of events) {
    if (event.type === 'model.started') lost.delete(event.agent);
    if (event.type === 'model.failed' && PROVIDERS_FAULTS.has(event.cause)) lost.add(event.agent);
  }
  return lost;
}

/** What a question is about, without the role before it: whoever shows it names the agent that asks. */
export const askedFor = ({ action, title }: Pick<ApprovalRequest, 'action' | 'title'>): string =>
  action === 'question' || action === 'turn' ? title : title.replace(/^[a-z][\w-]*: /, '');

/** What an agent does right now, in a few words: the tool that runs, else the last thing it said. */
export function activityOf(agent: AgentState): string {
  const block = agent.blocks.findLast(({ is }) => is !== 'told');
  if (block === undefined) return agent.reason;
  if (block.is === 'tool') return block.label;
  // A plan as its planner wrote it is for the program.
  if (/^\s*(?:```json\s*)?\{/.test(block.text)) return '';
  return block.text.split('\n').find((line) => line.trim() !== '') ?? '';
}

/** The agent that a call of this one made; undefined for all other calls. */
export const childOf = (call: CallId, { children }: AgentState, state: RunState): AgentState | undefined => {
  const id = children.find((child) => state.agents.get(child)?.call === call);
  return id === undefined ? undefined : state.agents.get(id);
};
