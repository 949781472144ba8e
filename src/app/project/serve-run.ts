/**
 * What every run has besides itself: sockets at which screens, verbs and its own agents knock, and the mailbox. Loaded and opened
 * beside the run's start, so that neither it nor the first call of a model waits for them; closed with its end.
 */
import type { Control } from '../../remote/server/server.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Run } from '../../engine/run/run.ts';
import type { RunOptions } from '../../engine/run/run-options.ts';
import { childRules } from '../../policy/children.ts';
import type { Rules } from '../../policy/rules.ts';
import { ControlFault } from '../../ports/control.ts';
import { openMailbox } from '../../store/message-store.ts';
import type { ProjectPlace } from './project-trust.ts';
import { world } from '../process/world.ts';

export interface Serving {
  /** For the run: what it is started with. */
  readonly parts: Required<Pick<RunOptions, 'doors' | 'mailbox' | 'watched'>>;
  /**
   * Resolves when the run can be reached from outside, which is begun `after` that; with words why not, where it can't. A run that
   * was over before is served to nobody.
   */
  serve(run: Run, after: Promise<unknown>): Promise<string | null>;
  /** What was asked is answered first. */
  close(): Promise<void>;
}

/** Nothing is opened before somebody needs it. */
export function servingFor({ root, places }: ProjectPlace, session: SessionId, rules: Rules): Serving {
  const mailbox = openMailbox({ stateDir: places.state, project: root });
  let opened: Promise<Control> | null = null;
  const open = (): Promise<Control> =>
    (opened ??= import('../../remote/server/server.ts').then(async ({ openControl }) => {
      const { whereOf } = await import('../../remote/socket-paths.ts');
      const where = whereOf({ stateDir: places.state, runtimeDir: places.runtime, project: root, session });
      return openControl(where, world);
    }));
  let over = false;
  let watching = (): boolean => false;
  return {
    parts: {
      doors: {
        open: async (agent) => (await open()).doors.open(agent),
        close: (agent) => void opened?.then(({ doors }) => doors.close(agent)),
      },
      mailbox,
      watched: () => watching(),
    },
    async serve(run, after) {
      await after;
      if (over) return null;
      const [control, { givenBy }] = await Promise.all([open(), import('../client/run-api.ts')]);
      watching = () => control.clients() > 0;
      const letters = (): number => mailbox.waiting(session).length;
      const given = givenBy(run.view, { children: childRules(rules), now: () => world.now(), letters });
      try {
        await control.serve({ ...given, controls: run.controls, poke: () => run.poke() });
        return null;
      } catch (error) {
        if (error instanceof ControlFault) return error.message;
        throw error;
      }
    },
    close: async () => {
      over = true;
      await (await opened)?.close();
    },
  };
}
