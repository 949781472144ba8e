/**
 * What can be said of a run when it has ended, as values: what was estimated and what was used, files touched, what is still
 * open. The result screen and the report verb say the same by these.
 */
import { expectedTask } from './spending/expected-plan.ts';
import { agentTime } from './run-time.ts';
import type { Millis, Usd } from '../../domain/ids.ts';
import { fromMicro, ROOT, toMicro } from '../../domain/ids.ts';
import type { PlanTask } from '../../domain/plan/plan.ts';
import { tokensOfAgent } from '../../events/queries.ts';
import type { AgentState, ModelShare, RunState } from '../../events/state.ts';
import { inOrder, labelOf, neverRan } from './agents/agent-lines.ts';
import { changesOf } from './file-changes.ts';

export interface Measures {
  readonly tokens: number;
  /** US dollars; null where a price is not known. */
  readonly cost: Usd | null;
  readonly ms: Millis;
}

/** A task of the plan beside the agent that did it. */
export interface Compared {
  readonly task: PlanTask;
  readonly agent: AgentState;
  readonly estimate: Measures;
  readonly actual: Measures;
}

/** Those that ran, in the order of the plan. */
export function comparedTasks(state: RunState): readonly Compared[] {
  const { plan, agents } = state;
  const byTask = new Map([...agents.values()].map((agent) => [agent.taskId, agent]));
  return (plan?.tasks ?? []).flatMap((task) => {
    const agent = byTask.get(task.id);
    if (agent === undefined || neverRan(agent)) return [];
    const { estimatedTokens: tokens, estimatedCost: cost, estimatedSeconds } = expectedTask(task, state);
    const estimate = { tokens, cost, ms: estimatedSeconds * 1000 };
    const actual = {
      tokens: tokensOfAgent(agent),
      cost: agent.priced ? agent.cost : null,
      ms: agentTime(agent, state),
    };
    return [{ task, agent, estimate, actual }];
  });
}

/** The sums of both; a cost is not known where one of its parts is not. */
export const comparedSums = (all: readonly Compared[]): { readonly estimate: Measures; readonly actual: Measures } => ({
  estimate: all.map(({ estimate }) => estimate).reduce(added, NOTHING),
  actual: all.map(({ actual }) => actual).reduce(added, NOTHING),
});

const NOTHING: Measures = { tokens: 0, cost: 0, ms: 0 };

const added = (a: Measures, b: Measures): Measures => ({
  tokens: a.tokens + b.tokens,
  cost: a.cost === null || b.cost === null ? null : fromMicro(toMicro(a.cost) + toMicro(b.cost)),
  ms: a.ms + b.ms,
});

/** How much of an estimate was used: 1 is exactly as estimated; null where nothing was. */
export const shareOf = (actual: number | null, estimate: number | null): number | null =>
  actual === null || estimate === null || estimate === 0 ? null : actual / estimate;

/** A file that agents changed, with the sums of their changes. */
export interface TouchedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** True where it was made in this run. */
  readonly made: boolean;
  /** Names of the agents, in the order of their changes. */
  readonly by: readonly string[];
}

/** By path. What commands changed is not known here. */
export function touchedFiles(state: RunState): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  for (const agent of inOrder(state)) {
    for (const { path, added: more, removed, made } of changesOf(agent)) {
      const known = files.get(path) ?? { path, added: 0, removed: 0, made, by: [] };
      const by = [...new Set([...known.by, agent.name])];
      files.set(path, { ...known, added: known.added + more, removed: known.removed + removed, by });
    }
  }
  return [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** What the run used by model, the dearest first. */
export function sharesByModel({ agents }: RunState): readonly ModelShare[] {
  const models = new Map<string, ModelShare>();
  for (const { byModel } of agents.values()) {
    for (const one of byModel) {
      const known = models.get(one.model);
      models.set(one.model, known === undefined ? one : sumOf(known, one));
    }
  }
  return [...models.values()].toSorted((a, b) => b.cost - a.cost);
}

const sumOf = (a: ModelShare, b: ModelShare): ModelShare => ({
  model: a.model,
  calls: a.calls + b.calls,
  usage: {
    input: a.usage.input + b.usage.input,
    output: a.usage.output + b.usage.output,
    cacheRead: a.usage.cacheRead + b.usage.cacheRead,
    cacheWrite: a.usage.cacheWrite + b.usage.cacheWrite,
  },
  cost: fromMicro(toMicro(a.cost) + toMicro(b.cost)),
});

/** What nobody did: tasks without a completed agent, gates that stayed closed, messages that never arrived. A line each. */
export function stillOpen(state: RunState): readonly string[] {
  const agents = inOrder(state).filter(({ id }) => id !== ROOT);
  const open = agents.filter(({ outcome, forced }) => outcome !== 'completed' && forced === null);
  // What ended several is said once, after all of them.
  const tasks = [...Map.groupBy(open, endingWords)].map(
    ([words, same]) => `${same.map(({ id }) => labelOf(state, id)).join(', ')}: ${words}`,
  );
  const gates = state.gates
    .filter(({ open }) => !open)
    .map(({ role, due }) => `the review by ${role} ${due === undefined ? 'did not pass' : 'is still to come'}`);
  // A notice to main that nobody woke is kept there for the person, who reads it on the child's card.
  const lost = state.messages.filter(({ delivered, to, notice }) => !delivered && !(to === ROOT && notice)).length;
  return [
    ...tasks,
    ...new Set(gates),
    ...(lost === 0 ? [] : [`${lost} ${lost === 1 ? 'message was' : 'messages were'} never delivered`]),
  ];
}

/** `failed, provider refused the request`; what says its outcome itself is not told twice. */
function endingWords({ outcome, status, error, reason }: AgentState): string {
  const how = outcome ?? status;
  const why = (error ?? reason).split('\n')[0] ?? '';
  if (why === '') return how;
  return why.startsWith(how) ? why : `${how}, ${why}`;
}
