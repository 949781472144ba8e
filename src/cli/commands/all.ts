/** `mimir all`: every session, children included. */
import type { Family } from '../../events/sessions/record.ts';
import { counted } from '../../app/views/text/format.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { FAMILY, fieldLines, WHICH_LOOK } from '../sessions/fields.ts';
import { sayFamily } from '../sessions/rows.ts';
import { seated } from '../../app/client/session-client.ts';
import type { Verb } from '../verb.ts';
import type { Seat } from '../../ports/control.ts';

export const allVerb: Verb = {
  usage: 'mimir all [--all] [--json]',
  summary: 'Lists all sessions of the newest 20 runs, children included, newest first; for an agent those of its run.',
  example: 'mimir all --json',
  words: 0,
  flags: { all: { value: '', help: 'of older runs too, however many there are' }, ...JSON_FLAG, ...CWD },
  notes: [...fieldLines('--json prints an array of runs, each of:', FAMILY), ...WHICH_LOOK],
  run: all,
};

function all(args: Arguments, io: Io): Promise<number> {
  return seated(args, io, async (seat) => {
    const every = seat.runs();
    const runs = args.has('all') ? every : chosen(every);
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
    else if (runs.length < every.length) {
      io.say('');
      io.say(`${counted(every.length - runs.length, 'older run')}: \`mimir all --all\``);
    }
    return EXIT.done;
  });
}

/** Runs whose logs are read: each takes its time. */
const NEWEST = 20;

/** The newest, and whatever runs. */
const chosen = (runs: ReturnType<Seat['runs']>): ReturnType<Seat['runs']> =>
  runs.filter(({ state }, at) => at < NEWEST || state === 'running');
