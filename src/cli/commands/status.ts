/** `mimir status`: the living runs whole: what waits, and every session with what it used. */
import type { SessionId } from '../../domain/ids.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { FAMILY, fieldLines, WHICH_LOOK } from '../sessions/fields.ts';
import { sayFamily } from '../sessions/rows.ts';
import { seated } from '../../app/client/session-client.ts';
import { targetOf } from '../sessions/target.ts';
import type { Verb } from '../verb.ts';
import type { Seat } from '../../ports/control.ts';

const SOCKET = 'where it listens (docs/api.md); null where nothing does';

export const statusVerb: Verb = {
  usage: 'mimir status [SESSION] [--json]',
  summary: 'Shows what runs here: questions, kept messages, every session with its cost; else the newest run.',
  example: 'mimir status',
  words: 1,
  flags: { ...JSON_FLAG, ...CWD },
  notes: [...fieldLines('--json prints an array of runs, each of:', { ...FAMILY, socket: SOCKET }), ...WHICH_LOOK],
  run: status,
};

function status(args: Arguments, io: Io): Promise<number> {
  return seated(args, io, async (seat) => {
    const families = await Promise.all(
      (await runsFor(seat, args.words[0])).map(async (session) => (await seat.look(session)).family),
    );
    if (args.has('json')) io.json(families.map((family) => ({ ...family, socket: seat.socket(family.run) })));
    else if (families.length === 0) io.say('No session of this project yet. `mimir` starts one.');
    else {
      for (const [index, family] of families.entries()) {
        if (index > 0) io.say('');
        sayFamily(family, io);
      }
    }
    return EXIT.done;
  });
}

async function runsFor(seat: Seat, word: string | undefined): Promise<readonly SessionId[]> {
  if (word !== undefined) return [(await targetOf(seat, word)).record.run];
  const runs = seat.runs();
  const living = runs.filter(({ state }) => state === 'running');
  return (living.length > 0 ? living : runs.slice(0, 1)).map(({ session }) => session);
}
