/** `.mimir` folders below a project's root: they count for nothing there, and the person is told. A bounded look, no more. */
import { type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';

const MOST_FOLDERS = 2000;
const DEEPEST = 6;
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.venv', 'target', 'dist']);

/** From the root, with `/`, the upper ones first. The biggest trees are only looked at in their upper part. */
export function nestedFolders(root: string): readonly string[] {
  const found: string[] = [];
  const waiting: { readonly folder: string; readonly depth: number }[] = [{ folder: '', depth: 0 }];
  for (let looked = 0; looked < MOST_FOLDERS; looked += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    for (const entry of foldersIn(path.join(root, next.folder))) {
      const name = path.posix.join(next.folder, entry.name);
      if (entry.name === '.mimir') found.push(name);
      else if (!SKIPPED.has(entry.name) && next.depth < DEEPEST) waiting.push({ folder: name, depth: next.depth + 1 });
    }
  }
  return found.filter((name) => name !== '.mimir');
}

function foldersIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  } catch {
    return [];
  }
}
