/** Connections to a run through the database, for terminals on other machines: each side writes numbered pieces of text and reads those of the other.
 * Who opens one signs each of their pieces, because everybody who reaches the database could write one. */
import { type KeyObject, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { tried } from '../domain/result.ts';
import type { TextLine } from '../ports/control.ts';
import type { Database } from './database.ts';
import { isSignedText, publicKeyOf, signText } from './step.ts';

/** How long text waits for more, and how often a side looks without being told. */
const [FLUSH_MS, LOOK_MS] = [20, 2000];
const AGAIN_MS = 200;
/** A side tells this often that it is there; without a sign for so long the other one closes the line. */
const [SIGN_MS, GONE_MS] = [5000, 20_000];

type Side = 'client' | 'run';
const Row = z.object({ n: z.number(), body: z.string().nullable() });
const Opened = z.object({ id: z.string(), body: z.string() });
const Signed = z.object({ key: z.string(), text: z.string().nullable(), signature: z.string() });

interface LineOf {
  readonly run: string;
  readonly id: string;
}

/** What is signed of a piece, so that it counts once, on this line to this process of the run, and as one of this side. */
const pieceText = ({ run, id }: LineOf, process: string, side: Side, n: number, text: string | null): string =>
  JSON.stringify(['line', run, process, id, side, n, text]);

/** The own key of a side, and the public keys of whom it listens to. */
interface Keys {
  readonly own: KeyObject;
  readonly others: readonly string[];
}

/** Opens a line to `run`, if that is one of these people. */
export const openLine = (db: Database, run: string, keys: Keys): TextLine =>
  new DatabaseLine(db, { run, id: randomUUID() }, keys, null);

/** Answers the lines that these people open to `run`, with `accept` for each. Returns the end of it. */
export function answerLines(db: Database, run: string, keys: Keys, accept: (line: TextLine) => void): () => void {
  const process = randomUUID();
  const known = new Set<string>();
  let isNamed = false;
  const look = async (): Promise<void> => {
    if (!isNamed) await db.run(NAME, [run, process]);
    isNamed = true;
    for (const { id, body } of await db.rows(Opened, TAKE, [run, process])) {
      if (known.has(id)) continue;
      known.add(id);
      const line = new DatabaseLine(db, { run, id }, keys, process);
      if (line.textOf(0, body) === null) accept(line);
      else line.close();
    }
  };
  const quietly = (): void => void look().catch(() => undefined);
  return db.listen('mimir_line', (payload) => (payload.startsWith(`${run} `) ? quietly() : undefined), quietly);
}

/** The process of a run that answers is named in a piece of its own, by the id of the run; no other one takes lines. */
const NAME = `insert into mimir.line (id, run, side, n, body) values ($1, $1, 'run', 0, $2)
  on conflict (id, side, n) do update set body = excluded.body`;
const TAKE = `delete from mimir.line where run = $1 and side = 'client' and n = 0 and exists (
  select from mimir.line where id = $1 and side = 'run' and n = 0 and body = $2) returning id, body`;

/** The process of a run that answers lines, or has until now; null: none has yet. */
export async function processIn(db: Database, run: string): Promise<string | null> {
  const text = `select body from mimir.line where id = $1 and run = $1 and side = 'run' and n = 0`;
  return (await db.rows(z.object({ body: z.string() }), text, [run]))[0]?.body ?? null;
}

class DatabaseLine implements TextLine {
  readonly closed: Promise<void>;
  private readonly db: Database;
  private readonly of: LineOf;
  private readonly side: Side;
  private readonly keys: Keys;
  /** The key with which the other side signs. */
  private key: string | null = null;
  private process: string | null;
  private readonly over = Promise.withResolvers<void>();
  private readonly ends: (() => void)[];
  private sent = 0;
  private read = 0;
  private text = '';
  private heard = performance.now();
  private isOver = false;
  private writing: Promise<unknown> = Promise.resolve();
  /** Pieces that are not written yet. */
  private underWay = 0;
  private reading: Promise<void> | null = null;
  private on: (text: string) => void = () => undefined;

  /** `process`: the own name of the run's process; null on the side of a client. */
  constructor(db: Database, of: LineOf, keys: Keys, process: string | null) {
    this.db = db;
    this.of = of;
    this.keys = keys;
    this.process = process;
    this.side = process === null ? 'client' : 'run';
    this.closed = this.over.promise;
    if (this.side === 'client') this.write(null);
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
    this.flush(true);
    this.write(null);
    this.end();
  }

  private end(): void {
    this.isOver = true;
    for (const end of this.ends) end();
    this.over.resolve();
  }

  /** While a piece is on its way, text waits and goes with the next one, so that a slow database never falls further behind. */
  private flush(isLast = false): void {
    if (this.text === '' || (this.underWay > 0 && !isLast)) return;
    this.write(this.text);
    this.text = '';
  }

  private write(text: string | null): void {
    const { run, id } = this.of;
    const n = this.sent;
    this.sent += 1;
    this.underWay += 1;
    const insert = `with given as (insert into mimir.line (id, run, side, n, body) values ($1, $2, $3, $4, $5))
      select pg_notify('mimir_line', $2 || ' ' || $1 || ' ' || $3)`;
    this.writing = this.writing
      .then(() => this.bodyOf(n, text))
      .then((body) => this.db.run(insert, [id, run, this.side, n, body]))
      .then(
        () => (this.underWay -= 1),
        () => this.end(),
      );
  }

  private async bodyOf(n: number, text: string | null): Promise<string> {
    this.process ??= await this.processOfRun();
    const { own } = this.keys;
    const signature = signText(pieceText(this.of, this.process, this.side, n, text), own);
    return JSON.stringify({ key: publicKeyOf(own), text, signature });
  }

  /** Waits until a process of the run answers. */
  private async processOfRun(): Promise<string> {
    for (;;) {
      const name = await processIn(this.db, this.of.run);
      if (name !== null) return name;
      if (this.isOver) throw new Error('the line is closed');
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }

  private look(): void {
    if (performance.now() - this.heard > GONE_MS) return this.close();
    this.reading ??= this.take()
      .catch(() => undefined)
      .finally(() => (this.reading = null));
  }

  private async take(): Promise<void> {
    const text = `delete from mimir.line where id = $1 and side = $2 and n >= $3 returning n, body`;
    const rows = await this.db.rows(Row, text, [this.of.id, this.other, this.read]);
    for (const { n, body } of rows.toSorted((one, next) => one.n - next.n)) {
      const piece = this.textOf(n, body);
      if (piece === undefined || this.isOver) return this.close();
      this.heard = performance.now();
      if (piece === null) return this.end();
      if (piece !== '') this.on(piece);
    }
  }

  /** The text of the next piece, null for a hello and a goodbye; undefined for what nobody has signed that is listened to. */
  textOf(n: number, body: string | null): string | null | undefined {
    const signed = Signed.safeParse(tried((): unknown => JSON.parse(body ?? ''), null));
    if (n !== this.read || !signed.success) return undefined;
    const { key, text, signature } = signed.data;
    this.key ??= this.keys.others.includes(key) ? key : null;
    const piece = pieceText(this.of, this.process ?? '', this.other, n, text);
    if (key !== this.key || !isSignedText(piece, key, signature)) return undefined;
    this.read += 1;
    return text;
  }
}
