/** `mimir all`: lists every session, including children. */
import { plural } from '../../app/views/index.ts';
import { tellRuns } from '../sessions/rows.ts';
import { lookAt, sessionVerb } from '../sessions/target.ts';

export const allVerb = sessionVerb('all', (args, io) => async (client) => {
  const every = client.runs();
  const isChosen = ({ state }: (typeof every)[number], at: number): boolean =>
    args.has('all') || at < NEWEST || state === 'running';
  const runs = every.filter(isChosen).map(({ session }) => session);
  await tellRuns(args, io, lookAt(client, runs));
  if (args.has('json') || runs.length === every.length) return;
  io.say('');
  io.say(`${plural(every.length - runs.length, 'older run')}: \`mimir all --all\``);
});

/** The number of runs whose logs are read by default, since each takes time. */
const NEWEST = 20;
