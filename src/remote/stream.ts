/** A socket as lines in and lines out. What is written is never waited for by who writes: they ask for room before they write more. */
import type { Socket } from 'node:net';
import type { AgentId } from '../domain/ids.ts';
import type { Tick } from '../ports/controls.ts';
import type { World } from '../ports/world.ts';
import { lineOf, openLines } from './lines.ts';

/** Bytes that may wait for a client before nothing more is made for it. */
const FULL = 256 * 1024;
/** Milliseconds that last words may take to be read. */
const LINGER = 1000;

/** Lines as they come, read no faster than they are taken; null, and the end, for one that is too long or no text. Never throws. */
export async function* linesOf(socket: Socket, most: number): AsyncGenerator<string | null> {
  const take = openLines(most);
  const pieces: AsyncIterator<unknown> = socket.iterator({ destroyOnReturn: false });
  for (;;) {
    const bytes = await pieces.next().then(
      ({ done, value }) => (done !== true && Buffer.isBuffer(value) ? value : null),
      // Whoever was there is gone, in whatever way.
      () => null,
    );
    if (bytes === null) return;
    const lines = take(bytes);
    yield* lines;
    if (lines.at(-1) === null) return;
  }
}

export interface Outbox {
  /** Written as a line when this step has ended, with all others of the step; to nobody when the client is gone. */
  send(line: object): void;
  /** False: the client is gone. */
  there(): boolean;
  /** So much waits for the client that nothing more should be made for it. */
  full(): boolean;
  /** Resolves with true when there is room, with false when the client is gone. */
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

/** Says why, and hangs up when that was read. What the client still sends is not. */
export function hangUp(socket: Socket, outbox: Outbox, { why, world }: { why: string; world: World }): void {
  outbox.send({ bye: why });
  // Closed with something unread, the other side would hear of an error before it hears these words.
  socket.end();
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  void world.sleep(LINGER, closed.signal).then(() => socket.destroy());
}

/** Characters that are kept for a client that does not read. */
const MOST = 64 * 1024;

/**
 * Sends streamed text to one client while there is room; several ticks of one agent and kind become one. Ticks are dropped when
 * the client does not read: everything that lasts is in the events.
 */
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
    // A gap in the middle reads worse than a later beginning.
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
