/**
 * A process of its own that leaves letters until it is killed, or so many: `node mailbox-child.ts STATE PROJECT SESSION NAME COUNT`.
 * Each line of stdout is the id of a letter that was put, so whoever kills it knows what must be there.
 */
import { writeSync } from 'node:fs';
import { ROOT, SessionId } from '../../src/domain/ids.ts';
import { openMessageStore } from '../../src/store/message-store.ts';

const [, , stateDir = '', project = '', session = '', name = '', count = 'Infinity'] = process.argv;
const messageStore = openMessageStore({ stateDir, project });
for (let number = 1; number <= Number(count); number += 1) {
  const id = `${name}-${number}`;
  messageStore.put(SessionId.parse(session), {
    id,
    to: ROOT,
    text: `letter ${id}`,
    delivery: 'sequential',
    at: '2026-11-22T09:00:00.000Z',
  });
  writeSync(1, `${id}\n`);
}
