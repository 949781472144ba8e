/** The rules at this moment: those from the start of the run, or tighter ones that an administrator has written since. */
import type { Result } from '../domain/result.ts';
import type { Rules } from '../policy/index.ts';

export interface PolicyWatcher {
  /** Cheap enough for every decision: checks only sizes and times of the managed files. Never looser than before within a run. Fails,
   * with a sentence for the person, when a managed file has become invalid or is missing: the run pauses. */
  now(): Result<Rules, string>;
  /** Changes that would loosen something and therefore wait for the next start: one sentence each, reported once. */
  notes?(): readonly string[];
}
