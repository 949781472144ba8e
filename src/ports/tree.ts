/** The interface to the content of the whole project: the changes between two moments, each named by a digest of all content.
 * Mandatory reviews judge such changes, and their verdicts are bound to the digest. */
import type { EnvironmentFacts } from '../domain/agents/brief.ts';
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Result } from '../domain/result.ts';

/** Digest of all files of the project at a moment; equal content has an equal id. It is git's tree hash. */
export type TreeId = string;

export interface TreeChanges {
  /** Changed, new and removed files, relative to the root, sorted. */
  readonly files: readonly string[];
  /** Their unified diff; a cut is stated in it. No program of the repository took part in it. */
  readonly patch: string;
  /** Changes that are not judged, as text: folders of build output and their numbers of files. Absent: none. */
  readonly unjudged?: string;
}

/** The beginning of a run, by its log: files ignored then are told apart from files hidden since. */
export interface Since {
  readonly tree: TreeId;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  /** Files that file tools were asked to write, by their names in the calls. */
  readonly written: readonly string[];
}

export interface TreePort {
  /** The project as it is now. Ignored files count if a commit has them, if they are ignore files, if a file tool wrote them, or if they
   * changed outside folders that were ignored at the beginning of the run. `since` is absent for the first call of a run. */
  now(signal: AbortSignal, since?: Since): Promise<Result<TreeId, string>>;
  /** The changes from `from` to `to`, both returned by `now` or by a tool's proposal. */
  changes(from: TreeId, to: TreeId, signal: AbortSignal, since?: Since): Promise<Result<TreeChanges, string>>;
}

/** Bounded facts about the project: reads limited numbers of files and bytes, and runs only hardened git. */
export interface RepositoryPort {
  /** For planners. `without git` starts no git, so that nothing reads the repository's configuration. */
  facts(signal: AbortSignal, how?: 'without git'): Promise<RepositoryFacts>;
  /** For an agent that starts now. Absent: agents get no environment block. Never rejects; unreadable parts are left out. */
  environment?(signal: AbortSignal): Promise<EnvironmentFacts>;
}
