/** What a command prints first for sure: the table, random text, and the shell itself. */
import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstLineEchoed, isHereDocOpen } from '../../../src/policy/commands/words.ts';

describe('the first line that a command prints for sure', () => {
  it.each([
    ['echo M', 'M'],
    ['echo "M"; cat a.txt', 'M'],
    ["echo 'M' && cat a.txt", 'M'],
    ['echo M\ncat a.txt', 'M'],
    ['  echo   M || true', 'M'],
    ['echo "M\nrest"', 'M'],
    ['echo "M\n$(cat a.txt)"', 'M'],
    ['echo "M\n$A" b', 'M'],
    ['echo "M"\'\nrest\'$A', 'M'],
    ['echo "M\\nrest"', 'M'],
    ['echo -e "M\\nrest"', 'M'],
    ['echo -n -e "M\\nrest"', 'M'],
    ["echo $'M\\nrest'", 'M'],
    ['echo M N', 'M N'],
    ["echo 'M'; cat <<'END'\nx\nEND", 'M'],
    ["printf 'M\\nrest\\n'", 'M'],
    ["printf '%s\\n' M rest", 'M'],
    ['printf \'M\\n%s\\n\' "$(cat a.txt)"', 'M'],
    ["printf '%s' 'M\nrest'", 'M'],
    ["printf 'M\\n%d' 3", 'M'],
    ["printf '100%%\\nrest'", '100%'],
    ['echo', ''],
  ])('%j: %j', (command, line) => {
    expect(firstLineEchoed(command)).toBe(line);
  });

  it.each([
    'cat a.txt',
    'ls M',
    'date M',
    'cat <<END\nM\nEND',
    'ls; echo M',
    'cd x && echo M',
    'echo $A',
    'echo "$A"',
    'echo M$A',
    'echo M "$A"',
    'echo "M$A"\'\nrest\'',
    'echo `cat a.txt`',
    'echo -n M; cat a.txt',
    'echo -n',
    'echo "$A" M',
    'printf M; cat a.txt',
    'echo M*',
    'echo M | cat',
    'echo M & cat',
    'echo M > a.txt',
    'echo M >&2',
    '! echo M',
    'time echo M',
    '(echo M)',
    '{ echo M; }',
    'if true; then echo M; fi',
    'A=1 echo M',
    'command echo M',
    '/bin/echo M',
    './echo M',
    'f() { echo M; }; f',
    'bash -c "echo M"',
    'eval "echo M"',
    'printf -v A M',
    'printf "%d\\n" M',
    'printf M%q x',
    '$(echo echo) M',
    '# echo M\ncat a.txt',
    '',
    '"',
    ')',
  ])('is not known of %j', (command) => {
    expect(firstLineEchoed(command)).toBe(null);
  });

  it('is never more than what was written, whatever the text, and is found or not without a throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const line = firstLineEchoed(text);
        expect(line === null || /^\s*(?:(?:echo|printf|["'\\$(\s#])|.*\n)/.test(text)).toBe(true);
      }),
    );
  });

  it('is what bash prints first', () => {
    const word = fc.constantFrom(
      'M',
      "'M'",
      '"M"',
      '"a b"',
      "$'M\\nx'",
      '"M\nx"',
      "'M\\nx'",
      '-n',
      '-e',
      '""',
      "'%s'",
      "'%s\\n'",
      '"$A"',
      '*',
      '\\M',
      'a=b',
    );
    const program = fc.constantFrom('echo', 'printf', 'printf --', ' echo', 'cat <<<');
    const after = fc.constantFrom('', '; echo N', ' && echo N', '\necho N', ' | cat', ' >&2', ' &', '; cat <<E\nM\nE');
    fc.assert(
      fc.property(program, fc.array(word, { maxLength: 4 }), after, (name, words, rest) => {
        const command = `${name} ${words.join(' ')}${rest}`;
        const line = firstLineEchoed(command);
        if (line === null) return;
        const printed = execFileSync('bash', ['-c', `exec 2>/dev/null; ${command}\n true`], {
          cwd: '/',
          encoding: 'utf8',
        });
        const [first = ''] = printed.split('\n');
        // Bash leaves a `\n` of `echo` without -e as it is.
        expect([first, first.split('\\n')[0]]).toContain(line);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a here-document', () => {
  it('is open when its end is missing, wherever it stands', () => {
    expect(isHereDocOpen("cat > a <<'END'\nx\n")).toBe(true);
    expect(isHereDocOpen('ls && (cat <<END\nx)')).toBe(true);
    expect(isHereDocOpen("cat > a <<'END'\nx\nEND")).toBe(false);
    expect(isHereDocOpen('cat <<< x')).toBe(false);
    expect(isHereDocOpen('echo $((1 << 2))')).toBe(false);
    expect(isHereDocOpen('echo "<<END"')).toBe(false);
  });

  it('is not looked for where a command is too long', () => {
    const open = (length: number): string => `cat <<E\n${'x'.repeat(length - 8)}`;
    expect(isHereDocOpen(open(100_000))).toBe(true);
    expect(isHereDocOpen(open(100_001))).toBe(false);
  });
});
