/** The interface to own trees of agents: a copy of the project in which one agent works, and its merge into the project. The engine decides when a
 * tree is made and merged and records it; here is only how. Trees are named by the engine and lie in the state directory until they are removed. */
import type { CommandChanges } from '../domain/changes/changes.ts';
import type { Result } from '../domain/result.ts';
import type { TreeChanges, TreeId } from './tree.ts';

/** A file that both sides changed in ways that do not go together. */
export interface MergeConflict {
  readonly path: string;
  /** In git's words: `contents`, `modify/delete`, `binary`. */
  readonly kind: string;
}

/** The differences between the project before and after a merge. */
type Listed = Pick<CommandChanges, 'files' | 'more' | 'rest'>;

/** What a merge would do. Nothing has changed yet. */
export interface Merge extends Listed {
  /** The project as it was when it was compared, and the agent's tree. */
  readonly ours: TreeId;
  readonly theirs: TreeId;
  /** The project after the merge; with conflicts the one in which the project's side of them stays. */
  readonly merged: TreeId;
  readonly conflicts: readonly MergeConflict[];
  /** As `merged`, with the agent's side of each conflict; only where there are conflicts. */
  readonly withTheirs?: TreeId;
  /** As `merged`, with both sides of each conflict in the file and the signs that git marks them with; only where there are conflicts. */
  readonly marked?: TreeId;
  /** Changed by the agent although it may not: they are not merged. Each with the reason. */
  readonly leftOut: readonly string[];
}

/** What is merged: of the tree `name`, the changes since `base`, as far as `writes` allows; absent: everywhere. */
export interface MergeRequest {
  readonly name: string;
  readonly base: TreeId;
  readonly writes?: readonly string[] | undefined;
}

/** What a tree begins with in place of the project: the changes of the tree `of`, merged into `ours`. */
export interface TreeContent extends Pick<Merge, 'ours'> {
  readonly of: string;
  readonly content: TreeId;
}

/** A tree and the project that it was made from, for another machine: commits, and packs of git's objects that have them. */
export interface PackedTree {
  readonly base: TreeId;
  /** The project as it was, and the files of the tree. */
  readonly commit: string;
  readonly content: string;
  /** The last commit of the person's repository; null where there is none, or where its history is too long to be sent. */
  readonly head: string | null;
  readonly branch: string | null;
  /** How the repository stores objects and files. */
  readonly format: string;
  readonly settings: readonly (readonly [name: string, value: string])[];
  readonly packs: readonly Uint8Array[];
}

/** A later state of a tree: a commit, and a pack of what is new in it. */
export interface TreeStep {
  readonly commit: string;
  readonly pack: Uint8Array;
}

export interface WorkspacePort {
  /** The command that prepares each new tree; absent: none does. */
  readonly setup?: string | undefined;
  /** Why no agent can have a tree of its own here, in words for a person; null if one can. */
  whyNot(): string | null;
  /** Makes the tree from the project as it stands, or `from`, and opens its tools. Replaces what an interrupted call has left under this name. */
  make(name: string, signal: AbortSignal, from?: TreeContent): Promise<Result<{ readonly base: TreeId }, string>>;
  /** The root of a tree. */
  folder(name: string): string;
  /** Opens the tools of a tree that was made before. A fault where it no longer exists. */
  open(name: string): Promise<Result<void, string>>;
  /** Compares the tree with the project and merges in memory. */
  merge(wish: MergeRequest, signal: AbortSignal): Promise<Result<Merge, string>>;
  /** The rest of a merge that was cut off: from `ours`, as the project was, to `merged`, into the project as it is now. Files that are in their
   * merged form already stay. */
  rest(of: Pick<Merge, 'ours' | 'merged'>, signal: AbortSignal): Promise<Result<Merge, string>>;
  /** Changes the project's files from `ours` to `to`. A fault, and no change, if one of them is no longer as in `ours`. */
  apply(ours: TreeId, to: TreeId, signal: AbortSignal): Promise<Result<void, string>>;
  /** The differences of two trees that a merge has named: of at most 500 files the hunks. */
  files(from: TreeId, to: TreeId, signal: AbortSignal): Promise<Result<Listed, string>>;
  /** The differences of two such trees as a unified diff; a cut is stated in it. */
  changes(from: TreeId, to: TreeId, signal: AbortSignal): Promise<Result<Pick<TreeChanges, 'patch'>, string>>;
  /** Writes the changes since `base` as a patch beside the tree; returns its path. */
  patch(wish: MergeRequest, signal: AbortSignal): Promise<Result<string, string>>;
  /** Bytes on disk, and whether the tree differs from `base`. Null where it no longer exists. */
  look(
    name: string,
    base: TreeId,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly dirty: boolean } | null>;
  /** The names of all trees of this project on disk. */
  names(): readonly string[];
  /** Removes a tree with everything that belongs to it. */
  remove(name: string): Promise<void>;
}

/** The interface to trees that are worked in on another machine. Their names are those of the `WorkspacePort`. */
export interface TransportPort {
  /** The tree for another machine, as it is now; null: the project itself, as agents may see it. */
  pack(of: Pick<MergeRequest, 'name' | 'base'> | null, signal: AbortSignal): Promise<Result<PackedTree, string>>;
  /** Keeps what the packs have, so that a tree can be made from it. */
  take(packs: readonly Uint8Array[], signal: AbortSignal): Promise<Result<void, string>>;
  /** What has changed in the tree since `commit`, a state of it; null where nothing has. */
  stepSince(name: string, base: TreeId, commit: string, signal: AbortSignal): Promise<Result<TreeStep | null, string>>;
  /** Brings the tree to the state `commit`, which the packs lead to. Nobody may work in it. */
  follow(
    name: string,
    packs: readonly Uint8Array[],
    commit: string,
    signal: AbortSignal,
  ): Promise<Result<void, string>>;
}
