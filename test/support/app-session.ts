/** `runApp` over a recorded log and a terminal that is none, for tests that press keys and look at frames. */
import type { AppEnd } from '../../src/ui/tui/shell/app.ts';
import { runApp } from '../../src/ui/tui/shell/app.ts';
import type { Glyphs } from '../../src/ui/tui/text/glyphs.ts';
import { UNICODE } from '../../src/ui/tui/text/glyphs.ts';
import type { AuthoredChanges } from '../../src/domain/changes/authorship.ts';
import { ok } from '../../src/domain/result.ts';
import type { ProjectService, ProjectInfo } from '../../src/ports/project-service.ts';
import type { FakeRun } from './fake-run.ts';
import { fakeRun, PROJECT_SERVICE, settled } from './fake-run.ts';
import type { FakeTerminal } from './fake-terminal.ts';
import { fakeTerminal } from './fake-terminal.ts';
import type { Recording } from './recorded-run.ts';
import { SESSION, START } from './recorded-run.ts';
import type { FakeWorld } from './world.ts';
import { fakeWorld } from './world.ts';

export interface Session {
  readonly terminal: FakeTerminal;
  readonly run: FakeRun;
  readonly world: FakeWorld;
  readonly end: Promise<AppEnd>;
  /** Of a run elsewhere: its process can't be reached any more. */
  lose(why: string): Promise<void>;
}

export interface SessionSetting {
  readonly width: number;
  readonly height: number;
  readonly keys: Readonly<Record<string, string>>;
  readonly glyphs: Glyphs;
  readonly projectService: ProjectInfo;
  /** Whose the changes of the run are; absent: nothing is known of them. */
  readonly authors?: AuthoredChanges;
  /** Another process carries the run, and the screen is attached to it. */
  readonly elsewhere: boolean;
}

/** The session 192 s after the start of the log, every event of which was played; without a log: the start screen. */
export async function openSession(log: Recording | null, setting: Partial<SessionSetting> = {}): Promise<Session> {
  const { width, height, keys, glyphs, projectService, authors, elsewhere } = { ...USUAL, ...setting };
  const terminal = fakeTerminal(width, height);
  const run = fakeRun(projectService);
  const lost = Promise.withResolvers<string>();
  const world = fakeWorld({ start: START + 192_000 });
  const end = runApp({
    terminal,
    projectService: {
      ...carried(run.projectService, elsewhere ? lost.promise : null),
      ...(authors === undefined ? {} : { authors: () => Promise.resolve(authors) }),
    },
    world,
    glyphs,
    keys,
    ...(log === null ? {} : elsewhere ? ATTACHED : { firstTask: 'Fix the token refresh race' }),
    schedule: (parts) => ({
      now: () => parts.paint(),
      soon: () => parts.paint(),
      clock: () => undefined,
      stop: () => undefined,
    }),
  });
  await settled();
  if (log) await run.play(log.events);
  return {
    terminal,
    run,
    world,
    end,
    async lose(why) {
      lost.resolve(why);
      await settled();
      // Its last words may be under way.
      await world.advance(200);
      await settled();
    },
  };
}

const USUAL: SessionSetting = {
  width: 120,
  height: 40,
  keys: {},
  glyphs: UNICODE,
  projectService: PROJECT_SERVICE,
  elsewhere: false,
};
const ATTACHED = { attach: { session: SESSION, agent: null } } as const;

/** The same runs; a hand-over is never quiet, and where `lost` is given another process carries them. */
function carried(projectService: ProjectService, lost: Promise<string> | null): ProjectService {
  const begun = async (task: string): ReturnType<ProjectService['start']> => {
    const made = await projectService.start(task);
    if (!made.ok) return made;
    const { value } = made;
    return ok({
      ...value,
      ...(lost === null ? {} : { lost }),
      submit: (command) =>
        command.do === 'hand over' && command.how !== 'stay' ? new Promise(() => undefined) : value.submit(command),
    });
  };
  return {
    ...projectService,
    start: begun,
    attach: () => begun('attach'),
    detach: () => Promise.resolve(ok({ text: 'it goes on' })),
  };
}
