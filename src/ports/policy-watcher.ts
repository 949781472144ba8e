/** The rules as they are at this moment: those the run began with, or tighter ones that an administrator has written since. */
import type { Result } from '../domain/result.ts';
import type { Rules } from '../policy/rules.ts';

export interface Law {
  /**
   * Cheap enough for every decision: looks at sizes and times of the managed files only. Never looser than before in one
   * run. Fails, with a sentence for the person, when a file that held has become invalid or has vanished: the run pauses.
   */
  now(): Result<Rules, string>;
  /** What was written since and waits for the next start, as it would loosen something: a sentence each, once each. */
  notes?(): readonly string[];
}
