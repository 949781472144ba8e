/** The streams a verb speaks to. Text for people is made harmless here; JSON is one object a line and nothing else. */
import { Chalk, type ChalkInstance } from 'chalk';
import { toTerminal } from '../tui/text/sanitise.ts';

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Is there a person at both ends? */
  readonly terminal: boolean;
  readonly width: number;
  readonly paint: ChalkInstance;
  /** A line of our own words (styles allowed). */
  say(line: string): void;
  /** A line on stderr. */
  complain(line: string): void;
  /** Text for a file or a pipe, as it is. */
  write(text: string): void;
  json(value: unknown): void;
}

/** Foreign text (a model's, a file's) for a line of ours: no control characters, no escape sequences. */
export const harmless = (text: string): string => toTerminal(text);

export function openIo(env: Io['env'], cwd: string, color: string | undefined): Io {
  const { stdout, stderr, stdin } = process;
  // A reader that went away (`mimir events | head`) is not an error.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  return {
    env,
    cwd,
    terminal: stdin.isTTY && stdout.isTTY,
    width: stdout.columns > 0 ? stdout.columns : 80,
    paint: new Chalk({ level: colourLevel(env, stdout.isTTY, color) }),
    say: (line) => void stdout.write(`${line}\n`),
    complain: (line) => void stderr.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    json: (value) => void stdout.write(`${jsonLine(value)}\n`),
  };
}

/** 8-bit control characters are legal in JSON, and obeyed by terminals: written as escapes. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\u009f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);

function colourLevel(env: Io['env'], isTty: boolean, color: string | undefined): 0 | 1 | 2 | 3 {
  if (color === 'never') return 0;
  if (color === '16') return 1;
  if (color === '256') return 2;
  if (color === 'truecolor') return 3;
  if (!isTty || env['TERM'] === 'dumb' || (env['NO_COLOR'] ?? '') !== '') return 0;
  return 1;
}
