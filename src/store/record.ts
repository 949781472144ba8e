/**
 * An event as a row, and back: canonical bytes, the hash chain over them, and long texts kept beside the row by the
 * hash of their content. Pure; what reads and writes rows is log.ts.
 */
import { hash } from 'node:crypto';
import type { SQLOutputValue } from 'node:sqlite';
import type { SessionId } from '../domain/ids.ts';
import type { EventBody, MimirEvent } from '../events/event.ts';
import { withReasons } from '../events/earlier-words.ts';
import { withoutOutput } from '../events/child-results.ts';
import { LogFault } from '../ports/log.ts';

/** Characters up to which a text stays in its event. */
const LONG = 16_384;
/** Starts a reference to a long text. A text that starts with NUL itself gets one more, so nothing is ambiguous. */
const NUL = '\u0000';
const REFERENCE = `${NUL}text:`;

export interface Row {
  readonly session: string;
  readonly seq: number;
  readonly time: string;
  readonly type: string;
  readonly agent: string | null;
  /** The body as JSON, long texts replaced by references. */
  readonly data: string;
  /** Hash of the row before it in the session, empty for the first. */
  readonly prev: string;
  readonly hash: string;
}

export interface LongText {
  readonly hash: string;
  /** The text as a JSON string: half a surrogate pair survives in it, in a database's UTF-8 it would not. */
  readonly json: string;
}

/** The row of `event` behind the row with the hash `prev`, and the texts that lie beside it. */
export function rowOf(event: MimirEvent, prev: string): { readonly row: Row; readonly texts: readonly LongText[] } {
  const { data, texts } = encode(event);
  const agent = 'agent' in event ? event.agent : null;
  const plain = { session: event.session, seq: event.seq, time: event.time, type: event.type, agent, data, prev };
  return { row: { ...plain, hash: hashOf(plain) }, texts };
}

/** What the chain is made of: every column, so that none can be changed unseen. */
const hashOf = (row: Omit<Row, 'hash'>): string =>
  hash('sha256', JSON.stringify([row.prev, row.session, row.seq, row.time, row.type, row.agent, row.data]));

/**
 * The events of `rows`, which are one session's in order, the first behind `before`; null: they are some of it, and none can be
 * missed. Throws `LogFault` naming the record when one is missing or was changed.
 */
export function* eventsOf(
  session: SessionId,
  rows: Iterable<Row>,
  before: Before | null,
  textOf: (hash: string) => string | undefined,
  { outputs = true }: { readonly outputs?: boolean } = {},
): Generator<MimirEvent> {
  const bodyIn = outputs ? decode : decodeLight;
  // In the order in which it was told when it was new: both print the same bytes.
  for (const row of before === null ? unchanged(session, rows) : inChain(session, rows, before))
    yield { v: 1, seq: row.seq, time: row.time, session, ...withReasons(bodyIn(row, session, textOf)) };
}

/** The number and the hash of the record before the first one. */
export interface Before {
  readonly seq: number;
  readonly hash: string;
}

export const START: Before = { seq: 0, hash: '' };

/** The same check without making events: long texts are looked at where a row has some. Throws `LogFault`. */
export function verifyRows(
  session: SessionId,
  rows: Iterable<Row>,
  before: Before,
  textOf: (hash: string) => string | undefined,
): void {
  for (const row of inChain(session, rows, before))
    if (row.data.includes(ESCAPED_NUL) || !row.data.startsWith('{')) decode(row, session, textOf);
}

/** Throws before the first row that does not follow. */
function* inChain(session: SessionId, rows: Iterable<Row>, before: Before): Generator<Row> {
  let { seq, hash: prev } = before;
  for (const row of rows) {
    seq += 1;
    if (row.seq !== seq || row.prev !== prev || hashOf(row) !== row.hash) throw new DamagedRecord(session, seq);
    prev = row.hash;
    yield row;
  }
}

