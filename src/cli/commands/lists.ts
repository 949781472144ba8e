/** Lists of sessions: `mimir who` (the other children of the caller's parent), `others`, `all` and `status` (of the active runs). */
import { plural } from '../../app/views/index.ts';
import type { SessionId } from '../../domain/ids.ts';
import { childrenOf, type SessionRecord } from '../../events/index.ts';
import type { SessionClient } from '../../ports/control.ts';
import { branches, flat, type Row, tellRows, tellRuns } from '../sessions/rows.ts';
import { lookAt, selfOf, sessionVerb, type Target, targetOf } from '../sessions/target.ts';

export const whoVerb = sessionVerb('who', (args, io) => async (client) => {
  const self = await selfOf(client);
  const siblings = client.as === null ? childrenOf(self.seen.family, self.record) : siblingsOf(self);
  tellRows(args, io, flat(siblings), client.as === null ? 'No children yet.' : 'You have no siblings.');
});

function siblingsOf({ seen, record }: Target): readonly SessionRecord[] {
  const { parent_session_id: parent, session_id } = record;
  if (parent === null) return [];
  return seen.family.sessions.filter((one) => one.parent_session_id === parent && one.session_id !== session_id);
}

/** An agent sees its own run only. */
export const othersVerb = sessionVerb('others', (args, io) => async (client) => {
  const none =
    client.as === null ? 'No run is active in this project: `mimir all` lists earlier ones.' : 'No other agents.';
  tellRows(args, io, await othersIn(client), none);
});

async function othersIn(client: SessionClient): Promise<readonly Row[]> {
  const living = client.runs().filter(({ state }) => state === 'running');
  const families = await Promise.all(living.map(async ({ session }) => (await client.look(session)).family));
  const { as } = client;
  // Without the caller, a tree would show its children without a parent.
  if (as !== null) return families.flatMap(({ sessions }) => flat(sessions.filter(({ agent }) => agent !== as)));
  return families.flatMap(({ sessions }) =>
    branches(
      sessions,
      sessions.filter(({ parent_session_id }) => parent_session_id === null),
    ),
  );
}

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

/** With the questions that wait, and the usage of every session. */
export const statusVerb = sessionVerb('status', (args, io) => async (client) => {
  const families = lookAt(client, await runsFor(client, args.words[0]));
  await tellRuns(args, io, families, (family) => ({ ...family, socket: client.socket(family.run) }));
});

async function runsFor(client: SessionClient, word: string | undefined): Promise<readonly SessionId[]> {
  if (word !== undefined) return [(await targetOf(client, word)).record.run];
  const runs = client.runs();
  const living = runs.filter(({ state }) => state === 'running');
  return (living.length > 0 ? living : runs.slice(0, 1)).map(({ session }) => session);
}
