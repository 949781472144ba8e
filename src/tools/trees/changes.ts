/** What makes one tree out of another, for people and for forced agents: names and a patch of bounded length, no secrets. */
import { ok, type Result } from '../../domain/result.ts';
import type { TreeChanges, TreeId } from '../../ports/tree.ts';
import { withoutSecrets } from '../git/secrets.ts';
import { capLines, capText, LINE_COLUMNS } from '../process/output.ts';
import type { RepositoryFacts, StoreCall, TreeStore } from './store.ts';

/** The longest patch, in bytes: what a model can still read. */
const PATCH_BYTES = 200 * 1024;
const HOW = ['-r', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'];

/**
 * Names sorted by their bytes, and the patch. No attribute of the project has a part in it: none can hide a file from
 * whoever judges the change. The content of `.env` files, and what policy hides, is left out; one that is too long keeps its head and its end.
 */
export async function changesOf(
  store: TreeStore,
  facts: RepositoryFacts,
  { from, to }: { readonly from: TreeId; readonly to: TreeId },
  signal: AbortSignal,
  where: Pick<StoreCall, 'into'> = {},
): Promise<Result<TreeChanges, string>> {
  if (from === to) return ok({ files: [], patch: '' });
  const [names, patch] = await Promise.all([
    store.git(facts, ['diff-tree', ...HOW, '--name-only', '-z', from, to], signal, where),
    store.git(facts, ['diff-tree', ...HOW, '--patch', from, to], signal, where),
  ]);
  if (!names.ok) return names;
  const files = names.value.split('\0').filter((name) => name !== '');
  if (patch.ok) return ok({ files, patch: bounded(withoutSecrets(store.root, patch.value)) });
  if (patch.fault === 'stopped') return patch;
  // Too much to look at: which files they are is said all the same.
  return ok({ files, patch: `(no patch: ${patch.fault})` });
}

function bounded(patch: string): string {
  const text = capLines(patch, LINE_COLUMNS);
  const bytes = Buffer.byteLength(text);
  if (bytes <= PATCH_BYTES) return text;
  return `(this patch is ${bytes} bytes long; ${PATCH_BYTES} of them are shown, its head and its end)\n${capText(text, PATCH_BYTES)}`;
}
