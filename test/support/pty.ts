/** Drives a program in a real pseudo-terminal as a person would: types, waits for what must appear, looks at cells. */
import { Duplex } from 'node:stream';
import { spawn } from '@lydell/node-pty';
import { type Cell, openScreen } from './screen.ts';

export interface StartOptions {
  readonly cols?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** The whole environment; TERM and LANG have defaults, undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** False: queries of the program stay without an answer. */
  readonly answers?: boolean;
}

export interface TestTerminal {
  readonly pid: number;
  /** Writes the text as it is, as one write. */
  type(text: string): void;
  /** A key by the names of `Input.key`: `enter`, `up`, `ctrl-c`, `alt-b`, `f1`, `a`. */
  press(...keys: readonly string[]): void;
  /** As a terminal does with bracketed paste on. */
  paste(text: string): void;
  /** Waits until the screen shows a text, matches, or the predicate holds; fails with a picture of the screen. */
  waitFor(what: string | RegExp | Predicate, options?: { readonly timeout?: number }): Promise<void>;
  /** The rows, without blanks at their ends. */
  screen(): readonly string[];
  cell(x: number, y: number): Cell;
  cursor(): { readonly x: number; readonly y: number };
  title(): string;
  isAltScreen(): boolean;
  /** Everything that came out, as it came. */
  output(): string;
  resize(cols: number, rows: number): void;
  signal(name: NodeJS.Signals): void;
  /** As when its window is closed: nobody reads any more, and the system tells the program. */
  hangUp(): void;
  /** As Ctrl-S or a line that hangs: what the program writes is not read any more, until `unstall`. */
  stall(): void;
  unstall(): void;
  /** Resolves when the program has ended and its last output is on the screen. */
  readonly exit: Promise<{ readonly code: number; readonly signal: number }>;
  /** Ends the program if it still runs. Safe to call twice. */
  kill(): void;
}

type Predicate = (screen: readonly string[]) => boolean;

/** Starts a program in a pseudo-terminal of `cols` x `rows` (80x24). */
export function startTerminal(command: string, args: readonly string[], options: StartOptions = {}): TestTerminal {
  const { cols = 80, rows = 24, cwd = process.cwd(), answers = true } = options;
  const screen = openScreen(cols, rows);
  const env = { TERM: 'xterm-256color', LANG: 'C.UTF-8', ...(options.env ?? { PATH: process.env['PATH'] }) };
  const pty = spawn(command, [...args], { cols, rows, cwd, env, name: env.TERM ?? 'xterm-256color' });
  readToTheEnd(pty);
  let written: Promise<unknown> = Promise.resolve();
  let output = '';
  let ended = false;
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const wake of waiting) wake();
  };
  pty.onData((bytes) => {
    output += bytes;
    written = screen.write(bytes).then(look);
  });
  if (answers) {
    screen.onReply((reply) => {
      if (!ended) pty.write(reply);
    });
  }
  const exit = new Promise<{ code: number; signal: number }>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      ended = true;
      void written.then(() => {
        look();
        resolve({ code: exitCode, signal: signal ?? 0 });
      });
    });
  });
  const shows = (what: string | RegExp | Predicate): boolean => {
    const rowsNow = screen.rows();
    if (typeof what === 'function') return what(rowsNow);
    return typeof what === 'string' ? rowsNow.join('\n').includes(what) : what.test(rowsNow.join('\n'));
  };
  return {
    pid: pty.pid,
    type: (text) => {
      pty.write(text);
    },
    press: (...keys) => {
      for (const key of keys) pty.write(bytesOf(key));
    },
    paste: (text) => {
      pty.write(`\u001b[200~${text}\u001b[201~`);
    },
    waitFor: (what, { timeout = 30_000 } = {}) =>
      new Promise((resolve, reject) => {
        const done = (): void => {
          clearTimeout(late);
          waiting.delete(check);
        };
        const fail = (why: string): void => {
          done();
          reject(new Error(`${why}: ${String(what)}\n${picture(screen.rows(), cols)}`));
        };
        const check = (): void => {
          if (shows(what)) {
            done();
            resolve();
          } else if (ended) fail('the program ended before it showed');
        };
        const late = setTimeout(() => {
          fail(`not seen within ${timeout} ms`);
        }, timeout);
        waiting.add(check);
        check();
      }),
    screen: () => screen.rows(),
    cell: (x, y) => screen.cell(x, y),
    cursor: () => screen.cursor(),
    title: () => screen.title(),
    isAltScreen: () => screen.isAltScreen(),
    output: () => output,
    resize: (width, height) => {
      screen.resize(width, height);
      pty.resize(width, height);
    },
    signal: (name) => {
      process.kill(pty.pid, name);
    },
    hangUp: () => {
      if (!('destroy' in pty) || typeof pty.destroy !== 'function') throw new Error('this terminal can’t be closed');
      Reflect.apply(pty.destroy, pty, []);
    },
    stall: () => {
      pty.pause();
    },
    unstall: () => {
      pty.resume();
    },
    exit,
    kill: () => {
      if (!ended) pty.kill('SIGKILL');
    },
  };
}

/**
 * node-pty closes its end 200 ms after the program has ended. Where this process was busy all the while, that comes before the
 * last words were read: now they are read first.
 */
function readToTheEnd(pty: object): void {
  const socket: unknown = '_socket' in pty ? pty._socket : null;
  if (!(socket instanceof Duplex)) throw new Error('node-pty reads in another way now');
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (fault) => {
    setImmediate(() => setImmediate(() => destroy(fault)));
    return socket;
  };
}

const NAMED: Readonly<Record<string, string>> = {
  enter: '\r',
  esc: '\u001b',
  tab: '\t',
  backtab: '\u001b[Z',
  backspace: '\u007f',
  delete: '\u001b[3~',
  insert: '\u001b[2~',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  pageup: '\u001b[5~',
  pagedown: '\u001b[6~',
  space: ' ',
  f1: '\u001bOP',
  f2: '\u001bOQ',
  f3: '\u001bOR',
  f4: '\u001bOS',
  f5: '\u001b[15~',
  'shift-enter': '\u001b[13;2u',
  'ctrl-_': '\u001f',
};

/** What a terminal sends for a key. Throws for a name it doesn't know. */
function bytesOf(key: string): string {
  const named = NAMED[key];
  if (named !== undefined) return named;
  if (/^ctrl-[a-z]$/.test(key)) return String.fromCharCode(key.charCodeAt(5) - 96);
  if (key.startsWith('alt-')) return `\u001b${bytesOf(key.slice(4))}`;
  if (key.length > 2) throw new Error(`no key has the name ${key}`);
  return key;
}

/** The screen in a frame, for the message of a failed wait. */
function picture(rows: readonly string[], cols: number): string {
  const edge = `+${'-'.repeat(cols)}+`;
  return [edge, ...rows.map((row) => `|${row}`), edge].join('\n');
}
