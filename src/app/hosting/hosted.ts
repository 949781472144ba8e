/**
 * A run in a process of its own, as that process sees it (`--hosted SESSION`): no terminal, so whoever approves and answers comes by
 * a screen (`mimir attach`), and the process ends with the run.
 */
import { isSessionId } from '../../domain/text/id-shapes.ts';
import type { SessionId } from '../../domain/ids.ts';
import { approvalOf } from './approval.ts';
import { EXIT, Exit } from '../process/exit.ts';
import { exitCodeOf } from '../process/exit-codes.ts';
import type { Arguments, Flags } from '../process/flags/flags.ts';
import type { Io } from '../process/io.ts';
import { watchSignals } from '../process/signals.ts';
import type { Start, Workshop } from '../project/open-project.ts';

/** For people. */
export const DETACH: Flags = {
  detach: { value: '', help: 'in a process of its own: returns at once, `mimir attach` shows the run' },
};

/** For the process itself; nobody types them. */
export const HOSTED: Flags = {
  hosted: { value: 'SESSION', help: 'carries this session without a terminal', hidden: true },
  watched: { value: '', help: 'somebody at a terminal asked for it', hidden: true },
};

/** The session that a process of its own was started for. */
export function sessionFrom(text: string): SessionId {
  if (isSessionId(text)) return text;
  throw new Exit(EXIT.wrongUse, `--hosted ${text}\n  expected the name of a session`);
}

/** For a process that somebody at a terminal asked for: what holds for one with a terminal holds for it as well. */
export const asHosted = (args: Arguments, io: Io): Io => (args.has('watched') ? { ...io, terminal: true } : io);

/** Carries the run to its end, with nobody at a terminal: who approves, and who answers, comes by a screen. */
export async function carryHosted(
  workshop: Workshop,
  args: Arguments,
  io: Io,
  what: Pick<Start, 'session' | 'task' | 'plan' | 'idle' | 'direct' | 'followUp'>,
): Promise<number> {
  const approval = approvalOf(workshop.config, args, true);
  const pace = args.has('watched') ? 'readable' : 'none';
  const run = await workshop.start({ ...what, approval, person: true, pace });
  const watch = watchSignals((signal) => run.stop(signal));
  // Nobody could ever approve, answer or stop what nobody can reach.
  void run.served.then((why) => {
    if (why === null) return;
    io.complain(`mimir: ${why}`);
    run.stop('it could not be reached');
  });
  try {
    const result = await run.result;
    if (result.error !== null) io.complain(`mimir: ${result.error}`);
    return exitCodeOf(result, watch.got());
  } finally {
    watch.end();
    workshop.close();
  }
}
