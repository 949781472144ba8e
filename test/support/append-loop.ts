/**
 * A process of its own that appends batches of three until it is killed: `node append-loop.ts STATE PROJECT SESSION`.
 * Each line of stdout says how many events are on the disk, so whoever kills it knows what must be there.
 */
import { writeSync } from 'node:fs';
import { SessionId } from '../../src/domain/ids.ts';
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
const body: EventBody = { type: 'session.mode', mode: 'confirm' };
const long: EventBody = { type: 'plan.rejected', reason: 'long '.repeat(5000) };
const limit = Number(batches);
for (let batch = 1; batch <= limit; batch += 1) {
  const events = log.append(session, new Date(batch).toISOString(), [body, batch % 7 === 0 ? long : body, body]);
  writeSync(1, `${events.at(-1)?.seq}\n`);
}
log.release(session);
log.close();
