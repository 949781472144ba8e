/** `mimir who`: the other children of the caller's parent. */
import { childrenOf } from '../../events/sessions/find.ts';
import type { SessionRecord } from '../../events/sessions/record.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { AS_CHILDREN, WHICH_LOOK } from '../sessions/fields.ts';
import { flat, sayRows } from '../sessions/rows.ts';
import { seated } from '../../app/client/session-client.ts';
import type { Target } from '../sessions/target.ts';
import { selfOf } from '../sessions/target.ts';
import type { Verb } from '../verb.ts';

export const whoVerb: Verb = {
  usage: 'mimir who [--json]',
  summary: 'Lists your siblings: other children of your parent. For a person: the children of the newest run.',
  example: 'mimir who',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  notes: [`Each item of the array that --json prints ${AS_CHILDREN}`, ...WHICH_LOOK],
  run: who,
};

function who(args: Arguments, io: Io): Promise<number> {
  return seated(args, io, async (seat) => {
    const self = await selfOf(seat);
    const siblings = seat.as === null ? childrenOf(self.seen.family, self.record) : siblingsOf(self);
    if (args.has('json')) io.json(siblings);
    else if (siblings.length === 0) io.say(seat.as === null ? 'There are no children yet.' : 'You have no siblings.');
    else sayRows(flat(siblings), io);
    return EXIT.done;
  });
}

function siblingsOf({ seen, record }: Target): readonly SessionRecord[] {
  const { parent_session_id: parent, session_id } = record;
  if (parent === null) return [];
  return seen.family.sessions.filter((one) => one.parent_session_id === parent && one.session_id !== session_id);
}
