/** `mimir status`: the active runs: waiting questions, and every session with its usage. */
import type { SessionId } from '../../domain/ids.ts';
import { tellRuns } from '../sessions/rows.ts';
import { lookAt, sessionVerb, targetOf } from '../sessions/target.ts';
import type { SessionClient } from '../../ports/control.ts';

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
