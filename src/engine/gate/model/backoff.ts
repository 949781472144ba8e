/**
 * Which faults of a model are worth another try, for how long, and how long to wait before each. Pure: chance and time are
 * passed in. What the waiting looks like is retry.ts; who else waits is provider-queue.ts.
 */
import type { Millis } from '../../../domain/ids.ts';
import { triesText } from '../../../events/log-line.ts';
import type { WaitingFor } from '../../../events/event.ts';
import type { ModelFault } from '../../../ports/model.ts';

export type Cause = ModelFault['is'];

/** A provider that is down is left for an allowed fallback after so long. */
export const LEAVE_AFTER: Millis = 60_000;
/** Tries of a call whose answer breaks off: what came of it is paid for each time. */
const MOST_CUT = 5;
const BASE: Millis = 500;
/** Nobody waits longer at once, whatever a provider asks. */
export const LONGEST_WAIT: Millis = 60_000;
const SHORTEST_WAIT: Millis = 50;

/** Faults of a provider as a whole: whoever calls it next would meet the same, so that all of them wait. */
const SHARED: ReadonlySet<Cause> = new Set<Cause>(['rate limited', 'overloaded', 'unreachable']);
export const isShared = (cause: Cause): boolean => SHARED.has(cause);

/** What is known of a call when it failed once more. */
export interface Course {
  /** Tries so far, those of others included that it waited for in line. */
  readonly tries: number;
  /** Tries of its own in which the provider took the request and gave no reply. */
  readonly lost: number;
  /** Milliseconds since its first failure, and since the provider began to refuse everybody. */
  readonly failing: Millis;
  readonly trouble: Millis;
  readonly retryFor: Millis;
  /** Is there an allowed fallback for this fault? */
  readonly mayLeave: boolean;
}

/** How many tries there are at most, the first included; null where time alone decides. */
export function mostTries({ is, retryAfterMs = 0, begun }: ModelFault, course: Course): number | null {
  // Who says "come back tomorrow" is asked once more after the longest wait.
  const most = Math.max(LONGEST_WAIT, course.retryFor - course.failing);
  if (isShared(is)) return retryAfterMs > most ? 2 : null;
  if (is !== 'silent') return COUNTED.get(is) ?? 1;
  if (!course.mayLeave) return null;
  return begun === true ? 2 : 1;
}

const COUNTED: ReadonlyMap<Cause, number> = new Map<Cause, number>([
  ['cut', MOST_CUT],
  ['malformed', 2],
]);

/** Milliseconds within which another try may be made; 0 or less: none is. */
export function timeForMore(fault: ModelFault, course: Course): Millis {
  const { tries, lost, failing, trouble, retryFor, mayLeave } = course;
  const most = mostTries(fault, course);
  if (most !== null && (isShared(fault.is) ? tries : lost) >= most) return 0;
  if (!mayLeave || !DOWN.has(fault.is)) return retryFor - failing;
  return Math.min(LEAVE_AFTER, retryFor) - Math.max(failing, trouble);
}

/** The provider can't be used by anybody now; who is only asked to slow down may be served soon. */
const DOWN: ReadonlySet<Cause> = new Set<Cause>(['overloaded', 'unreachable']);

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

const WORDS: ReadonlyMap<Cause, string> = new Map<Cause, string>([
  ['rate limited', 'is rate limited'],
  ['overloaded', 'is overloaded'],
  ['unreachable', "can't be reached"],
  ['cut', 'broke off its answer'],
  ['silent', 'went silent'],
  ['malformed', 'sent what is no answer'],
]);

export interface Waiting {
  readonly cause: Cause;
  readonly wait: Millis;
  /** The try that comes next. */
  readonly attempt: number;
  /** Null where time alone ends the tries. */
  readonly attempts: number | null;
}

/** Why an agent waits: as a sentence, and as data. */
export interface WaitReason {
  readonly reason: string;
  readonly waitingFor: WaitingFor;
}

/** `anthropic is rate limited; next try in 12 s (try 2)`, and the same as data. A wait of 0: somebody else tries first. */
export function waitReason(provider: string, { cause, wait, attempt, attempts }: Waiting): WaitReason {
  const next = wait > 0 ? `next try in ${Math.ceil(wait / 1000)} s` : 'in line for the next try';
  const why = `${provider} ${WORDS.get(cause) ?? cause}`;
  const most = attempts === null ? {} : { attempts: Math.max(attempts, attempt) };
  const tries = attempt > 1 ? { attempt, ...most } : {};
  const inWords = attempt > 1 ? triesText(attempt, most.attempts) : '';
  return {
    reason: `${why}; ${next}${inWords}`,
    waitingFor: { is: 'provider', why, wait: wait > 0 ? wait : null, ...tries },
  };
}
