/**
 * Waits for a provider, which need nobody: why, and how long still, said anew for each frame so that the time runs down. And rests:
 * an agent that waits for a word, its children or a verdict. Waiting for a person's answer (approvals) is shown by other signs.
 */
import { isHeld, isResting } from '../agent-counts.ts';
import { ROOT } from '../../../domain/ids.ts';
import type { AgentId, Millis } from '../../../domain/ids.ts';
import { triesText } from '../../../events/log-line.ts';
import { isFinal } from '../../../events/queries.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import { formatDuration } from '../text/format.ts';
import { toLabel } from '../text/sanitise.ts';

export interface Wait {
  /** `anthropic is rate limited; next try in 12s (2 of 5)` */
  readonly text: string;
  /** The same with what changes in front, for where the end may be cut: `next try in 12s (2 of 5): anthropic is …` */
  readonly short: string;
  /** Milliseconds that are left; null where nobody said. Never negative. */
  readonly left: Millis | null;
}

/** ROOT of a run without a plan, between two words to it. */
export const isIdle = (agent: AgentState): boolean => agent.waitingFor?.is === 'message';

/** `idle; 2 children work`, `waits for its children (2)`; null for who doesn't rest. */
export function restOf(agent: AgentState, state: RunState): string | null {
  if (!isResting(agent)) return null;
  const beside = childrenBeside(state, agent.id);
  if (agent.waitingFor?.is === 'children') {
    const awaited = beside.filter(({ spawned }) => typeof spawned?.wait === 'number').length;
    return awaited === 0 ? agent.reason : `${agent.reason} (${awaited})`;
  }
  if (!isIdle(agent)) return toLabel(agent.reason);
  return beside.length === 0
    ? 'idle'
    : `idle; ${beside.length === 1 ? '1 child' : `${beside.length} children`} at work`;
}

/** Children that were spawned, work on their own, and answer to `owner`. */
export const childrenBeside = ({ agents }: RunState, owner: AgentId): readonly AgentState[] =>
  [...agents.values()].filter((one) => one.spawned !== null && one.owner === owner && !isFinal(one));

/** Whom `agent` can't go on without: children of its calls, and of ROOT in a planned run all of them. */
export const awaited = (agent: AgentState, state: RunState): number =>
  agent.children.filter((id) => {
    const child = state.agents.get(id);
    if (child === undefined || isFinal(child) || child.status === 'interrupted') return false;
    return child.spawned === null || (agent.id === ROOT && !state.idle);
  }).length;

/** What the agent waits for, or null when it waits for no provider. */
export function waitOf(agent: AgentState, now: Millis): Wait | null {
  if (!isHeld(agent)) return null;
  const until = untilOf(agent);
  const left = until === null ? null : Math.max(0, until - now);
  const next = nextTry(left) + triesOf(agent);
  const why = whyOf(agent);
  return { text: `${why}; ${next}`, short: `${next}: ${why}`, left };
}

/** Whole seconds, the last one counted in full: `12s`. */
export const formatLeft = (left: Millis): string => formatDuration(Math.ceil(left / 1000) * 1000);

function nextTry(left: Millis | null): string {
  if (left === null) return 'in line for the next try';
  return left === 0 ? 'next try now' : `next try in ${formatLeft(left)}`;
}

function whyOf({ waitingFor, reason, pause }: AgentState): string {
  const said = toLabel(waitingFor?.is === 'provider' ? waitingFor.why : waitingFor === null ? '' : reason);
  return said !== '' || pause === null ? said : toLabel(`${pause.model.split('/')[0] ?? ''}: ${pause.cause}`);
}

/** Null where another agent tries first. What was said last counts: a wait for all may be longer than the agent's own. */
function untilOf({ waitingFor, pause, lastAt }: AgentState): Millis | null {
  if (waitingFor?.is !== 'provider') return pause?.until ?? null;
  return waitingFor.wait === null ? null : lastAt + waitingFor.wait;
}

function triesOf({ waitingFor, pause }: AgentState): string {
  if (waitingFor?.is === 'provider' && waitingFor.attempt !== undefined)
    return triesText(waitingFor.attempt, waitingFor.attempts);
  return triesText(pause?.attempt ?? undefined, pause?.attempts ?? undefined);
}
