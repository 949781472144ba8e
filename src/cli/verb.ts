/** The type of a command, and what several of them do. Each has a file of its own, loaded only when it is called. */
import type { Arguments, Flags, Io } from '../app/process/index.ts';
import type { OpenProject } from '../app/project/index.ts';
import { defined } from '../domain/result.ts';
import type { First } from '../ui/lines/follow.ts';

export interface Verb {
  /** `mimir run "<task>" [options]` */
  readonly usage: string;
  readonly summary: string;
  readonly example: string;
  readonly flags: Flags;
  /** Help lines after the options, such as its JSON fields. */
  readonly notes?: readonly string[];
  /** The number of plain arguments it takes. */
  readonly words: number;
  /** Resolves with the exit code; throws `Exit` for errors that a person can fix. */
  run(args: Arguments, io: Io): Promise<number>;
}

/** True if the terminal can show the full screen and --plain is not set. */
export const isScreen = (args: Arguments, io: Io): boolean =>
  io.terminal && !args.has('plain') && io.env['TERM'] !== 'dumb';

/**
 * Opens a session with a person, on the full screen or in line mode if the terminal cannot show it, to its end; the exit code is that of its
 * last run.
 */
export async function openSession(
  args: Arguments,
  io: Io,
  opened: OpenProject,
  first: Exclude<First, { readonly only: unknown }>,
): Promise<number> {
  if (!isScreen(args, io)) return (await import('../ui/lines/follow.ts')).openLines(args, io, opened, first);
  const { openScreen } = await import('./open-screen.ts');
  if (first === null) return openScreen(args, io, opened, {});
  if ('start' in first) return openScreen(args, io, opened, { firstTask: first.start });
  if ('attach' in first) return openScreen(args, io, opened, { attach: { session: first.attach, agent: first.agent } });
  return openScreen(args, io, opened, { resumeSession: first.resume, ...defined({ followUp: first.followUp }) });
}

/** Prints `value` with --json, otherwise `lines`. */
export function tell(args: Arguments, io: Io, value: unknown, lines: readonly string[]): void {
  if (args.has('json')) io.json(value);
  else for (const line of lines) io.say(line);
}
