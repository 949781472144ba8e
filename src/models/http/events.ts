/**
 * Reads a stream of server-sent events to what each says. Its own reader, not the client library's: whether a stream came to its end
 * or was cut decides what is executed. However a stream comes, no more than one event of it is held.
 */
import { parsed } from './json.ts';

/** What the last event says on the wires that have one. */
export const DONE = '[DONE]';

/** More than this in one event is no reply. */
const LONGEST_EVENT = 4 * 1024 * 1024;
const MOST_LINES = 4096;

const LINE_END = 0x0a;

/** The `data` of each event in `body`. Throws what reading the body throws, and for an event that is too large. */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const rest = new Held();
  const event = new Lines();
  for await (const piece of body) {
    const end = piece.lastIndexOf(LINE_END) + 1;
    if (end > 0) {
      rest.add(piece.subarray(0, end));
      for (const line of linesOf(rest.take())) {
        if (line !== '') event.add(line);
        else if (!event.isEmpty) yield event.take();
      }
    }
    rest.add(piece.subarray(end));
    if (rest.length > LONGEST_EVENT) throw tooLarge();
  }
  // Some servers leave the end of the last line out. What is no whole event then was cut off.
  event.add(rest.take().trimEnd());
  const last = event.take();
  if (isWhole(last)) yield last;
}

const isWhole = (event: string): boolean => event !== '' && (event === DONE || parsed(event) !== undefined);

/** The lines of `text`, which ends with an end of line. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
    yield text.slice(from, to > from && text[to - 1] === '\r' ? to - 1 : to);
    from = to + 1;
  }
}

const tooLarge = (): Error => new Error('an event is too large');

/** The data of one event, line by line. */
class Lines {
  #lines: string[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(line: string): void {
    if (!line.startsWith('data:')) return;
    const data = line.startsWith('data: ') ? line.slice(6) : line.slice(5);
    this.#length += data.length + 1;
    if (this.#length > LONGEST_EVENT || this.#lines.length >= MOST_LINES) throw tooLarge();
    this.#lines.push(data);
  }

  take(): string {
    const event = this.#lines.join('\n');
    this.#lines = [];
    this.#length = 0;
    return event;
  }
}

/** Bytes of a line whose end has not come, in one piece: thousands of small ones would take many times their size. */
class Held {
  #bytes = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    if (length > this.#bytes.byteLength) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.byteLength));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#length);
    this.#length = 0;
    return text;
  }
}
