/** The interface to the contents of the files that agents changed: whose each change is, and how it is taken back. */
import type { AuthoredFile } from '../domain/changes/authorship.ts';
import type { Result } from '../domain/result.ts';
import type { LeftChange, Undone } from '../domain/changes/undo.ts';
import type { RecordedActs } from '../events/index.ts';

export type { RecordedActs } from '../events/index.ts';

export interface ChangesPort {
  /** The files that differ between the start and now, by path, with the authors of what differs; where every act is known the person's, too. */
  authored(recorded: RecordedActs, signal: AbortSignal): Promise<Result<readonly AuthoredFile[], string>>;
  /** What changed since the start in folders that git ignores, as text; empty: nothing, or it is not known. */
  uncovered({ tree }: Pick<RecordedActs, 'tree'>, signal: AbortSignal): Promise<string>;
  /** What these files become without the changes; files that have none are left out. Nothing is written. */
  without(
    files: readonly AuthoredFile[],
    undone: Undone,
    signal: AbortSignal,
  ): Promise<Result<readonly FileUndo[], string>>;
  /** The digest of the project as it is now, to compare checks with. */
  tree(signal: AbortSignal): Promise<Result<string, string>>;
  /** Keeps the files as they are and then writes them without the changes. Rejects with an error of the file system. */
  undo(files: readonly FileUndo[], of: UndoLabel): Promise<UndoEnd>;
  /** True when something of this agent was undone that can be restored. */
  hasUndo(of: UndoLabel): boolean;
  /** Restores what the last undo of this agent has changed, byte for byte; null if there is none. A file that has changed since stays. */
  back(of: UndoLabel): Promise<UndoEnd | null>;
}

export interface FileContent {
  readonly bytes: Buffer;
  readonly mode: number;
}

/** One file on disk and as it becomes; null: no file. */
export interface FileUndo {
  readonly path: string;
  readonly before: FileContent | null;
  readonly after: FileContent | null;
  /** What stays of the changes. */
  readonly left: readonly LeftChange[];
  /** Why the whole file stays as it is, in words. */
  readonly stays?: string;
}

/** Whose changes were undone. */
export interface UndoLabel {
  readonly session: string;
  readonly agent: string;
}

export interface UndoEnd {
  readonly written: readonly string[];
  /** Files that could not be written, each with the reason. */
  readonly failed: readonly string[];
}
