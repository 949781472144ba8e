import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moreThanReading } from '../../../../src/policy/commands/reading/reading.ts';
import { shellText } from '../../../support/commands.ts';
import { ASKING, READING } from '../../../support/reading-commands.ts';

const place = { root: '/home/ada/project', folder: '/home/ada/project' };
const more = (command: string, folder = place.folder): string | null => moreThanReading(command, { ...place, folder });

/** Programs that do no more than read, whatever they are given. */
const OPEN = 'cat cut tr paste comm join column fold expand unexpand rev od strings base64 md5sum'.split(' ');

describe('a command that only reads (D39)', () => {
  it.each(READING)('is %s', (command) => {
    expect(more(command)).toBeNull();
  });

  it.each(Object.entries(ASKING).flatMap(([about, all]) => all.map((command) => [about, command] as const)))(
    'is not, by %s: %s',
    (_, command) => {
      expect(more(command)).toEqual(expect.any(String));
    },
  );

  it('may choose, and is asked about by each part of the choice', () => {
    const parts = ['test -f a', 'cat a', 'test -f b', 'cat b', 'ls'];
    const chosen = ([one, two, three, four, five]: readonly string[]): string =>
      `if ${one}; then ${two}; elif ${three}; then ${four}; else ${five}; fi`;
    expect(more(chosen(parts))).toBeNull();
    for (const at of parts.keys())
      expect(more(chosen(parts.with(at, 'npm test')))).toBe('npm is not known to be read-only');
    expect(more('if test -f a; then cat a; fi')).toBeNull();
    expect(more('if test -f a; then cat a; elif test -f b; then npm test; fi')).toBe(
      'npm is not known to be read-only',
    );
  });

  it('may repeat itself, and is asked about by what it repeats and until when', () => {
    expect(more('while test -f a; do cat a; done')).toBeNull();
    expect(more('while npm test; do cat a; done')).toBe('npm is not known to be read-only');
    expect(more('while test -f a; do npm test; done')).toBe('npm is not known to be read-only');
  });

  it('reads one file alone where it would write the second', () => {
    expect(more('uniq a.txt')).toBeNull();
    for (const files of ['a.txt b.txt', '*.txt', '"$(ls)"'])
      expect(more(`uniq ${files}`)).toBe('uniq: it would write another file');
  });

  it('knows how deep a path lies that begins with a variable', () => {
    expect(more('for f in a b; do cat "src/$f/../../a.txt"; done')).toBeNull();
    expect(more('for f in a b; do cat "$f/../../a.txt"; done')).toBe('a path may lie outside the project');
    expect(more('cat $?/../a.txt')).toBeNull();
  });

  it('says what of git it does not know', () => {
    expect(more('git')).toBe('git: it has no sub-command');
    expect(more('git --no-pager')).toBe('git: git --no-pager is not known to be read-only');
    expect(more('git --version')).toBeNull();
  });

  it.each([
    ['1,2p', true],
    ['1 , 2 ! p', true],
    ['/a/,/b/Ip', true],
    ['1,p', false],
    ['/a/,p', false],
    [',2p', false],
  ])('may have two addresses in a script of sed, but not one and a half: %s', (script, reads) => {
    expect(more(`sed -n '${script}' a.txt`)).toBe(reads ? null : 'sed: its script may write or run something');
  });

  const OUTSIDE = 'a path may lie outside the project';
  it.each([
    ['for f in /etc/passwd; do cat "$f"; done', `cat: ${OUTSIDE}`],
    ['for f in ../..; do cat "$f"; done', `cat: ${OUTSIDE}`],
    ['for f in a.txt ../b.txt; do cat "$f"; done', `cat: ${OUTSIDE}`],
    ['for f in "a.txt /etc/passwd"; do cat $f; done', `cat: ${OUTSIDE}`],
    ["for f in '.?/.?/x'; do cat $f; done", `cat: ${OUTSIDE}`],
    ['for d in /etc; do cat $d/passwd; done', `cat: ${OUTSIDE}`],
    ['for d in /etc; do for f in "$d"; do cat "$f"; done; done', `cat: ${OUTSIDE}`],
    ['for f in /etc/passwd; do cat < "$f"; done', OUTSIDE],
    ['for f in /etc/passwd; do [ -f "$f" ]; done', `[: ${OUTSIDE}`],
    ['for f in /etc; do ls; done; for f in a.txt; do cat "$f"; done', `cat: ${OUTSIDE}`],
    ['for f in a.txt; do ls; done; for f in /etc; do cat "$f"; done', `cat: ${OUTSIDE}`],
    ['for f in /api/users /api/roles; do grep -rn "$f" src; echo "$f"; done', null],
    ['for f in a.txt src/b.ts; do [ -f "$f" ]; done', null],
  ])('looks at the paths of a loop where they are read: %s', (command, why) => {
    expect(more(command)).toBe(why);
  });

  const UNKNOWN = 'it has arguments that are not in the text';
  it.each([
    ['for f in "a b"; do test -f "$f"; done', null],
    ['for f in "a b" c; do test -f $f; done', `test: ${UNKNOWN}`],
    ['for f in c "a b"; do test -f $f; done', `test: ${UNKNOWN}`],
    ['for f in a; do ls; done; for f in "a b"; do ls; done; test -f $f', `test: ${UNKNOWN}`],
    ['for f in "a b"; do ls; done; for f in a; do ls; done; test -f $f', `test: ${UNKNOWN}`],
    ['for f in "$(ls)" a; do sort "$f"; done', `sort: ${UNKNOWN}`],
    ['for f in -o a; do sort "$f"; done', `sort: ${UNKNOWN}`],
    ['sort *', `sort: ${UNKNOWN}`],
    ['sort -- *', null],
    ['sort -- "$(ls)"', `sort: ${UNKNOWN}`],
    ['for s in p; do sed -n "$s" a.txt; done', 'sed: its script is not in the text'],
    ['for s in p; do sed -n -e "$s" a.txt; done', 'sed: its script is not in the text'],
    ["sed 'q;w b' a.txt", 'sed: its script may write or run something'],
    ["sed 'q 5w b' a.txt", 'sed: its script may write or run something'],
    ["sed 'q 5' a.txt", null],
    ["sed 'Q 12;p' a.txt", null],
    ['sed q a.txt', null],
    ['timeout 5', 'timeout: what it runs is not in the text'],
    ['for f in a; do find . $f; done', 'find has arguments that are not in the text'],
    ['find . -name', `find: ${UNKNOWN}`],
    ['find . -exec npm test ";"', 'find: npm is not known to be read-only'],
    ['find . -exec cat a.txt /etc/passwd {} +', `find: cat: ${OUTSIDE}`],
    ['find . -exec cat {} ";" -delete', 'find: -delete is not known to be read-only'],
    ['find . -exec sed -n {} a.txt ";"', 'find: sed: its script is not in the text'],
    ['ls | xargs -0n 1 cat', 'xargs: 1 is not known to be read-only'],
    ['ls | xargs -n 1 cat', null],
    ['find src', null],
    ['find a b', null],
    ['cat >(cat)', 'it writes to a program'],
    ['timeout --preserve 5 cat a.txt', 'what timeout runs is unclear'],
    ['timeout -k 5 1 cat a.txt', null],
    ['timeout -s KILL 5 cat a.txt', null],
    ["read -d '' a", null],
    ["read '' a", 'it sets a variable'],
    ['read -d', 'it sets a variable'],
    ["sed -n '//p' a.txt", null],
    ["sed 's//x/' a.txt", null],
    ['for v in log; do git "$v"; done', 'git: its sub-command is not in the text'],
    ['git branch main --list', null],
    ['git branch main', 'git: it has arguments that are not known to be read-only'],
    ['LANG[0]=C sort a.txt', 'it sets a variable'],
    ['LANG+=C sort a.txt', 'it sets a variable'],
    ['IFS+=, read a', 'it sets a variable'],
    ['IFS=, read a', null],
    ['cat <<E\n$(cat a.txt)\nE', null],
    ['cat <<E\n$(npm test)\nE', 'npm is not known to be read-only'],
    ['cat <<E\n`npm test`\nE', 'npm is not known to be read-only'],
    ["cat <<'E'\n$(npm test)\nE", null],
  ])('%j: %s', (command, why) => {
    expect(more(command)).toBe(why);
  });

  it('says why it may do more', () => {
    expect(more('sort -o made a.txt')).toBe('sort: its option -o is not known to be read-only');
    expect(more('cat a.txt; npm test')).toBe('npm is not known to be read-only');
    expect(more('cat /etc/passwd')).toBe('cat: a path may lie outside the project');
    expect(more('sed s/a/b/e a.txt')).toBe('sed: its script may write or run something');
    expect(more("read ''")).toBe('it sets a variable');
    expect(more('PATH=. ls')).toBe('it sets a variable');
  });

  it.each(OPEN)('may be given any word: %s', (program) => {
    expect(more(`${program} "$(ls)"`)).toBeNull();
  });

  it('may name its paths from the root of the file system, when they lie in the project', () => {
    expect(more('cd /home/ada/project && cat /home/ada/project/src/a.ts')).toBeNull();
    expect(more('cat /home/ada/project/../other/a.ts')).toBe('cat: a path may lie outside the project');
    expect(more('cat /home/ada/project-other/a.ts')).toBe('cat: a path may lie outside the project');
  });

  it('may go up from its folder as far as the project goes', () => {
    expect(more('cat ../../a.txt', '/home/ada/project/src/deep')).toBeNull();
    expect(more('cat ../../../a.txt', '/home/ada/project/src/deep')).toBe('cat: a path may lie outside the project');
    expect(more('cd x; cat ../../a.txt', '/home/ada/project/src/deep')).toBe('cat: a path may lie outside the project');
    expect(more("c''d x; cat ../../a.txt", '/home/ada/project/src/deep')).toBe(
      'cat: a path may lie outside the project',
    );
  });

  it('is asked about when one of several parts may do more, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...READING),
        fc.constantFrom('rm a.txt', 'cat a.txt > made', 'PATH=. ls', 'npm test'),
        fc.constantFrom('A; B', 'B; A', 'A && B', 'A | B', '(A\n); { B\n}', 'if A\nthen B\nfi', 'echo "$(B)"; A'),
        (reading, other, around) => {
          const command = around.replace('A', () => reading).replace('B', () => other);
          expect(more(command)).not.toBeNull();
        },
      ),
    );
  });

  it('may have a text as its input, whatever that names, and may not read a file beyond the project', () => {
    expect(['cat <<< text', 'cat <<< /etc/passwd', 'wc -l <<< "a b"'].map((command) => more(command))).toEqual([
      null,
      null,
      null,
    ]);
    expect(more('cat < /etc/passwd')).not.toBeNull();
  });

  it('is judged for any text, the same each time', () => {
    fc.assert(
      fc.property(shellText(), (text) => {
        expect(more(text)).toBe(more(text));
      }),
      { numRuns: 500 },
    );
  });
});
