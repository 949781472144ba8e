/** Exit codes of the program, and `Exit`, the error with which a command ends early. */
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Refusal } from '../../ports/controls.ts';
import { LogFault } from '../../ports/log.ts';
import type { RunResult } from '../../engine/run/index.ts';

export const EXIT = {
  done: 0,
  agentFailed: 1,
  wrongUse: 2,
  refused: 3,
  notApproved: 4,
  budget: 5,
  noProvider: 6,
  bug: 70,
  hangUp: 129,
  interrupt: 130,
  terminated: 143,
} as const;

/** Ends the program with `code`. The message tells a person what is wrong, where, and what to do; it never holds a stack trace. */
export class Exit extends Error {
  override readonly name = 'Exit';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Wrong flags, arguments or ids. */
export const wrongUse = (message: string): Exit => new Exit(EXIT.wrongUse, message);

/** The error for a value of `--flag` that cannot be used; `expected` follows the word "expected". */
export const invalidFlag = (flag: string, value: string, expected: string): Exit =>
  wrongUse(`--${flag}: "${value}" is not valid\n  expected ${expected}`);

/** The value of `read`; a fault of the log becomes an `Exit` with the words of the fault. */
export function exitOnFault<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LogFault) throw wrongUse(error.message);
    throw error;
  }
}

export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
const SIGNAL_CODES = { SIGINT: EXIT.interrupt, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hangUp } as const;

/** Why a signal stopped the run, as its report states it. */
export const SIGNAL_WORDS: Readonly<Record<EndSignal, string>> = {
  SIGINT: 'stopped by Ctrl-C',
  SIGTERM: 'Mimir was ended by SIGTERM',
  SIGHUP: 'the terminal was closed',
};

export const signalCode = (signal: EndSignal): number => SIGNAL_CODES[signal];

/** The exit code of a run with this result. `signal`: the signal that stopped the run, or null. */
export function exitCodeOf(result: RunResult, signal: EndSignal | null): number {
  if (signal !== null) return SIGNAL_CODES[signal];
  // A stopped run was paused because no model answered, or because a fallback answered instead.
  const hasReason = result.status === 'failed' || (result.status === 'stopped' && result.errorIs !== null);
  return hasReason ? failureExitCode(result) : exitCodeOfEnd(result);
}

/** The exit code of a run of another process, of which only the end is known; null without an end. */
export function exitCodeOfEnd(end: Pick<RunResult, 'status'> | null): number {
  if (end?.status === 'completed') return EXIT.done;
  return end?.status === 'rejected' ? EXIT.notApproved : EXIT.agentFailed;
}

function failureExitCode({ overBudget, errorIs }: RunResult): number {
  if (overBudget || errorIs === 'budget') return EXIT.budget;
  if (errorIs === 'denied') return EXIT.refused;
  return errorIs === 'model' ? EXIT.noProvider : EXIT.agentFailed;
}

/** The value of `open`, or the message of the `Exit` that it threw, for callers that continue without it. */
export async function attempt<T>(open: () => Promise<T>): Promise<Result<T, Refusal>> {
  try {
    return ok(await open());
  } catch (error) {
    if (error instanceof Exit) return fail({ text: error.message });
    throw error;
  }
}
