/** The wire format of a socket: bounded lines of UTF-8, hellos, an outbox with back-pressure, and streamed text. */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { AgentId, SessionId } from '../domain/ids.ts';
import { ByteLines } from '../domain/text/byte-lines.ts';
import { isAgentId, isSessionId } from '../domain/text/text.ts';
import type { Tick } from '../ports/controls.ts';
import type { World } from '../ports/world.ts';
import { tried } from '../domain/result.ts';

export const LONGEST_REQUEST = 1024 * 1024;
/** The longest answer: an event contains a tool's whole output. */
export const LONGEST_ANSWER = 64 * 1024 * 1024;

/** A value as a line; JSON contains no newline. */
export const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/** The object in a line; null for anything else. */
export const readLine = (line: string): Readonly<Record<string, unknown>> | null =>
  tried((): Readonly<Record<string, unknown>> | null => {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  }, null);

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Increased when older clients would misunderstand messages. */
export const PROTOCOL = 1;

/** The server's first line. `as` is the client's identity by its socket; null for the person. */
export interface ServerHello {
  readonly mimir: 'control';
  readonly protocol: number;
  readonly session: SessionId;
  readonly as: AgentId | null;
}

const LONGEST_NAME = 64;

/** The server's first line, or why this is not a usable server. */
export function readServerHello(line: Readonly<Record<string, unknown>> | null): ServerHello | string {
  if (line === null || line['mimir'] !== 'control' || typeof line['protocol'] !== 'number')
    return refusal(line) ?? 'the process that listens there is not Mimir';
  if (line['protocol'] !== PROTOCOL) return otherVersion('the process there', line['protocol']);
  const { session, as } = line;
  if (isSessionId(session) && (as === null || isAgentId(as)))
    return { mimir: 'control', protocol: PROTOCOL, session, as };
  return 'the process that listens there does not name its session';
}

/** The client's first line, or why it is refused. Connections with the same `client` count as one; the name is no proof of identity. */
export function readClientHello(
  line: Readonly<Record<string, unknown>> | null,
): string | (Pick<ServerHello, 'mimir' | 'protocol'> & { readonly client?: string }) {
  if (line === null || line['mimir'] !== 'control' || typeof line['protocol'] !== 'number')
    return `the first line must be {"mimir":"control","protocol":${PROTOCOL}}`;
  if (line['protocol'] !== PROTOCOL) return otherVersion('you', line['protocol']);
  const { client } = line;
  if (client === undefined) return { mimir: 'control', protocol: PROTOCOL };
  if (typeof client !== 'string' || client.length > LONGEST_NAME)
    return 'the name of a client has at most 64 characters';
  return { mimir: 'control', protocol: PROTOCOL, client };
}

/** The reason in a `{"bye":…}` line, or null. */
export const refusal = (line: unknown): string | null =>
  isRecord(line) && typeof line['bye'] === 'string' ? line['bye'] : null;

const otherVersion = (who: string, version: number): string =>
  `${who} speak${who === 'you' ? '' : 's'} version ${version} of the protocol, this Mimir ${PROTOCOL}: use the same version of Mimir for both`;

// A socket as lines in and out. Writers never wait for a write; they wait for space before they produce more.

/** Bytes that may be queued for a client before nothing more is produced for it. */
const FULL = 256 * 1024;
/** How long a final message may take to be read, in milliseconds. */
const LINGER = 1000;

/** Lines as they arrive, read only as fast as they are used; empty ones are dropped. Null and the end for one that is longer than `most` bytes or is
 * not valid text. Never throws. */
export async function* linesOf(socket: Socket, most: number): AsyncGenerator<string | null> {
  const pieces: AsyncIterable<unknown> = socket.iterator({ destroyOnReturn: false });
  try {
    yield* linesIn(pieces, most);
  } catch {
    // The connection is lost, for whatever reason.
  }
}

/** As `linesOf`, of any pieces. */
export async function* linesIn(pieces: AsyncIterable<unknown>, most: number): AsyncGenerator<string | null> {
  const lines = new ByteLines(most);
  for await (const piece of pieces) {
    if (!Buffer.isBuffer(piece)) return;
    for (const { bytes, length } of lines.add(piece)) {
      const line = length > most || !isUtf8(bytes) ? null : bytes.toString('utf8');
      if (line !== '') yield line;
      if (line === null) return;
    }
    if (lines.unfinished <= most) continue;
    yield null;
    return;
  }
}

export interface Outbox {
  /** Writes a line at the end of this step, together with others; has no effect if the client is gone. */
  send(line: object): void;
  /** False if the client is gone. */
  there(): boolean;
  /** True if so much is queued that nothing more should be produced. */
  full(): boolean;
  /** Resolves with true when there is space, with false when the client is gone. */
  room(): Promise<boolean>;
}

export function openOutbox(socket: Socket): Outbox {
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const each of woken) each();
  };
  socket.on('drain', wake);
  socket.on('close', wake);
  const full = (): boolean => socket.writableLength >= FULL;
  return {
    send(line) {
      if (!socket.writable) return;
      if (socket.writableCorked === 0) {
        socket.cork();
        process.nextTick(() => {
          socket.uncork();
        });
      }
      socket.write(lineOf(line));
    },
    there: () => socket.writable,
    full,
    async room() {
      while (socket.writable && full()) await new Promise<void>((resolve) => void waiting.push(resolve));
      return socket.writable;
    },
  };
}

/** Sends the reason, and closes when it was read. Further input of the client is ignored. */
export function hangUp(socket: Socket, outbox: Outbox, { why, world }: { why: string; world: World }): void {
  outbox.send({ bye: why });
  // A direct close with unread input would give the other side an error instead of this message.
  socket.end();
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  void world.sleep(LINGER, closed.signal).then(() => socket.destroy());
}

/** The most characters that are kept for a client that does not read. */
const MOST = 64 * 1024;

/** Sends streamed text to one client while there is space; ticks of one agent and kind are merged. Ticks are dropped if the client does not read; the
 * events contain everything durable. */
export function openLive(outbox: Outbox): (tick: Tick) => void {
  const kept = new Map<AgentId, Tick[]>();
  let [size, planned] = [0, false];

  const flush = async (): Promise<void> => {
    const there = await outbox.room();
    planned = false;
    if (there) for (const tick of [...kept.values()].flat()) outbox.send({ tick });
    kept.clear();
    size = 0;
  };
  return (tick) => {
    // Dropping the beginning is better than a gap in the middle.
    if (size + tick.delta.length > MOST) {
      kept.clear();
      size = 0;
    }
    const delta = tick.delta.slice(-MOST);
    size += delta.length;
    const own = kept.get(tick.agent) ?? [];
    const last = own.at(-1);
    if (last?.is === tick.is && last.tool === tick.tool) own[own.length - 1] = { ...last, delta: last.delta + delta };
    else own.push({ ...tick, delta });
    kept.set(tick.agent, own);
    if (planned) return;
    planned = true;
    setImmediate(() => void flush());
  };
}
