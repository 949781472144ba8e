/** The file that a call of a writing tool names, by which a call that was cut off is found again. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writtenPath } from '../../../src/engine/gate/tools/interrupted-call.ts';

describe('the file that a call writes', () => {
  it.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src//a.ts', 'src/a.ts'],
    ['src/./a.ts/', 'src/a.ts'],
    ['/src/a.ts', '/src/a.ts'],
    ['//src/./a.ts', '/src/a.ts'],
    ['../a.ts', '../a.ts'],
    ['.', ''],
  ])('is the same for all ways to write %j', (typed, path) => {
    expect(writtenPath({ path: typed })).toBe(path);
  });

  it('is none where the input names none', () => {
    for (const input of [null, undefined, 'src/a.ts', {}, { path: 1 }, { file: 'src/a.ts' }])
      expect([input, writtenPath(input)]).toEqual([input, null]);
  });

  it('stays as it is when it is taken again', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '.', '..', '', 'b.ts')), (parts) => {
        const path = writtenPath({ path: parts.join('/') });
        expect(writtenPath({ path })).toBe(path);
      }),
    );
  });
});
