/** `mimir`: the full-screen session; line mode where there is no terminal for it. */
import type { Preferences } from '../../config/settings/preferences.ts';
import { DEFAULT_THEME } from '../../config/themes.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import type { Theme } from '../../domain/theme.ts';
import { type AppEnd, type AppOptions, runApp } from '../../ui/tui/shell/app.ts';
import { glyphsFor } from '../../ui/tui/text/glyphs.ts';
import { capabilities } from '../../ui/tui/terminal/capabilities.ts';
import { openTerminal } from '../../ui/tui/terminal/open.ts';
import type { Terminal } from '../../ui/tui/terminal/terminal.ts';
import { colourFrom } from '../../app/process/flags/color.ts';
import { CWD, LIMITS, MODELS, SCREEN } from '../../app/process/flags/common.ts';
import { crashReport } from '../crash-report.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import { exitCodeOf } from '../../app/process/exit-codes.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import { type Io, harmless } from '../../app/process/io.ts';
import { type RunLobby, openLobby } from '../../app/project/service/service.ts';
import { type Workshop, openWorkshop } from '../../app/project/open-project.ts';
import { newSession } from '../../app/client/connect.ts';
import { projectOf } from '../../app/project/project.ts';
import type { Verb } from '../verb.ts';
import { chosenTheme } from '../../app/project/service/theme-choice.ts';
import { world } from '../../app/process/world.ts';

export const screenVerb: Verb = {
  usage: 'mimir ["<task>"] [--cwd DIR]',
  summary: 'Opens the full-screen session: task, plan, run, result.',
  example: 'mimir "Explain how the cache works and review it"',
  words: 1,
  flags: { ...CWD, ...SCREEN, ...LIMITS, ...MODELS },
  async run(args, io) {
    const project = projectOf(args, io);
    const [task = ''] = args.words;
    const lines = args.has('plain') || !io.terminal || io.env['TERM'] === 'dumb';
    if (lines) await (await import('../../ui/lines/words/trust.ts')).askTrust(project, args, io);
    const workshop = await openWorkshop(args, io, project);
    if (!lines) return openScreen(args, io, workshop, task === '' ? {} : { firstTask: task });
    if (io.terminal) {
      const { openLines } = await import('../../ui/lines/follow.ts');
      return openLines(args, io, workshop, task.trim() === '' ? null : { start: task });
    }
    if (task.trim() === '') {
      throw new Exit(
        EXIT.wrongUse,
        'a task is missing, and there is no terminal to ask for it\n  mimir run "what should be done"',
      );
    }
    const { carry } = await import('./run.ts');
    return carry(workshop, args, io, { session: newSession(), task, plan: null });
  },
};

interface First {
  readonly firstTask?: string;
  readonly resumeSession?: SessionId;
  readonly followUp?: string;
  readonly attach?: AppOptions['attach'] & {};
}

/** Runs the screen to its end; the exit code is that of the last run. */
export async function openScreen(args: Arguments, io: Io, workshop: Workshop, first: First): Promise<number> {
  // Whether there is a sandbox decides whether there is such a mode at all: then nothing is shown before that is known.
  if (workshop.mode === 'yolo') await workshop.ready();
  const lobby = openLobby(workshop, {
    reopen: () => openWorkshop(args, io, workshop.project),
    goesOn: async (session) =>
      (await import('../../app/hosting/hosting.ts')).goOnElsewhere(session, args, workshop.project, io),
  });
  const { ui = {}, keys = {}, notifications = {} } = workshop.config.preferences;
  const themes = themesFor(lobby, workshop);
  const { theme, problem, asks } = themeFor(args, ui.theme, themes, io);
  const colour = colourFrom(args);
  const terminal = openTerminal({
    theme,
    mouse: ui.mouse ?? true,
    links: ui.links ?? true,
    ...(asks ? { background: (mode) => themeOf(mode, theme, themes) } : {}),
    folder: workshop.project.places.state,
    ...(colour === undefined ? {} : { colour }),
    signalled: (_, code) => void saveAndLeave(lobby, terminal, code),
    crashed: (error) => crashReport(workshop.project.places.state, error, io.env),
  });
  try {
    const shown = shownWith(ui, theme, terminal);
    const end = await runApp({ terminal, lobby, world, keys, notices: noticesBy(notifications), ...shown, ...first });
    terminal.close();
    if (problem !== null) io.complain(`mimir: ${problem}`);
    farewell(end, io);
    return await codeOf(end, lobby);
  } finally {
    terminal.close();
    await lobby.close();
  }
}

/** On the desktop unless the person says no; `auto` leaves it to what is known of the terminal. */
const noticesBy = ({ bell, desktop }: Preferences['notifications'] & {}): AppOptions['notices'] & {} => ({
  bell: bell ?? false,
  desktop: desktop !== false,
});

/** Signs and motion, by the configuration and what the terminal can show. */
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

/** A signal: agents are stopped and the log closed before the terminal is given back, but never later than in 2 s. */
async function saveAndLeave(lobby: RunLobby, terminal: Terminal, code: number): Promise<void> {
  const run = lobby.current();
  run?.stop('signal');
  await Promise.race([run?.result, world.sleep(2000)]);
  terminal.close();
  process.exit(code);
}

function farewell({ session, state, goesOn }: AppEnd, io: Io): void {
  if (session === null) return;
  if (goesOn)
    return io.say(
      `Session ${session} goes on: ${harmless(state.task.split('\n')[0] ?? '')}\n  mimir attach ${session}`,
    );
  const { finished } = state;
  const next =
    finished === null || finished.status === 'stopped' ? `mimir resume ${session}` : `mimir report ${session}`;
  io.say(
    `Session ${session} ${finished?.status ?? 'stopped'}: ${harmless(state.task.split('\n')[0] ?? '')}\n  ${next}`,
  );
}

/** A run whose agents didn't stop in time has no result to wait for. */
async function codeOf({ session, state, goesOn }: AppEnd, lobby: RunLobby): Promise<number> {
  const run = lobby.current();
  if (session === null || goesOn) return EXIT.done;
  if (lobby.attached() === session) return codeOfState(state);
  if (run === null) return EXIT.done;
  return state.finished === null ? EXIT.agentFailed : exitCodeOf(await run.result, null);
}

/** Of a run that another process carried. */
const codeOfState = ({ finished }: AppEnd['state']): number =>
  finished?.status === 'completed' ? EXIT.done : finished?.status === 'rejected' ? EXIT.notApproved : EXIT.agentFailed;

/** The theme of a name, or what is wrong with it. */
type Themes = (name: string) => Result<Theme, string>;

/** A project that is trusted brings its own. */
function themesFor(lobby: RunLobby, { project }: Workshop): Themes {
  const trusted = lobby.info().trust?.state === 'trusted';
  return (name) => chosenTheme(project, trusted, name);
}

/** `asks`: what the terminal says of its background decides; what the environment says of it until then. */
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

/** The theme for a background; null when it is shown already, or can't be. */
function themeOf(mode: 'dark' | 'light', shown: Theme, themes: Themes): Theme | null {
  const theme = shown.mode === mode ? null : themes(BY_BACKGROUND[mode]);
  return theme?.ok === true ? theme.value : null;
}
