/**
 * Takes the terminal and gives it back, whatever happens: end, crash, signals, Ctrl-Z. What a signal means for
 * the run is the caller's to decide; that the screen, the cursor and the keyboard are restored is decided here.
 */
import { toTerminal } from '../../../app/views/text/sanitise.ts';
import { holdStderr, setBlocking, writeNow } from './write.ts';

export type EndSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/** Exit codes by signal, as a shell counts them; a crash is 70. */
export const EXIT_CODES: Readonly<Record<EndSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const CRASH_CODE = 70;

export interface LifeParts {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream & { readonly fd: number };
  readonly mouse: boolean;
  /** Begins to read keys; the function that comes back stops. */
  listen(): () => void;
  /** The terminal is ours (again), at a size that may be new: everything has to be painted. */
  entered(): void;
  /** The caller saves what it must, then ends the process with the code. */
  signalled(signal: EndSignal, code: number): void;
  /** Writes a report of a crash; its path, or null. The terminal is given back already. */
  crashed(error: unknown): string | null;
}

/** CAN ends a sequence that was cut off; then a link, and everything of ours that changes what keys and mouse send. */
const CALM =
  '\u0018\u001b]8;;\u001b\\\u001b[?2026l\u001b[?1006l\u001b[?1002l\u001b[?1000l\u001b[?1004l\u001b[?2004l\u001b[<u\u001b[0m';

/** What gives a terminal back: also written by `mimir reset`, and harmless twice. */
export const LEAVE = `${CALM}\u001b[?25h\u001b[?1l\u001b>\u001b[?1049l\u001b[23;2t`;

/** First what a Mimir that was killed may have left behind. */
const ENTER = `${CALM}\u001b[22;2t\u001b[?1049h\u001b[0m\u001b[2J\u001b[?25l\u001b[?2004h\u001b[?1004h\u001b[?u`;
const MOUSE = '\u001b[?1000h\u001b[?1002h\u001b[?1006h';
const NO_MOUSE = '\u001b[?1006l\u001b[?1002l\u001b[?1000l';
/** Two signals this close are one press of a key that reached us twice, through a parent such as npm. */
const ONE_PRESS = 100;
/** Ctrl-C pressed once more than needed comes as a signal when the terminal was given back: for this long it does not kill us. */
const LATE_PRESS = 1000;
/** When nothing stopped us (no job control here), the screen is taken again after this. */
const NOT_STOPPED = 50;

export class Life {
  readonly #parts: LifeParts;
  #state: 'ours' | 'away' | 'closed' = 'away';
  #suspended = false;
  #mouse: boolean;
  #lastSigint = -Infinity;
  #unlisten: () => void = () => {};
  #release: () => string = () => '';
  readonly #handlers: readonly (readonly [event: string, handler: (...args: unknown[]) => void])[];

