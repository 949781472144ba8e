/** Bounds what tools return at the source: bytes, columns, binary content. All returned text is well-formed; making it safe
 * for a terminal is left to the screen. */
import type { ToolOutput } from '../../ports/tool.ts';

/** The most a tool result may hold, in UTF-8 bytes. */
export const RESULT_BYTES = 64 * 1024;
/** The longest line in a result, in UTF-16 units. */
export const LINE_COLUMNS = 2000;
/** Files above this size are never read whole. */
export const WHOLE_FILE_BYTES = 10 * 1024 * 1024;
/** The number of bytes that are checked to tell text from binary. */
const BINARY_PROBE_BYTES = 8 * 1024;

/** True when there is a NUL among the first 8 KiB. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);

/** Decodes UTF-8; invalid bytes become U+FFFD. A byte order mark is kept, so that the text can be written back. With `stream`
 * an incomplete character at the end is dropped. */
export const decode = (bytes: Uint8Array, how: { readonly stream?: boolean } = {}): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, how);

/** Limits each line to `columns`, then the whole text to `bytes`. */
export const capOutput = (text: string, limits: { readonly bytes?: number; readonly columns?: number } = {}): string =>
  capText(capLines(text, limits.columns ?? LINE_COLUMNS), limits.bytes ?? RESULT_BYTES);

/** Cuts long lines and states how much was cut; never splits a surrogate pair. */
export function capLines(text: string, columns: number): string {
  if (text.length <= columns) return text;
  return text
    .split('\n')
    .map((line) => capLine(line, columns))
    .join('\n');
}

export function capLine(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const cut = endsInHighSurrogate(line, columns) ? columns - 1 : columns;
  return `${line.slice(0, cut)}… (+${line.length - cut} characters)`;
}

/** The beginning and the end of a text with the omitted size between them; never more than `bytes` of UTF-8. */
export function capText(text: string, bytes: number): string {
  const whole = text.toWellFormed();
  if (Buffer.byteLength(whole) <= bytes) return whole;
  const kept = new HeadAndTail(Math.max(0, bytes - 80));
  kept.add(Buffer.from(whole));
  return kept.text();
}

/** Keeps the first and the last half of `capacity` bytes of a stream of any length; memory stays near the capacity. */
export class HeadAndTail {
  /** All bytes added so far, kept or not. */
  total = 0;
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  /** A ring buffer for the last bytes after the head, created when the head is full. */
  #ring: Buffer | null = null;
  #tailTotal = 0;

  constructor(capacity: number) {
    this.#half = Math.floor(capacity / 2);
  }

  add(chunk: Uint8Array): void {
    this.total += chunk.length;
    const room = this.#half - this.#headBytes;
    const forHead = chunk.subarray(0, room);
    if (forHead.length > 0) {
      this.#head.push(Buffer.from(forHead));
      this.#headBytes += forHead.length;
    }
    if (this.#half > 0 && forHead.length < chunk.length) this.#keepEnd(chunk.subarray(forHead.length));
  }

  /** Head, a line with the size of the gap, tail; a character that a border splits is dropped. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = this.#tail();
    const dropped = this.total - head.length - tail.length;
    if (dropped <= 0) return decode(Buffer.concat([head, tail])).toWellFormed();
    const first = decode(head, { stream: true });
    const last = decode(withoutCutStart(tail));
    return `${first}\n[… ${dropped} bytes left out …]\n${last}`;
  }

  /** As `text` where nothing was dropped, with each byte as one character. */
  bytes(): string {
    return Buffer.concat([...this.#head, this.#tail()]).toString('latin1');
  }

  #keepEnd(bytes: Uint8Array): void {
    this.#ring ??= Buffer.alloc(this.#half);
    // Only the last part of a chunk can still be in the tail afterwards.
    const end = bytes.subarray(-this.#half);
    const at = (this.#tailTotal + bytes.length - end.length) % this.#half;
    this.#ring.set(end.subarray(0, this.#half - at), at);
    this.#ring.set(end.subarray(this.#half - at), 0);
    this.#tailTotal += bytes.length;
  }

  #tail(): Buffer {
    if (this.#ring === null) return Buffer.alloc(0);
    const at = this.#tailTotal % this.#half;
    return this.#tailTotal <= this.#half
      ? this.#ring.subarray(0, this.#tailTotal)
      : Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
  }
}

/** A file name on one line: control characters and line separators are escaped. */
export const shownName = (name: string): string =>
  name.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (char) => {
    return char === '\n' ? String.raw`\n` : `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });

function endsInHighSurrogate(text: string, length: number): boolean {
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

/** A successful result, capped at 64 KiB; each tool limits its own line lengths. */
export const done = (text: string): ToolOutput => ({ ok: true, text: capText(text, RESULT_BYTES) });
/** An error result for the model, with the same cap. */
export const refused = (text: string): ToolOutput => ({ ok: false, text: capText(text, RESULT_BYTES) });
