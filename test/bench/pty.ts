/** A program in a pseudo-terminal of 120x40, watched byte by byte: when what came out, and what it cost. */
import { spawn } from '@lydell/node-pty';
import type { TestScreen } from '../support/screen.ts';
import { openScreen } from '../support/screen.ts';
import type { Command } from './process.ts';
import { endGroup, keep, treeCpuMs } from './process.ts';

const COLS = 120;
const ROWS = 40;

export interface Watched {
  readonly pid: number;
  write(text: string): void;
  /** Milliseconds from the start to the first byte. */
  firstByte(): Promise<number>;
  /** Milliseconds from the start until `text` has come out in one piece (looks between its letters don't count). */
  printed(text: string): Promise<number>;
  /** Waits until the screen shows it. Not after `blind`. */
  shows(what: RegExp): Promise<void>;
  /** From now on bytes are only counted and searched: a terminal that draws would compete with the program. */
  blind(): void;
  /** Milliseconds from the writing of `key` until a byte sequence that holds `sign` comes back. */
  echo(key: string, sign?: string): Promise<number>;
  bytes(): number;
  cpuMs(): number;
  /** The rows, for messages. */
  picture(): string;
  end(): Promise<void>;
}

const PATIENCE = 60_000;
const LOOKS = new RegExp(String.raw`\u{1b}\[[0-9;:]*m`, 'gu');

export function watch(what: Command): Watched {
  const started = performance.now();
  const pty = spawn(what.command, [...what.args], { cols: COLS, rows: ROWS, cwd: what.cwd, env: { ...what.env } });
  const pid = keep(pty.pid);
  const since = (): number => performance.now() - started;
  const looking = new Set<(piece: string) => void>();
  let screen: TestScreen | null = openScreen(COLS, ROWS);
  let [bytes, head, ended, first] = [0, '', false, Number.NaN];
  const exit = new Promise<void>((resolve) => {
    pty.onExit(() => {
      ended = true;
      for (const look of looking) look('');
      resolve();
    });
  });
  screen.onReply((reply) => {
    if (!ended) pty.write(reply);
  });
  pty.onData((piece) => {
    if (bytes === 0) first = since();
    bytes += Buffer.byteLength(piece);
    for (const look of looking) look(piece);
    if (screen === null) return;
    head = (head + piece).slice(-100_000);
    void screen.write(piece).then(() => {
      for (const look of looking) look('');
    });
  });

  const picture = (): string => screen?.rows().join('\n') ?? '(nobody looked)';
  /** Asked at every piece, until it has an answer. */
  const until = <T>(ask: (piece: string) => T | null, words: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(late);
        looking.delete(look);
      };
      const fail = (why: string): void => {
        done();
        reject(new Error(`${why}: ${words}\n${picture()}`));
      };
      const look = (piece: string): void => {
        const answer = ask(piece);
        if (answer !== null) {
          done();
          resolve(answer);
        } else if (ended) fail('the program ended before it showed');
      };
      const late = setTimeout(() => fail(`not seen within ${PATIENCE} ms`), PATIENCE);
      looking.add(look);
      look('');
    });

  return {
    pid,
    write: (text) => pty.write(text),
    firstByte: () => until(() => (Number.isNaN(first) ? null : first), 'a first byte'),
    printed: (text) => {
      let all = head;
      return until((piece) => {
        all += piece;
        return all.replaceAll(LOOKS, '').includes(text) ? since() : null;
      }, text);
    },
    shows: (what) => until(() => (screen !== null && what.test(picture()) ? true : null), String(what)).then(() => {}),
    blind: () => {
      screen = null;
    },
    echo: (key, sign = key) => {
      const before = performance.now();
      let tail = '';
      const seen = until((piece) => {
        tail += piece;
        return tail.includes(sign) ? performance.now() - before : null;
      }, `the echo of ${key}`);
      pty.write(key);
      return seen;
    },
    bytes: () => bytes,
    cpuMs: () => treeCpuMs(pid),
    picture,
    async end() {
      endGroup(pid);
      await exit;
    },
  };
}
