/** Starts Mimir as a separate process in its own session and without a terminal, so that it outlives this one. Its output goes to a private file. Its
 * socket shows when it is ready. */
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { plainText } from '../domain/text/text.ts';
import type { SessionId } from '../domain/ids.ts';
import { ControlFault } from '../ports/control.ts';
import { privateIn } from './socket-paths.ts';
import { messageOf, tried } from '../domain/result.ts';

/** Bytes of its last output to keep. */
const LAST_WORDS = 4000;
/** The exit code for an end by a signal, as in shells. */
const BY_SIGNAL = 128;

export interface ProcessRequest {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly session: SessionId;
}

export interface StartedProcess {
  /** The file with its output, truncated at each start. */
  readonly file: string;
  /** How it ended, with its last output; null while it runs. */
  ended(): { readonly code: number; readonly words: string } | null;
  /** Stops it with everything it started, when nobody waits for it any more. */
  stop(): void;
}

/** Returns at once, and does not keep this process alive. Throws `ControlFault` if its output cannot be stored. */
export function startProcess({ command, cwd, env, stateDir, session }: ProcessRequest): StartedProcess {
  const file = join(stateDir, 'run', `${session}.out`);
  const output = outputAt(file, join(stateDir, 'run'));
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  child.unref();
  let ended: { code: number; words: string } | null = null;
  child.once('error', (error) => {
    ended = { code: 1, words: `${program} cannot be started: ${error.message}` };
  });
  child.once('exit', (code, signal) => {
    const words = lastWords(file);
    ended = { code: code ?? BY_SIGNAL, words: signal === null ? words : `${words}\nit was ended by ${signal}`.trim() };
  });
  return {
    file,
    ended: () => ended,
    stop() {
      if (ended !== null || child.pid === undefined) return;
      try {
        // It leads its own process group.
        process.kill(-child.pid, 'SIGTERM');
      } catch {
        // It has already ended.
      }
    },
  };
}

function outputAt(file: string, folder: string): number {
  const fault = privateIn(folder);
  if (fault !== null) throw noPlace(`the output of the background process cannot be stored: ${fault}`);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW } = constants;
  try {
    return openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw noPlace(`${file} cannot be written: ${messageOf(error)}`);
  }
}

const noPlace = (why: string): ControlFault =>
  new ControlFault(`${why}\n  make it writable, or set XDG_STATE_HOME to another folder`);

const lastWords = (file: string): string =>
  tried(() => {
    const open = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const bytes = Buffer.alloc(LAST_WORDS);
    const length = readSync(open, bytes, 0, LAST_WORDS, Math.max(0, fstatSync(open).size - LAST_WORDS));
    closeSync(open);
    return plainText(bytes.toString('utf8', 0, length)).trim();
  }, '');
