/**
 * How the analyst cites: the place and the words of that line, both in backticks, so that anyone (and a test) can check
 * that the file is there and the line holds it.
 */

/** One line of a file, as a tool showed it. */
export interface Hit {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

const LONGEST = 80;

/** `` `path:line` `text of the line` ``. What backticks or control characters would break is left out. */
export function claim(hit: Hit): string {
  const words = quotable(hit.text);
  return words === '' ? place(hit) : `${place(hit)} \`${words}\``;
}

/** `` `path:line` `` alone. */
export const place = ({ path, line }: Pick<Hit, 'path' | 'line'>): string => `\`${path}:${line}\``;

/** The longest part of a line that can stand in backticks, trimmed, at most 80 characters. */
function quotable(line: string): string {
  // A long line arrives cut, with the number of characters that are missing: those words are not the file's.
  const own = line.replace(/… \(\+\d+ characters\)$/, '');
  const parts = own.split(/[`\p{Cc}\p{Cf}\u2028\u2029\uFFFD]/u).map((part) => part.trim());
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  return longest
    .slice(0, LONGEST)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trim();
}