  constructor(parts: LifeParts) {
    this.#parts = parts;
    this.#mouse = parts.mouse;
    this.#handlers = [
      ['SIGHUP', () => this.#signal('SIGHUP')],
      ['SIGTERM', () => this.#signal('SIGTERM')],
      ['SIGINT', () => this.#interrupt()],
      ['SIGTSTP', this.#stop],
      ['SIGCONT', () => this.#continued()],
      ['uncaughtException', (error) => this.#crash(error)],
    ];
    for (const [event, handler] of this.#handlers) events.on(event, handler);
    // Before all other listeners: nothing may be printed onto our screen.
    process.prependListener('exit', this.#atExit);
  }

  /** True while the screen is ours to paint. */
  get isOurs(): boolean {
    return this.#state === 'ours';
  }

  /** Takes the terminal: alternate screen, raw keys, pastes, focus, mouse. */
  enter(): void {
    if (this.#state === 'closed') return;
    const { input, output } = this.#parts;
    const mouse = this.#mouse;
    const again = this.#state === 'ours';
    // A shell may have changed the keyboard while we were stopped: only a change is obeyed.
    if (again) input.setRawMode(false);
    input.setRawMode(true);
    setBlocking(output, false);
    if (!again) {
      this.#release = holdStderr();
      this.#unlisten = this.#parts.listen();
    }
    this.#state = 'ours';
    writeNow(output.fd, mouse ? ENTER + MOUSE : ENTER);
    // The window may have changed meanwhile; Node asks for its size on this signal only.
    process.emit('SIGWINCH');
    this.#parts.entered();
  }

  /** Mouse events to us or to the terminal, now and whenever the terminal is taken again. */
  setMouse(on: boolean): void {
    if (this.#mouse === on) return;
    this.#mouse = on;
    if (this.#state === 'ours') writeNow(this.#parts.output.fd, on ? MOUSE : NO_MOUSE);
  }

  /** Gives the terminal back, at once; nothing when that was done. */
  leave(): void {
    if (this.#state !== 'ours') return;
    this.#state = 'away';
    this.#unlisten();
    // Before writing may wait again: a terminal that stalls must not hold us back. What it has not taken is left behind.
    writeNow(this.#parts.output.fd, LEAVE);
    if (this.#parts.output.writableLength === 0) setBlocking(this.#parts.output, true);
    restoreKeyboard(this.#parts.input);
    const held = this.#release();
    if (held !== '') writeNow(process.stderr.fd, toTerminal(held));
  }

  /** Gives the terminal back, stops the process and all of its group, takes it again on `fg`. */
  suspend(): void {
    if (this.#state !== 'ours') return;
    this.leave();
    this.#suspended = true;
    this.#stop();
    // A process that nobody could wake is not stopped by the system; we are then simply back.
    setTimeout(() => {
      if (this.#suspended) this.#continued();
    }, NOT_STOPPED);
  }

  /** Gives the terminal back for good. */
  close(): void {
    this.leave();
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    for (const [event, handler] of this.#handlers) events.removeListener(event, handler);
    process.removeListener('exit', this.#atExit);
    swallowLate();
  }

  readonly #atExit = (): void => {
    this.leave();
  };

  /** The system's own stop: with our handler away, SIGTSTP does what it does to every program. */
  readonly #stop = (): void => {
    if (this.#state === 'ours') {
      this.suspend();
      return;
    }
    events.removeListener('SIGTSTP', this.#stop);
    process.kill(0, 'SIGTSTP');
    setImmediate(() => {
      if (this.#state !== 'closed') events.on('SIGTSTP', this.#stop);
    });
  };

  #continued(): void {
    // Stopped from outside, without our doing: a shell has had the terminal meanwhile.
    if (this.#state === 'ours' || this.#suspended) {
      this.#suspended = false;
      this.enter();
    }
  }

  #interrupt(): void {
    const now = performance.now();
    const isSame = now - this.#lastSigint < ONE_PRESS;
    this.#lastSigint = now;
    // In an editor that we started, Ctrl-C is the editor's.
    if (!isSame && this.#state === 'ours') this.#signal('SIGINT');
  }

  #signal(signal: EndSignal): void {
    this.#parts.signalled(signal, EXIT_CODES[signal]);
  }

  #crash(error: unknown): void {
    this.leave();
    const report = attempt(() => this.#parts.crashed(error));
    const message = error instanceof Error ? error.message : String(error);
    const where = report === null ? '' : `\n  A report is in ${report}`;
    writeNow(process.stderr.fd, `mimir ended because of an error of its own: ${toTerminal(message)}${where}\n`);
    process.exit(CRASH_CODE);
  }
}

const events: NodeJS.EventEmitter = process;

/** A terminal that is gone can't be set; that is no failure. */
function restoreKeyboard(input: NodeJS.ReadStream): void {
  attempt(() => input.setRawMode(false));
}

/** Null when it throws: on the way out, the first failure is the one to tell of. */
function attempt<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

/** A late press would end us while the log is closed, with the wrong code. */
function swallowLate(): void {
  const swallow = (): void => {};
  events.on('SIGINT', swallow);
  setTimeout(() => events.removeListener('SIGINT', swallow), LATE_PRESS).unref();
}
