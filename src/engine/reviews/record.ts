/** What the log says of forced agents: verdicts that count, how far the project was judged, what is still to come. Pure. */
import type { AgentOutcome } from '../../domain/agents/agent.ts';
import type { Budget } from '../../domain/budget.ts';
import type { ForcedNode } from '../../domain/agents/mandatory-review.ts';
import type { AgentId, RoleName } from '../../domain/ids.ts';
import { fromMicro, ROOT, toMicro } from '../../domain/ids.ts';
import { committed } from '../../events/queries.ts';
import type { ForcedGate, GivenVerdict } from '../../events/decisions.ts';
import type { AgentState, RunState } from '../../events/state.ts';

/** The last verdict of `agent`, which counts only when the agent came to a good end with it. */
export function verdictOf(state: RunState, agent: AgentId): GivenVerdict | null {
  if (state.agents.get(agent)?.outcome !== 'completed') return null;
  return state.verdicts.findLast((one) => one.agent === agent) ?? null;
}

/** What a reviewer is told once that ends in words. */
export const VERDICT_REMINDER =
  'You have ended without a verdict. Words do not open the gate: call `give_verdict` now, with `pass`, `summary` and `findings`. There is no other reminder.';

/** Would this reviewer end without a verdict, and was it not reminded yet? */
export function lacksVerdict({ agents, verdicts }: RunState, agent: AgentId): boolean {
  const one = agents.get(agent);
  if (one === undefined || one.forced === null) return false;
  const wasReminded = one.blocks.some((block) => block.is === 'told' && block.text === VERDICT_REMINDER);
  return !wasReminded && !verdicts.some((verdict) => verdict.agent === agent);
}

type Judged = NonNullable<AgentState['forced']>;

/** Verdicts of `role` that count, on what `fits`, oldest first. */
const counted = (state: RunState, role: RoleName, fits: (judged: Judged) => boolean): readonly GivenVerdict[] =>
  state.verdicts.filter((one) => {
    const forced = state.agents.get(one.agent)?.forced;
    return one.role === role && forced && fits(forced) && verdictOf(state, one.agent) === one;
  });

const ofTheRun = ({ trigger }: Judged): boolean => trigger !== 'on-commit';

/** What `role` said of all that led from the first tree of the run to `tree`, if it was asked. */
export const verdictOn = (state: RunState, role: RoleName, tree: string): GivenVerdict | null =>
  counted(state, role, ofTheRun).findLast((one) => one.tree === tree) ?? null;

/**
 * What `role` said of committing `tree` on top of `from`, and of no other: what would go in was another. What it said
 * during the run holds where the run began with what is committed: otherwise older changes that nobody judged would go in.
 */
export const verdictOnCommit = (state: RunState, role: RoleName, tree: string, from: string): GivenVerdict | null =>
  counted(state, role, (judged) => (ofTheRun(judged) ? state.firstTree : judged.from) === from).findLast(
    (one) => one.tree === tree,
  ) ?? null;

/** The tree up to which `role` let everything pass; the run's first one before. */
export const passedTree = (state: RunState, role: RoleName): string | null =>
  counted(state, role, ofTheRun).findLast(({ pass }) => pass)?.tree ?? state.firstTree;

/** Gates that are closed for good: what waited for them must not go on. */
export const closedGates = ({ gates }: RunState): readonly ForcedGate[] =>
  gates.filter(({ open, onFailure }) => !open && onFailure === 'block');

/** What the closed gates behind `agent`'s work say. */
export const closedBehind = (state: RunState, agent: AgentId): readonly ForcedGate[] =>
  closedGates(state).filter((gate) => gate.agent === agent && gate.trigger === 'on-write');

/** What stood in the way, with the findings, for whoever has to mend it. */
export function gateWords(state: RunState, { role, tree, why }: ForcedGate): string {
  const said = state.verdicts.findLast((one) => one.role === role && one.tree === tree && !one.pass);
  const findings = (said?.findings ?? []).map((finding) => `\n- ${finding}`).join('');
  return `${role}: ${why}${findings}`;
}

/** Every gate as it stands last, a line each, for the report; findings below those that are closed. */
export function reviewWords(state: RunState): string {
  const names = (agent: AgentId): string => (agent === ROOT ? 'the run' : (state.agents.get(agent)?.name ?? agent));
  const wordOf = ({ open, onFailure, due }: ForcedGate): string => {
    if (due !== undefined) return 'still to come';
    return open ? 'open' : onFailure === 'block' ? 'CLOSED' : 'not passed, only a warning';
  };
  return state.gates
    .map((gate) => {
      const words = gate.open ? `${gate.role}: ${gate.why}` : gateWords(state, gate).replaceAll('\n', '\n  ');
      return `- ${names(gate.agent)} (${gate.trigger}, ${wordOf(gate)}): ${words}`;
    })
    .join('\n');
}

