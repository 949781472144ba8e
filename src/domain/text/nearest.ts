/** "Did you mean": the known word that was probably meant, by edits of one letter and swaps of two neighbours. */

/** The closest of `known` within a third of the word's length (at least one edit), or null. Case counts as one edit less. */
export function nearest(word: string, known: readonly string[]): string | null {
  if (word.length > 100) return null;
  const reach = Math.max(1, Math.floor(word.length / 3));
  const ranked = known
    .map((candidate) => ({ candidate, edits: edits(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= reach)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate ?? null;
}

/** `did you mean "x"?` when something is near, else all that is known, shortened. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  if (near !== null) return `did you mean "${near}"?`;
  const some = known.slice(0, 12).join(', ');
  return known.length === 0 ? 'take it out' : `known here: ${some}${known.length > 12 ? ', …' : ''}`;
}

/** Damerau-Levenshtein with neighbours swapped at most once (optimal string alignment). */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, changed, swap));
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