/** Throws before the first row that is not as it was written. */
function* unchanged(session: SessionId, rows: Iterable<Row>): Generator<Row> {
  for (const row of rows) {
    if (hashOf(row) !== row.hash) throw new DamagedRecord(session, row.seq);
    yield row;
  }
}

/** How JSON has a NUL, which every reference begins with. */
const ESCAPED_NUL = String.raw`\u0000`;

/** The body that a row holds. Throws `LogFault` when it is not one. */
export function decode(
  row: Pick<Row, 'data' | 'seq'>,
  session: SessionId,
  textOf: (hash: string) => string | undefined,
): EventBody {
  const back = (_: string, value: unknown): unknown => {
    if (typeof value !== 'string' || !value.startsWith(NUL)) return value;
    if (!value.startsWith(REFERENCE)) return value.slice(1);
    const json = textOf(value.slice(REFERENCE.length));
    if (json === undefined || hash('sha256', json) !== value.slice(REFERENCE.length))
      throw new DamagedRecord(session, row.seq);
    return JSON.parse(json);
  };
  // Most events hold neither: the second walk is left out.
  const body: unknown = row.data.includes(ESCAPED_NUL) ? JSON.parse(row.data, back) : JSON.parse(row.data);
  if (!isBody(body)) throw new DamagedRecord(session, row.seq);
  return body;
}

/** The same without what a tool gave; a long text of it is not looked for. */
function decodeLight(row: Row, session: SessionId, textOf: (hash: string) => string | undefined): EventBody {
  if (row.type !== 'tool.finished') return decode(row, session, textOf);
  const body: unknown = JSON.parse(row.data);
  if (!isBody(body)) throw new DamagedRecord(session, row.seq);
  const light = withoutOutput(body);
  const isWhole = light === body || (light.type === 'tool.finished' && !light.ok);
  return isWhole ? withoutOutput(decode(row, session, textOf)) : light;
}

function encode(event: MimirEvent): { data: string; texts: LongText[] } {
  const { v: _v, seq: _seq, time: _time, session: _session, ...body } = event;
  const plain = JSON.stringify(body);
  if (plain.length <= LONG && !plain.includes(ESCAPED_NUL)) return { data: plain, texts: [] };
  const texts: LongText[] = [];
  const data = JSON.stringify(body, (_, value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    if (value.length <= LONG) return value.startsWith(NUL) ? NUL + value : value;
    const json = JSON.stringify(value);
    const text = { hash: hash('sha256', json), json };
    texts.push(text);
    return REFERENCE + text.hash;
  });
  return { data, texts };
}

/** Queries of records and of the texts kept beside them. */
export const HASH_AT = 'SELECT seq, hash FROM events WHERE session = ? AND seq = ?';
export const TEXT = 'SELECT json FROM texts WHERE hash = ?';

/** What can be wrong with a record of the log, in words. */
export const DAMAGE = {
  changed: 'is missing or was changed',
  other: 'is not the one that was checkpointed',
  gone: 'was checkpointed and is not in the log',
} as const;

/** A record of a session is missing or was changed: the first whose hash does not follow. */
export class DamagedRecord extends LogFault {
  readonly seq: number;

  constructor(session: SessionId, seq: number) {
    super(
      `the log is damaged: record ${seq} of session ${session} ${DAMAGE.changed}\n  what comes after it can't be trusted; \`mimir audit verify\` lists all damage, \`mimir resume ${session}\` says how to go on`,
    );
    this.seq = seq;
  }
}

/** The chain has shown that Mimir itself wrote it, so the type says what it is, be it one of a newer version. */
const isBody = (value: unknown): value is EventBody =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** A row as the database gives it. */
export const rowIn = (row: Readonly<Record<string, SQLOutputValue>>): Row => ({
  session: String(row['session']),
  seq: Number(row['seq']),
  time: String(row['time']),
  type: String(row['type']),
  agent: typeof row['agent'] === 'string' ? row['agent'] : null,
  data: String(row['data']),
  prev: String(row['prev']),
  hash: String(row['hash']),
});
