/** `mimir all`: lists every session, including children. */
import type { RunSessions } from '../../events/index.ts';
import { plural } from '../../app/views/index.ts';
import { printRunSessions } from '../sessions/rows.ts';
import { sessionVerb } from '../sessions/target.ts';
import type { SessionClient } from '../../ports/control.ts';

export const allVerb = sessionVerb('all', (args, io) => async (client) => {
  const every = client.runs();
  const runs = args.has('all') ? every : chosen(every);
  const families: RunSessions[] = [];
  for (const [index, { session }] of runs.entries()) {
    if (io.lost.aborted) break;
    const { family } = await client.look(session);
    if (args.has('json')) families.push(family);
    else {
      if (index > 0) io.say('');
      printRunSessions(family, io);
    }
  }
  if (args.has('json')) io.json(families);
  else if (runs.length === 0) io.say('No session of this project yet. `mimir` starts one.');
  else if (runs.length < every.length) {
    io.say('');
    io.say(`${plural(every.length - runs.length, 'older run')}: \`mimir all --all\``);
  }
});

/** The number of runs whose logs are read by default, since each takes time. */
const NEWEST = 20;

/** The newest runs and all active ones. */
const chosen = (runs: ReturnType<SessionClient['runs']>): ReturnType<SessionClient['runs']> =>
  runs.filter(({ state }, at) => at < NEWEST || state === 'running');
