/**
 * The terminal of line mode, where lines are typed while others are printed. A normal terminal gets the line being typed again below each
 * printed one; a dumb one keeps its own line. Each typed line has the time when it was begun, since a line that was begun before a question
 * does not answer it.
 */
import { createInterface, type Interface } from 'node:readline/promises';
import { discardTypeAhead, type Io, world } from '../../app/process/index.ts';
import { isSimple, type Span, type Style, widthOf, wrap } from '../../app/views/index.ts';
import type { Millis } from '../../domain/ids.ts';

export interface Typed {
  readonly text: string;
  readonly begun: Millis;
}

type Next = Typed | null | 'woken';

export interface LineConsole {
  /** Prints a line above the one being typed, broken at words where the terminal is narrower. */
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

/**
 * A terminal that can move its cursor lets the line be edited, and the up key brings earlier lines back. A dumb terminal edits the line by
 * itself and hands it over whole, so that the time when it was begun is unknown: a question waits a moment for the input that the terminal
 * still buffers.
 */
export class LineTerminal implements LineConsole {
  readonly #parts: ConsoleParts;
  readonly #isDumb: boolean;
  readonly #fit = fitting(process.stdout);
  readonly #fitComplaint = fitting(process.stderr);
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
    this.#above(() => this.#parts.io.say(this.#fit(line)));
  }

  complain(line: string): void {
    this.#above(() => this.#parts.io.complain(this.#fitComplaint(line)));
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
    if (this.#prompt !== null && !this.#isDumb && !this.#ended) process.stdout.write('\n');
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

  /** Writes above the line being typed. */
  #above(write: () => void): void {
    if (this.#isDumb || this.#prompt === null || this.#ended) return write();
    const { rows } = this.#lines.getCursorPos();
    // Moves to the first row of the prompt and erases everything from there.
    process.stdout.write(`${rows > 0 ? `\u001b[${rows}A` : ''}\r\u001b[J`);
    write();
    this.#lines.prompt(true);
  }
}

const NEVER = new AbortController().signal;

// Lines are broken at words to the present width of the terminal, with a hanging indent. Text to be copied is never broken: code, tables,
// JSON, exact actions, commands, and lines with a long word. In a pipe nothing is broken.

/** Fits a text to the present width of a stream. */
export const fitting =
  (stream: { readonly isTTY?: boolean; readonly columns?: number }) =>
  (text: string): string => {
    const { isTTY = false, columns = 0 } = stream;
    return isTTY && columns > 0 ? wrapped(text, columns) : text;
  };

/** A text, which may have styles, in lines of at most `columns`. In a text of several lines only lists get a hanging indent. */
export function wrapped(text: string, columns: number): string {
  const lines = text.split('\n');
  const least = lines.filter((line) => line !== '').length > 1 ? 0 : HANG;
  let fenced = false;
  return lines
    .map((line) => {
      const fence = /^\s*(?:```|~~~)/.test(line);
      if (fence) fenced = !fenced;
      return fence || fenced ? line : broken(line, columns, least);
    })
    .join('\n');
}

/** In a text of one line, what follows hangs below its beginning by as many columns. */
const HANG = 2;

/** Escape sequences of our own styles: other text is sanitised. The group keeps them when a text is split. */
const ESCAPE = '\u001b';
const STYLES = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`, 'g');

/** Tables, JSON, exact actions and calls of tools. */
const COPIED = /^(?:\s*[|{}"]|\s*\[\s*(?:["{[\d-]|\]?$)|  : |\[[^\]]*\] {3}(?!- ))/;

/** Blanks, and the sign of a list item, a quotation or a number. */
const BEGINNING = /^(\s*)((?:[-*+>!]|#?\d+[.)]?)\s+)?/;

/** A `mimir` command with its first words, or a text in backquotes: never broken. */
const WHOLE = /\bmimir \S+(?: \S+)?|`[^`]+`/g;
const NO_BREAK = '\u00a0';

function broken(line: string, columns: number, least: number): string {
  const plain = line.replaceAll(STYLES, '');
  if (widthOf(plain) <= columns || COPIED.test(plain)) return line;
  const [, blanks = '', sign = ''] = BEGINNING.exec(plain) ?? [];
  const hang = Math.max(sign.length, least - blanks.length);
  const kept = line.replaceAll(WHOLE, (text) => text.replaceAll(' ', NO_BREAK));
  const room = columns - blanks.length - hang;
  // A longer word is left to the terminal, so that it can be copied.
  const words = kept.replaceAll(STYLES, '').split(' ');
  if (words.some((word) => word.length > room && isSimple(word.replaceAll(NO_BREAK, ' ')))) return line;
  return wrapStyled(kept, columns, hang).replaceAll(NO_BREAK, ' ');
}

/** Wraps a line with escape sequences, each of which stays in front of the text that follows it. */
function wrapStyled(line: string, columns: number, hang: number): string {
  const before = new Map<Style, string>();
  const spans: Span[] = [];
  let escapes = '';
  for (const part of line.split(STYLES)) {
    const style = {};
    if (part.startsWith(ESCAPE)) escapes += part;
    else if (part !== '') {
      before.set(style, escapes);
      spans.push([part, style]);
      escapes = '';
    }
  }
  const rows = wrap(spans, columns, hang).map((row) =>
    row.map(([text, style]) => {
      const start = before.get(style) ?? '';
      before.delete(style);
      return start + text;
    }),
  );
  return rows.map((row) => row.join('')).join('\n') + escapes;
}
