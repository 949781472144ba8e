/**
 * Which faults of a model are worth another try, how many, and how long to wait before each. Pure: chance is passed in.
 * What the waiting looks like is gate-retry.ts; who else waits is gate-line.ts.
 */
import type { Millis, ModelId } from '../domain/ids.ts';
import type { ModelFault } from '../ports/model.ts';

export type Cause = ModelFault['is'];

/** Tries of one model in one turn, the first included. */
export const MOST_TRIES = 5;
const BASE: Millis = 500;
/** Nobody waits longer at once, whatever a provider asks. */
export const LONGEST_WAIT: Millis = 60_000;
const SHORTEST_WAIT: Millis = 50;

const TRIES: ReadonlyMap<Cause, number> = new Map<Cause, number>([
  ['rate limited', MOST_TRIES],
  ['overloaded', MOST_TRIES],
  ['unreachable', MOST_TRIES],
  ['cut', MOST_TRIES],
  ['silent', 2],
  ['malformed', 2],
]);

/** Faults of a provider as a whole: whoever calls it next would meet the same, so that all of them wait. */
const SHARED: ReadonlySet<Cause> = new Set<Cause>(['rate limited', 'overloaded', 'unreachable']);
export const isShared = (cause: Cause): boolean => SHARED.has(cause);

/** How often a model is tried that fails like this. Who says "come back tomorrow" is asked once more after the longest wait. */
export function triesAfter({ is, retryAfterMs = 0 }: ModelFault): number {
  const tries = TRIES.get(is) ?? 1;
  return retryAfterMs > LONGEST_WAIT ? Math.min(2, tries) : tries;
}

/**
 * Milliseconds before the next try, `tries` having been made. What the provider asked for and a little more, else
 * anything up to a bound that doubles (full jitter); never above `LONGEST_WAIT`. `chance` is from 0 to 1.
 */
export function waitAfter({ retryAfterMs = 0 }: ModelFault, tries: number, chance: number): Millis {
  const asked = Number.isFinite(retryAfterMs) && retryAfterMs > 0 ? retryAfterMs : 0;
  const jitter = chance * (asked > 0 ? BASE : Math.min(LONGEST_WAIT, BASE * 2 ** (tries - 1)));
  return Math.round(Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, asked + jitter)));
}

/** A number from 0 to 1 out of a random name: `World` has no other chance, and tests hold this one still with it. */
export function chanceOf(name: string): number {
  const letters = name.replaceAll(/[^0-9a-z]/g, '').slice(0, 8);
  return letters === '' ? 0 : Number.parseInt(letters, 36) / 36 ** letters.length;
}

/** The part of a canonical id before the first slash. */
export const providerOf = (model: ModelId): string => model.slice(0, model.indexOf('/'));

const WORDS: ReadonlyMap<Cause, string> = new Map<Cause, string>([
  ['rate limited', 'is rate limited'],
  ['overloaded', 'is overloaded'],
  ['unreachable', "can't be reached"],
  ['cut', 'broke off its answer'],
  ['silent', 'went silent'],
  ['malformed', 'sent what is no answer'],
]);

/** `anthropic is rate limited; next try in 12 s (2 of 5)`. A wait of 0: somebody else tries first. */
export function waitText(
  provider: string,
  {
    cause,
    wait,
    attempt,
    attempts,
  }: { readonly cause: Cause; readonly wait: Millis; readonly attempt: number; readonly attempts: number },
): string {
  const next = wait > 0 ? `next try in ${Math.ceil(wait / 1000)} s` : 'in line for the next try';
  return `${provider} ${WORDS.get(cause) ?? cause}; ${next}${attempt > 1 ? ` (${attempt} of ${attempts})` : ''}`;
}
