/** Takes and releases the terminal in all cases: end, crash, signals, Ctrl-Z. The caller decides what a signal means. */
import { messageOf, tried } from '../../../domain/result.ts';
import { writeSync } from 'node:fs';
import { type EndSignal, EXIT, signalCode } from '../../../app/process/index.ts';
import { toTerminal } from '../../../app/views/index.ts';

export interface LifeParts {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream & { readonly fd: number };
  readonly mouse: boolean;
  /** Starts reading keys; the returned function stops. */
  listen(): () => void;
  /** Called when the terminal is taken, possibly at a new size: everything has to be painted. */
  entered(): void;
  /** The caller saves its state, then exits with the code. */
  signalled(signal: EndSignal, code: number): void;
  /** Writes a crash report and returns its path, or null. The terminal is released already. */
  crashed(error: unknown): string | null;
}

/** CAN ends an unfinished sequence; then links and all keyboard and mouse modes are reset. */
const RESET =
  '\u0018\u001b]8;;\u001b\\\u001b[?2026l\u001b[?1006l\u001b[?1002l\u001b[?1000l\u001b[?1004l\u001b[?2004l\u001b[<u\u001b[0m';

/** Restores a terminal; also written by `mimir reset`. Idempotent. */
export const LEAVE = `${RESET}\u001b[?25h\u001b[?1l\u001b>\u001b[?1049l\u001b[23;2t`;

