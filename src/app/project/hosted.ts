/** A run in a background process (`--hosted SESSION`): it has no terminal, attached screens answer, and it ends with the run. */
import { isSessionId } from '../../domain/text/text.ts';
import type { SessionId } from '../../domain/ids.ts';
import { approvalOf, type OpenProject } from './open-project.ts';
import type { Arguments, EndSignal, Io } from '../process/index.ts';
import { exitCodeOf, sanitise, SIGNAL_WORDS, watchSignals, invalidFlag } from '../process/index.ts';
import type { RunResult } from '../../engine/run/index.ts';
import type { Start } from './begin-run.ts';

/** The session of `--hosted`. Throws an `Exit` (2) for an invalid name. */
export function sessionFrom(text: string): SessionId {
  if (isSessionId(text)) return text;
  throw invalidFlag('hosted', text, 'the name of a session');
}

/** Treats a background process as attended if it was started from a terminal. */
export const asHosted = (args: Arguments, io: Io): Io => (args.has('watched') ? { ...io, terminal: true } : io);

/** Prints why the run failed or how a stopped one is continued; returns the exit code. */
export function endCode(
  result: RunResult,
  signal: EndSignal | null,
  session: SessionId,
  io: Pick<Io, 'complain'>,
): number {
  if (result.error !== null) io.complain(`mimir: ${sanitise(result.error)}`);
  if (result.status === 'stopped') io.complain(`mimir: stopped; \`mimir resume ${session}\` continues it`);
  return exitCodeOf(result, signal);
}

/** Runs a session to its end without a terminal. Returns the exit code. */
export async function runHosted(
  opened: OpenProject,
  args: Arguments,
  io: Io,
  what: Pick<Start, 'session' | 'task' | 'plan' | 'idle' | 'direct' | 'followUp' | 'followUpTo'>,
): Promise<number> {
  const approval = approvalOf(opened.config, args, true);
  const pace = args.has('watched') ? 'readable' : 'none';
  const run = await opened.start({ ...what, approval, person: true, pace });
  const watch = watchSignals((signal) => run.stop(SIGNAL_WORDS[signal]));
  // A run that cannot be reached could never be approved, answered or stopped.
  void run.served.then((why) => {
    if (why === null) return;
    io.complain(`mimir: ${why}`);
    run.stop('it could not be reached');
  });
  try {
    const result = await run.result;
    for (const line of [...(await run.undelivered), ...(result.error === null ? [] : [result.error])])
      io.complain(`mimir: ${sanitise(line)}`);
    return exitCodeOf(result, watch.received());
  } finally {
    watch.end();
    opened.close();
  }
}
