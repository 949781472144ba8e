/** The reviews in a run's state: which verdicts count, what was reviewed, what is pending. Pure. */
import { isAnswered, type MandatoryReview } from '../domain/agents/agent.ts';
import { type Budget, withoutAbsent } from '../domain/budget.ts';
import { type AgentId, fromMicro, type RoleName, ROOT, toMicro } from '../domain/ids.ts';
import type { AgentState, RunState } from './state.ts';
import type { ReviewGate, RecordedVerdict } from './event.ts';
import { committed, upwards } from './queries.ts';

/** The last verdict of `agent`, which counts only if the agent completed. */
export function verdictOf(state: RunState, agent: AgentId): RecordedVerdict | null {
  if (state.agents.get(agent)?.outcome !== 'completed') return null;
  return state.verdicts.findLast((one) => one.agent === agent) ?? null;
}

/** Sent once to a reviewer that ends without a verdict. */
export const VERDICT_REMINDER =
  'You ended without a verdict. Only a call of `give_verdict` counts: make it now, with `pass`, `summary` and `findings`. This is the only reminder.';

/** Whether this reviewer would end without a verdict and was not reminded yet. */
export function lacksVerdict({ agents, verdicts }: RunState, agent: AgentId): boolean {
  const one = agents.get(agent);
  if (one === undefined || one.forced === null) return false;
  const wasReminded = one.blocks.some((block) => block.is === 'told' && block.text === VERDICT_REMINDER);
  return !wasReminded && !verdicts.some((verdict) => verdict.agent === agent);
}

type Judged = NonNullable<AgentState['forced']>;

/** Verdicts of `role` that count and whose subject `fits`, oldest first. */
const counted = (state: RunState, role: RoleName, fits: (judged: Judged) => boolean): readonly RecordedVerdict[] =>
  state.verdicts.filter((one) => {
    const forced = state.agents.get(one.agent)?.forced;
    return one.role === role && forced && fits(forced) && verdictOf(state, one.agent) === one;
  });

const ofTheRun = ({ trigger }: Judged): boolean => trigger !== 'on-commit';

/** The verdict of `role` on the changes from the run's first tree to `tree`, if there is one. */
export const verdictOn = (state: RunState, role: RoleName, tree: string): RecordedVerdict | null =>
  counted(state, role, ofTheRun).findLast((one) => one.tree === tree) ?? null;

/** The verdict of `role` on committing exactly `tree` on top of `from`. Verdicts during the run count only if the run began with `from`,
 * because otherwise older, unreviewed changes would be committed. */
export const verdictOnCommit = (state: RunState, role: RoleName, tree: string, from: string): RecordedVerdict | null =>
  counted(state, role, (judged) => (ofTheRun(judged) ? state.firstTree : judged.from) === from).findLast(
    (one) => one.tree === tree,
  ) ?? null;

/** The last tree that `role` passed; before the first pass, the run's first tree. */
export const passedTree = (state: RunState, role: RoleName): string | null =>
  counted(state, role, ofTheRun).findLast(({ pass }) => pass)?.tree ?? state.firstTree;

/** Closed gates that block: what waited for them must not continue. */
export const closedGates = ({ gates }: RunState): readonly ReviewGate[] =>
  gates.filter(({ open, onFailure }) => !open && onFailure === 'block');

/** The closed gates of `agent`'s work. */
export const closedBehind = (state: RunState, agent: AgentId): readonly ReviewGate[] =>
  closedGates(state).filter((gate) => gate.agent === agent && gate.trigger === 'on-write');

/** The reason and findings of a gate, for the agent that has to fix them. */
export function gateWords(state: RunState, { role, tree, why }: ReviewGate): string {
  const said = state.verdicts.findLast((one) => one.role === role && one.tree === tree && !one.pass);
  const findings = (said?.findings ?? []).map((finding) => `\n- ${finding}`).join('');
  return `${role}: ${why}${findings}`;
}

/** The last state of every gate, one line each, for the report; with findings where a gate is closed. */
export function reviewWords(state: RunState): string {
  const names = (agent: AgentId): string => (agent === ROOT ? 'the run' : (state.agents.get(agent)?.name ?? agent));
  const wordOf = ({ open, onFailure, due }: ReviewGate): string => {
    if (due !== undefined) return 'pending';
    return open ? 'open' : onFailure === 'block' ? 'CLOSED' : 'did not pass, warning only';
  };
  return state.gates
    .map((gate) => {
      const words = gate.open ? `${gate.role}: ${gate.why}` : gateWords(state, gate).replaceAll('\n', '\n  ');
      return `- ${names(gate.agent)} (${gate.trigger}, ${wordOf(gate)}): ${words}`;
    })
    .join('\n');
}

/** The pending reviews of a run without a plan, as the end of a sentence; empty where there are none. */
export function dueWords({ gates }: RunState): string {
  const roles = gates.filter(({ due }) => due !== undefined).map(({ role }) => role);
  return roles.length === 0 ? '' : `; the review by ${roles.join(' and ')} is pending and will run first`;
}

