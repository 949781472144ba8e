/** What a screen may do with runs of other processes: show one, and give its own to one. */
import type { SessionId } from '../domain/ids.ts';
import { fail, ok } from '../domain/result.ts';
import type { Run } from '../engine/run.ts';
import type { Reached } from '../ports/control.ts';
import type { Receipt } from '../ports/controls.ts';
import type { Lobby } from '../ports/lobby.ts';
import type { ProjectPlace } from './project-trust.ts';
import { settled } from './settled.ts';

export interface Elsewhere extends Required<Pick<Lobby, 'attach' | 'detach'>> {
  /** Which one was shown last, unless another run was begun since. */
  attached(): SessionId | null;
  /** Lets go of what was reached; those runs go on. */
  letGo(): void;
}

/** `current`: the run that this process carries. `goesOn` starts a process for it. */
export function runsElsewhere(
  project: () => ProjectPlace,
  current: () => Run | null,
  goesOn: (session: SessionId) => Promise<Receipt>,
): Elsewhere {
  let reached: Reached | null = null;
  return {
    async attach(session) {
      const { reachRun } = await import('./session-person.ts');
      const found = await reachRun(project(), session);
      if (found === null) return fail({ text: `no process carries session ${session} now: mimir resume ${session}` });
      reached?.close();
      reached = found;
      return ok(found.controls);
    },
    async detach(session) {
      // Only then nobody holds the session any more.
      await current()?.result;
      return settled(() => goesOn(session));
    },
    attached: () => reached?.session ?? null,
    letGo: () => reached?.close(),
  };
}
