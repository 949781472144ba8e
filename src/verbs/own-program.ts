/** Mimir itself as it runs here, for commands of agents that start it in their box: the Node, the entry, the code. */
import { existsSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import type { OwnProgram } from '../tools/index.ts';
import { packageRoot } from './package-root.ts';

/** The same answer from a checkout and from the published bundle. */
export function ownProgram(): OwnProgram {
  const root = packageRoot();
  const [code, entry] = import.meta.url.endsWith('.ts') ? ['src', 'src/cli.ts'] : ['dist', 'dist/mimir.js'];
  const compiled = getCompileCacheDir();
  return {
    node: process.execPath,
    entry: join(root, entry),
    parts: [code, 'node_modules', 'package.json'].map((name) => join(root, name)).filter((part) => existsSync(part)),
    // It answers with the folder of this version of Node, in the one that was asked for.
    cache: compiled === undefined ? null : dirname(compiled),
  };
}

/** By then a first picture stands, and a run has begun. */
const WARM_AFTER_MS = 5000;

/**
 * Has Node keep compiled what the verbs of agents load: their boxes can read that, not write it, and each would compile it
 * anew (100 ms). Once, later, when nothing waits for it; a process that has ended by then doesn't pay.
 */
export function warmForAgents(): void {
  if (getCompileCacheDir() === undefined) return;
  setTimeout(() => {
    void Promise.all([
      import('./session-door.ts'),
      import('./spawn.ts'),
      import('./children.ts'),
      import('./what.ts'),
      import('./send.ts'),
      import('./kill.ts'),
      import('./progress.ts'),
      import('./complete.ts'),
      import('./me.ts'),
      import('./who.ts'),
      import('./others.ts'),
      import('./all.ts'),
      import('./status.ts'),
      import('./events.ts'),
    ]).then(() => flushCompileCache());
  }, WARM_AFTER_MS).unref();
}
