/** The shown status of agents and their counts, the run's times, and why agents wait; used by every front end. */
import { factsOf } from '../../domain/agents/tool-facts.ts';
import { isAnswered } from '../../domain/agents/agent.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import { memoize } from '../../domain/memoize.ts';
import type { AgentState, RunState, WaitingFor } from '../../events/index.ts';
import { childOf, comesAfter, elapsedOf, isFinal, isIdle, isTakenOut } from '../../events/index.ts';
import { plainLine, triesText } from '../../events/index.ts';
import { inOrder, isStoppedInQueue, labelOf, modelName } from './agents/agent-lines.ts';
import { formatDuration } from './text/format.ts';
import { toLabel } from './text/sanitise.ts';

/** `queued`: not started (dependencies, a full slot). `held`: waits for a provider. `waiting`: for a person, a child, a review. */
export const SHOWN_STATUSES = ['running', 'waiting', 'held', 'queued', 'completed', 'failed', 'interrupted'] as const;
export type ShownStatus = (typeof SHOWN_STATUSES)[number];

export function shownStatus(agent: AgentState): ShownStatus {
  if (isHeld(agent)) return 'held';
  const { status } = agent;
  return status === 'pending' || status === 'initializing' || isStoppedInQueue(agent) ? 'queued' : status;
}

/** The outcome of an agent, otherwise its status; an agent that waits for a provider is `waiting`. */
export const statusWord = (agent: AgentState): string =>
  agent.outcome ?? (isHeld(agent) ? 'waiting' : shownStatus(agent));

/** True if the agent waits for a provider or for reserved budget. */
export const isHeld = ({ outcome, pause, waitingFor }: AgentState): boolean =>
  outcome === null && (pause !== null || waitingFor?.is === 'provider' || waitingFor?.is === 'budget');

const RESTS: ReadonlySet<string> = new Set(['message', 'children', 'review', 'limit'] satisfies WaitingFor['is'][]);

const isResting = ({ outcome, waitingFor }: AgentState): boolean =>
  outcome === null && waitingFor !== null && RESTS.has(waitingFor.is);

export interface AgentCounts extends Readonly<Record<ShownStatus, number>> {
  /** Without main and without tasks that an amendment removed. */
  readonly all: number;
}

/** The number of agents per status; their sum is `all`. */
export const countsOf = memoize(({ agents }: Pick<RunState, 'agents'>) => [agents], countAgents);

function countAgents({ agents }: Pick<RunState, 'agents'>): AgentCounts {
  const counts = { running: 0, waiting: 0, held: 0, queued: 0, completed: 0, failed: 0, interrupted: 0, all: 0 };
  for (const agent of agents.values()) {
    if (agent.id === ROOT || isTakenOut(agent)) continue;
    counts[shownStatus(agent)] += 1;
    counts.all += 1;
  }
  return counts;
}

/** The completed tasks of the plan and their total; without a plan, the agents. */
export function progressOf({ plan, agents }: Pick<RunState, 'plan' | 'agents'>): {
  readonly done: number;
  readonly all: number;
} {
  const { completed, all } = countsOf({ agents });
  if (plan === null) return { done: completed, all };
  const ids = new Set(plan.tasks.map(({ id }) => id));
  const done = [...agents.values()].filter(
    ({ taskId, status }) => taskId !== null && ids.has(taskId) && status === 'completed',
  );
  return { done: done.length, all: plan.tasks.length };
}

/** The maximum number of agents that run at once. */
export const parallelOf = ({ choices, maxParallel }: Pick<RunState, 'choices' | 'maxParallel'>): number =>
  choices?.limits.maxParallel ?? maxParallel;

/** Why an agent that could run does not: `queued: 4 agents run at once`, or only `queued` while slots are free. */
export function queuedWords(state: Pick<RunState, 'agents' | 'choices' | 'maxParallel'>): string {
  const most = parallelOf(state);
  if (countsOf(state).running < most) return 'queued';
  return most === 1 ? 'queued: 1 agent runs at once' : `queued: ${most} agents run at once`;
}

