/** Lines of terminals to a run: on both sides only what people have signed for this line and process arrives, because every worker can write to the database. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Client } from 'pg';
import { z } from 'zod';
import {
  answerLines,
  type Database,
  migrate,
  openDatabase,
  openLine,
  publicKeyOf,
} from '../../src/distributed/index.ts';
import type { TextLine } from '../../src/ports/control.ts';
import { needs } from '../support/needs.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

needs('postgres');

const PERSON = generateKeyPairSync('ed25519').privateKey;
const Row = z.object({ id: z.string(), side: z.string(), n: z.number(), body: z.string().nullable() });

let postgres: Postgres | null = null;
let db: Database | null = null;
const ends: (() => void)[] = [];
beforeEach(async () => {
  postgres = await startPostgres();
  db = openDatabase(postgres.url);
  await migrate(db);
  // What everybody who can read the database may keep of it.
  await db.run(`create table said (like mimir.line);
    create function keep() returns trigger language plpgsql as 'begin insert into said values (new.*); return new; end';
    create trigger keep after insert on mimir.line for each row execute function keep()`);
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await db?.close();
  await postgres?.remove();
});

function database(): Database {
  if (db === null) throw new Error('no database');
  return db;
}

interface Heard {
  readonly lines: TextLine[];
  readonly text: () => string;
}

/** A process of the run that answers what it hears. */
function process(key: KeyObject = PERSON, own = database()): Heard & { end(): void } {
  const lines: TextLine[] = [];
  let text = '';
  const end = answerLines(own, 'run', { own: key, others: [publicKeyOf(PERSON)] }, (line) => {
    lines.push(line);
    line.receive((more) => {
      text += more;
      line.send(`heard ${more}`);
    });
  });
  ends.push(end, () => {
    for (const line of lines) line.close();
  });
  return { lines, text: () => text, end };
}

function terminal(key: KeyObject = PERSON): { readonly line: TextLine; readonly text: () => string } {
  const line = openLine(database(), 'run', { own: key, others: [publicKeyOf(PERSON)] });
  let text = '';
  line.receive((more) => void (text += more));
  ends.push(() => line.close());
  return { line, text: () => text };
}

const said = (what: string): Promise<z.output<typeof Row>[]> =>
  database().rows(Row, `select id, side, n, body from said where ${what} order by n`);
const write = ({ id, side, n, body }: z.output<typeof Row>): Promise<number> =>
  database().run(
    `with given as (insert into mimir.line (id, run, side, n, body) values ($1, 'run', $2, $3, $4))
     select pg_notify('mimir_line', 'run ' || $1 || ' ' || $2)`,
    [id, side, n, body],
  );

/** A terminal that has said hello to a process of the run, and heard its answer. */
async function spoken() {
  const run = process();
  const { line, text } = terminal();
  line.send('hello');
  await until(() => text() === 'heard hello');
  return { run, line, text };
}

const textsOf = (rows: readonly z.output<typeof Row>[]): readonly unknown[] =>
  rows.flatMap(({ body }) =>
    body?.startsWith('{') ? [z.object({ text: z.unknown() }).parse(JSON.parse(body)).text] : [],
  );

it('carries text of the person to the run and back, and closes on both sides', async () => {
  const { run, line } = await spoken();
  line.close();
  await run.lines[0]?.closed;
  expect(run.text()).toBe('hello');
});

it('sends in one piece what is said while the piece before is on its way, so that a slow database is not behind for ever', async () => {
  const { run, line } = await spoken();
  const last = (await said(`side = 'client'`)).at(-1)?.n ?? 0;
  const lock = new Client({ connectionString: postgres?.url });
  await lock.connect();
  await lock.query('begin; lock table mimir.line in share mode');
  for (const word of ['on its way ', ...Array.from({ length: 20 }, (_, at) => `${at} `)]) {
    line.send(word);
    await flushed();
  }
  await lock.query('rollback');
  await lock.end();
  await until(() => run.text().endsWith('19 '));
  const pieces = textsOf(await said(`side = 'client' and n > ${last}`)).filter((text) => text !== '');
  expect(pieces).toEqual(['on its way ', Array.from({ length: 20 }, (_, at) => `${at} `).join('')]);
});

