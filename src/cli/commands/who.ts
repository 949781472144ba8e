/** `mimir who`: the other children of the caller's parent. */
import { childrenOf, type SessionRecord } from '../../events/index.ts';
import { flat, tellRows } from '../sessions/rows.ts';
import { selfOf, sessionVerb, type Target } from '../sessions/target.ts';

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
