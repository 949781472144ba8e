/** Formats times, costs, tokens and shares, equal on all screens. */
import { type Budget, formatCost, formatLimit } from '../../../domain/budget.ts';
import type { Millis, Usd } from '../../../domain/ids.ts';

/** `48s`; `3m 12s` from one minute on. Negative and invalid values are `0s`. */
export function formatDuration(ms: Millis): string {
  const seconds = Number.isFinite(ms) ? Math.max(0, Math.floor(ms / 1000)) : 0;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

/** With tenths below a minute: `7.6s`, `9m 44s`. */
export const formatSeconds = (ms: Millis): string =>
  ms < 60_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)}s` : formatDuration(ms);

/** For estimates: `48s`, `3m 12s`, from ten minutes on `28m`, from two hours on `3h`. */
export function formatRoughly(ms: Millis): string {
  const minutes = Math.round(ms / 60_000);
  if (!Number.isFinite(ms) || minutes < 10) return formatDuration(ms);
  return minutes < 120 ? `${minutes}m` : `${Math.round(minutes / 60)}h`;
}

/** A limit on time as people type it: `90s`, `60m`, from two hours on `2h`. */
export function formatTimeLimit(ms: Millis): string {
  if (ms >= 7_200_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms > 0 && ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}

/** As `formatCost`, for lines and reports; null is `price not known`. */
export const priceText = (cost: Usd | null): string => (cost === null ? 'price not known' : formatCost(cost));

/** The figures of a plan or a task: `12k tokens, $0.05, about 38s`. `about` precedes the time. */
export const figuresText = (
  { tokens, cost, seconds }: { readonly tokens: number; readonly cost: Usd | null; readonly seconds: number },
  about = 'about ',
): string => `${formatTokens(tokens)} tokens, ${priceText(cost)}, ${about}${formatDuration(seconds * 1000)}`;

/** `read_file, grep`, `all tools` or `none`. */
export const toolsText = (tools: readonly string[]): string =>
  tools.includes('*') ? 'all tools' : tools.join(', ') || 'none';

/** `800`, `6.2k`, `22k`, `1.2M`, `34M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(Math.max(0, Math.round(tokens)));
  if (tokens < 9950) return `${(tokens / 1000).toFixed(1)}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return tokens < 9_950_000 ? `${(tokens / 1_000_000).toFixed(1)}M` : `${Math.round(tokens / 1_000_000)}M`;
}

/** A share as a whole percentage, rounded down so that 100% means complete: `79%`. */
export const formatShare = (share: number): string => `${Math.floor(share * 100 + 1e-9)}%`;

/** Percentages that add up to the sum of the shares; only a complete share is 100%. */
export function formatShares(shares: readonly number[]): readonly string[] {
  const exact = shares.map((share) => share * 100);
  const whole = exact.map((percent) => Math.floor(percent + 1e-9));
  const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
  const missing = Math.round(sum(exact)) - sum(whole);
  const rest = (at: number): number => (exact[at] ?? 0) - (whole[at] ?? 0);
  // The largest remainders are rounded up.
  const up = new Set(
    shares
      .map((_, at) => at)
      .filter((at) => (whole[at] ?? 0) < 99)
      .toSorted((a, b) => rest(b) - rest(a))
      .slice(0, missing),
  );
  return whole.map((percent, at) => `${percent + (up.has(at) ? 1 : 0)}%`);
}

export { formatCost, formatLimit } from '../../../domain/budget.ts';
export { plural } from '../../../domain/lists.ts';

/** Local time: `14:03:09`. */
export function formatClock(at: Millis): string {
  const time = new Date(at);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** A budget: `20k tokens, $2.50, 10m`; null if nothing is limited. */
export function budgetText({ maxTokens, maxCost, maxDuration }: Budget): string | null {
  const parts = [
    ...(maxTokens === undefined ? [] : [`${formatTokens(maxTokens)} tokens`]),
    ...(maxCost === undefined ? [] : [formatLimit(maxCost)]),
    ...(maxDuration === undefined ? [] : [formatTimeLimit(maxDuration)]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

export const firstLineOf = (text: string): string => text.split('\n')[0] ?? '';

/** The text with its first letter in upper case. */
export const capitalise = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
