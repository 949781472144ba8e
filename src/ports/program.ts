/** Programs that go on beside others: talked to by their pipes, or in a terminal of tmux. */
import type { Readable, Writable } from 'node:stream';
import type { Result } from '../domain/result.ts';

/** A started program, with its whole process group. */
export interface TalkingProgram {
  readonly input: Writable;
  readonly output: Readable;
  /** What it printed last on standard error. */
  errors(): string;
  /** Resolves with how it ended, in words, when no process of it is left. */
  readonly ended: Promise<string>;
  /** Ends it and all that it started. Resolves when nothing of it is left. */
  end(): Promise<void>;
}

/** A session of tmux with a program in it. */
export interface TerminalProgram extends Pick<TalkingProgram, 'end'> {
  readonly session: string;
  /** Runs a command of tmux; its output, or what tmux complains of. `input` is its standard input. */
  tmux(args: readonly string[], input?: string): Promise<Result<string, string>>;
  /** Of the program; null while it runs. */
  exitCode(): number | null;
}
