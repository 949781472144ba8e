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
      import('../app/client/agent-client.ts'),
      import('./commands/spawn.ts'),
      import('./commands/children.ts'),
      import('./commands/what.ts'),
      import('./commands/send.ts'),
      import('./commands/kill.ts'),
      import('./commands/progress.ts'),
      import('./commands/complete.ts'),
      import('./commands/me.ts'),
      import('./commands/who.ts'),
      import('./commands/others.ts'),
      import('./commands/all.ts'),
      import('./commands/status.ts'),
      import('./commands/events.ts'),
    ]).then(() => flushCompileCache());
  }, WARM_AFTER_MS).unref();
}
