/** Opens the full-screen session: its theme, its terminal, and what becomes of the run when it ends. */
import { DEFAULT_THEME, type Preferences } from '../config/index.ts';
import type { Result } from '../domain/result.ts';
import type { Theme } from '../domain/theme.ts';
import type { AppEnd, AppOptions, Terminal } from '../ui/tui/index.ts';
import { capabilities, glyphsFor, openTerminal, runApp } from '../ui/tui/index.ts';
import type { Arguments, EndSignal, Io } from '../app/process/index.ts';
import { collectGarbage, readColour, EXIT, exitCodeOf, exitCodeOfEnd, sanitise } from '../app/process/index.ts';
import { SIGNAL_WORDS, world } from '../app/process/index.ts';
import { crashReport } from './crash-report.ts';
import { chosenTheme, LocalProjectService, type OpenProject } from '../app/project/index.ts';

/** Runs the screen to its end; the exit code is that of the last run. */
export async function openScreen(
  args: Arguments,
  io: Io,
  opened: OpenProject,
  first: Pick<AppOptions, 'firstTask' | 'resumeSession' | 'followUp' | 'attach'>,
): Promise<number> {
  // Yolo needs a sandbox, so nothing is shown before the sandbox was checked.
  if (opened.mode === 'yolo') await opened.ready();
  const projectService = new LocalProjectService(args, io, opened);
  const { ui = {}, keys = {}, notifications = {} } = opened.config.preferences;
  const themes = themesFor(projectService, opened);
  const { theme, problem, asks } = themeFor(args, ui.theme, themes, io);
  const colour = readColour(args);
  const terminal = openTerminal({
    theme,
    mouse: ui.mouse ?? true,
    links: ui.links ?? true,
    ...(asks ? { background: (mode) => themeOf(mode, theme, themes) } : {}),
    folder: opened.project.places.state,
    ...(colour === undefined ? {} : { colour }),
    signalled: (signal, code) => void saveAndLeave(projectService, terminal, signal, code),
    crashed: (error) => crashReport(opened.project.places.state, error, io.env),
  });
  // The start leaves a fifth of the memory behind, which would stay as long as little happens.
  setTimeout(collectGarbage, SETTLED_MS).unref();
  try {
    const shown = shownWith(ui, theme, terminal);
    const end = await runApp({
      terminal,
      projectService,
      world,
      keys,
      notices: noticesBy(notifications),
      ...shown,
      ...first,
    });
    terminal.close();
    if (problem !== null) io.complain(`mimir: ${problem}`);
    farewell(end, io);
    return await codeOf(end, projectService);
  } finally {
    terminal.close();
    await projectService.close();
  }
}

/** After this time nothing of the start is at work any more. */
const SETTLED_MS = 2000;

const noticesBy = ({ bell, desktop }: Preferences['notifications'] & {}): AppOptions['notices'] & {} => ({
  bell: bell ?? false,
  desktop: desktop !== false,
});

/** Glyphs and motion, from the configuration and the abilities of the terminal. */
function shownWith(
  ui: Preferences['ui'] & {},
  theme: Theme,
  { unicode }: Terminal,
): Pick<AppOptions, 'glyphs' | 'look'> {
  const ascii = ui.ascii === true || !unicode || theme.glyphs === 'ascii';
  return {
    glyphs: glyphsFor({ ascii, platform: process.platform }),
    look: { theme: theme.name, mouse: ui.mouse ?? true, still: ui.reducedMotion ?? false },
  };
}

/** After a signal: stops the agents and closes the log, for at most 2 s, then restores the terminal. */
async function saveAndLeave(
  projectService: LocalProjectService,
  terminal: Terminal,
  signal: EndSignal,
  code: number,
): Promise<void> {
  const run = projectService.current();
  run?.stop(SIGNAL_WORDS[signal]);
  await Promise.race([run?.result, world.sleep(2000)]);
  terminal.close();
  process.exit(code);
}

function farewell({ session, state, continues }: AppEnd, io: Io): void {
  if (session === null) return;
  if (continues)
    return io.say(
      `Session ${session} continues: ${sanitise(state.task.split('\n')[0] ?? '')}\n  mimir attach ${session}`,
    );
  const { finished } = state;
  const next =
    finished === null || finished.status === 'stopped' ? `mimir resume ${session}` : `mimir report ${session}`;
  io.say(
    `Session ${session} ${finished?.status ?? 'stopped'}: ${sanitise(state.task.split('\n')[0] ?? '')}\n  ${next}`,
  );
}

/** A run whose agents didn't stop in time has no result to wait for. */
async function codeOf({ session, state, continues }: AppEnd, projectService: LocalProjectService): Promise<number> {
  const run = projectService.current();
  if (session === null || continues) return EXIT.done;
  if (projectService.attached() === session) return exitCodeOfEnd(state.finished);
  if (run === null) return EXIT.done;
  return state.finished === null ? EXIT.agentFailed : exitCodeOf(await run.result, null);
}

type Themes = (name: string) => Result<Theme, string>;

/** A trusted project may have themes of its own. */
function themesFor(projectService: LocalProjectService, { project }: OpenProject): Themes {
  const trusted = projectService.info().trust?.state === 'trusted';
  return (name) => chosenTheme(project, trusted, name);
}

/** `asks`: the background that the terminal reports decides; until it does, the environment. */
function themeFor(
  args: Arguments,
  chosen: string | undefined,
  themes: Themes,
  { env }: Io,
): { readonly theme: Theme; readonly problem: string | null; readonly asks: boolean } {
  const wanted = args.get('theme') ?? chosen ?? 'auto';
  const asks = wanted === 'auto';
  const name = asks ? BY_BACKGROUND[capabilities(env).background ?? 'dark'] : wanted;
  const theme = themes(name);
  if (theme.ok) return { theme: theme.value, problem: null, asks };
  const fallback = themes(DEFAULT_THEME);
  if (!fallback.ok) throw new Error(fallback.fault);
  return { theme: fallback.value, problem: theme.fault, asks };
}

const BY_BACKGROUND = { dark: DEFAULT_THEME, light: 'mimir-light' } as const;

/** The theme for a background; null if it is already shown or not available. */
function themeOf(mode: 'dark' | 'light', shown: Theme, themes: Themes): Theme | null {
  const theme = shown.mode === mode ? null : themes(BY_BACKGROUND[mode]);
  return theme?.ok === true ? theme.value : null;
}