/** Who has not judged yet what was done in a run without a plan, as a half sentence; empty where nobody has to. */
export function dueWords({ gates }: RunState): string {
  const roles = gates.filter(({ due }) => due !== undefined).map(({ role }) => role);
  return roles.length === 0 ? '' : `; the review by ${roles.join(' and ')} is still to come, and comes first then`;
}

/** Has the work of an agent that ended well been judged by `node`, and may what needs it go on? */
export const isSettled = (state: RunState, node: ForcedNode, agent: AgentId): boolean =>
  state.gates.some(
    (gate) =>
      gate.agent === agent &&
      gate.role === node.role &&
      gate.trigger === 'on-write' &&
      (gate.open || gate.onFailure === 'warn'),
  );

/**
 * What is kept back from the run's limits for reviews that are still to come, for everybody but them.
 * Nothing for a forced agent itself. `maxDuration` never takes more than half of the run's time.
 */
export function keptBack(state: RunState, agent: AgentId): Budget {
  if (isForced(state, agent)) return {};
  const coming = state.idle ? ofBursts(state) : ofPlan(state);
  if (coming.length === 0) return {};
  const parts = [...coming, ...underWay(state).map((one) => leftOf(state, one))];
  const sum = (of: (part: Part) => number): number => parts.reduce((all, part) => all + of(part), 0);
  const half = Math.floor((state.budget.maxDuration ?? 0) / 2);
  const [tokens, micro, ms] = [
    sum((one) => one.tokens),
    sum((one) => one.micro),
    Math.min(
      half,
      sum((one) => one.ms),
    ),
  ];
  return {
    ...(tokens === 0 ? {} : { maxTokens: tokens }),
    ...(micro === 0 ? {} : { maxCost: fromMicro(micro) }),
    ...(ms === 0 ? {} : { maxDuration: ms }),
  };
}

interface Part {
  readonly tokens: number;
  readonly micro: number;
  readonly ms: number;
}

const isForced = (state: RunState, agent: AgentId): boolean => (state.agents.get(agent)?.forced ?? null) !== null;

const ofPlan = (state: RunState): readonly Part[] =>
  state.approvedDigest === null ? [] : (state.plan?.forced ?? []).map((node) => ofNode(state, node));

/** Reviews of a run without a plan that are due; one under way has its own part. */
const ofBursts = (state: RunState): readonly Part[] =>
  state.gates.flatMap(({ role, due }) => {
    if (due === undefined) return [];
    if (underWay(state).some((one) => one.role === role)) return [NOTHING];
    const { maxTokens = 0, maxCost = 0, maxDuration = 0 } = due.keeps;
    return [{ tokens: maxTokens, micro: toMicro(maxCost), ms: maxDuration }];
  });

const NOTHING: Part = { tokens: 0, micro: 0, ms: 0 };

function ofNode(state: RunState, node: ForcedNode): Part {
  // Those under way have their own part; what they judge still counts as to come until the gate is decided.
  const coming = Math.max(0, toCome(state, node) - underWay(state).filter(({ role }) => role === node.role).length);
  const { maxTokens = 0, maxCost = 0 } = node.budget;
  return { tokens: coming * maxTokens, micro: coming * toMicro(maxCost), ms: coming * node.estimatedSeconds * 1000 };
}

/** What a review under way was given and has not used or promised. */
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

/** Reviews of this node that have not begun. */
function toCome(state: RunState, node: ForcedNode): number {
  const ofTask = new Map<string, AgentState>();
  for (const one of state.agents.values()) if (one.taskId !== null) ofTask.set(one.taskId, one);
  const reviewed = (agent: AgentId): boolean =>
    state.gates.some((gate) => gate.agent === agent && gate.role === node.role && gate.trigger === 'on-write');
  const awaited = (task: string): boolean => {
    const one = ofTask.get(task);
    return one === undefined || one.outcome === null || (mayBeJudged(one.outcome) && !reviewed(one.id));
  };
  const writes = node.after.filter(awaited).length;
  const atEnd = node.triggers.includes('always') ? 1 : 0;
  const commits = node.runs - node.after.length - atEnd;
  const open = [...ofTask.values()].some(({ outcome }) => outcome === null);
  const done = state.gates.some(
    ({ agent, role, trigger }) => agent === ROOT && role === node.role && trigger === 'always',
  );
  // Tasks that came after the last review of it all have it made again.
  return writes + (open ? commits : 0) + (atEnd === 1 && (!done || open) ? 1 : 0);
}

const mayBeJudged = (outcome: AgentOutcome): boolean => outcome === 'completed' || outcome === 'partial';
