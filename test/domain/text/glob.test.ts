/** Globs that say what a task may change: what they match, and whether two of them may say the same file. */
import { matchesGlob as matchesByNode } from 'node:path/posix';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  coversAll,
  coversFolder,
  globProblem,
  literalFolders,
  literalNames,
  matchesGlob,
  meetingGlobs,
  reachesInto,
} from '../../../src/domain/text/glob.ts';

/** May there be a file that both lists say? */
const mayMeet = (a: readonly string[], b: readonly string[]): boolean => meetingGlobs(a, b) !== null;

const SEGMENTS = ['a', 'b', 'ab', 'a.ts', 'b.ts', 'x.md'];
const PARTS = ['a', 'b', '*', '?', '**', '*.ts', 'a*', '*b*', '{a,b}', '{a,x}.{ts,md}', 'A'];

/** All paths of one to three names. */
const PATHS: readonly string[] = [1, 2, 3].flatMap((length) => pathsOf(length, SEGMENTS));
function pathsOf(length: number, names: readonly string[]): readonly string[] {
  if (length === 0) return [''];
  return pathsOf(length - 1, names).flatMap((front) => names.map((name) => (front === '' ? name : `${front}/${name}`)));
}

const glob = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

describe('A glob', () => {
  it('matches what Node matches by it or by it and everything below', () => {
    fc.assert(
      fc.property(glob, (one) => {
        // A folder and all in it are one thing here.
        const forms = [one.replace(/(?:\/\*\*)+$/, ''), `${one}/**`];
        for (const path of PATHS) {
          const expected = forms.some((form) => matchesByNode(path, form));
          expect([one, path, matchesGlob([one], path)]).toEqual([one, path, expected]);
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['src/**', 'src/a/b.ts', true],
    ['src', 'src/a/b.ts', true],
    ['./src/', 'src/a.ts', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/a/b.ts', false],
    ['src/*.ts', 'src/.hidden.ts', true],
    ['**', '.github/workflows/ci.yml', true],
    ['.', 'a', true],
    ['src/a.ts', 'src/b.ts', false],
    ['app/[id]/(group)/page.tsx', 'app/[id]/(group)/page.tsx', true],
    ['docs/{a,b/{c,d}}.md', 'docs/b/d.md', true],
    ['docs/{a}.md', 'docs/{a}.md', true],
    [String.raw`docs/\*.md`, 'docs/a.md', false],
    [String.raw`docs/\*.md`, 'docs/*.md', true],
  ])('%s on %s: %s', (one, path, expected) => {
    expect(matchesGlob([one], path)).toBe(expected);
  });

  it('is refused where it leads outside the project, excludes, says nothing or stands for too much', () => {
    expect(['src/**', '../x', 'a/../../b', '/etc', '~/x', '!src', ' ', '{a,b}'.repeat(7)].map(globProblem)).toEqual([
      null,
      '"../x" leads outside the project',
      '"a/../../b" leads outside the project',
      '"/etc" is not a path in the project: give it relative to the root',
      '"~/x" is not a path in the project: give it relative to the root',
      '"!src" starts with "!", but patterns cannot exclude files',
      'an empty pattern',
      `"${'{a,b}'.repeat(7)}" has more than 64 alternatives`,
    ]);
  });

  it('names the longest folder without a wild card', () => {
    expect(
      ['src/**', 'src/*.ts', 'src/a.ts', '**/*.md', 'package.json', '{src,docs}/**', 'a/b?/c'].map(literalFolders),
    ).toEqual([['src'], ['src'], ['src'], [''], [''], ['src', 'docs'], ['a']]);
    expect(['src/a.ts', '{a,b}', 'src/*'].map(literalNames)).toEqual([['src/a.ts'], ['a', 'b'], []]);
  });

  it('covers a folder when everything below it is meant, and reaches into one when something may be', () => {
    expect(
      [['**'], ['src/**'], ['src/*.ts'], ['**/*.ts'], ['packages/*/src/**']].map((globs) => [
        coversAll(globs),
        coversFolder(globs, 'src'),
        coversFolder(globs, 'packages/a/src/b'),
        reachesInto(globs, 'src'),
        reachesInto(globs, 'src/sub'),
        reachesInto(globs, 'packages/a'),
        reachesInto(globs, 'packages/a/test'),
      ]),
    ).toEqual([
      [true, true, true, true, true, true, true],
      [false, true, false, true, true, false, false],
      [false, false, false, true, false, false, false],
      [false, false, false, true, true, true, true],
      [false, false, true, false, false, true, false],
    ]);
  });
});

describe('Two lists of globs', () => {
  it('may meet whenever there is a file that both match', () => {
    fc.assert(
      fc.property(fc.array(glob, { maxLength: 2 }), fc.array(glob, { maxLength: 2 }), (a, b) => {
        const both = PATHS.filter((path) => matchesGlob(a, path) && matchesGlob(b, path));
        if (both.length > 0) expect([a, b, mayMeet(a, b)]).toEqual([a, b, true]);
        expect(mayMeet(a, b)).toBe(mayMeet(b, a));
      }),
    );
  });

  it('do not meet where no file is matched by both', () => {
    const paths = [1, 2, 3, 4, 5, 6].flatMap((length) => pathsOf(length, ['a', 'b', 'x.ts']));
    const small = fc.array(fc.constantFrom('a', 'b', '*', '*.ts', '**'), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(small, small, (a, b) => {
        const [one, other] = [a.join('/'), b.join('/')];
        const meets = paths.some((path) => matchesGlob([one], path) && matchesGlob([other], path));
        expect([one, other, mayMeet([one], [other])]).toEqual([one, other, meets]);
      }),
    );
  });

  it.each([
    [['src/**'], ['docs/**'], false],
    [['src/**'], ['src/a.ts'], true],
    [['src/*.ts'], ['src/*.md'], false],
    [['src/*.ts'], ['src/a/*.ts'], false],
    [['**/*.test.ts'], ['src/**'], true],
    [['**'], ['x'], true],
    [[], ['**'], false],
    [['README.md'], ['readme.md'], true],
    [['src/a?.ts'], ['src/*b.ts'], true],
    [['?'], ['İ'], true],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(mayMeet(a, b)).toBe(expected);
  });
});
