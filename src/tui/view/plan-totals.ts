/** What a plan comes to, and whether it may be accepted: one row under the panes (CONTRACT O101, O110). */
import type { Budget } from '../../domain/budget.ts';
import type { PlanTotals } from '../../domain/plan-view.ts';
import { totalsOf } from '../../domain/plan-view.ts';
import type { SoundPlan } from '../../domain/plan.ts';
import type { RunState } from '../../events/state.ts';
import { formatCost, formatDuration, formatLimit, formatTokens } from '../format.ts';
import type { Glyphs } from '../glyphs.ts';
import { lineWidth, restyle, span, spread } from '../text/clip.ts';
import type { Line } from '../text/line.ts';

/** What the run may use: the session's own limits, and those that the plan was judged by. */
export const capOf = (state: RunState): Budget => ({ ...state.choices?.limits.run, ...state.budget });

/** How many may run at once. */
export const parallelOf = (state: RunState): number => state.choices?.limits.maxParallel ?? state.maxParallel;

/** Why the plan costs too much to be accepted, with what can be done; null when it doesn't. */
export function overCap(plan: SoundPlan, state: RunState): string | null {
  const cap = capOf(state);
  const totals = totalsOf(plan, parallelOf(state));
  const over = excess(totals, cap);
  return over === null
    ? null
    : `the estimate of ${over}: choose cheaper models (M), drop tasks (d), or start with a higher limit`;
}

function excess(totals: PlanTotals, cap: Budget): string | null {
  if (cap.maxCost !== undefined && totals.knownCost > cap.maxCost) {
    return `${formatCost(totals.knownCost)} is over the cap of ${formatLimit(cap.maxCost)}`;
  }
  if (cap.maxTokens !== undefined && totals.tokens > cap.maxTokens) {
    return `${formatTokens(totals.tokens)} tokens is over the cap of ${formatTokens(cap.maxTokens)}`;
  }
  if (cap.maxDuration !== undefined && totals.seconds * 1000 > cap.maxDuration) {
    return `${formatDuration(totals.seconds * 1000)} is over the cap of ${formatDuration(cap.maxDuration)}`;
  }
  return null;
}

/** Exactly `width` columns. */
export function totalsLine(plan: SoundPlan, state: RunState, width: number, glyphs: Glyphs): Line {
  const totals = totalsOf(plan, parallelOf(state));
  const over = excess(totals, capOf(state)) !== null;
  const about = glyphs.ellipsis === '…' ? '≈ ' : '~ ';
  const cost = totals.cost === null ? `at least ${formatCost(totals.knownCost)}` : formatCost(totals.cost);
  const left: Line = [
    span(width < 60 ? ' ' : ' Estimate ', { fg: 'muted' }),
    span(`${formatTokens(totals.tokens)} tokens`, { fg: 'title', bold: true }),
    span(`  ${about}`, { fg: 'faint' }),
    span(cost, { fg: over ? 'err' : 'title', bold: true }),
  ];
  const time: Line = [span(`  ${about}`, { fg: 'faint' }), span(formatDuration(totals.seconds * 1000), { fg: 'fg' })];
  const right = over ? overLine(plan, state, glyphs) : capLine(state);
  const limits: Line = [span(`  (budgets allow ${formatCost(mostCost(plan))})`, { fg: 'faint' })];
  const free = width - lineWidth(left) - lineWidth(time) - lineWidth(right) - 2;
  const bar = [
    ...left,
    ...(free > lineWidth(limits) && totals.cost !== null && totals.cost > 0 ? limits : []),
    ...(free >= 0 ? time : []),
  ];
  return restyle(spread(bar, right, width, {}, glyphs.ellipsis), { bg: 'surface' });
}

function capLine(state: RunState): Line {
  const { maxCost, maxTokens } = capOf(state);
  const cap =
    maxCost !== undefined ? formatLimit(maxCost) : maxTokens === undefined ? null : `${formatTokens(maxTokens)} tok`;
  return cap === null ? [] : [span('cap ', { fg: 'faint' }), span(`${cap} `, { fg: 'ok', bold: true })];
}

function overLine(plan: SoundPlan, state: RunState, glyphs: Glyphs): Line {
  const cap = capOf(state);
  const words = excess(totalsOf(plan, parallelOf(state)), cap) ?? '';
  const short = words.slice(words.indexOf('over'));
  return [span(`${glyphs.status.failed} ${short} `, { fg: 'err', bold: true })];
}

/** US dollars when every agent used all of its budget. */
const mostCost = (plan: SoundPlan): number =>
  plan.tasks.reduce((sum, { budget, estimatedCost, estimatedTokens }) => {
    const share = budget.maxTokens === undefined || estimatedTokens === 0 ? 1 : budget.maxTokens / estimatedTokens;
    return sum + Math.min((estimatedCost ?? 0) * share, budget.maxCost ?? Number.POSITIVE_INFINITY);
  }, 0);
