/** Unified line diffs for previews and results, in the form that `patch` and `git apply` accept. */
import { linesOf, type Step, stepsBetween } from '../../domain/text/line-steps.ts';
import { shownName } from '../process/output.ts';

export interface Change {
  /** Relative to the root. */
  readonly name: string;
  /** Null for a new file. */
  readonly before: string | null;
  readonly after: string;
}

/** `after` is null for a file that is gone. */
type Patched = Omit<Change, 'after'> & { readonly after: string | null };

/** The diff, or an empty string when nothing changes. `context` is the number of unchanged lines around each change. */
export function unifiedDiff({ name, before, after }: Patched, context = 3): string {
  if (before === after) return '';
  const shown = shownName(name);
  const old = linesOf(before ?? '');
  const fresh = linesOf(after ?? '');
  const head = [
    before === null ? '--- /dev/null' : `--- a/${shown}`,
    after === null ? '+++ /dev/null' : `+++ b/${shown}`,
  ];
  const hunks = hunksOf(stepsBetween(old, fresh), context);
  return [...head, ...hunks.flatMap(hunkText)].join('\n');
}

/** Lines added and removed, counted from a diff of `unifiedDiff`. */
export function diffCounts(diff: string): readonly [added: number, removed: number] {
  const lines = diff.split('\n').slice(2);
  const starting = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return [starting('+'), starting('-')];
}

interface Hunk {
  /** Lines before the hunk in the old and the new text. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly steps: readonly Step[];
}

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
