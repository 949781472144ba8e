/** Diffs say exactly what changes: applying one gives the new text, by our own reading and by git's. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffCounts, unifiedDiff } from '../../../src/tools/files/diff.ts';
import { makeFolder } from '../../support/repos.ts';
import { applied } from '../applied.ts';

const line = fc.constantFrom('a', 'b', 'c', '', '  x', '}', '@@ -1 +1 @@', '-a', '+a', '\\ No newline', 'é😀', 'r\r');
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''));

describe('a diff', () => {
  it('shows changes with three lines around them', () => {
    const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
    expect(unifiedDiff({ name: 'src/n.txt', before, after: before.replace('five', 'FIVE') })).toBe(
      '--- a/src/n.txt\n+++ b/src/n.txt\n@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+FIVE\n six\n seven\n eight',
    );
  });

  it('is empty when nothing changes, and names a new file', () => {
    expect(unifiedDiff({ name: 'a', before: 'x', after: 'x' })).toBe('');
    expect(unifiedDiff({ name: 'a', before: null, after: 'x\ny' })).toBe(
      '--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file',
    );
  });

  it('counts lines added and taken away', () => {
    expect(diffCounts(unifiedDiff({ name: 'a', before: 'x\ny\n', after: 'x\nz\nw\n' }))).toEqual([2, 1]);
  });

  it('gives the new text when it is applied to the old one', () => {
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 4 }), (before, after, context) => {
        expect(applied(before, unifiedDiff({ name: 'f', before, after }, context))).toBe(after);
      }),
      { numRuns: 1000 },
    );
  });

  it('is what git applies', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after && before !== '' && after !== '');
        const folder = makeFolder({ f: before, patch: `${unifiedDiff({ name: 'f', before, after })}\n` });
        execFileSync('git', ['apply', '--whitespace=nowarn', 'patch'], { cwd: folder, stdio: 'pipe' });
        expect(readFileSync(path.join(folder, 'f'), 'utf8')).toBe(after);
      }),
      { numRuns: 40 },
    );
  });

  it('takes no more lines than it must', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), fc.nat(19), (lines, index) => {
        const before = lines.map((line) => `${line}\n`).join('');
        const after = lines
          .toSpliced(index, 1)
          .map((line) => `${line}\n`)
          .join('');
        expect(diffCounts(unifiedDiff({ name: 'f', before, after }))).toEqual(index < lines.length ? [0, 1] : [0, 0]);
      }),
    );
  });

  it('stays quick and right when everything differs', () => {
    const before = Array.from({ length: 50_000 }, (_, index) => `old ${index}\n`).join('');
    const after = Array.from({ length: 50_000 }, (_, index) => `new ${index}\n`).join('');
    const begun = performance.now();
    const diff = unifiedDiff({ name: 'f', before, after });
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(diffCounts(diff)).toEqual([50_000, 50_000]);
    expect(applied(before, diff)).toBe(after);
  });
});
