/** `runApp` over a recorded log and a terminal that is none, for tests that press keys and look at frames. */
import type { AppEnd } from '../../src/tui/app.ts';
import { runApp } from '../../src/tui/app.ts';
import type { Glyphs } from '../../src/tui/glyphs.ts';
import { UNICODE } from '../../src/tui/glyphs.ts';
import type { LobbyInfo } from '../../src/ports/lobby.ts';
import type { FakeRun } from './fake-run.ts';
import { fakeRun, LOBBY, settled } from './fake-run.ts';
import type { FakeTerminal } from './fake-terminal.ts';
import { fakeTerminal } from './fake-terminal.ts';
import type { Recording } from './recorded-run.ts';
import { START } from './recorded-run.ts';
import type { FakeWorld } from './world.ts';
import { fakeWorld } from './world.ts';

export interface Session {
  readonly terminal: FakeTerminal;
  readonly run: FakeRun;
  readonly world: FakeWorld;
  readonly end: Promise<AppEnd>;
}

export interface SessionSetting {
  readonly width: number;
  readonly height: number;
  readonly keys: Readonly<Record<string, string>>;
  readonly glyphs: Glyphs;
  readonly lobby: LobbyInfo;
}

/** The session 192 s after the start of the log, every event of which was played; without a log: the start screen. */
export async function openSession(
  log: Recording | null,
  { width = 120, height = 40, keys = {}, glyphs = UNICODE, lobby = LOBBY }: Partial<SessionSetting> = {},
): Promise<Session> {
  const terminal = fakeTerminal(width, height);
  const run = fakeRun(lobby);
  const world = fakeWorld({ start: START + 192_000 });
  const end = runApp({
    terminal,
    lobby: run.lobby,
    world,
    glyphs,
    keys,
    ...(log === null ? {} : { firstTask: 'Fix the token refresh race' }),
    schedule: (parts) => ({
      now: () => parts.paint(),
      soon: () => parts.paint(),
      clock: () => undefined,
      stop: () => undefined,
    }),
  });
  await settled();
  if (log) await run.play(log.events);
  return { terminal, run, world, end };
}
