/** Splits a stream of bytes at line ends, in bounded memory however long a line is and in however small pieces it comes. */

export interface ByteLine {
  /** Its beginning, without the line end. Valid until the next line. */
  readonly bytes: Buffer;
  /** The bytes of the whole line. */
  readonly length: number;
}

export class ByteLines {
  readonly #most: number;
  readonly #end: number;
  /** The beginning of the unfinished line in one buffer: thousands of small pieces would take many times their size. */
  #kept = Buffer.alloc(0);
  #held = 0;
  #length = 0;

  /** Keeps at most `most` bytes of an unfinished line; `end` is the byte that ends one. */
  constructor(most: number, end = 0x0a) {
    this.#most = most;
    this.#end = end;
  }

  /** Bytes of the unfinished line, kept or not. */
  get unfinished(): number {
    return this.#length;
  }

  *add(bytes: Uint8Array): Generator<ByteLine> {
    let from = 0;
    for (let at = bytes.indexOf(this.#end); at !== -1; at = bytes.indexOf(this.#end, from)) {
      yield this.#completed(bytes.subarray(from, at));
      from = at + 1;
    }
    this.#keep(bytes.subarray(from));
  }

  rest(): ByteLine {
    const line = { bytes: this.#kept.subarray(0, this.#held), length: this.#length };
    [this.#held, this.#length] = [0, 0];
    return line;
  }

  #completed(last: Uint8Array): ByteLine {
    if (this.#length === 0)
      return { bytes: Buffer.from(last.buffer, last.byteOffset, last.length), length: last.length };
    this.#keep(last);
    return this.rest();
  }

  #keep(piece: Uint8Array): void {
    this.#length += piece.length;
    const part = piece.subarray(0, this.#most - this.#held);
    const held = this.#held + part.length;
    if (held > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(held, 2 * this.#kept.length));
      this.#kept.copy(grown, 0, 0, this.#held);
      this.#kept = grown;
    }
    this.#kept.set(part, this.#held);
    this.#held = held;
  }
}
