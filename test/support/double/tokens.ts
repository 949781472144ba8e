/** The double's own way to count tokens: four bytes each, rounded up, so never more than one for a byte. */

/** Tokens in `bytes` bytes. */
export const tokensOf = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

export const BYTES_PER_TOKEN = 4;

/** Tokens in `text`. */
export const tokensIn = (text: string): number => tokensOf(Buffer.byteLength(text));

/** `text` in the pieces in which it streams: at most twelve characters, none broken. */
export function piecesOf(text: string): readonly string[] {
  const letters = Array.from(text);
  const pieces: string[] = [];
  for (let from = 0; from < letters.length; from += PIECE) pieces.push(letters.slice(from, from + PIECE).join(''));
  return pieces;
}

const PIECE = 12;
