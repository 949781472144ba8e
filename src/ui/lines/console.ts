/**
 * Where lines are typed while others are said. On a terminal the line that is being typed is written anew below each announcement; a dumb
 * one keeps its own line and gets plain text only. Each typed line says since when it was begun: what was begun before a question was said
 * doesn't answer it.
 */
import { createInterface } from 'node:readline/promises';
import type { Interface } from 'node:readline/promises';
import type { Io } from '../../app/process/io.ts';
import { world } from '../../app/process/world.ts';
import { clusterWidth, graphemes, isSimple, widthOf } from '../../app/views/text/width.ts';
import type { Millis } from '../../domain/ids.ts';

export interface Typed {
  readonly text: string;
  readonly begun: Millis;
}

export interface LineConsole {
  /** A line of ours, above what is being typed; broken at words where the terminal is narrower. */
  say(line: string): void;
  complain(line: string): void;
  /** The next line; null at the end of input; `woken` when `signal` is aborted first, and then no line is lost. */
  next(prompt: string, signal: AbortSignal): Promise<Typed | null | 'woken'>;
  /** A line for this prompt alone. `fresh`: what was begun before is thrown away, and that is said. */
  ask(prompt: string, how?: 'fresh'): Promise<string | null>;
  /** Before something is said that asks for permission: what the terminal still holds of a line is not for it. */
  fresh(): Promise<void>;
  close(): void;
}

/** What a kind of terminal does its own way. */
interface Keys {
  prompt(text: string): void;
  /** Writes above what is being typed. */
  above(write: () => void): void;
  fresh(): Promise<void>;
  close(): void;
}

interface ConsoleParts {
  readonly io: Pick<Io, 'say' | 'complain' | 'env'>;
  /** Ctrl-C. */
  readonly interrupted: () => void;
  /** Words that Tab completes, where the terminal can. */
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
        if (typed.text.trim() !== '') say('  (typed before this was asked: not taken)');
      }
    },
    close() {
      keys.close();
      queue.end();
    },
  };
}

const NEVER = new AbortController().signal;

/** Lines that were typed and not yet taken. */
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

  /** Undefined: none yet. */
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

/** A terminal that moves its cursor: the line can be edited, and former ones come back with up. */
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
  // Before its own listener has seen the key the line is still empty: the time of the first key is that of the next one at latest.
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
    // A line says itself when it was begun.
    fresh: () => Promise.resolve(),
    close: () => {
      stdin.off('keypress', pressed);
      if (shown && !closed) stdout.write('\n');
      lines.close();
    },
  };
}

