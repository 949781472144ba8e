/**
 * Runs for every test file: each gets a temporary folder of its own, and behind every test whose title names a case of the
 * catalogue (`D07`), I1 to I5 are asserted over all logs that the test wrote, on the disk or in memory.
 */
import { chmodSync, existsSync, globSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { eventsOf } from '../../src/store/record.ts';
import type { Row } from '../../src/store/record.ts';
import { ownVariables } from '../../src/tools/process/environment.ts';
import { PLACE_VARIABLES } from '../../src/tools/toolchains/toolchains.ts';
import { endFile, keepFolders, lookedInElsewhere, lookNowhereElse, removeLeft } from './aftermath.ts';
import { brokenBy, toolProcessesBelow } from './invariants.ts';
import { memoryLogs } from './log.ts';
import { until } from './until.ts';

const CASE = /\b[A-O]\d{2}\b/;
const outer = tmpdir();
const own = realpathSync(mkdtempSync(join(outer, 'mimir-tests-')));
// Some tests run programs as an ordinary user: whoever knows a name in it may go on.
chmodSync(own, 0o711);
process.env['TMPDIR'] = own;
const system = readdirSync('/etc');
// Tests make homes with packages of toolchains in them: where the person, or npm that runs them, keeps packages is not theirs.
for (const name of Object.keys(ownVariables(PLACE_VARIABLES))) delete process.env[name];

keepFolders();

/** Of tests that run at the same time nobody can tell whose a log or a process is: they are looked over when all have ended. */
let [running, named] = [0, false];

beforeEach(() => {
  if (running === 0) memoryLogs.length = 0;
  running += 1;
});

afterEach(async ({ task }) => {
  running -= 1;
  named ||= namesCase(task);
  if (running > 0) return;
  try {
    if (named) await lookOver();
  } finally {
    named = false;
    removeLeft();
  }
});

afterAll(async () => {
  await endFile();
  removeLeft();
  lookNowhereElse();
  rmSync(own, { recursive: true, force: true });
  // Files of rooms that share a process get theirs beside it, not in it.
  process.env['TMPDIR'] = outer;
});

/** In its title, or in that of what it stands in. */
const namesCase = (task: Titled): boolean =>
  CASE.test(task.name) || (task.suite !== undefined && namesCase(task.suite));

interface Titled {
  readonly name: string;
  readonly suite?: Titled | undefined;
}

async function lookOver(): Promise<void> {
  const sessions = [
    ...memoryLogs.flatMap((log) => log.sessions().map(({ session }) => log.read(session))),
    ...stored(),
  ];
  expect(sessions.flatMap((events) => brokenBy(events))).toEqual([]);
  expect(readdirSync('/etc'), 'I2: nothing was made in /etc').toEqual(system);
  // Those that were told to end may take a moment: what is asserted is who is left then.
  const left = (): readonly string[] => [own, ...lookedInElsewhere()].flatMap(toolProcessesBelow);
  await until(() => left().length === 0).catch(() => undefined);
  expect(left(), 'I5: no process of a tool is left').toEqual([]);
}

/** Every session of every log below the temporary folder whose chain is whole: what a test damaged speaks for itself. */
function stored(): readonly (readonly MimirEvent[])[] {
  return globSync('**/projects/*/log.db', { cwd: own }).flatMap((file) => sessionsIn(join(own, file)));
}

function sessionsIn(file: string): readonly (readonly MimirEvent[])[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database
      .prepare('SELECT session, seq, time, type, agent, data, prev, hash FROM events ORDER BY session, seq')
      .all()
      .map(
        (row): Row => ({
          session: String(row['session']),
          seq: Number(row['seq']),
          time: String(row['time']),
          type: String(row['type']),
          agent: typeof row['agent'] === 'string' ? row['agent'] : null,
          data: String(row['data']),
          prev: String(row['prev']),
          hash: String(row['hash']),
        }),
      );
    const text = database.prepare('SELECT json FROM texts WHERE hash = ?');
    const textOf = (hash: string): string | undefined => {
      const json = text.get(hash)?.['json'];
      return typeof json === 'string' ? json : undefined;
    };
    return [...Map.groupBy(rows, ({ session }) => session)].map(([session, own]) => [
      ...eventsOf(SessionId.parse(session), own, { seq: 0, hash: '' }, textOf),
    ]);
  } catch {
    return [];
  } finally {
    database.close();
  }
}
