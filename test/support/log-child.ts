/**
 * A process of its own that opens a log and says what came of it: `node log-child.ts read|write|fill STATE PROJECT`.
 * For tests that need another user, a smaller disk or a folder that can't be written.
 */
import { SessionId } from '../../src/domain/ids.ts';
import { LogFault } from '../../src/ports/log.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';

const [, , act = '', stateDir = '', project = ''] = process.argv;
const session = SessionId.parse('child');
const place = { stateDir, project };

function attempt(): string {
  if (act === 'read') return `read ${openLogReadOnly(place).read(session).length}`;
  const log = openLog(place);
  log.claim(session);
  const most = act === 'fill' ? 100_000 : 1;
  for (let at = 1; at <= most; at += 1) {
    log.append(session, new Date(at).toISOString(), [{ type: 'plan.rejected', reason: `${at} `.repeat(2000) }]);
  }
  return `wrote ${most}`;
}

try {
  console.log(attempt());
} catch (error) {
  console.log(error instanceof LogFault ? `LogFault: ${error.message}` : error);
}
