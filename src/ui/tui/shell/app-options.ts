/** What a session on the screen needs, and what is left of it at its end. */
import type { AgentId, SessionId } from '../../../domain/ids.ts';
import type { RunState } from '../../../events/state.ts';
import type { Lobby } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { Glyphs } from '../text/glyphs.ts';
import type { Look } from '../frame/screen.ts';
import type { Scheduler, SchedulerParts } from '../terminal/scheduler.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface AppOptions {
  /** Opened, and later closed, by the caller. */
  readonly terminal: Terminal;
  readonly lobby: Lobby;
  readonly world: World;
  readonly glyphs: Glyphs;
  /** The user's own keys by action (`run.kill: x`). */
  readonly keys?: Readonly<Record<string, string>>;
  /** How the terminal was opened: theme, mouse; and whether anything may move. */
  readonly look?: Look;
  /** How to tell a person who looks elsewhere; not at all when left out. */
  readonly notices?: { readonly bell: boolean; readonly desktop: boolean };
  /** Starts planning this at once, without the start screen. */
  readonly firstTask?: string;
  /** Goes on with this session at once. */
  readonly resumeSession?: SessionId;
  /** Said to main as that session is resumed. */
  readonly followUp?: string;
  /** Shows this run, which another process carries, at once; with one of its agents opened. */
  readonly attach?: { readonly session: SessionId; readonly agent: AgentId | null };
  /** When to paint; the terminal's own pace when left out. */
  readonly schedule?: (parts: SchedulerParts) => Scheduler;
}

/** How the session ended. The state is that of the last run; `finished` in it says how that went. */
export interface AppEnd {
  /** Null when there was no run. */
  readonly session: SessionId | null;
  readonly state: RunState;
  /** The run goes on without this screen. */
  readonly goesOn: boolean;
}

/** What holds where the caller says nothing. */
export const SILENT = { bell: false, desktop: false } as const;
export const AS_IT_COMES: Look = { theme: '', mouse: true, still: false };

/** Rows of a screen that has room for what is explained once. */
export const HINT_ROWS = 16;

/** When a terminal is given the next frame. */
export const paceOf = (terminal: Terminal): Pick<SchedulerParts, 'busy' | 'heavy'> => ({
  busy: () => terminal.busy(),
  heavy: () => terminal.heavy?.() ?? false,
});