/** To the first row of the prompt, and everything from there on erased. */
function up(lines: Interface): string {
  const { rows } = lines.getCursorPos();
  return `${rows > 0 ? `\u001b[${rows}A` : ''}\r\u001b[J`;
}

/**
 * A dumb terminal, or one of an editor: it edits the line by itself and hands it over whole. What was begun can't be known; a question
 * waits a moment for what the terminal still holds.
 */
function dumbKeys(queue: Queue, io: ConsoleParts['io'], interrupted: () => void): Keys {
  const { stdin } = process;
  let [rest, said, forgetting] = ['', '', false];
  const take = (chunk: Buffer | string): void => {
    const text = chunk.toString();
    if (forgetting) {
      // In raw mode Ctrl-C is a key like others.
      if (text.includes('\u0003')) interrupted();
      else io.say('  (what was typed before is thrown away)');
      return;
    }
    const parts = (rest + text).split(/\r\n|\r|\n/);
    rest = parts.pop() ?? '';
    for (const line of parts) queue.put({ text: line, begun: world.now() });
    said = '';
  };
  const ended = (): void => queue.end();
  stdin.on('data', take);
  stdin.once('end', ended);
  return {
    // A line of its own, once: where the cursor can't come back to, what stands before it is only noise.
    prompt(text) {
      if (text.trim() === '>' || text === said) return;
      said = text;
      io.say(text.trimEnd());
    },
    above: (write) => write(),
    async fresh() {
      if (!stdin.isTTY) return;
      forgetting = true;
      // Raw, for a line that was begun is handed over as well.
      stdin.setRawMode(true);
      await world.sleep(HANDED_OVER);
      stdin.setRawMode(false);
      forgetting = false;
    },
    close() {
      stdin.off('data', take);
      stdin.off('end', ended);
      stdin.pause();
    },
  };
}

/** In which the terminal hands over what was typed ahead. */
const HANDED_OVER: Millis = 60;

// Lines for a terminal as wide as it is now, broken at words by columns, what follows hung below its beginning. What is meant to be copied
// is never broken: code, tables, JSON and exact actions stay as they are, commands and longer words whole. In a pipe nothing is broken.

/** Of a stream: how a text is said on it. */
export const fitting =
  (stream: { readonly isTTY?: boolean; readonly columns?: number }) =>
  (text: string): string => {
    const { isTTY = false, columns = 0 } = stream;
    return isTTY && columns > 0 ? wrapped(text, columns) : text;
  };

/** A text of one or several lines, styles allowed, in lines of at most `columns`. Of several, which are a text of its own, only lists hang. */
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

const ESCAPE = '\u001b';
const HANG = 2;
/** In narrow terminals nothing hangs deeper than a third. */
const DEEPEST = 1 / 3;

/** The painter's own: whatever others wrote is harmless already. In brackets, for what is cut there to keep it. */
const STYLES = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`, 'g');
const bare = (text: string): string => text.replaceAll(STYLES, '');

/** Tables, JSON, exact actions and what a tool is called with. */
const COPIED = /^(?:\s*[|{}"]|\s*\[\s*(?:["{[\d-]|\]?$)|  : |\[[^\]]*\] {3}(?!- ))/;

/** Blanks, and then the sign of a list, a quotation or a number. */
const BEGINNING = /^\s*(?:(?:[-*+>!]|#?\d+[.)]?)\s+)?/;

function broken(line: string, columns: number, least: number): string {
  const plain = bare(line);
  if (widthOf(plain) <= columns || COPIED.test(plain)) return line;
  const beginning = BEGINNING.exec(plain)?.[0].length ?? 0;
  const hang = Math.min(Math.max(beginning, least), Math.floor(columns * DEEPEST));
  return rowsOf(partsOf(line, columns - hang), columns, hang).join(`\n${' '.repeat(hang)}`);
}

function rowsOf(parts: readonly Part[], columns: number, hang: number): readonly string[] {
  const rows: string[] = [];
  let [row, used, words] = ['', 0, 0];
  for (const { blanks, text, width } of parts) {
    if (words > 0 && used + blanks.length + width > columns) {
      rows.push(row);
      [row, used, words] = [text, hang + width, 1];
    } else {
      row += blanks + text;
      used += blanks.length + width;
      words += 1;
    }
  }
  return [...rows, row];
}

/** What is never broken, and the blanks in front of it. */
interface Part {
  readonly blanks: string;
  readonly text: string;
  readonly width: number;
}

/** A command of ours with its first words, a text in backquotes, a word. */
const WORDS = /( *)([^\s`]*`[^`]+`[^\s`]*|\S*\bmimir \S+(?: \S+)?|\S+)/g;

function partsOf(line: string, most: number): readonly Part[] {
  return [...line.matchAll(WORDS)].flatMap(([, blanks = '', text = '']) => {
    const width = widthOf(bare(text));
    if (width <= most && !isLettered(text)) return [{ blanks, text, width }];
    return [...text.matchAll(/( *)(\S+)/g)].flatMap(([, inner = '', word = ''], at) =>
      lettersOf(at === 0 ? blanks : inner, word),
    );
  });
}

/** Is it written without blanks between its words, and no path? */
const isLettered = (text: string): boolean =>
  !isSimple(text) && !text.includes('/') && graphemes(text).some((one) => clusterWidth(one) === 2);

/** What doesn't begin a line where there are no blanks between words. */
const CLOSING = /^[、。，．！？：；）」』】〉》ー]$/;

/** A word; of one with wide letters each of them, with what belongs to it. */
function lettersOf(blanks: string, word: string): readonly Part[] {
  if (!isLettered(word)) return [{ blanks, text: word, width: widthOf(bare(word)) }];
  const parts: Part[] = [];
  let open = false;
  for (const text of lettersIn(word)) {
    const width = isStyle(text) ? 0 : clusterWidth(text);
    const last = parts.at(-1);
    if (last === undefined) parts.push({ blanks, text, width });
    else if (width === 0 || CLOSING.test(text) || (open && width === 1))
      parts[parts.length - 1] = { ...last, text: last.text + text, width: last.width + width };
    else parts.push({ blanks: '', text, width });
    if (width > 0) open = width === 1;
  }
  return parts;
}

const lettersIn = (word: string): readonly string[] =>
  word.split(STYLES).flatMap((piece) => (isStyle(piece) ? [piece] : graphemes(piece)));
const isStyle = (text: string): boolean => text.startsWith(ESCAPE);
