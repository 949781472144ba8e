/** Converts events to rows and back: canonical bytes, the hash chain, and long texts stored separately by their hash. log.ts reads and writes the
 * rows. */
import { hash } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { CommandChanges } from '../domain/changes/changes.ts';
import type { SessionId } from '../domain/ids.ts';
import { type EventBody, type MimirEvent, withoutOutput, withReasons } from '../events/index.ts';
import { LogFault } from '../ports/log.ts';

/** The longest text that stays in its event, in characters. */
const LONG = 16_384;
/** Prefix of a reference to a long text. A text that begins with NUL gets an extra one, so references are unambiguous. */
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
  /** Hash of the previous row of the session; empty for the first. */
  readonly prev: string;
  readonly hash: string;
}

export interface LongText {
  readonly hash: string;
  /** The text as a JSON string, which preserves lone surrogates; a database's UTF-8 does not. */
  readonly json: string;
}

/** The row of `event` after the row with the hash `prev`, and its separate texts. */
export function rowOf(event: MimirEvent, prev: string): { readonly row: Row; readonly texts: readonly LongText[] } {
  const { data, texts } = encode(event);
  const agent = 'agent' in event ? event.agent : null;
  const plain = { session: event.session, seq: event.seq, time: event.time, type: event.type, agent, data, prev };
  return { row: { ...plain, hash: hashOf(plain) }, texts };
}

/** The hash covers every column, so that any change is detected. */
const hashOf = (row: Omit<Row, 'hash'>): string =>
  hash('sha256', JSON.stringify([row.prev, row.session, row.seq, row.time, row.type, row.agent, row.data]));

/** The events of `rows`, consecutive rows of one session after `before`; with null they are a selection, and missing ones go unnoticed. Throws
 * `LogFault` naming the first record that is missing or was changed. */
export function* eventsOf(
  session: SessionId,
  rows: Iterable<Row>,
  before: Before | null,
  textOf: (hash: string) => string | undefined,
  { outputs = true }: { readonly outputs?: boolean } = {},
): Generator<MimirEvent> {
  const bodyIn = outputs ? decode : decodeLight;
  // Fields are in the original order, so that both versions print the same bytes.
  for (const row of sound(session, rows, before))
    yield { v: 1, seq: row.seq, time: row.time, session, ...withReasons(bodyIn(row, session, textOf)) };
}

export interface Before {
  readonly seq: number;
  readonly hash: string;
}

export const START: Before = { seq: 0, hash: '' };

/** Passes rows on while their separate texts exist and are unchanged; throws `LogFault` before the first other one. */
export function* withTexts(
  session: SessionId,
  rows: Iterable<Row>,
  bytesOf: (hash: string) => Uint8Array | undefined,
): Generator<Row> {
  for (const row of rows) {
    for (const [, name = ''] of row.data.includes(ESCAPED_NUL) ? row.data.matchAll(REFERENCES) : []) {
      const bytes = bytesOf(name);
      if (bytes === undefined || hash('sha256', bytes) !== name) throw new DamagedRecord(session, row.seq);
    }
    yield row;
  }
}

/** Matches references in a row's JSON, where an unescaped quotation mark begins or ends a string. */
const REFERENCES = /(?<=[:,[])"\\u0000text:([0-9a-f]{64})"/g;

/** Passes rows on; throws before the first one that was changed or does not follow its predecessor. */
function* sound(session: SessionId, rows: Iterable<Row>, before: Before | null): Generator<Row> {
  let last = before;
  for (const row of rows) {
    const follows = last === null || (row.seq === last.seq + 1 && row.prev === last.hash);
    if (!follows || hashOf(row) !== row.hash) throw new DamagedRecord(session, last === null ? row.seq : last.seq + 1);
    if (last !== null) last = row;
    yield row;
  }
}

const ESCAPED_NUL = String.raw`\u0000`;

/** The body in a row. Throws `LogFault` if it is invalid. */
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
  // Most events have no NUL, so the reviver is skipped.
  const body: unknown = row.data.includes(ESCAPED_NUL) ? JSON.parse(row.data, back) : JSON.parse(row.data);
  if (!isBody(body)) throw new DamagedRecord(session, row.seq);
  return body;
}

/** As `decode`, without a tool's output; a long output is not read. */
function decodeLight(row: Row, session: SessionId, textOf: (hash: string) => string | undefined): EventBody {
  if (row.type !== 'tool.finished') return decode(row, session, textOf);
  const body: unknown = JSON.parse(row.data);
  if (!isBody(body)) throw new DamagedRecord(session, row.seq);
  const light = withoutOutput(body);
  const isWhole = light === body || (light.type === 'tool.finished' && (!light.ok || hasDiffs(light.changed)));
  return isWhole ? withoutOutput(decode(row, session, textOf)) : light;
}

/** Only these texts of a change may be long, and so be kept elsewhere. */
const hasDiffs = (changed: CommandChanges | undefined): boolean =>
  changed?.files.some(({ diff }) => diff !== undefined) === true;

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

// Queries of records and of the texts kept beside them.
export const HASH_AT = 'SELECT seq, hash FROM events WHERE session = ? AND seq = ?';
export const COLUMNS = 'session, seq, time, type, agent, data, prev, hash';

/** Long texts by their hash, as JSON strings. */
export function textsIn(database: DatabaseSync): (hash: string) => string | undefined {
  const find = database.prepare('SELECT json FROM texts WHERE hash = ?');
  return (name) => {
    const json = find.get(name)?.['json'];
    return typeof json === 'string' ? json : undefined;
  };
}

/** The same as bytes, whose hash is faster to check. */
export function bytesIn(database: DatabaseSync): (hash: string) => Uint8Array | undefined {
  const find = database.prepare('SELECT CAST(json AS BLOB) AS json FROM texts WHERE hash = ?');
  return (name) => {
    const json = find.get(name)?.['json'];
    return json instanceof Uint8Array ? json : undefined;
  };
}

/** Descriptions of a damaged record. */
export const DAMAGE = {
  changed: 'is missing or was changed',
  other: 'differs from its checkpoint',
  gone: 'was checkpointed but is missing from the log',
} as const;

/** The first missing or changed record of a session. */
export class DamagedRecord extends LogFault {
  readonly seq: number;

  constructor(session: SessionId, seq: number) {
    super(
      `the log is damaged: record ${seq} of session ${session} ${DAMAGE.changed}\n  later records cannot be trusted; \`mimir audit verify\` lists all damage, \`mimir resume ${session}\` shows how to continue`,
    );
    this.seq = seq;
  }
}

/** The hash chain proves that Mimir wrote the record, so its type can be trusted, even if it is of a newer version. */
const isBody = (value: unknown): value is EventBody =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** A row from the database. */
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
