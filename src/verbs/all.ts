/** `mimir all`: every session, children included (CONTRACT S069, S156). */
import type { Family } from '../events/session-record.ts';
import { CWD, JSON_FLAG } from './plain-flags.ts';
import { EXIT } from './exit.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import { FAMILY, fieldLines } from './session-fields.ts';
import { sayFamily } from './session-rows.ts';
import { seated } from './session-seat.ts';
import type { Verb } from './verb.ts';

export const allVerb: Verb = {
  usage: 'mimir all [--json]',
  summary: 'Lists every session of the project, newest run first, with all children; for an agent those of its run.',
  example: 'mimir all --json',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  notes: fieldLines('--json prints an array of runs, each of:', FAMILY),
  run: all,
};

function all(args: Arguments, io: Io): Promise<number> {
  return seated(args, io, async (seat) => {
    const runs = seat.runs();
    const families: Family[] = [];
    for (const [index, { session }] of runs.entries()) {
      if (io.lost.aborted) break;
      const { family } = await seat.look(session);
      if (args.has('json')) families.push(family);
      else {
        if (index > 0) io.say('');
        sayFamily(family, io);
      }
    }
    if (args.has('json')) io.json(families);
    else if (runs.length === 0) io.say('No session of this project yet. `mimir` starts one.');
    return EXIT.done;
  });
}
