/** Time, randomness and waiting, so that tests can control them. */
import type { Millis } from '../domain/ids.ts';

export interface World {
  /** Wall clock, for what people read. */
  now(): Millis;
  /** Monotonic, and stopped while the process is suspended; for durations. */
  elapsed(): Millis;
  /** A fresh random lower-case name of `length` letters and digits. */
  name(length: number): string;
  /** Resolves after `ms`, or at once when `signal` is aborted (it never rejects). */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
}
