/**
 * Connections to a run through the database, for terminals on other machines: each side writes numbered pieces of text and reads those of the other.
 * Who opens one signs it, because everybody who reaches the database could.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { TextLine } from '../ports/control.ts';
import type { Database } from './database.ts';
import { isSignedText, publicKeyOf, signText } from './step.ts';

/** How long text waits for more, and how often a side looks without being told. */
const [FLUSH_MS, LOOK_MS] = [20, 2000];
/** A side tells this often that it is there; without a sign for so long the other one closes the line. */
const [SIGN_MS, GONE_MS] = [5000, 20_000];

type Side = 'client' | 'run';

const Piece = z.object({ n: z.number(), body: z.string().nullable() });
const Opened = z.object({ id: z.string(), body: z.string() });
const Hello = z.object({ key: z.string(), signature: z.string() });

/** What is signed to open the line `id` to `run`. */
const helloText = (run: string, id: string): string => `attach ${run} ${id}`;

/** Opens a line to `run`. */
export function openLine(db: Database, run: string, key: KeyObject): TextLine {
  const id = randomUUID();
  const hello = JSON.stringify({ key: publicKeyOf(key), signature: signText(helloText(run, id), key) });
  return new DatabaseLine(db, { run, id }, 'client', hello);
}

/** Answers the lines that people in `people` open to `run`, with `accept` for each. Returns the end of it. */
export function answerLines(
  db: Database,
  run: string,
  people: readonly string[],
  accept: (line: TextLine) => void,
): () => void {
  const known = new Set<string>();
  const look = async (): Promise<void> => {
    const text = `select id, body from mimir.line where run = $1 and side = 'client' and n = 0`;
    for (const { id, body } of await db.rows(Opened, text, [run])) {
      if (known.has(id)) continue;
      known.add(id);
      const { key, signature } = Hello.parse(JSON.parse(body));
      const line = new DatabaseLine(db, { run, id }, 'run', null);
      if (people.includes(key) && isSignedText(helloText(run, id), key, signature)) accept(line);
      else line.close();
    }
  };
  const quietly = (): void => void look().catch(() => undefined);
  const end = db.listen('mimir_line', (payload) => (payload.startsWith(`${run} `) ? quietly() : undefined), quietly);
  return end;
}

class DatabaseLine implements TextLine {
  readonly closed: Promise<void>;
  private readonly db: Database;
  private readonly of: { readonly run: string; readonly id: string };
  private readonly side: Side;
  private readonly over = Promise.withResolvers<void>();
  private readonly ends: (() => void)[];
  private sent = 0;
  private read = 0;
  private text = '';
  private heard = performance.now();
  private isOver = false;
  private writing = Promise.resolve();
  private reading: Promise<void> | null = null;
  private on: (text: string) => void = () => undefined;

  /** `hello`: the first piece; the side of the run has none. */
  constructor(db: Database, of: { readonly run: string; readonly id: string }, side: Side, hello: string | null) {
    this.db = db;
    this.of = of;
    this.side = side;
    this.closed = this.over.promise;
    // The first piece of a client is its hello, which the run has read.
    this.read = side === 'run' ? 1 : 0;
    if (hello !== null) this.write(hello);
    const timers = [
      setInterval(() => this.flush(), FLUSH_MS),
      setInterval(() => this.look(), LOOK_MS),
      setInterval(() => this.write(''), SIGN_MS),
    ];
    const stop = db.listen('mimir_line', (payload) =>
      payload.endsWith(` ${of.id} ${this.other}`) ? this.look() : undefined,
    );
    this.ends = [...timers.map((timer) => () => clearInterval(timer)), stop];
  }

  private get other(): Side {
    return this.side === 'run' ? 'client' : 'run';
  }

  send(text: string): void {
    this.text += text;
  }

  receive(on: (text: string) => void): void {
    this.on = on;
    this.look();
  }

  close(): void {
    if (this.isOver) return;
    this.flush();
    this.write(null);
    this.end();
  }

  private end(): void {
    this.isOver = true;
    for (const end of this.ends) end();
    this.over.resolve();
  }

  private flush(): void {
    if (this.text === '') return;
    this.write(this.text);
    this.text = '';
  }

  private write(body: string | null): void {
    const { run, id } = this.of;
    const n = this.sent;
    this.sent += 1;
    const insert = `with given as (insert into mimir.line (id, run, side, n, body) values ($1, $2, $3, $4, $5))
      select pg_notify('mimir_line', $2 || ' ' || $1 || ' ' || $3)`;
    this.writing = this.writing
      .then(() => this.db.run(insert, [id, run, this.side, n, body]))
      .then(
        () => undefined,
        () => this.end(),
      );
  }

  private look(): void {
    if (performance.now() - this.heard > GONE_MS) return this.close();
    this.reading ??= this.take()
      .catch(() => undefined)
      .finally(() => (this.reading = null));
  }

  private async take(): Promise<void> {
    const text = `delete from mimir.line where id = $1 and side = $2 and n >= $3 returning n, body`;
    const rows = await this.db.rows(Piece, text, [this.of.id, this.other, this.read]);
    for (const { n, body } of rows.toSorted((one, next) => one.n - next.n)) {
      this.read = n + 1;
      this.heard = performance.now();
      if (body === null) return this.end();
      if (body !== '') this.on(body);
    }
  }
}
