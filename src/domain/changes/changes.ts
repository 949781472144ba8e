/** What an act of an agent changed in the project: of a command found by comparing the project before and after it. */
import type { AgentId } from '../ids.ts';

/** The content of a file at a moment. */
export interface FileVersion {
  /** git's id of the content. */
  readonly blob: string;
  /** `100644`, `100755` for a program, `120000` for a link. */
  readonly mode: string;
}

/** A file before and after an act; null: it did not exist. */
export interface VersionChange {
  /** Relative to the project's root. */
  readonly path: string;
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
}

export interface ChangedFile {
  /** Relative to the project's root. */
  readonly path: string;
  readonly is: 'added' | 'changed' | 'removed';
  /** Lines; 0 for a binary file. */
  readonly added: number;
  readonly removed: number;
  /** The hunks, without the lines above them; cut where they are long, absent where too much changed at once. */
  readonly diff?: string;
  /** Both are absent in logs of earlier versions, and without git. */
  readonly before?: FileVersion | null;
  readonly after?: FileVersion | null;
}

export interface CommandChanges {
  /** Sorted by path; at most `MOST_CHANGED`. */
  readonly files: readonly ChangedFile[];
  /** Further files that are not listed. */
  readonly more: number;
  /** The versions of those, as far as they are known; absent: none. */
  readonly rest?: readonly VersionChange[];
  /** The tree of the project before a command; absent of file tools. */
  readonly tree?: string;
  /** Agents that ran commands at the same time: each change may be theirs. */
  readonly also: readonly AgentId[];
  /** Made in the agent's own tree: the project gets it by a merge. */
  readonly inOwnTree?: true;
}

const MOST_CHANGED = 500;

/** The changes as an event keeps them: the first files with their hunks, of the rest the versions. */
export function listedChanges(files: readonly ChangedFile[]): Pick<CommandChanges, 'files' | 'more' | 'rest'> {
  const rest = files.slice(MOST_CHANGED).flatMap((file) => versionsOf(file) ?? []);
  const more = Math.max(0, files.length - MOST_CHANGED);
  return { files: files.slice(0, MOST_CHANGED), more, ...(rest.length === 0 ? {} : { rest }) };
}

/** The versions of a change; null if they are not both known. */
export const versionsOf = ({ path, before, after }: ChangedFile | VersionChange): VersionChange | null =>
  before === undefined || after === undefined ? null : { path, before, after };

/** What became of an agent's tree when it was to be merged. */
export interface MergeEnd {
  /** `unmerged`: the project has not changed, and the tree is kept. */
  readonly is: 'merged' | 'unmerged';
  readonly changed?: CommandChanges;
  /** The agent's tree as it was merged: a digest of its content. */
  readonly theirs?: string;
  /** Of files that both sides had changed: whose version was taken. */
  readonly took?: 'mine' | 'theirs';
  /** Why it was not merged, in a sentence. */
  readonly because?: string;
  readonly patch?: string;
  /** The conflicts, `path (kind)`, that the agent resolves in a further tree; absent: it does not. */
  readonly resolve?: readonly string[];
  /** Changes that were not merged since the agent may not make them, each with the reason. */
  readonly leftOut?: readonly string[];
}

/** What an agent changed in one file. */
export interface FileChange {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** True if the first change created the file. */
  readonly made: boolean;
  /** True if the last change removed it. */
  readonly gone: boolean;
  /** Other agents whose commands ran at the same time: parts of it may be theirs. */
  readonly also: readonly AgentId[];
  /** The hunks of all changes in order, without the two header lines. */
  readonly diff: string;
}
