/** Bytes of a stream cut into lines, with a bound: what never ends its line is not kept. UTF-8 or nothing. */

/** Longest request in bytes. */
export const LONGEST_REQUEST = 1024 * 1024;
/** Longest answer: an event holds what a tool printed, whole. */
export const LONGEST_ANSWER = 64 * 1024 * 1024;

/** Pieces that are kept apart: a line that comes byte by byte would cost a hundred times its length. */
const MANY = 1024;
const NEWLINE = 0x0a;

/**
 * Takes the next bytes and gives the lines that they end, without their newlines; empty ones are left out. A null is the last:
 * a line is longer than `most` bytes, or no text.
 */
export function openLines(most: number): (bytes: Buffer) => readonly (string | null)[] {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let begun: Buffer[] = [];
  let length = 0;

  const ended = (last: Buffer): string | null => {
    const line = begun.length === 0 ? last : Buffer.concat([...begun, last]);
    [begun, length] = [[], 0];
    try {
      return decoder.decode(line);
    } catch {
      return null;
    }
  };
  const keep = (rest: Buffer): void => {
    if (rest.length === 0) return;
    begun.push(rest);
    length += rest.length;
    if (begun.length > MANY) begun = [Buffer.concat(begun)];
  };

  return (bytes) => {
    const lines: (string | null)[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      if (length + at - from > most) return [...lines, null];
      const line = ended(bytes.subarray(from, at));
      if (line === null) return [...lines, null];
      if (line !== '') lines.push(line);
      from = at + 1;
    }
    if (length + bytes.length - from > most) return [...lines, null];
    keep(bytes.subarray(from));
    return lines;
  };
}

/** A value as a line. JSON has no newline of its own. */
export const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/** What a line says: an object, or null when it is no JSON, or something else. */
export function readLine(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
