/** Texts on their way to a model: bounded in bytes, and without characters that a person wouldn't see. What they mean is for others. */

/** UTF-8 bytes. */
export const bytesIn = (text: string): number => Buffer.byteLength(text);

/** What stands where a text was cut. */
const CUT = '… (cut)';

/**
 * At most `bytes` of UTF-8, `marker` included: the head of the text, up to a line's end where one is near. A text that
 * fits is given back as it is, half surrogate pairs mended.
 */
export function headOf(text: string, bytes: number, marker = CUT): string {
  const whole = text.toWellFormed();
  if (bytesIn(whole) <= bytes) return whole;
  const room = bytes - bytesIn(marker) - 1;
  if (room <= 0) return '';
  // A character cut in two at the end is left out.
  const head = Buffer.from(whole)
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD+$/, '');
  const line = head.lastIndexOf('\n');
  return `${(line > head.length * 0.8 ? head.slice(0, line) : head).trimEnd()}\n${marker}`;
}

/** The longest head of `text` within `bytes` of UTF-8, no character cut in two. */
export function withinBytes(text: string, bytes: number): string {
  if (bytesIn(text) <= bytes) return text;
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\uFFFD+$/, '');
}

/** At most about `bytes`: two thirds from the head, one from the tail, whole lines where it can be, and `marker` between. */
export function headAndTail(text: string, bytes: number, marker: (left: number) => string): string {
  const whole = Buffer.from(text.toWellFormed());
  if (whole.length <= bytes) return whole.toString();
  const room = Math.max(0, bytes - bytesIn(marker(whole.length)) - 2);
  const tailBytes = Math.floor(room / 3);
  const rest = whole
    .subarray(whole.length - tailBytes)
    .toString()
    .replace(/^\uFFFD+/, '');
  const line = rest.indexOf('\n');
  const tail = line !== -1 && line < rest.length * 0.2 ? rest.slice(line + 1) : rest;
  const head = headOf(whole.toString(), room - tailBytes, '').trimEnd();
  return `${head}\n${marker(whole.length - bytesIn(head) - bytesIn(tail))}\n${tail}`;
}

/** Line ends are `\n`; every other control, format or private character is left out: orders could hide in them. */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(/[[\p{Cc}\p{Cf}\p{Co}]--[\n\t]]/gv, '');

/**
 * What a person can see of a text: as `plainText`, and without all that shows nothing, but with the joiners and variants that
 * letters and emoji are made with.
 */
export const seenText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(
      /[[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]--[\n\t\p{Join_Control}]--[\ufe0e-\ufe0f]]/gv,
      '',
    );

/** One line of plain text, at most `length` characters. */
export function plainLine(text: string, length: number): string {
  const line = plainText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).toWellFormed()}…`;
}

/**
 * The greatest size that all of `sizes` may have at most so that their sum is no more than `total`: small ones keep
 * theirs, the room that is left is shared by the others.
 */
export function fairShare(sizes: readonly number[], total: number): number {
  let [left, count] = [total, sizes.length];
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size > left / count) return Math.floor(left / count);
    left -= size;
    count -= 1;
  }
  return Math.max(0, ...sizes);
}

/** `5000`, `5,000`, `2.50` and `2,50`: a comma before three digits separates thousands, any other one the fraction. Null for anything else. */
export function typedNumber(text: string): number | null {
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text)) return Number(text.replaceAll(',', ''));
  return /^\d+(?:[.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : null;
}
