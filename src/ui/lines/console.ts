/** The terminal of line mode, where lines are typed while others are printed. Each typed line has the time when it was begun. */
import { createInterface, type Interface } from 'node:readline/promises';
import { discardTypeAhead, type Io, world } from '../../app/process/index.ts';
import type { Millis } from '../../domain/ids.ts';

export interface Typed {
  readonly text: string;
  readonly begun: Millis;
}

type Next = Typed | null | 'woken';

export interface LineConsole {
  /** Prints a line above the one being typed. */
  say(line: string): void;
  complain(line: string): void;
  /** The next typed line; null at the end of input; `woken` when `signal` is aborted first, which loses no line. */
  next(prompt: string, signal: AbortSignal): Promise<Next>;
  /** A line for this prompt alone. `fresh`: lines that were begun before are discarded, and that is printed. */
  ask(prompt: string, how?: 'fresh'): Promise<string | null>;
  /** Discards input that the terminal still buffers; call before a question for permission is printed. */
  fresh(): Promise<void>;
  close(): void;
}

interface ConsoleParts {
  readonly io: Pick<Io, 'say' | 'complain' | 'env'>;
  /** Ctrl-C. */
  readonly interrupted: () => void;
  /** Words for completion by Tab. */
  readonly words: () => readonly string[];
}

/** A terminal that can move its cursor lets the line be edited, and the up key brings earlier lines back. A dumb terminal edits the line by itself and
 * hands it over whole, so that the time when it was begun is unknown: a question waits a moment for the input that the terminal still buffers. */
export class LineTerminal implements LineConsole {
  readonly #parts: ConsoleParts;
  readonly #isDumb: boolean;
  /** For cursor movements only: text goes through `Io`, which removes control characters. */
  readonly #output = process.stdout;
  /** Lines that were not taken yet. */
  readonly #typed: Typed[] = [];
  #waiting: ((next: Next) => void) | null = null;
  #ended = false;
  #discards = false;
  #lines: Interface;
  #begun: Millis | null = null;
  /** The prompt that is shown; a dumb terminal cannot return to it. */
  #prompt: string | null = null;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
    this.#isDumb = parts.io.env['TERM'] === 'dumb';
    this.#lines = this.#open();
    if (this.#isDumb) return;
    // The first listener runs before the one of readline, whose line is still empty at the first key.
    process.stdin.prependListener('keypress', () => (this.#begun ??= world.now()));
    process.stdin.on('keypress', this.#pressed);
  }

  readonly #pressed = (): void => {
    this.#begun = this.#lines.line === '' ? null : (this.#begun ?? world.now());
  };

  #open(): Interface {
    const { stdin: input, stdout: output } = process;
    const completer = (line: string): [string[], string] => [
      this.#parts.words().filter((word) => word.startsWith(line)),
      line,
    ];
    const lines = this.#isDumb
      ? createInterface({ input, terminal: false })
      : createInterface({ input, output, terminal: true, historySize: 200, prompt: '', completer });
    lines.on('line', (text) => {
      this.#prompt = null;
      const typed = { text, begun: this.#begun ?? world.now() };
      this.#begun = null;
      if (this.#waiting === null) this.#typed.push(typed);
      else this.#settle(typed);
    });
    lines.on('SIGINT', this.#parts.interrupted);
    lines.on('close', () => {
      if (this.#discards) return;
      this.#ended = true;
      this.#settle(null);
    });
    return lines;
  }

  #settle(next: Next): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(next);
  }

  say(line: string): void {
    this.#above(() => this.#parts.io.say(line));
  }

  complain(line: string): void {
    this.#above(() => this.#parts.io.complain(line));
  }

  next(prompt: string, signal: AbortSignal): Promise<Next> {
    const typed = this.#typed.shift() ?? (this.#ended ? null : undefined);
    if (typed !== undefined) return Promise.resolve(typed);
    if (signal.aborted) return Promise.resolve('woken');
    this.#showPrompt(prompt);
    return new Promise((resolve) => {
      const wake = (): void => this.#settle('woken');
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting = (next) => {
        signal.removeEventListener('abort', wake);
        resolve(next);
      };
    });
  }

  async ask(prompt: string, how?: 'fresh'): Promise<string | null> {
    if (how === 'fresh') await this.fresh();
    const since = world.now();
    for (;;) {
      const typed = await this.next(prompt, NEVER);
      if (typed === null || typed === 'woken') return null;
      if (how !== 'fresh' || typed.begun >= since) return typed.text;
      if (typed.text.trim() !== '') this.say('  (typed before the question: ignored)');
    }
  }

  async fresh(): Promise<void> {
    // Where lines are edited, each has the time when it was begun.
    if (!this.#isDumb || this.#ended || !process.stdin.isTTY) return;
    this.#discards = true;
    this.#lines.close();
    if (await discardTypeAhead()) this.say('  (earlier input was discarded)');
    this.#discards = false;
    this.#lines = this.#open();
  }

  close(): void {
    process.stdin.off('keypress', this.#pressed);
    if (this.#prompt !== null && !this.#isDumb && !this.#ended) this.#output.write('\n');
    this.#lines.close();
  }

  #showPrompt(text: string): void {
    const isShown = text === this.#prompt;
    this.#prompt = text;
    if (!this.#isDumb) {
      this.#lines.setPrompt(text);
      if (!this.#ended) this.#lines.prompt(true);
    } else if (text.trim() !== '>' && !isShown) this.#parts.io.say(text.trimEnd());
  }

  #above(write: () => void): void {
    if (this.#isDumb || this.#prompt === null || this.#ended) return write();
    const { rows } = this.#lines.getCursorPos();
    // Moves to the first row of the prompt and erases everything from there.
    this.#output.write(`${rows > 0 ? `\u001b[${rows}A` : ''}\r\u001b[J`);
    write();
    this.#lines.prompt(true);
  }
}

const NEVER = new AbortController().signal;
