/**
 * Unified line diffs for previews and results: what `patch` and `git apply` accept. Which lines differ is `myers.ts`'s.
 */
import { type Step, shortestEdit } from './myers.ts';
import { shownName } from '../process/output.ts';

export interface Change {
  /** Relative to the root. */
  readonly name: string;
  /** Null for a file that was not there. */
  readonly before: string | null;
  readonly after: string;
}

/** The diff, or an empty string when nothing changes. `context` lines stand around each change. */
export function unifiedDiff({ name, before, after }: Change, context = 3): string {
  if (before === after) return '';
  const shown = shownName(name);
  const old = linesOf(before ?? '');
  const fresh = linesOf(after);
  const head = [before === null ? '--- /dev/null' : `--- a/${shown}`, `+++ b/${shown}`];
  const hunks = hunksOf(stepsBetween(old, fresh), context);
  return [...head, ...hunks.flatMap(hunkText)].join('\n');
}

/** `+3 -1`: lines added and taken away, counted from a diff of `unifiedDiff`. */
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

/** Lines with their ends; the last one may have none. */
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

/** Groups changes that are at most two contexts apart. */
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
    // Between hunks there are kept lines only: both sides move alike.
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
