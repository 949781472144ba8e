/** What changed in the project while a command of an agent ran, found by comparing the project before and after it. */
import type { AgentId } from './ids.ts';

export interface ChangedFile {
  /** Relative to the project's root. */
  readonly path: string;
  readonly is: 'added' | 'changed' | 'removed';
  /** Lines; 0 for a binary file. */
  readonly added: number;
  readonly removed: number;
  /** The hunks, without the lines above them; cut where they are long, absent where too much changed at once. */
  readonly diff?: string;
}

export interface CommandChanges {
  /** Sorted by path; at most `MOST_CHANGED`. */
  readonly files: readonly ChangedFile[];
  /** Further files that are not listed. */
  readonly more: number;
  /** Agents that ran commands at the same time: each change may be theirs. */
  readonly also: readonly AgentId[];
}

/** What became of an agent's tree when it was to be merged. */
export interface MergeEnd {
  /** `unmerged`: the project has not changed, and the tree is kept. */
  readonly is: 'merged' | 'unmerged';
  /** What the merge changed in the project; absent: nothing. */
  readonly changed?: CommandChanges;
  /** Of files that both sides had changed: whose version was taken. */
  readonly took?: 'mine' | 'theirs';
  /** Why it was not merged, in a sentence. */
  readonly because?: string;
  /** Where its changes are kept as a patch. */
  readonly patch?: string;
  /** Changes that were not merged since the agent may not make them, each with the reason. */
  readonly leftOut?: readonly string[];
}
