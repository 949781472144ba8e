/** Unified line diffs for previews and results, in the form that `patch` and `git apply` accept. */
import { shownName } from '../process/output.ts';

export interface Change {
  /** Relative to the root. */
  readonly name: string;
  /** Null for a new file. */
  readonly before: string | null;
  readonly after: string;
}

/** The diff, or an empty string when nothing changes. `context` is the number of unchanged lines around each change. */
export function unifiedDiff({ name, before, after }: Change, context = 3): string {
  if (before === after) return '';
  const shown = shownName(name);
  const old = linesOf(before ?? '');
  const fresh = linesOf(after);
  const head = [before === null ? '--- /dev/null' : `--- a/${shown}`, `+++ b/${shown}`];
  const hunks = hunksOf(stepsBetween(old, fresh), context);
  return [...head, ...hunks.flatMap(hunkText)].join('\n');
}

/** Lines added and removed, as `+3 -1`, counted from a diff of `unifiedDiff`. */
export function diffCounts(diff: string): string {
  const lines = diff.split('\n').slice(2);
  const added = lines.filter((line) => line.startsWith('+')).length;
  return `+${added} -${lines.filter((line) => line.startsWith('-')).length}`;
}

interface Hunk {
  /** Lines before the hunk in the old and the new text. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly steps: readonly Step[];
}

/** Lines with their line ends; the last one may have none. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function stepsBetween(old: readonly string[], fresh: readonly string[]): readonly Step[] {
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const middle = shortestEdit(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  return [...kept(old.slice(0, head)), ...middle, ...kept(old.slice(old.length - tail))];
}

const kept = (lines: readonly string[]): readonly Step[] => lines.map((line) => ({ is: ' ', line }));

/** Groups changes whose context lines touch or overlap. */
function hunksOf(steps: readonly Step[], context: number): readonly Hunk[] {
  const changed = steps.flatMap((step, index) => (step.is === ' ' ? [] : [index]));
  const ranges: { from: number; to: number }[] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    const from = Math.max(0, index - context);
    const to = Math.min(steps.length, index + context + 1);
    if (last !== undefined && from <= last.to) last.to = to;
    else ranges.push({ from, to });
  }
  let oldStart = 0;
  let newStart = 0;
  let at = 0;
  return ranges.map(({ from, to }) => {
    // Lines between hunks are unchanged, so both sides move by the same number.
    oldStart += from - at;
    newStart += from - at;
    at = to;
    const hunk = { oldStart, newStart, steps: steps.slice(from, to) };
    oldStart += hunk.steps.filter((step) => step.is !== '+').length;
    newStart += hunk.steps.filter((step) => step.is !== '-').length;
    return hunk;
  });
}

function hunkText({ oldStart, newStart, steps }: Hunk): readonly string[] {
  const olds = steps.filter((step) => step.is !== '+').length;
  const news = steps.filter((step) => step.is !== '-').length;
  const head = `@@ -${rangeText(oldStart, olds)} +${rangeText(newStart, news)} @@`;
  const lines = steps.flatMap(({ is, line }) =>
    line.endsWith('\n') ? [`${is}${line.slice(0, -1)}`] : [`${is}${line}`, String.raw`\ No newline at end of file`],
  );
  return [head, ...lines];
}

/** An empty range names the line before it, as `diff -u` does. */
const rangeText = (start: number, lines: number): string =>
  lines === 0 ? `${start},0` : lines === 1 ? `${start + 1}` : `${start + 1},${lines}`;

// The shortest edit between two lists of lines, by Myers' greedy algorithm with bounded work. Beyond the bound every line
// counts as replaced, which is still a correct edit.

interface Step {
  readonly is: ' ' | '-' | '+';
  readonly line: string;
}

/** The most edits that are searched for: keeps steps below a million and memory at a few megabytes. */
const MAX_EDITS = 1000;

/** The steps from `old` to `fresh`, in order; removed lines come before the lines added in their place. */
function shortestEdit(old: readonly string[], fresh: readonly string[]): readonly Step[] {
  const trace = old.length === 0 || fresh.length === 0 ? null : traceOf(old, fresh);
  return trace === null ? [...taken(old), ...added(fresh)] : walkBack(old, fresh, trace);
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
