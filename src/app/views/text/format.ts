/** Numbers as the screens write them: times, money, tokens, shares. Short, and the same everywhere. */
import type { Millis, Usd } from '../../../domain/ids.ts';

/** `3m 12s` from a minute on, else `48s`. Below zero and what isn't a number are `0s`. */
export function formatDuration(ms: Millis): string {
  const seconds = Number.isFinite(ms) ? Math.max(0, Math.floor(ms / 1000)) : 0;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

/** What nobody knows to the second: `48s`, `3m 12s`, from ten minutes on `28m`, from two hours on `3h`. */
export function formatRoughly(ms: Millis): string {
  const minutes = Math.round(ms / 60_000);
  if (!Number.isFinite(ms) || minutes < 10) return formatDuration(ms);
  return minutes < 120 ? `${minutes}m` : `${Math.round(minutes / 60)}h`;
}

/** Four decimals: `$0.0912`. Null, an unknown price, is `$?`. */
export const formatCost = (cost: Usd | null): string => (cost === null ? '$?' : `$${cost.toFixed(4)}`);

/** A limit: two decimals where that is exact (`$2.00`), else as costs are written. */
export const formatLimit = (cost: Usd): string =>
  Math.abs(cost * 100 - Math.round(cost * 100)) < 1e-6 ? `$${cost.toFixed(2)}` : formatCost(cost);

/** `800`, `6.2k`, `22k`, `1.2M`, `34M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(Math.max(0, Math.round(tokens)));
  if (tokens < 9950) return `${(tokens / 1000).toFixed(1)}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return tokens < 9_950_000 ? `${(tokens / 1_000_000).toFixed(1)}M` : `${Math.round(tokens / 1_000_000)}M`;
}

/** A share as a whole percentage, rounded down so that 100 % means it: `79%`. */
export const formatShare = (share: number): string => `${Math.floor(share * 100 + 1e-9)}%`;

/** Shares of one whole as percentages that add up to it; 100 % is still only written of all. */
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

/** `1 agent`, `4 agents`: a count with its word. */
export const counted = (many: number, word: string): string => `${many} ${word}${many === 1 ? '' : 's'}`;

/** `14:03:09` on this machine's clock. */
export function formatClock(at: Millis): string {
  const time = new Date(at);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