/** Why an agent has not started: `waiting for #1 finder, #2 oracle (failed)`, why it cannot start, or `queuedWords`. */
export function pendingWords(agent: AgentState, state: RunState): string {
  const named = (id: AgentId): string => toLabel(labelOf(state, id));
  const outcomes = agent.dependsOn.map((id) => ({ id, outcome: state.agents.get(id)?.outcome ?? null }));
  const needs = outcomes.filter(({ outcome }) => outcome === null || !isAnswered(outcome));
  const partial = outcomes.flatMap(({ id, outcome }) => (outcome === 'partial' ? [named(id)] : []));
  // A dependency that is being retried no longer blocks, whatever the earlier reason was.
  const tried = agent.waitingFor?.is === 'task' && !needs.some(({ id }) => isOver(state, id));
  if (agent.reason !== '' && !tried) return toLabel(plainLine(agent.reason));
  const behind = comesAfter(state, agent).filter(({ id }) => !isOver(state, id));
  const all = [
    ...needs.map(({ id, outcome }) => `${named(id)}${outcome === null ? '' : ` (${outcome})`}`),
    ...behind.map(({ id, because }) => `${named(id)} (${toLabel(because)})`),
  ];
  if (all.length > 0) return `waiting for ${all.join(', ')}`;
  return `${queuedWords(state)}${partial.length === 0 ? '' : `; partial answer from ${partial.join(', ')}`}`;
}

const isOver = (state: RunState, id: AgentId): boolean => {
  const agent = state.agents.get(id);
  return agent === undefined || isFinal(agent);
};

/** The counts in words: `4 running`, `36 queued (4 at once)`, `1 waiting`. Zero counts are left out, except for running. */
export function countWords(state: RunState): readonly string[] {
  const counts = countsOf(state);
  const words = { held: 'waiting for a provider', queued: `queued (${parallelOf(state)} at once)` } as const;
  return SHOWN_STATUSES.flatMap((status) =>
    counts[status] === 0 && status !== 'running'
      ? []
      : [`${counts[status]} ${status === 'held' || status === 'queued' ? words[status] : status}`],
  );
}

/** Milliseconds that an agent has worked. Without `now`, until the last event: a log without an end belongs to a process that ended there. */
export const agentTime = (agent: AgentState, { lastAt }: Pick<RunState, 'lastAt'>, now: Millis = lastAt): Millis =>
  elapsedOf(agent, now);

/** Milliseconds of the run: those of main, whose clock stops with the run and while a plan waits for approval. */
export function runTime(state: RunState, now: Millis = state.lastAt): Millis {
  const main = state.agents.get(ROOT);
  return main === undefined ? 0 : agentTime(main, state, now);
}

/** Milliseconds from the start of the run to `at` without the time in which no process ran it, for time axes. */
export function sinceStart({ startedAt, stops }: Pick<RunState, 'startedAt' | 'stops'>, at: Millis): Millis {
  const stopped = stops.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(at, to) - from), 0);
  return startedAt === 0 ? 0 : Math.max(0, at - startedAt - stopped);
}

export interface Wait {
  /** `anthropic is rate limited; retrying in 12s (2 of 5)` */
  readonly text: string;
  /** The same with the changing part first, if there is one, since the end may be cut: `retrying in 12s (2 of 5): anthropic is …` */
  readonly short: string;
  /** Milliseconds until the next attempt, never negative; null if unknown. */
  readonly left: Millis | null;
}