/** Resets first what a killed Mimir may have left. */
const ENTER = `${RESET}\u001b[22;2t\u001b[?1049h\u001b[0m\u001b[2J\u001b[?25l\u001b[?2004h\u001b[?1004h\u001b[?u`;
const MOUSE = '\u001b[?1000h\u001b[?1002h\u001b[?1006h';
const NO_MOUSE = '\u001b[?1006l\u001b[?1002l\u001b[?1000l';
/** Signals within this time are one key press, delivered twice through a parent such as npm. */
const ONE_PRESS = 100;
/** Milliseconds in which a further Ctrl-C, now a signal, does not kill the process. */
const LATE_PRESS = 1000;
/** Milliseconds after which the screen is taken again if the process was not stopped (no job control). */
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
    // Runs before all other listeners, so that nothing prints onto the screen.
    process.prependListener('exit', this.#atExit);
  }

  /** True while Mimir owns the screen. */
  get isOurs(): boolean {
    return this.#state === 'ours';
  }

  /** Takes the terminal: alternate screen, raw keys, pastes, focus, mouse. */
  enter(): void {
    if (this.#state === 'closed') return;
    const { input, output } = this.#parts;
    const mouse = this.#mouse;
    const again = this.#state === 'ours';
    // A shell may have changed the keyboard mode; Node only applies changes.
    if (again) input.setRawMode(false);
    input.setRawMode(true);
    setBlocking(output, false);
    if (!again) {
      this.#release = bufferStderr();
      this.#unlisten = this.#parts.listen();
    }
    this.#state = 'ours';
    writeNow(output.fd, mouse ? ENTER + MOUSE : ENTER);
    // Makes Node read the window size, which may have changed.
    process.emit('SIGWINCH');
    this.#parts.entered();
  }

  /** Sets the mouse mode, also for the next time the terminal is taken. */
  setMouse(on: boolean): void {
    if (this.#mouse === on) return;
    this.#mouse = on;
    if (this.#state === 'ours') writeNow(this.#parts.output.fd, on ? MOUSE : NO_MOUSE);
  }

  /** Releases the terminal at once, if it is taken. */
  leave(): void {
    if (this.#state !== 'ours') return;
    this.#state = 'away';
    this.#unlisten();
    // Written before blocking is restored: a stalled terminal must not delay the exit; its unread output is dropped.
    writeNow(this.#parts.output.fd, LEAVE);
    if (this.#parts.output.writableLength === 0) setBlocking(this.#parts.output, true);
    attempt(() => this.#parts.input.setRawMode(false));
    const buffered = this.#release();
    if (buffered !== '') writeNow(process.stderr.fd, toTerminal(buffered));
  }

  /** Releases the terminal, stops the process group, and takes the terminal again on `fg`. */
  suspend(): void {
    if (this.#state !== 'ours') return;
    this.leave();
    this.#suspended = true;
    this.#stop();
    // The system does not stop a process that nobody could continue.
    setTimeout(() => {
      if (this.#suspended) this.#continued();
    }, NOT_STOPPED);
  }

  close(): void {
    this.leave();
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    for (const [event, handler] of this.#handlers) events.removeListener(event, handler);
    process.removeListener('exit', this.#atExit);
    ignoreLateInterrupt();
  }

  readonly #atExit = (): void => this.leave();

  /** Stops the process: without this handler, SIGTSTP has its default effect. */
  readonly #stop = (): void => {
    if (this.#state === 'ours') return this.suspend();
    events.removeListener('SIGTSTP', this.#stop);
    process.kill(0, 'SIGTSTP');
    setImmediate(() => {
      if (this.#state !== 'closed') events.on('SIGTSTP', this.#stop);
    });
  };

  #continued(): void {
    // The process was stopped from outside, and a shell had the terminal meanwhile.
    if (this.#state === 'ours' || this.#suspended) {
      this.#suspended = false;
      this.enter();
    }
  }

  #interrupt(): void {
    const now = performance.now();
    const isSame = now - this.#lastSigint < ONE_PRESS;
    this.#lastSigint = now;
    // While an editor runs, Ctrl-C belongs to it.
    if (!isSame && this.#state === 'ours') this.#signal('SIGINT');
  }

  #signal(signal: EndSignal): void {
    this.#parts.signalled(signal, signalCode(signal));
  }

  #crash(error: unknown): void {
    this.leave();
    const report = attempt(() => this.#parts.crashed(error));
    const message = messageOf(error);
    const where = report === null ? '' : `\n  A report is in ${report}`;
    writeNow(process.stderr.fd, `mimir ended because of an internal error: ${toTerminal(message)}${where}\n`);
    process.exit(EXIT.bug);
  }
}

const events: NodeJS.EventEmitter = process;

/** Returns null on an exception: during exit the first failure is reported, and a closed terminal cannot be configured. */
const attempt = <T>(act: () => T): T | null => tried((): T | null => act(), null);

/** A late Ctrl-C would end the process with the wrong code while the log is closed. */
function ignoreLateInterrupt(): void {
  const swallow = (): void => {};
  events.on('SIGINT', swallow);
  setTimeout(() => events.removeListener('SIGINT', swallow), LATE_PRESS).unref();
}

const WRITE_TIMEOUT = 400;
const RETRY_MS = 5;
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** Writes synchronously, retrying a slow terminal for 400 ms. A closed terminal is no failure. */
function writeNow(fd: number, text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  for (let waited = 0; rest.length > 0 && waited < WRITE_TIMEOUT; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!isAgain(error)) return;
      Atomics.wait(sleeping, 0, 0, RETRY_MS);
      waited += RETRY_MS;
    }
  }
}

const isAgain = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EAGAIN';

/** Makes writes to a TTY non-blocking, so that a stalled terminal does not stop the agents. */
function setBlocking(stream: NodeJS.WriteStream, blocks: boolean): void {
  const handle: unknown = Reflect.get(stream, '_handle');
  if (canBlock(handle)) handle.setBlocking(blocks);
}

const canBlock = (handle: unknown): handle is { setBlocking(blocks: boolean): void } =>
  typeof handle === 'object' && handle !== null && 'setBlocking' in handle && typeof handle.setBlocking === 'function';

/** Buffers stderr output of libraries while Mimir owns the screen. The returned function restores stderr and returns the end of the buffer. */
function bufferStderr(): () => string {
  if (!process.stderr.isTTY) return () => '';
  let held = '';
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    held = (held + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).slice(-MAX_STDERR);
    const done = rest.find(isCallback);
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
  return () => {
    process.stderr.write = write;
    return held;
  };
}

const MAX_STDERR = 16_384;
const isCallback = (part: unknown): part is () => void => typeof part === 'function';
