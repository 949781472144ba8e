/** `mimir status`: the active runs: waiting questions, and every session with its usage. */
import type { SessionId } from '../../domain/ids.ts';
import { CWD, JSON_FLAG } from '../../app/process/index.ts';
import { FAMILY, fieldLines, WHICH_LOOK } from '../sessions/fields.ts';
import { printRunSessions } from '../sessions/rows.ts';
import { sessionVerb, targetOf } from '../sessions/target.ts';
import type { SessionClient } from '../../ports/control.ts';

const SOCKET = 'its socket (docs/api.md); null without one';

export const statusVerb = sessionVerb({
  usage: 'mimir status [SESSION] [--json]',
  summary: 'Shows active runs (questions, pending messages, cost per session), or the newest run if none is active.',
  example: 'mimir status',
  words: 1,
  flags: { ...JSON_FLAG, ...CWD },
  notes: [...fieldLines('--json prints an array of runs, each of:', { ...FAMILY, socket: SOCKET }), ...WHICH_LOOK],
  run: (args, io) => async (client) => {
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
  },
});

async function runsFor(client: SessionClient, word: string | undefined): Promise<readonly SessionId[]> {
  if (word !== undefined) return [(await targetOf(client, word)).record.run];
  const runs = client.runs();
  const living = runs.filter(({ state }) => state === 'running');
  return (living.length > 0 ? living : runs.slice(0, 1)).map(({ session }) => session);
}
