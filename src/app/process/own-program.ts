/** Mimir itself as it runs here, for commands of agents that start it in their box: the Node, the entry, the code. */
import { existsSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import type { OwnProgram } from '../../tools/tools.ts';
import { packageRoot } from './package-root.ts';

/** The same answer from a checkout and from the published bundle. */
export function ownProgram(): OwnProgram {
  const root = packageRoot();
  const [code, entry] = import.meta.url.endsWith('.ts') ? ['src', 'src/main.ts'] : ['dist', 'dist/mimir.js'];
  const compiled = getCompileCacheDir();
  return {
    node: process.execPath,
    entry: join(root, entry),
    parts: [code, 'node_modules', 'package.json'].map((name) => join(root, name)).filter((part) => existsSync(part)),
    // It answers with the folder of this version of Node, in the one that was asked for.
    cache: compiled === undefined ? null : dirname(compiled),
  };
}