/** Whether `node` has reviewed the completed work of an agent and its dependants may continue. */
export const isSettled = (state: RunState, node: MandatoryReview, agent: AgentId): boolean =>
  state.gates.some(
    (gate) =>
      gate.agent === agent &&
      gate.role === node.role &&
      gate.trigger === 'on-write' &&
      (gate.open || gate.onFailure === 'warn'),
  );

/** The part of the run's limits that is reserved for pending reviews, for every agent but the reviewers and their descendants.
 * `maxDuration` is at most half of the run's time. */
export function reservedForReviews(state: RunState, agent: AgentId): Budget {
  if (upwards(state.agents, agent).some(({ forced }) => forced !== null)) return {};
  const coming = state.idle ? ofBursts(state) : ofPlan(state);
  if (coming.length === 0) return {};
  const parts = [...coming, ...underWay(state).map((one) => leftOf(state, one))];
  const sum = (of: (part: Part) => number): number => parts.reduce((all, part) => all + of(part), 0);
  const half = Math.floor((state.budget.maxDuration ?? 0) / 2);
  const [tokens, micro, time] = [sum((one) => one.tokens), sum((one) => one.micro), sum((one) => one.ms)];
  const ms = Math.min(half, time);
  return withoutAbsent({
    maxTokens: tokens === 0 ? undefined : tokens,
    maxCost: micro === 0 ? undefined : fromMicro(micro),
    maxDuration: ms === 0 ? undefined : ms,
  });
}

interface Part {
  readonly tokens: number;
  readonly micro: number;
  readonly ms: number;
}

/** Whether the agent runs because a rule requires its review. */
export const isForced = ({ agents }: Pick<RunState, 'agents'>, agent: AgentId): boolean =>
  (agents.get(agent)?.forced ?? null) !== null;

const ofPlan = (state: RunState): readonly Part[] =>
  state.approvedDigest === null ? [] : (state.plan?.forced ?? []).map((node) => ofNode(state, node));

/** Pending reviews of a run without a plan; a running one is counted separately. */
const ofBursts = (state: RunState): readonly Part[] =>
  state.gates.flatMap(({ role, due }) => {
    if (due === undefined) return [];
    if (underWay(state).some((one) => one.role === role)) return [NOTHING];
    const { maxTokens = 0, maxCost = 0, maxDuration = 0 } = due.keeps;
    return [{ tokens: maxTokens, micro: toMicro(maxCost), ms: maxDuration }];
  });

const NOTHING: Part = { tokens: 0, micro: 0, ms: 0 };

function ofNode(state: RunState, node: MandatoryReview): Part {
  // Running reviews are counted separately, but their subjects count as pending until the gate is decided.
  const coming = Math.max(0, toCome(state, node) - underWay(state).filter(({ role }) => role === node.role).length);
  const { maxTokens = 0, maxCost = 0 } = node.budget;
  return { tokens: coming * maxTokens, micro: coming * toMicro(maxCost), ms: coming * node.estimatedSeconds * 1000 };
}

/** The part of a running review's budget that is neither used nor reserved. */
function leftOf(state: RunState, { id, budget: { maxTokens = 0, maxCost = 0 } }: AgentState): Part {
  const used = committed(state, id);
  const micro = Math.max(0, toMicro(maxCost) - toMicro(used.cost));
  return { tokens: Math.max(0, maxTokens - used.limitTokens), micro, ms: 0 };
}

const underWay = (state: RunState): readonly AgentState[] =>
  (state.agents.get(ROOT)?.children ?? []).flatMap((id) => {
    const one = state.agents.get(id);
    return one?.forced && one.outcome === null ? [one] : [];
  });

function toCome(state: RunState, node: MandatoryReview): number {
  const ofTask = new Map<string, AgentState>();
  for (const one of state.agents.values()) if (one.taskId !== null) ofTask.set(one.taskId, one);
  const reviewed = (agent: AgentId): boolean =>
    state.gates.some((gate) => gate.agent === agent && gate.role === node.role && gate.trigger === 'on-write');
  const awaited = (task: string): boolean => {
    const one = ofTask.get(task);
    return one === undefined || one.outcome === null || (isAnswered(one.outcome) && !reviewed(one.id));
  };
  const writes = node.after.filter(awaited).length;
  const atEnd = node.triggers.includes('always') ? 1 : 0;
  const commits = node.runs - node.after.length - atEnd;
  const open = [...ofTask.values()].some(({ outcome }) => outcome === null);
  const done = state.gates.some(
    ({ agent, role, trigger }) => agent === ROOT && role === node.role && trigger === 'always',
  );
  // Tasks added after the final review require it again.
  return writes + (open ? commits : 0) + (atEnd === 1 && (!done || open) ? 1 : 0);
}
