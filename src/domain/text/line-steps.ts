/** The lines of texts and the steps from one text to another, as diffs and the authors of lines need them. */

/** Lines with their line ends; the last one may have none. */
export const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** The steps from `old` to `fresh`; removed lines come before the lines added in their place. */
export function stepsBetween(old: readonly string[], fresh: readonly string[]): readonly Step[] {
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const middle = shortestEdit(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  return [...kept(old.slice(0, head)), ...middle, ...kept(old.slice(old.length - tail))];
}

const kept = (lines: readonly string[]): readonly Step[] => lines.map((line) => ({ is: ' ', line }));

// The shortest edit between two lists of lines, by Myers' greedy algorithm with bounded work. Beyond the bound the lists are split at
// lines that occur once in both; where there are none every line counts as replaced, which is still a correct edit.

/** A line that stays, goes or comes. */
export interface Step {
  readonly is: ' ' | '-' | '+';
  readonly line: string;
}

/** The most edits that are searched for: keeps steps below a million and memory at a few megabytes. */
const MAX_EDITS = 1000;

/** The steps from `old` to `fresh`, in order; removed lines come before the lines added in their place. */
function shortestEdit(old: readonly string[], fresh: readonly string[]): readonly Step[] {
  if (old.length === 0 || fresh.length === 0) return [...taken(old), ...added(fresh)];
  const trace = traceOf(old, fresh);
  return trace === null ? splitEdit(old, fresh) : walkBack(old, fresh, trace);
}

function splitEdit(old: readonly string[], fresh: readonly string[]): readonly Step[] {
  const anchors = anchorsOf(old, fresh);
  if (anchors.length === 0) return [...taken(old), ...added(fresh)];
  const ends = [...anchors, { at: old.length, other: fresh.length }];
  return ends.flatMap(({ at, other }, nth) => {
    const from = anchors[nth - 1] ?? { at: 0, other: 0 };
    return stepsBetween(old.slice(from.at, at), fresh.slice(from.other, other));
  });
}

/** Where a line that occurs once in both lists stands in each. */
interface Anchor {
  readonly at: number;
  readonly other: number;
  /** The one before it in the longest row that ends here. */
  readonly before?: Anchor | undefined;
}

/** The most of them that are in the same order in both lists: patience sorting. */
function anchorsOf(old: readonly string[], fresh: readonly string[]): readonly Anchor[] {
  const there = placesOf(fresh);
  const lasts: Anchor[] = [];
  for (const [line, at] of placesOf(old)) {
    const other = there.get(line) ?? -1;
    if (at < 0 || other < 0) continue;
    const found = lasts.findLastIndex((last) => last.other < other);
    lasts[found + 1] = { at, other, before: lasts[found] };
  }
  const row: Anchor[] = [];
  for (let one = lasts.at(-1); one !== undefined; one = one.before) row.push(one);
  return row.reverse();
}

/** Where each line stands, in order; -1 where it occurs more than once. */
function placesOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [at, line] of lines.entries()) places.set(line, places.has(line) ? -1 : at);
  return places;
}

const taken = (lines: readonly string[]): readonly Step[] => lines.map((line) => ({ is: '-', line }));
const added = (lines: readonly string[]): readonly Step[] => lines.map((line) => ({ is: '+', line }));

/** How far into the old list each diagonal reached with one edit fewer than `edits`; -1 where it was not reached. */
class Reach {
  readonly #edits: number;
  readonly #furthest: Int32Array;

  constructor(edits: number, furthest: Int32Array) {
    this.#edits = edits;
    this.#furthest = furthest;
  }

  /** True when the path enters this diagonal by adding a line, false when it does so by removing one. */
  byAdding(diagonal: number): boolean {
    if (diagonal === -this.#edits) return true;
    return diagonal !== this.#edits && this.#at(diagonal - 1) < this.#at(diagonal + 1);
  }

  /** Where the path enters the diagonal, counted in old lines. */
  start(diagonal: number): number {
    return this.byAdding(diagonal) ? this.#at(diagonal + 1) : this.#at(diagonal - 1) + 1;
  }

  #at(diagonal: number): number {
    return this.#furthest[diagonal + this.#edits + 1] ?? -1;
  }
}

/** One `Reach` for each number of edits until both lists are used up; null past the bound. */
function traceOf(old: readonly string[], fresh: readonly string[]): readonly Reach[] | null {
  const most = Math.min(MAX_EDITS, old.length + fresh.length);
  const middle = most + 1;
  const furthest = new Int32Array(2 * middle + 1).fill(-1);
  furthest[middle + 1] = 0;
  const trace: Reach[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    const reach = new Reach(edits, furthest.slice(middle - edits - 1, middle + edits + 2));
    trace.push(reach);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const x = slide(old, fresh, reach.start(diagonal), diagonal);
      furthest[middle + diagonal] = x;
      if (x >= old.length && x - diagonal >= fresh.length) return trace;
    }
  }
  return null;
}

function slide(old: readonly string[], fresh: readonly string[], from: number, diagonal: number): number {
  let x = from;
  while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1;
  return x;
}

function walkBack(old: readonly string[], fresh: readonly string[], trace: readonly Reach[]): readonly Step[] {
  const steps: Step[] = [];
  let x = old.length;
  let y = fresh.length;
  for (const [index, reach] of trace.toReversed().entries()) {
    const first = index === trace.length - 1;
    const start = first ? 0 : reach.start(x - y);
    const byAdding = reach.byAdding(x - y);
    for (; x > start; x -= 1, y -= 1) steps.push({ is: ' ', line: old[x - 1] ?? '' });
    if (first) break;
    steps.push(byAdding ? { is: '+', line: fresh[y - 1] ?? '' } : { is: '-', line: old[x - 1] ?? '' });
    if (byAdding) y -= 1;
    else x -= 1;
  }
  return steps.reverse();
}
