/** The options and the result of a session on the screen, and its display settings. */
import type { AgentId, SessionId } from '../../../domain/ids.ts';
import type { RunState } from '../../../events/index.ts';
import type { ProjectService } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { Runs } from '../components/runs.ts';
import type { DialogEffect, Look, Toast } from '../frame/screen.ts';
import type { Scheduler, SchedulerParts } from '../terminal/scheduler.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Glyphs } from '../text/glyphs.ts';
import type { OverlayStack } from './overlay-stack.ts';

export interface AppOptions {
  /** Opened and closed by the caller. */
  readonly terminal: Terminal;
  readonly projectService: ProjectService;
  readonly world: World;
  readonly glyphs: Glyphs;
  /** The user's own keys by action (`run.kill: x`). */
  readonly keys?: Readonly<Record<string, string>>;
  /** Initial theme and mouse, and whether motion is allowed. */
  readonly look?: Look;
  /** How to notify a user who looks elsewhere; absent: not at all. */
  readonly notices?: { readonly bell: boolean; readonly desktop: boolean };
  /** A task to plan at once, without the start screen. */
  readonly firstTask?: string;
  readonly resumeSession?: SessionId;
  /** The message to main for that resume. */
  readonly followUp?: string;
  /** A run of another process to show at once, optionally with one agent opened. */
  readonly attach?: { readonly session: SessionId; readonly agent: AgentId | null };
  /** When to paint; by default at the terminal's pace. */
  readonly schedule?: (parts: SchedulerParts) => Scheduler;
}

/** What the parts of the app share. */
export interface AppServices {
  readonly world: World;
  readonly projectService: ProjectService;
  readonly boxes: OverlayStack;
  readonly runs: Runs;
  readonly toast: (toast: Toast) => void;
  readonly act: (effect: DialogEffect) => void;
  readonly changed: () => void;
  /** Closes the screen; a run continues in its process or is stopped by the caller. */
  readonly leave: () => void;
  /** Ends the session because of a bug. */
  readonly fail: (error: unknown) => void;
}

/** The end of the session, with the state of its last run. */
export interface AppEnd {
  readonly session: SessionId | null;
  readonly state: RunState;
  /** True if the run continues without this screen. */
  readonly continues: boolean;
}

export const MUTED = { bell: false, desktop: false } as const;
const DEFAULT_LOOK: Look = { theme: '', mouse: true, still: false };
export const HINT_ROWS = 16;

/** Theme and mouse, which the user can change while the screen is open. Motion is set by the configuration. */
export type DisplaySettings = ReturnType<typeof openSettings>;

export function openSettings({ terminal, projectService, look = DEFAULT_LOOK }: AppOptions) {
  let now = look;
  return {
    now: (): Look => now,
    /** Changes the theme. A fault becomes a toast, and the old theme stays. */
    theme(name: string): Toast | null {
      if (name === now.theme) return null;
      const theme = projectService.theme(name);
      if (!theme.ok) return { level: 'error', text: theme.fault };
      now = { ...now, theme: name };
      terminal.setTheme(theme.value);
      return null;
    },
    /** Toggles the mouse between Mimir and the terminal's selection; returns a toast about the new state. */
    mouse(): Toast {
      const mouse = !now.mouse;
      now = { ...now, mouse };
      terminal.setMouse(mouse);
      const words = mouse ? 'on. Hold Shift while dragging to select text.' : 'off. Dragging selects text.';
      return { level: 'info', text: `Mouse: ${words}` };
    },
  };
}