/** Resolves when a line has had the time to send what was said. */
const flushed = (): Promise<void> =>
  new Promise((done) => {
    const timer = setInterval(() => {
      clearInterval(timer);
      done();
    }, 30);
  });

it('accepts no other person', async () => {
  const run = process();
  const { line } = terminal(generateKeyPairSync('ed25519').privateKey);
  line.send('hello');
  await line.closed;
  expect([run.lines, run.text()]).toEqual([[], '']);
});

it.each(['approve', null])('ends at a piece that the person has not signed: %s', async (body) => {
  const { run, line } = await spoken();
  const last = (await said(`side = 'client'`)).at(-1);
  if (last === undefined) throw new Error('nothing was said');
  await write({ ...last, n: last.n + 1, body });
  await line.closed;
  expect([run.text(), textsOf(await said(`side = 'run'`)).at(-1)]).toEqual(['hello', null]);
});

it.each([
  ['what nobody has signed', () => JSON.stringify({ text: 'Do you allow it?' })],
  ['a piece of the person as one of the run', (own: string | null) => own],
])('shows nothing of what others write in the name of the run: %s', async (_, bodyOf) => {
  const { line, text } = await spoken();
  const [, own] = await said(`side = 'client'`);
  const last = (await said(`side = 'run' and id <> 'run'`)).at(-1);
  if (last === undefined) throw new Error('nothing was said');
  await write({ ...last, n: last.n + 1, body: bodyOf(own?.body ?? null) });
  await line.closed;
  expect(text()).toBe('heard hello');
});

it('shows no run of a person who is not known here', async () => {
  const run = process(generateKeyPairSync('ed25519').privateKey);
  const { line, text } = terminal();
  line.send('hello');
  await until(() => run.text() === 'hello');
  await line.closed;
  expect(text()).toBe('');
});

it('accepts a second time nothing of what was said, neither in this process of the run nor in the next', async () => {
  const { run: first, line } = await spoken();
  line.close();
  await first.lines[0]?.closed;
  const rows = await said(`side = 'client'`);
  for (const row of rows) await write(row);
  expect(first.text()).toBe('hello');
  first.end();
  // Nobody answers until the next process has named itself.
  await database().run('delete from mimir.line');
  const next = process();
  for (const row of rows) await write(row);
  const other = terminal();
  other.line.send('again');
  await until(() => other.text() === 'heard again');
  expect([first.text(), next.text()]).toEqual(['hello', 'again']);
});

/** The name of the process of the run that answers, once it is another one than `before`. */
async function nameAfter(before: string | null): Promise<string> {
  for (;;) {
    const [row] = await database().rows(Row, `select id, side, n, body from mimir.line where id = 'run'`);
    if (row !== undefined && row.body !== null && row.body !== before) return row.body;
  }
}

it('leaves lines to the process of the run that has named itself last, also while an earlier one has not ended', async () => {
  const earlier = process();
  const name = await nameAfter(null);
  const slow = openDatabase(postgres?.url ?? '');
  const next = process(PERSON, slow);
  await nameAfter(name);
  // The earlier one is quicker, and hears first of each line.
  const busy = Promise.all(Array.from({ length: 10 }, () => slow.run('select pg_sleep(1)')));
  const all = Array.from({ length: 10 }, () => terminal());
  const closed = new Set<TextLine>();
  for (const [at, { line }] of all.entries()) {
    line.send(`from ${at}`);
    void line.closed.then(() => closed.add(line));
  }
  await until(() => all.every(({ line, text }) => text() !== '' || closed.has(line)));
  expect(all.map(({ text }) => text())).toEqual(all.map((_, at) => `heard from ${at}`));
  expect([earlier.lines.length, next.lines.length]).toEqual([0, 10]);
  await busy;
  for (const end of ends.splice(0)) end();
  await slow.close();
});

it('leaves nothing in the database of what the run has read', async () => {
  const { run, line } = await spoken();
  line.close();
  await run.lines[0]?.closed;
  const left = await database().rows(Row, `select id, side, n, body from mimir.line where side = 'client'`);
  expect(left).toEqual([]);
});
