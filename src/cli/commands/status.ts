/** `mimir status`: the active runs: waiting questions, and every session with its usage. */
import type { SessionId } from '../../domain/ids.ts';
import { printRunSessions } from '../sessions/rows.ts';
import { sessionVerb, targetOf } from '../sessions/target.ts';
import type { SessionClient } from '../../ports/control.ts';

export const statusVerb = sessionVerb('status', (args, io) => async (client) => {
  const families = await Promise.all(
    (await runsFor(client, args.words[0])).map(async (session) => (await client.look(session)).family),
  );
  if (args.has('json')) io.json(families.map((family) => ({ ...family, socket: client.socket(family.run) })));
  else if (families.length === 0) io.say('No session of this project yet. `mimir` starts one.');
  else {
    for (const [index, family] of families.entries()) {
      if (index > 0) io.say('');
      printRunSessions(family, io);
    }
  }
});

async function runsFor(client: SessionClient, word: string | undefined): Promise<readonly SessionId[]> {
  if (word !== undefined) return [(await targetOf(client, word)).record.run];
  const runs = client.runs();
  const living = runs.filter(({ state }) => state === 'running');
  return (living.length > 0 ? living : runs.slice(0, 1)).map(({ session }) => session);
}
