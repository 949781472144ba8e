/** `mimir complete`: an agent says that it is done, or that it can't go on. */
import { CWD } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { doneOrExit, seated } from '../../app/client/session-client.ts';
import { selfOf } from '../sessions/target.ts';
import type { Verb } from '../verb.ts';

export const completeVerb: Verb = {
  usage: 'mimir complete [--status completed|error] ["message"]',
  summary: 'An agent says that its work is done, or that it can not go on: it ends with that after this step.',
  example: 'mimir complete --status error "the tests need a database"',
  words: 1,
  flags: { status: { value: 'STATUS', help: 'completed (the default) or error' }, ...CWD },
  run: (args, io) => complete(args, io, statusOf(args)),
};

function statusOf(args: Arguments): 'completed' | 'error' {
  const said = args.get('status') ?? 'completed';
  if (said === 'completed' || said === 'error') return said;
  throw new Exit(EXIT.wrongUse, `--status ${said}\n  expected completed or error`);
}

function complete(args: Arguments, io: Io, status: 'completed' | 'error'): Promise<number> {
  return seated(args, io, async (seat) => {
    if (seat.as === null) {
      throw new Exit(
        EXIT.wrongUse,
        'only an agent says of itself that it is done\n  `mimir kill ID` ends a session, `mimir kill RUN` a run',
      );
    }
    const { record } = await selfOf(seat);
    const message = args.words[0] ?? '';
    doneOrExit(await seat.submit(record.run, { do: 'complete', agent: seat.as, status, message }));
    io.say(`Session ${record.session_id} marked as ${status}`);
    return EXIT.done;
  });
}
