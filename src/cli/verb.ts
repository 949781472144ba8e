/** The type of a command. Each has a file of its own, loaded only when it is called. */
import type { Arguments, Flags, Io } from '../app/process/index.ts';

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

/** Prints `value` with --json, otherwise `lines`. */
export function tell(args: Arguments, io: Io, value: unknown, lines: readonly string[]): void {
  if (args.has('json')) io.json(value);
  else for (const line of lines) io.say(line);
}
