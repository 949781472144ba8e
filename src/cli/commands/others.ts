/** `mimir others`: lists the other agents. An agent sees its own run only. */
import { branches, flat, type Row, tellRows } from '../sessions/rows.ts';
import { sessionVerb } from '../sessions/target.ts';
import type { SessionClient } from '../../ports/control.ts';

export const othersVerb = sessionVerb('others', (args, io) => async (client) => {
  const none =
    client.as === null ? 'No run is active in this project: `mimir all` lists earlier ones.' : 'No other agents.';
  tellRows(args, io, await rowsFor(client), none);
});

async function rowsFor(client: SessionClient): Promise<readonly Row[]> {
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
