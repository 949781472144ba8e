/** What commands that look back make of a stored session. */
import { expect, it } from 'vitest';
import { stateOf } from '../../../src/app/workspace/sessions.ts';
import { reportJson } from '../../../src/app/reports/report.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { memoryLog } from '../../support/log.ts';
import { finished, SESSION } from '../../support/recorded-run.ts';

const DIFF = '--- /dev/null\n+++ b/src/refresh.ts\n@@ -0,0 +1,1 @@\n+export {};\n';
const FAULT = 'the file was changed meanwhile\nread it again';

/** The recorded run, in which every tool wrote a file, and those of one agent failed. */
function edited(event: EventBody): EventBody {
  if (event.type === 'tool.started') return { ...event, tool: 'write_file' };
  if (event.type !== 'tool.finished') return event;
  const ok = event.agent !== 'ROOT::S3';
  return {
    ...event,
    tool: 'write_file',
    ok,
    output: ok ? `src/refresh.ts: +1 -0 lines, digest now 7f3a\n${DIFF}` : FAULT,
  };
}

it('a stored session has the same state as all of its events: files that agents changed, and why tools failed', () => {
  const log = memoryLog();
  log.append(
    SESSION,
    '2026-01-01T12:00:00.000Z',
    finished().events.map((event) => edited(event)),
  );
  const whole = foldAll(log.read(SESSION));
  expect(JSON.stringify(reportJson(whole))).toContain('{"path":"src/refresh.ts","added":1,"removed":0,"made":true}');
  expect(whole.log.map(({ text }) => text)).toContain('write_file: the file was changed meanwhile');
  expect(stateOf(log, SESSION)).toEqual(whole);
});
