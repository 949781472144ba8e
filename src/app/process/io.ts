/** The standard streams of a command. Foreign text is sanitised here before it reaches a terminal; JSON output is one object per line. */
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { ChalkInstance } from 'chalk';
import { toTerminal } from '../views/text/sanitise.ts';
import { wrongUse } from './exit.ts';
import { fileErrorText } from './files.ts';
import { createPainter } from './flags.ts';
import { packageRoot } from './program.ts';

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if stdin and stdout are terminals. */
  readonly terminal: boolean;
  readonly width: number;
  readonly paint: ChalkInstance;
  /** Aborted when stdout accepts no more output. The reason is a message, empty if the reader closed the pipe. */
  readonly lost: AbortSignal;
  /** The directory in which the command was typed. Throws an `Exit` (2) if it no longer exists. */
  where(): string;
  /** Prints a line of Mimir's own text, which may hold styles. */
  say(line: string): void;
  complain(line: string): void;
  write(text: string): void;
  /** Prints one object on its own line. Objects of the same 16 ms are written together. */
  json(value: unknown): void;
  /** Resolves when the reader has taken nearly all output. Wait for it while printing a log, which may not fit in memory. */
  taken(): Promise<void>;
  /** Asks for a line at the terminal; null at the end of input. `fresh` discards what was typed before the question appeared. */
  ask(prompt: string, how?: 'fresh'): Promise<string | null>;
  /** Runs the command of Mimir that these words name, with its output on `io`; the exit code. Throws `Exit` as commands do. */
  command?(words: readonly string[], io: Io): Promise<number>;
  /** Called when a run has started, so that modules its agents' commands need can be preloaded. */
  begun?(): void;
}

/** Sanitises text of a model or a file for a printed line: removes control characters and escape sequences. */
export const sanitise = (text: string): string => toTerminal(text);

export function openIo(env: Io['env']): Io {
  const { stdout, stderr } = process;
  const lost = new AbortController();
  // A reader that closed the pipe (`mimir events | head`) is no error, but the command has to learn of it.
  stdout.on('error', (error: NodeJS.ErrnoException) => lost.abort(error.code === 'EPIPE' ? '' : fileErrorText(error)));
  stderr.on('error', () => {});
  return {
    env,
    // Reading `process.stdin` would open it, which costs every command 5 ms.
    terminal: isatty(0) && stdout.isTTY,
    width: stdout.columns > 0 ? stdout.columns : 80,
    paint: createPainter(env, stdout.isTTY),
    lost: lost.signal,
    where: () => typedDirectory(env),
    say: (line) => void stdout.write(`${line}\n`),
    complain: (line) => void stderr.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    json: (value) => {
      bufferOutput(stdout);
      stdout.write(`${jsonLine(value)}\n`);
    },
    taken: async () => {
      if (stdout.writableLength > MAX_BUFFERED_BYTES) await flushOutput();
    },
    ask: askLine,
  };
}

/** Bytes above which buffered output is flushed, so that a long log is not in memory twice. */
const MAX_BUFFERED_BYTES = 65_536;
const BUFFER_MS = 16;

/** Buffers output for a moment and writes it at once: each write to a pipe wakes its reader, which takes longer than everything else
 * about a line. Other output in between keeps its place. `flushOutput` writes the rest before the program ends. */
function bufferOutput(stdout: NodeJS.WriteStream): void {
  if (stdout.writableCorked === 0) {
    stdout.cork();
    setTimeout(() => stdout.uncork(), BUFFER_MS);
  } else if (stdout.writableLength > MAX_BUFFERED_BYTES) {
    stdout.uncork();
    stdout.cork();
  }
}

/** Flushes stdout; resolves when it has accepted everything or has failed. */
export function flushOutput({ stdout }: Pick<typeof process, 'stdout'> = process): Promise<void> {
  while (stdout.writableCorked > 0) stdout.uncork();
  return new Promise((resolve) => void stdout.write('', () => void setImmediate(resolve)));
}

/** `npm start` of Mimir's own package changes the directory; npm passes the original one in INIT_CWD. */
function typedDirectory(env: Io['env']): string {
  const own =
    env['npm_lifecycle_event'] === 'start' && env['npm_package_json'] === resolve(packageRoot(), 'package.json');
  try {
    return (own ? env['INIT_CWD'] : undefined) ?? process.cwd();
  } catch {
    throw wrongUse('the current directory is gone\n  go into one that exists, or name one with --cwd');
  }
}

/** JSON on one line, with 8-bit control characters escaped: they are legal in JSON, and terminals obey them. */
export const jsonLine = (value: unknown): string => escapeJson(JSON.stringify(value));

/** Escapes the control characters U+007F to U+009F in JSON text that may be read in a terminal. */
export const escapeJson = (json: string): string =>
  json.replace(/[\u007f-\u009f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);

/** A typed answer that means yes; anything else is no. */
export const IS_YES = /^(?:y|yes)$/i;

async function askLine(prompt: string, how?: 'fresh'): Promise<string | null> {
  if (how === 'fresh') await discardTypeAhead();
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // In raw mode readline receives Ctrl-C as a key; pass it on as the usual signal.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
  try {
    return await Promise.race([lines.question(prompt), closed]);
  } catch {
    return null;
  } finally {
    lines.close();
  }
}

/** Milliseconds in which the terminal delivers what was typed ahead. */
const TYPE_AHEAD_MS = 60;

/** Discards type-ahead of a terminal; true if there was any. The content of a pipe is kept: it answers the questions to come. */
export async function discardTypeAhead(): Promise<boolean> {
  const { stdin } = process;
  let found = false;
  if (!stdin.isTTY) return found;
  const forget = (typed: Buffer | string): void => {
    if (typed.toString().includes('\u0003')) process.kill(process.pid, 'SIGINT');
    else found = true;
  };
  // Raw mode also delivers a line that was not finished with Enter.
  stdin.setRawMode(true);
  stdin.on('data', forget);
  // An earlier question paused it.
  stdin.resume();
  await new Promise((resolve) => {
    // A process that was held up all this time reads its input only after the timer.
    setTimeout(() => void setImmediate(resolve), TYPE_AHEAD_MS);
  });
  stdin.off('data', forget);
  stdin.pause();
  stdin.setRawMode(false);
  return found;
}
