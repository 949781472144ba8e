/** The log as evidence: how long a chain of 100,000 records takes to check, whether any changed bit is found, what a decision costs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ROOT, SessionId } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { verifyLog } from '../../../src/store/damage.ts';
import { openLog } from '../../../src/store/log.ts';
import { databaseOf } from '../../../src/store/database.ts';
import { spreadOf } from '../statistics.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { counted, middleAnd, times } from './part.ts';

const SESSION = SessionId.parse('bench');
const denied = (index: number): EventBody => ({
  type: 'policy.decided',
  agent: ROOT,
  subject: `command ${index}`,
  action: 'shell',
  decision: 'deny',
  rule: 'commands.deny: "curl **"',
  layer: 'managed',
  file: '/etc/mimir/policy.yml',
  line: 12,
  policyHash: 'f'.repeat(64),
});

export function log(size: Size): readonly Figure[] {
  const folder = mkdtempSync(join(tmpdir(), 'mimir-bench-'));
  try {
    const place = { stateDir: join(folder, 'state'), project: folder };
    const records = size.quick ? 5000 : 100_000;
    const written = write(place, records, times(size, 500));
    const begun = performance.now();
    const { faults } = verifyLog(place);
    const took = performance.now() - begun;
    return [
      ...middleAnd('a decision on the disk', 95, written),
      { what: '1000 records of a log, checked', unit: 'ms', mimir: spreadOf([(took / records) * 1000]), floor: null },
      counted('faults found in a log that is whole', faults.length, records),
      ...flips(place, size, records),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Decisions wait for the disk one by one; the rest of the log is filled up in large batches. */
function write(place: Parameters<typeof openLog>[0], records: number, single: number): readonly number[] {
  const open = openLog(place);
  const found: number[] = [];
  for (let index = 0; index < single; index += 1) {
    const begun = performance.now();
    open.append(SESSION, '2026-01-01T00:00:00.000Z', [denied(index)]);
    found.push(performance.now() - begun);
  }
  const fill = (from: number): readonly EventBody[] =>
    Array.from({ length: Math.min(1000, records - from) }, (_, at) => denied(from + at));
  for (let from = single; from < records; from += 1000) open.append(SESSION, '2026-01-01T00:00:00.000Z', fill(from));
  open.close();
  return found;
}

/** One bit of one column of one record at a time, put back afterwards. */
function flips(place: Parameters<typeof openLog>[0], size: Size, records: number): readonly Figure[] {
  const database = new DatabaseSync(databaseOf(place));
  const count = size.quick ? 5 : 60;
  const columns = ['time', 'type', 'agent', 'data', 'prev', 'hash'];
  let missed = 0;
  for (let index = 0; index < count; index += 1) {
    const seq = 1 + ((index * 7919) % records);
    const column = columns[index % columns.length] ?? 'data';
    const row = database
      .prepare(`SELECT ${column} AS text FROM events WHERE session = ? AND seq = ?`)
      .get(SESSION, seq);
    const text = String(row?.['text']);
    const bytes = Buffer.from(text);
    const at = (index * 31) % Math.max(1, bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const set = database.prepare(`UPDATE events SET ${column} = ? WHERE session = ? AND seq = ?`);
    set.run(bytes.toString('latin1'), SESSION, seq);
    if (verifyLog(place).faults.every((fault) => fault.seq !== seq)) missed += 1;
    set.run(text, SESSION, seq);
  }
  database.close();
  return [counted('changed bits of a log, not found', missed, count)];
}
