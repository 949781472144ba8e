/** What a plan comes to, and whether it may be accepted: one row under the panes. */
import { expectedPlan } from '../../../../app/views/spending/expected-plan.ts';
import { parallelOf } from '../../../../app/views/agent-counts.ts';
import type { Budget } from '../../../../domain/budget.ts';
import { type PlanTotals, totalsOf } from '../../../../domain/plan/plan-view.ts';
import type { PlanChoices, SoundPlan } from '../../../../domain/plan/plan.ts';
import { totalRange, type Expected } from '../../../../domain/plan/estimate-range.ts';
import type { RunState } from '../../../../events/state.ts';
import { formatCost, formatDuration, formatLimit, formatTokens } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { lineWidth, restyle, span, spread } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';

/** What the run may use: the session's own limits, and those that the plan was judged by. */
export const capOf = (state: RunState): Budget => ({ ...state.choices?.limits.run, ...state.budget });

/** Why the plan costs too much to be accepted, with what can be done; null when it doesn't. */
export function overCap(plan: SoundPlan, state: RunState): string | null {
  const over = excess(totalsOf(expectedPlan(plan, state.choices), parallelOf(state)), capOf(state));
  if (over === null) return null;
  return `the estimate of ${over.words}: choose cheaper models (M, $), drop tasks (d), or raise what the run may use (B)`;
}

interface Excess {
  readonly what: 'cost' | 'tokens' | 'time';
  readonly words: string;
}

function excess(totals: PlanTotals, cap: Budget): Excess | null {
  const over = (what: Excess['what'], asked: string, most: string): Excess => ({
    what,
    words: `${asked} is over the cap of ${most}`,
  });
  if (cap.maxCost !== undefined && totals.knownCost > cap.maxCost) {
    return over('cost', formatCost(totals.knownCost), formatLimit(cap.maxCost));
  }
  if (cap.maxTokens !== undefined && totals.tokens > cap.maxTokens) {
    return over('tokens', `${formatTokens(totals.tokens)} tokens`, `${formatTokens(cap.maxTokens)} tokens`);
  }
  const ms = totals.seconds * 1000;
  if (cap.maxDuration === undefined || ms <= cap.maxDuration) return null;
  return over('time', formatDuration(ms), formatDuration(cap.maxDuration));
}

/** Dollars as one reads a range: cents where they say enough, else four decimals. */
export const formatMoney = (usd: number): string =>
  usd === 0 || usd >= 0.095 ? `$${usd.toFixed(2)}` : formatCost(usd);

/** Between the two ends of a range. */
export const toSign = ({ ellipsis }: Glyphs): string => (ellipsis === '…' ? '–' : '-');

/** Exactly `width` columns: what doesn't fit is left out from the range on, the cap last. */
export function totalsLine(plan: SoundPlan, state: RunState, width: number, glyphs: Glyphs): Line {
  const totals = totalsOf(expectedPlan(plan, state.choices), parallelOf(state));
  const over = excess(totals, capOf(state));
  const inkOf = (what: Excess['what'], usual: Ink): Ink => (over?.what === what ? 'err' : usual);
  const about = glyphs.ellipsis === '…' ? '≈ ' : '~ ';
  const cost = totals.cost === null ? `at least ${formatCost(totals.knownCost)}` : formatCost(totals.cost);
  const left: Line = [
    span(width < 60 ? ' ' : ' Estimate ', { fg: 'muted' }),
    span(`${formatTokens(totals.tokens)} tokens`, { fg: inkOf('tokens', 'title'), bold: true }),
    span(`  ${about}`, { fg: 'faint' }),
    span(cost, { fg: inkOf('cost', 'title'), bold: true }),
  ];
  const time: Line = [
    span(`  ${about}`, { fg: 'faint' }),
    span(formatDuration(totals.seconds * 1000), { fg: inkOf('time', 'fg') }),
  ];
  const right = over === null ? capLine(state) : overLine(over, state, width, glyphs);
  const free = width - lineWidth(left) - lineWidth(time) - lineWidth(right) - 2;
  const range = rangeLine(plan, state, free, glyphs);
  const bar = [...left, ...range, ...(free >= 0 ? time : [])];
  return restyle(spread(bar, right, width, {}, glyphs.ellipsis), { bg: 'surface' });
}

/** `  (likely $0.62 – $1.71, no runs yet)`, as much of it as `room` holds; amber where its end is over the cap. */
function rangeLine(plan: SoundPlan, state: RunState, room: number, glyphs: Glyphs): Line {
  const expected = expectedOf(plan, state);
  if (expected?.cost == null || expected.cost.high === 0) return [];
  const { cost, because } = expected;
  const { maxCost } = capOf(state);
  const ink: Ink = maxCost !== undefined && cost.high > maxCost ? 'warn' : 'muted';
  const words = `${formatMoney(cost.low)} ${toSign(glyphs)} ${formatMoney(cost.high)}`;
  const whole: Line = [
    span('  (likely ', { fg: 'faint' }),
    span(words, { fg: ink }),
    span(`, ${because})`, { fg: 'faint' }),
  ];
  if (lineWidth(whole) < room) return whole;
  const short: Line = [span('  (likely ', { fg: 'faint' }), span(words, { fg: ink }), span(')', { fg: 'faint' })];
  return lineWidth(short) < room ? short : [];
}

/** What the plan will probably use; null where nothing is known of what may be chosen. */
function expectedOf(plan: SoundPlan, state: RunState): Expected | null {
  const { choices } = state;
  if (choices === null) return null;
  const known = EXPECTED.get(plan);
  const maxParallel = parallelOf(state);
  if (known?.choices === choices && known.maxParallel === maxParallel) return known.expected;
  const expected = totalRange(plan, choices, maxParallel);
  EXPECTED.set(plan, { choices, maxParallel, expected });
  return expected;
}

/** Three schedules are made for it: once a plan, not once a frame. */
const EXPECTED = new WeakMap<
  SoundPlan,
  { readonly choices: PlanChoices; readonly maxParallel: number; readonly expected: Expected }
>();

function capLine(state: RunState): Line {
  const { maxCost, maxTokens } = capOf(state);
  const tokens = maxTokens === undefined ? null : `${formatTokens(maxTokens)} tokens`;
  const cap = maxCost === undefined ? tokens : formatLimit(maxCost);
  return cap === null ? [] : [span('cap ', { fg: 'faint' }), span(`${cap} `, { fg: 'ok', bold: true })];
}

/** The way out stands beside it: accepting is what the person wanted. */
function overLine({ words }: Excess, { phase }: RunState, width: number, glyphs: Glyphs): Line {
  const over = span(`${glyphs.status.failed} ${words.slice(words.indexOf('over'))} `, { fg: 'err', bold: true });
  if (phase !== 'approving' || width < 76) return [over];
  const cheaper: Line =
    width < 100 ? [] : [span(' $', { fg: 'focus', bold: true }), span(' cheaper ', { fg: 'muted' })];
  return [over, span(' B', { fg: 'focus', bold: true }), span(' raise it ', { fg: 'muted' }), ...cheaper];
}
