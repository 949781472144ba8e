/**
 * Waits for a provider, which need nobody: why, and how long still, said anew for each frame so that the time runs down.
 * Waiting for a person is something else (approvals) and is shown by other signs.
 */
import type { Millis } from '../domain/ids.ts';
import type { AgentState } from '../events/state.ts';
import { formatDuration } from './format.ts';
import { toLabel } from './text/sanitise.ts';

export interface Wait {
  /** `anthropic is rate limited; next try in 12s (2 of 5)` */
  readonly text: string;
  /** The same with what changes in front, for where the end may be cut: `next try in 12s (2 of 5): anthropic is …` */
  readonly short: string;
  /** Milliseconds that are left; null where nobody said. Never negative. */
  readonly left: Millis | null;
}

/** Does it wait for a provider? Waits for a person and for sub-agents give no reason. */
export const isHeld = (agent: AgentState): boolean =>
  agent.outcome === null && (agent.pause !== null || (agent.status === 'waiting' && agent.reason !== ''));

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

/** The part of a reason that says when: true when it was given, not any more. */
const WHEN = /;[^;]*\bnext try\b.*$/i;

const saidOf = ({ status, reason }: AgentState): string => (status === 'waiting' ? toLabel(reason) : '');

function whyOf(agent: AgentState): string {
  const said = saidOf(agent).replace(WHEN, '').trim();
  if (said !== '' || agent.pause === null) return said;
  return toLabel(`${agent.pause.model.split('/')[0] ?? ''}: ${agent.pause.cause}`);
}

/** A reason counts whole seconds up: within that much, the time of the agent's own try is the better one. */
const ROUNDED = 1500;

/** Null where another agent tries first. What was said last counts: a wait for all may be longer than the agent's own. */
function untilOf(agent: AgentState): Millis | null {
  const [when] = WHEN.exec(saidOf(agent)) ?? [];
  const until = agent.pause?.until ?? null;
  if (when === undefined) return until;
  const [, seconds] = /\bin (\d+(?:\.\d+)?) ?s\b/.exec(when) ?? [];
  if (seconds === undefined) return null;
  const said = agent.lastAt + Number(seconds) * 1000;
  return until !== null && Math.abs(said - until) <= ROUNDED ? until : said;
}

function triesOf(agent: AgentState): string {
  const [said] = / \(\d+ of \d+\)$/.exec(saidOf(agent)) ?? [];
  const { attempt = null, attempts = null } = agent.pause ?? {};
  if (said !== undefined || attempt === null) return said ?? '';
  return attempts === null ? ` (try ${attempt})` : ` (${attempt} of ${attempts})`;
}
