/**
 * What an agent changed, by file, from the results of its edits: each carries its unified diff (tools/files/edit-file.ts). Long
 * results are cut in the state, the counts in their first line are not. Nothing here reads a file.
 */
import type { AgentState, Block } from '../../events/state.ts';

export interface FileChange {
  /** As the tool said it, relative to the project. */
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** True where the first of the changes made the file. */
  readonly made: boolean;
  /** Hunks of all changes in their order, without the two lines of names. */
  readonly diff: string;
}

const WRITERS: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** Every file that this agent changed itself, in the order of the first change. The same list for the same blocks. */
export function changesOf({ blocks }: Pick<AgentState, 'blocks'>): readonly FileChange[] {
  const known = CHANGES.get(blocks);
  if (known) return known;
  const files = new Map<string, FileChange>();
  for (const block of blocks) {
    const change = changeOf(block);
    if (change === null) continue;
    const before = files.get(change.path);
    files.set(change.path, before === undefined ? change : both(before, change));
  }
  const all = [...files.values()];
  CHANGES.set(blocks, all);
  return all;
}

const CHANGES = new WeakMap<readonly Block[], readonly FileChange[]>();

const both = (a: FileChange, b: FileChange): FileChange => ({
  path: a.path,
  added: a.added + b.added,
  removed: a.removed + b.removed,
  made: a.made,
  diff: `${a.diff}\n${b.diff}`,
});

/** What one block changed; null for all that changed no file. */
export function changeOf(block: Block): FileChange | null {
  if (block.is !== 'tool' || block.ok !== true || !WRITERS.has(block.tool)) return null;
  const [first = '', ...rest] = block.output.trimEnd().split('\n');
  const counts = /^(.*): \+(\d+) -(\d+) lines, digest now /.exec(first);
  if (counts === null) return null;
  return {
    path: counts[1] ?? '',
    added: Number(counts[2]),
    removed: Number(counts[3]),
    made: rest.some((line) => line === '--- /dev/null'),
    diff: rest.filter((line) => !/^(?:--- (?:a\/|\/dev\/null)|\+\+\+ b\/)/.test(line)).join('\n'),
  };
}
