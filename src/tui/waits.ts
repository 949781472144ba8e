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
  const until = agent.pause?.until ?? saidUntil(agent);
  const left = until === null ? null : Math.max(0, until - now);
  const next = nextTry(left) + triesOf(agent);
  const why = whyOf(agent);
  return { text: `${why}; ${next}`, short: `${next}: ${why}`, left };
}

/** Whole seconds, the last one counted in full: `12s`. */
export const formatLeft = (left: Millis): string => formatDuration(Math.ceil(left / 1000) * 1000);

function nextTry(left: Millis | null): string {
  if (left === null) return 'tries again soon';
  return left === 0 ? 'next try now' : `next try in ${formatLeft(left)}`;
}

const SAID = /[;:,.]?\s*(?:the )?next try\b.*$/i;

/** The reason without its count of seconds, which was true when it was given. */
function whyOf(agent: AgentState): string {
  const said = agent.status === 'waiting' ? toLabel(agent.reason).replace(SAID, '').trim() : '';
  if (said !== '') return said;
  const { pause } = agent;
  if (pause === null) return 'the provider is waited for';
  return toLabel(`${pause.model.split('/')[0] ?? ''}: ${pause.cause}`);
}

/** A wait for a provider that others ran into has no try of its own: then the reason alone says how long. */
function saidUntil({ reason, lastAt }: AgentState): Millis | null {
  const [, seconds] = /\bin (\d+(?:\.\d+)?) ?s\b/.exec(reason) ?? [];
  return seconds === undefined ? null : lastAt + Number(seconds) * 1000;
}

function triesOf({ pause, reason }: AgentState): string {
  if (pause !== null && pause.attempt !== null)
    return pause.attempts === null ? ` (try ${pause.attempt})` : ` (${pause.attempt} of ${pause.attempts})`;
  return /\s\(\d+ of \d+\)/.exec(reason)?.[0] ?? '';
}
