/**
 * Ends the process that it is loaded into (`NODE_OPTIONS=--import=…/cut-child.ts`) at one exact point, as `kill -9` would. Which one
 * stands in MIMIR_TEST_CUT: `before TYPE AGENT` or `after TYPE AGENT` of the first batch of the log with such an event, `before N` or
 * `after N` of the Nth batch of all; or, in a verb that asks a run, `connect`, `asked` (the request is written) and `answered` (the
 * answer is there and not yet read).
 */
import { Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';

const cut = process.env['MIMIR_TEST_CUT'] ?? '';
if (isMainThread && cut !== '') {
  if (/^(?:before|after) /.test(cut)) cutLog(cut);
  else cutLine(cut);
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // It is delivered on the way out of the call; nothing may come between.
  for (;;);
}

/** Calls of `on[name]` go by `act`, which may go on with the real one. */
function around(
  on: object,
  name: string,
  act: (given: readonly unknown[], real: (given: readonly unknown[]) => unknown) => unknown,
): void {
  const real: unknown = Reflect.get(on, name);
  if (typeof real !== 'function') throw new Error(`there is no ${name} to go around`);
  Reflect.set(on, name, function (this: unknown, ...given: unknown[]): unknown {
    return act(given, (now) => Reflect.apply(real, this, now));
  });
}

/** Kills at the commit of a batch. */
function cutLog(where: string): void {
  const [when, what = '', agent = 'null'] = where.split(' ');
  const inserted: string[] = [];
  let batches = 0;
  const commit = (real: () => unknown): unknown => {
    const batch = inserted.splice(0);
    if (batch.length > 0) batches += 1;
    const isHere = batch.length > 0 && (String(batches) === what || batch.includes(`${what} ${agent}`));
    if (isHere && when === 'before') die();
    const done = real();
    if (isHere) die();
    return done;
  };
  around(DatabaseSync.prototype, 'prepare', (given, real) => {
    const statement = real(given);
    if (typeof statement !== 'object' || statement === null) return statement;
    const [sql] = given;
    if (sql === 'COMMIT') around(statement, 'run', (values, run) => commit(() => run(values)));
    if (typeof sql === 'string' && sql.startsWith('INSERT INTO events')) {
      around(statement, 'run', (values, run) => {
        inserted.push(`${String(values[3])} ${String(values[4])}`);
        return run(values);
      });
    }
    return statement;
  });
}

/** Kills a verb on its way to a run. */
function cutLine(where: string): void {
  let isAsked = false;
  around(Socket.prototype, 'connect', (given, real) => (where === 'connect' ? die() : real(given)));
  around(Socket.prototype, 'write', (given, real) => {
    const isSpawn = String(given[0]).includes('"do":"spawn"');
    isAsked ||= isSpawn;
    return real(isSpawn && where === 'asked' ? [given[0], die] : given);
  });
  around(Socket.prototype, 'push', (given, real) => (isAsked && where === 'answered' ? die() : real(given)));
}
