/** `mimir others`: whoever else works here. An agent reaches its own run only, and that is all it is told of. */
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { AS_CHILDREN, WHICH_LOOK } from '../sessions/fields.ts';
import { flat, sayRows } from '../sessions/rows.ts';
import { seated } from '../../app/client/session-client.ts';
import { branches } from '../sessions/words.ts';
import type { Verb } from '../verb.ts';
import type { Seat } from '../../ports/control.ts';

export const othersVerb: Verb = {
  usage: 'mimir others [--json]',
  summary: 'Lists the other agents of the workspace, children included: of your run, for a person of all living runs.',
  example: 'mimir others',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  notes: [`Each item of the array that --json prints ${AS_CHILDREN}`, ...WHICH_LOOK],
  run: others,
};

function others(args: Arguments, io: Io): Promise<number> {
  return seated(args, io, async (seat) => {
    const rows = await rowsFor(seat);
    if (args.has('json')) io.json(rows.map(({ record }) => record));
    else if (rows.length > 0) sayRows(rows, io);
    else io.say(seat.as === null ? 'No run lives in this project: `mimir all` lists the past ones.' : 'You are alone.');
    return EXIT.done;
  });
}

async function rowsFor(seat: Seat): Promise<Parameters<typeof sayRows>[0]> {
  const living = seat.runs().filter(({ state }) => state === 'running');
  const families = await Promise.all(living.map(async ({ session }) => (await seat.look(session)).family));
  const { as } = seat;
  // A tree that the caller is taken out of would hang its children in the air.
  if (as !== null) return families.flatMap(({ sessions }) => flat(sessions.filter(({ agent }) => agent !== as)));
  return families.flatMap(({ sessions }) =>
    branches(
      sessions,
      sessions.filter(({ parent_session_id }) => parent_session_id === null),
    ),
  );
}