/** Why an agent rests: `idle; 2 children running`, `waiting for its children (2)`; null if it does not. */
export function restReason(agent: AgentState, state: RunState): string | null {
  if (!isResting(agent)) return null;
  const beside = spawnedChildren(state, agent.id);
  if (agent.waitingFor?.is === 'children') {
    const awaitedChildren = beside.filter(({ spawned }) => typeof spawned?.wait === 'number').length;
    return awaitedChildren === 0 ? agent.reason : `${agent.reason} (${awaitedChildren})`;
  }
  if (!isIdle(agent)) return toLabel(agent.reason);
  return beside.length === 0
    ? 'idle'
    : `idle; ${beside.length === 1 ? '1 child' : `${beside.length} children`} running`;
}

/** Running children of `owner` that were spawned to work independently. */
export const spawnedChildren = ({ agents }: RunState, owner: AgentId): readonly AgentState[] =>
  [...agents.values()].filter((one) => one.spawned !== null && one.owner === owner && !isFinal(one));

/** The number of running children that `agent` waits for: those of its calls; for ROOT of a planned run all. */
export const awaited = (agent: AgentState, state: RunState): number =>
  agent.children.filter((id) => {
    const child = state.agents.get(id);
    if (child === undefined || isFinal(child) || child.status === 'interrupted') return false;
    return child.spawned === null || (agent.id === ROOT && !state.idle);
  }).length;

/** Why the agent waits for a provider and how long, computed for each frame; null if it does not. */
export function waitOf(agent: AgentState, now: Millis): Wait | null {
  if (!isHeld(agent)) return null;
  const until = untilOf(agent);
  const left = until === null ? null : Math.max(0, until - now);
  const next = nextAttemptText(left) + attemptsText(agent);
  const why = whyOf(agent);
  return { text: `${why}; ${next}`, short: left === null ? why : `${next}: ${why}`, left };
}

/** Whole seconds, rounded up: `12s`. */
export const formatLeft = (left: Millis): string => formatDuration(Math.ceil(left / 1000) * 1000);

function nextAttemptText(left: Millis | null): string {
  if (left === null) return 'waiting for the next attempt';
  return left === 0 ? 'retrying now' : `retrying in ${formatLeft(left)}`;
}

function whyOf({ waitingFor, reason, pause }: AgentState): string {
  const said = toLabel(waitingFor?.is === 'provider' ? waitingFor.why : waitingFor === null ? '' : reason);
  return said !== '' || pause === null ? said : toLabel(`${pause.model.split('/')[0] ?? ''}: ${pause.cause}`);
}

/** When the next attempt is due; null if another agent tries first. The latest report counts: it may name a longer wait. */
function untilOf({ waitingFor, pause, lastAt }: AgentState): Millis | null {
  if (waitingFor?.is !== 'provider') return pause?.until ?? null;
  return waitingFor.wait === null ? null : lastAt + waitingFor.wait;
}

function attemptsText({ waitingFor, pause }: AgentState): string {
  if (waitingFor?.is === 'provider' && waitingFor.attempt !== undefined)
    return triesText(waitingFor.attempt, waitingFor.attempts);
  return triesText(pause?.attempt ?? undefined, pause?.attempts ?? undefined);
}

interface Operation {
  readonly who: string;
  /** `a reply of haiku-4.5`, `$ npm test`. */
  readonly what: string;
}

/** The replies and tools that an interruption would lose, in the order of the agents. */
export const operationsInFlight = (state: RunState): readonly Operation[] =>
  inOrder(state).flatMap((agent) => operationsOf(agent, state).map((what) => ({ who: agent.name, what })));

function operationsOf(agent: AgentState, state: RunState): readonly string[] {
  const { open, blocks } = agent;
  const replies = open.map(({ model }) => `a reply from ${modelName(model)}`);
  const tools = blocks.flatMap((block) =>
    // A command that started a child waits for that child.
    block.is === 'tool' &&
    block.ok === null &&
    factsOf(block.tool).waits !== true &&
    childOf(block.call, agent, state) === undefined
      ? [toLabel(block.label || block.tool)]
      : [],
  );
  return [...replies, ...tools];
}
