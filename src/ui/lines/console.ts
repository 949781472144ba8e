/**
 * The terminal of line mode, where lines are typed while others are printed. A normal terminal gets the line being typed again below each
 * printed one; a dumb one keeps its own line. Each typed line has the time when it was begun, since a line that was begun before a question
 * does not answer it.
 */
import { createInterface, type Interface } from 'node:readline/promises';
import { type Io, world } from '../../app/process/index.ts';
import { isSimple, type Span, type Style, widthOf, wrap } from '../../app/views/index.ts';
import type { Millis } from '../../domain/ids.ts';

export interface Typed {
  readonly text: string;
  readonly begun: Millis;
}

export interface LineConsole {
  /** Prints a line above the one being typed, broken at words where the terminal is narrower. */
  say(line: string): void;
  complain(line: string): void;
  /** The next typed line; null at the end of input; `woken` when `signal` is aborted first, which loses no line. */
  next(prompt: string, signal: AbortSignal): Promise<Typed | null | 'woken'>;
  /** A line for this prompt alone. `fresh`: lines that were begun before are discarded, and that is printed. */
  ask(prompt: string, how?: 'fresh'): Promise<string | null>;
  /** Discards input that the terminal still buffers; call before a question for permission is printed. */
  fresh(): Promise<void>;
  close(): void;
}

/** What differs between kinds of terminal. */
interface Keys {
  prompt(text: string): void;
  /** Writes above the line being typed. */
  above(write: () => void): void;
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

export function openConsole({ io, interrupted, words }: ConsoleParts): LineConsole {
  const queue = new Queue();
  const keys = io.env['TERM'] === 'dumb' ? dumbKeys(queue, io, interrupted) : editedKeys(queue, interrupted, words);
  const next: LineConsole['next'] = async (prompt, signal) => {
    const typed = queue.take();
    if (typed !== undefined) return typed;
    if (signal.aborted) return 'woken';
    keys.prompt(prompt);
    return queue.wait(signal);
  };
  const [fit, fitComplaint] = [fitting(process.stdout), fitting(process.stderr)];
  const say = (line: string): void => keys.above(() => io.say(fit(line)));
  return {
    say,
    complain: (line) => keys.above(() => io.complain(fitComplaint(line))),
    next,
    fresh: () => keys.fresh(),
    async ask(prompt, how) {
      if (how === 'fresh') await keys.fresh();
      const since = world.now();
      for (;;) {
        const typed = await next(prompt, NEVER);
        if (typed === null || typed === 'woken') return null;
        if (how !== 'fresh' || typed.begun >= since) return typed.text;
        if (typed.text.trim() !== '') say('  (typed before the question: ignored)');
      }
    },
    close() {
      keys.close();
      queue.end();
    },
  };
}

const NEVER = new AbortController().signal;

/** Typed lines that were not taken yet. */
class Queue {
  readonly #lines: Typed[] = [];
  #waiting: ((typed: Typed | null | 'woken') => void) | null = null;
  #ended = false;

  put(typed: Typed): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) this.#lines.push(typed);
    else waiting(typed);
  }

  /** Undefined when there is no line yet; null at the end of input. */
  take(): Typed | null | undefined {
    return this.#lines.shift() ?? (this.#ended ? null : undefined);
  }

  wait(signal: AbortSignal): Promise<Typed | null | 'woken'> {
    return new Promise((resolve) => {
      const woken = (): void => {
        this.#waiting = null;
        resolve('woken');
      };
      this.#waiting = (typed) => {
        signal.removeEventListener('abort', woken);
        resolve(typed);
      };
      signal.addEventListener('abort', woken, { once: true });
    });
  }

  end(): void {
    this.#ended = true;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(null);
  }
}

/** A terminal that can move its cursor: the line can be edited, and the up key brings earlier lines back. */
function editedKeys(queue: Queue, interrupted: () => void, words: () => readonly string[]): Keys {
  const { stdin, stdout } = process;
  const lines = createInterface({
    input: stdin,
    output: stdout,
    terminal: true,
    historySize: 200,
    prompt: '',
    completer: (line: string): [string[], string] => [words().filter((word) => word.startsWith(line)), line],
  });
  let begun: Millis | null = null;
  let shown = false;
  let closed = false;
  const pressed = (): void => {
    begun = lines.line === '' ? null : (begun ?? world.now());
  };
  // This listener runs before the one of readline, whose line is still empty at the first key.
  stdin.on('keypress', pressed);
  stdin.prependListener('keypress', () => (begun ??= world.now()));
  lines.on('line', (text) => {
    shown = false;
    queue.put({ text, begun: begun ?? world.now() });
    begun = null;
  });
  lines.on('SIGINT', interrupted);
  lines.on('close', () => {
    closed = true;
    queue.end();
  });
  return {
    prompt(text) {
      lines.setPrompt(text);
      shown = true;
      if (!closed) lines.prompt(true);
    },
    above(write) {
      if (!shown || closed) return write();
      stdout.write(up(lines));
      write();
      lines.prompt(true);
    },
    // Each line has the time when it was begun.
    fresh: () => Promise.resolve(),
    close: () => {
      stdin.off('keypress', pressed);
      if (shown && !closed) stdout.write('\n');
      lines.close();
    },
  };
}

/** Moves to the first row of the prompt and erases everything from there. */
function up(lines: Interface): string {
  const { rows } = lines.getCursorPos();
  return `${rows > 0 ? `\u001b[${rows}A` : ''}\r\u001b[J`;
}

/**
 * A dumb terminal edits the line by itself and hands it over whole, so that the time when it was begun is unknown. A question waits a moment
 * for the input that the terminal still buffers.
 */
function dumbKeys(queue: Queue, io: ConsoleParts['io'], interrupted: () => void): Keys {
  const { stdin } = process;
  let [rest, prompt, discarding] = ['', '', false];
  const take = (chunk: Buffer | string): void => {
    const text = chunk.toString();
    if (discarding) {
      // In raw mode Ctrl-C arrives as a character.
      if (text.includes('\u0003')) interrupted();
      else io.say('  (earlier input was discarded)');
      return;
    }
    const parts = (rest + text).split(/\r\n|\r|\n/);
    rest = parts.pop() ?? '';
    for (const line of parts) queue.put({ text: line, begun: world.now() });
    prompt = '';
  };
  const ended = (): void => queue.end();
  stdin.on('data', take);
  stdin.once('end', ended);
  // An earlier question, such as that of trust, may have paused the input.
  stdin.resume();
  return {
    // The prompt is a line of its own and printed once, since the cursor cannot return to it.
    prompt(text) {
      if (text.trim() === '>' || text === prompt) return;
      prompt = text;
      io.say(text.trimEnd());
    },
    above: (write) => write(),
    async fresh() {
      if (!stdin.isTTY) return;
      discarding = true;
      // In raw mode the terminal also hands over an unfinished line.
      stdin.setRawMode(true);
      await world.sleep(BUFFERED_INPUT);
      // A process that was held up all this time reads its input only after the timer.
      await new Promise((resolve) => void setImmediate(resolve));
      stdin.setRawMode(false);
      discarding = false;
    },
    close() {
      stdin.off('data', take);
      stdin.off('end', ended);
      stdin.pause();
    },
  };
}

/** The terminal hands over buffered input within this time. */
const BUFFERED_INPUT: Millis = 60;

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
  if (text.length <= columns && isSimple(text)) return text;
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
