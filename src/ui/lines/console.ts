/**
 * Where lines are typed while others are said. On a terminal the line that is being typed is written anew below each announcement; a dumb
 * one keeps its own line and gets plain text only. Each typed line says since when it was begun: what was begun before a question was said
 * doesn't answer it.
 */
import { createInterface } from 'node:readline/promises';
import type { Interface } from 'node:readline/promises';
import type { Millis } from '../../domain/ids.ts';
import type { Io } from '../../app/process/io.ts';
import { fitting } from './wrap.ts';
import { world } from '../../app/process/world.ts';

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
