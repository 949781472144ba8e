/** The managed files as layers. A policy for a newer Mimir is told as just that: it may have keys that this one can't know. */
import { type Result, fail, ok } from '../../domain/result.ts';
import type { ConfigFault } from '../files/fault.ts';
import { valueAt } from '../files/issues.ts';
import { type ReadLayer, readLayer } from '../files/layer.ts';
import { type ManagedFile, readManaged } from './managed.ts';
import { readTree } from '../files/tree.ts';
import { placeOf, plainOf } from '../files/tree-walk.ts';

export interface ManagedLayers {
  readonly files: readonly ManagedFile[];
  readonly layers: readonly ReadLayer[];
}

/** All layers below `root`, or all that is wrong with them. `version`: this program's. */
export function readManagedLayers(root: string, version: () => string): Result<ManagedLayers, readonly ConfigFault[]> {
  const files = readManaged(root);
  if (!files.ok) return files;
  const read = files.value.map(({ shown, text }) => {
    const tooOld = versionFault(shown, text, version);
    return tooOld === null ? readLayer('managed', shown, text) : fail([tooOld]);
  });
  const faults = read.flatMap((each) => (each.ok ? [] : each.fault));
  if (faults.length > 0) return fail(faults);
  return ok({ files: files.value, layers: read.flatMap((each) => (each.ok ? [each.value] : [])) });
}

/** What a policy for a newer Mimir says here. Looked at before the rest of the file: null also for what isn't readable, which the rest tells better. Parses only where there is one. */
export function versionFault(file: string, text: string, version: () => string): ConfigFault | null {
  const tree = text.includes('minVersion') ? readTree(text, file) : null;
  if (tree?.ok !== true) return null;
  const least: unknown = valueAt(plainOf(tree.value), ['minVersion']);
  if (typeof least !== 'string') return null;
  const own = version();
  if (!isOlder(own, least)) return null;
  const problem = `this policy is for Mimir ${least} or later; this is ${own}`;
  return { file, ...placeOf(tree.value, ['minVersion']), problem, remedy: 'update Mimir' };
}

/** By the numbers between the dots; `1.0` and `1.0.0` are the same. A version that isn't known is older than any. */
export function isOlder(version: string, least: string): boolean {
  const [own, other] = [partsOf(version), partsOf(least)];
  const at = [0, 1, 2].find((index) => own[index] !== other[index]);
  return at !== undefined && (own[at] ?? 0) < (other[at] ?? 0);
}

const partsOf = (version: string): readonly number[] =>
  [0, 1, 2].map((index) => Number.parseInt(version.split('.')[index] ?? '0', 10) || 0);
