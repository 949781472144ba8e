/**
 * Long pastes in a field: each stands there as a short sign (`[pasted 42 lines]`), which the cursor jumps over and which is
 * removed as one letter, while the field's text holds all of it.
 */
import { graphemes } from '../../../app/views/text/width.ts';

/** A pasted text, and what stands in its place. */
export interface Fold {
  readonly sign: string;
  readonly text: string;
}

/** Longer pastes are folded. */
const MOST_LINES = 10;
const MOST_LETTERS = 2000;

/** How a pasted text is folded, by a sign that is nowhere else in the field; null for one that is short enough to stand there. */
export function foldOf(
  text: string,
  { lines, folds }: { readonly lines: readonly string[]; readonly folds: readonly Fold[] },
): Fold | null {
  const count = text.split('\n').length;
  if (count <= MOST_LINES && text.length <= MOST_LETTERS) return null;
  const what = count > MOST_LINES ? `${count} lines` : `${text.length} letters`;
  const isTaken = (sign: string): boolean =>
    folds.some((fold) => fold.sign === sign) || lines.some((line) => line.includes(sign));
  let sign = `[pasted ${what}]`;
  for (let more = 2; isTaken(sign); more++) sign = `[pasted ${what}, ${more}]`;
  return { sign, text };
}

/** The text with what was pasted in the place of its signs. */
export function unfolded(shown: string, folds: readonly Fold[]): string {
  if (folds.length === 0) return shown;
  const texts = new Map(folds.map(({ sign, text }) => [sign, text]));
  return shown.replaceAll(/\[pasted [^\]\n]+\]/g, (sign) => texts.get(sign) ?? sign);
}

/** The sign right before the cursor as one letter; else the letter itself, empty at the start. */
export const letterBefore = (folds: readonly Fold[], before: string): string =>
  folds.find(({ sign }) => before.endsWith(sign))?.sign ?? graphemes(before).at(-1) ?? '';

/** The same behind the cursor. */
export const letterBehind = (folds: readonly Fold[], after: string): string =>
  folds.find(({ sign }) => after.startsWith(sign))?.sign ?? graphemes(after)[0] ?? '';

/** A place in a line that is not within a sign: it would be torn. */
export function outside(folds: readonly Fold[], line: string, column: number): number {
  for (const { sign } of folds) {
    const start = line.lastIndexOf(sign, column);
    if (start !== -1 && column > start && column < start + sign.length) return start;
  }
  return column;
}
