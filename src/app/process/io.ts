/** The streams a verb speaks to. Text for people is made harmless here; JSON is one object a line and nothing else. */
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { ChalkInstance } from 'chalk';
import { toTerminal } from '../views/text/sanitise.ts';
import { painter } from './flags/color.ts';
import { EXIT, Exit } from './exit.ts';
import { fileWords } from './file-errors.ts';
import { packageRoot } from './package-root.ts';

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Is there a person at both ends? */
  readonly terminal: boolean;
  readonly width: number;
  readonly paint: ChalkInstance;
  /** Aborted when stdout takes nothing any more; the reason is words, empty when its reader just went away. */
  readonly lost: AbortSignal;
  /** The directory in which the command was typed. Exit 2 when it is gone. */
  where(): string;
  /** A line of our own words (styles allowed). */
  say(line: string): void;
  /** A line on stderr. */
  complain(line: string): void;
  /** Text for a file or a pipe, as it is. */
  write(text: string): void;
  /** One object on a line of its own; what comes within a moment goes out in one write. */
  json(value: unknown): void;
  /** Called when a run has begun: what its agents' commands load can be made ready. */
  begun?(): void;
}

/** Foreign text (a model's, a file's) for a line of ours: no control characters, no escape sequences. */
export const harmless = (text: string): string => toTerminal(text);

export function openIo(env: Io['env'], begun: () => void = () => {}): Io {
  const { stdout, stderr } = process;
  const lost = new AbortController();
  // A reader that went away (`mimir events | head`) is no error, but whoever goes on for it has to know.
  stdout.on('error', (error: NodeJS.ErrnoException) => lost.abort(error.code === 'EPIPE' ? '' : fileWords(error)));
  stderr.on('error', () => {});
  return {
    env,
    // Asking `process.stdin` would open it, which takes 5 ms of every command.
    terminal: isatty(0) && stdout.isTTY,
    width: stdout.columns > 0 ? stdout.columns : 80,
    paint: painter(env, stdout.isTTY),
    lost: lost.signal,
    where: () => whereTyped(env),
    say: (line) => void stdout.write(`${line}\n`),
    complain: (line) => void stderr.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    json: (value) => {
      gather(stdout);
      stdout.write(`${jsonLine(value)}\n`);
    },
    begun,
  };
}

/** Bytes from which on nothing is held back: a long log must not be in memory twice. */
const MOST_HELD = 65_536;

/** Milliseconds: nobody reads faster. */
const MOMENT = 16;

/**
 * Holds back what is written for a moment, to write it at once: a write to a pipe takes longer than all else about a line,
 * for it wakes the reader. Lines in between of other kinds keep their place; `released` lets go before the end.
 */
function gather(stdout: NodeJS.WriteStream): void {
  if (stdout.writableCorked === 0) {
    stdout.cork();
    setTimeout(() => {
      stdout.uncork();
    }, MOMENT);
  } else if (stdout.writableLength > MOST_HELD) {
    stdout.uncork();
    stdout.cork();
  }
}

/** Resolves when stdout has taken everything, or has said that it can't. */
export function released({ stdout }: Pick<typeof process, 'stdout'> = process): Promise<void> {
  while (stdout.writableCorked > 0) stdout.uncork();
  return new Promise((resolve) => void stdout.write('', () => void setImmediate(resolve)));
}

/** `npm start` of Mimir's own package changes the directory; npm says from which. */
function whereTyped(env: Io['env']): string {
  const own =
    env['npm_lifecycle_event'] === 'start' && env['npm_package_json'] === resolve(packageRoot(), 'package.json');
  try {
    return (own ? env['INIT_CWD'] : undefined) ?? process.cwd();
  } catch {
    throw new Exit(EXIT.wrongUse, 'the current directory is gone\n  go into one that exists, or name one with --cwd');
  }
}

/** 8-bit control characters are legal in JSON, and obeyed by terminals: written as escapes. */
export const jsonLine = (value: unknown): string => escaped(JSON.stringify(value));

/** JSON whose strings say no control character as it is: it may be read in a terminal. */
export const escaped = (json: string): string =>
  json.replace(/[\u007f-\u009f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
