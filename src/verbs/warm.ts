/** The verbs that agents call, compiled ahead. */
import { flushCompileCache, getCompileCacheDir } from 'node:module';

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
