/**
 * The seam to the content of the project as a whole: what changed between two moments, each named by the digest of
 * everything in it. Forced agents judge such changes, and their verdicts are bound to the digest.
 */
import type { Result } from '../domain/result.ts';

/** Digest of all files of the project at a moment: equal content, equal id. Git's own tree hash where git can make one. */
export type TreeId = string;

export interface TreeChanges {
  /** Changed, new and removed files, relative to the root, sorted. */
  readonly files: readonly string[];
  /** A unified diff of them, cut where it is too long (said in it). No program of the repository had a part in it. */
  readonly patch: string;
}

export interface TreePort {
  /** The project as it is now. Ignored files that were never committed don't count. */
  now(signal: AbortSignal): Promise<Result<TreeId, string>>;
  /** What makes `to` out of `from`, both given by `now` or by a tool's proposal. */
  changes(from: TreeId, to: TreeId, signal: AbortSignal): Promise<Result<TreeChanges, string>>;
}
