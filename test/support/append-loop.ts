/**
 * A process of its own that appends batches of three until it is killed: `node append-loop.ts STATE PROJECT SESSION`.
 * Each line of stdout says how many events were taken, so whoever kills it knows what must be there.
 */
import { writeSync } from 'node:fs';
import { ROOT, SessionId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { openLog } from '../../src/store/log.ts';

const [, , stateDir = '', project = '', name = '', batches = 'Infinity'] = process.argv;
const session = SessionId.parse(name);
const log = openLog({ stateDir, project });
const claimed = log.claim(session);
if (!claimed.ok) {
  writeSync(1, `refused: ${claimed.holder}\n`);
  process.exit(1);
}
/** In turn events that wait for the disk, and such that are only handed to the operating system. */
const decided: EventBody = { type: 'session.mode', mode: 'confirm' };
const done: EventBody = { type: 'agent.todos', agent: ROOT, todos: [] };
const long: EventBody = { type: 'agent.status', agent: ROOT, status: 'running', reason: 'long '.repeat(5000) };
const limit = Number(batches);
for (let batch = 1; batch <= limit; batch += 1) {
  const body = batch % 4 === 0 ? decided : done;
  const events = log.append(session, new Date(batch).toISOString(), [body, batch % 7 === 0 ? long : body, body]);
  writeSync(1, `${events.at(-1)?.seq}\n`);
}
log.release(session);
log.close();
