/** Time, chance and waiting: the only way the inside learns of them, so that a test can hold them still. */
import type { Millis } from '../domain/ids.ts';

export interface World {
  /** Wall clock, for what people read. */
  now(): Millis;
  /** Never goes backwards, and stands still while the process is stopped; for durations. */
  elapsed(): Millis;
  /** A fresh random lower-case name of `length` letters and digits. */
  name(length: number): string;
  /** Resolves after `ms`, or at once when `signal` is aborted (it never rejects). */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
}
