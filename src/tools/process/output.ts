/**
 * What tools give back is bounded here, at the source: bytes, columns and binary content. Everything that leaves is
 * well-formed text; making it safe for a terminal is the screen's.
 */
import type { ToolOutput } from '../../ports/tool.ts';

/** The most a tool result may hold, in UTF-8 bytes. */
export const RESULT_BYTES = 64 * 1024;
/** The longest line in a result, in UTF-16 units. */
export const LINE_COLUMNS = 2000;
/** Files above this are never read whole. */
export const WHOLE_FILE_BYTES = 10 * 1024 * 1024;
/** What is looked at to tell text from binary. */
const BINARY_PROBE_BYTES = 8 * 1024;

/** A NUL among the first 8 KiB: not text. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);

/** Bytes as text; what is not UTF-8 becomes U+FFFD. A byte order mark is kept, so that text can be written back. */
export const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

/** Every line at most `columns` long, with the number of characters cut, then at most `bytes` in all. */
export function capOutput(text: string, limits: { readonly bytes?: number; readonly columns?: number } = {}): string {
  return capText(capLines(text, limits.columns ?? LINE_COLUMNS), limits.bytes ?? RESULT_BYTES);
}

/** Cuts long lines, never through a surrogate pair. */
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

/** Head and tail of a text with what was left out between them named; never more than `bytes` of UTF-8. */
export function capText(text: string, bytes: number): string {
  const whole = text.toWellFormed();
  if (Buffer.byteLength(whole) <= bytes) return whole;
  const kept = new HeadAndTail(Math.max(0, bytes - 80));
  kept.add(Buffer.from(whole));
  return kept.text();
}

/**
 * Takes any number of bytes and keeps the first and the last half of `capacity`; the rest is counted and dropped. Memory
 * stays near the capacity, whatever comes.
 */
export class HeadAndTail {
  /** All bytes that came, kept or not. */
  total = 0;
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  /** The last bytes behind the head, written round and round, so that a flood leaves nothing to clean up; made for the first of them. */
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

  /** Head, a line that names the gap, tail; a character cut in two at a border is left out. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = this.#tail();
    const dropped = this.total - head.length - tail.length;
    if (dropped <= 0) return decode(Buffer.concat([head, tail])).toWellFormed();
    const first = decode(withoutCutEnd(head));
    const last = decode(withoutCutStart(tail));
    return `${first}\n[… ${dropped} bytes left out …]\n${last}`;
  }

  #keepEnd(bytes: Uint8Array): void {
    this.#ring ??= Buffer.alloc(this.#half);
    // Only the end of a chunk can still be in the tail when all is said.
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

/** One line for any file name: control characters and line ends escaped. */
export function shownName(name: string): string {
  return name.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (char) => {
    if (char === '\n') return String.raw`\n`;
    return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}

/** `1 file`, `2 files`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function endsInHighSurrogate(text: string, length: number): boolean {
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Without the bytes of a character that has no end. Looks at 3 bytes at most. */
function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

/** A result within its 64 KiB; long lines are each tool's to cut. */
export const done = (text: string): ToolOutput => ({ ok: true, text: capText(text, RESULT_BYTES) });
/** An error result that the model reads, within the same cap. */
export const refused = (text: string): ToolOutput => ({ ok: false, text: capText(text, RESULT_BYTES) });
