/** Reads unified diffs back, independently of how they are made. */
import { expect } from 'vitest';

/** Applies a unified diff of one file, believing its line numbers and checking every line that it names. */
export function applied(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const result: string[] = [];
  let at = 0;
  for (const { first, lines } of hunksOf(diff)) {
    result.push(...old.slice(at, first));
    at = first;
    for (const { mark, text } of lines) {
      if (mark !== '+') expect(old[at]).toBe(text);
      if (mark !== '+') at += 1;
      if (mark !== '-') result.push(text);
    }
  }
  return [...result, ...old.slice(at)].join('');
}

/** The hunks of a diff: old lines before each, and its lines with their ends. */
function hunksOf(diff: string) {
  return diff
    .split(/^(?=@@ )/m)
    .slice(1)
    .map((hunk) => {
      const [head = '', ...rows] = hunk.replace(/\n$/, '').split('\n');
      const [, start, count] = /^@@ -(\d+)(?:,(\d+))? /.exec(head) ?? [];
      const lines = rows.flatMap((row, index) => {
        const end = rows[index + 1]?.startsWith('\\') === true ? '' : '\n';
        return row.startsWith('\\') ? [] : [{ mark: row.slice(0, 1), text: row.slice(1) + end }];
      });
      return { first: Number(start) - (count === '0' ? 0 : 1), lines };
    });
}
