/** `mimir others`: lists the other agents. An agent sees its own run only. */
import { CWD, JSON_FLAG } from '../../app/process/index.ts';
import { AS_CHILDREN, WHICH_LOOK } from '../sessions/fields.ts';
import { branches, flat, rowLines } from '../sessions/rows.ts';
import { sessionVerb } from '../sessions/target.ts';
import { tell } from '../verb.ts';
import type { SessionClient } from '../../ports/control.ts';

export const othersVerb = sessionVerb({
  usage: 'mimir others [--json]',
  summary: 'Lists other agents, children included, in your run (for a person: in all active runs).',
  example: 'mimir others',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  notes: [`Each item of the array that --json prints ${AS_CHILDREN}`, ...WHICH_LOOK],
  run: (args, io) => async (client) => {
    const rows = await rowsFor(client);
    const none =
      client.as === null ? 'No run is active in this project: `mimir all` lists earlier ones.' : 'No other agents.';
    const records = rows.map(({ record }) => record);
    tell(args, io, records, rows.length === 0 ? [none] : rowLines(rows, io));
  },
});

async function rowsFor(client: SessionClient): Promise<Parameters<typeof rowLines>[0]> {
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
