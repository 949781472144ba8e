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
  /** What changed and is not judged, in words: folders of build output with how many files of each. Absent: nothing. */
  readonly unjudged?: string;
}

/** The beginning of a run, as its log tells of it: what was ignored then is told from what was hidden since. */
export interface Since {
  /** The first tree of the run. */
  readonly tree: TreeId;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  /** Files that file tools were asked to write, as they were named. */
  readonly written: readonly string[];
}

export interface TreePort {
  /**
   * The project as it is now. Of ignored files those count that a commit has, ignore files, what file tools wrote, and what changed
   * outside of folders that were ignored at the beginning of the run. `since` is absent for its first look.
   */
  now(signal: AbortSignal, since?: Since): Promise<Result<TreeId, string>>;
  /** What makes `to` out of `from`, both given by `now` or by a tool's proposal. */
  changes(from: TreeId, to: TreeId, signal: AbortSignal, since?: Since): Promise<Result<TreeChanges, string>>;
}
