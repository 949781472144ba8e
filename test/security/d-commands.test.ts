/** Group D, commands: what the text of a command may hide. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODES, type Mode } from '../../src/domain/reason.ts';
import { judgeCommand } from '../../src/policy/commands/judge.ts';
import { type Circumstances, decide } from '../../src/policy/decide.ts';
import { at, someRules } from '../policy/some-rules.ts';
import { commandRules, hiddenCurl, says } from '../support/commands.ts';

const verdict = (command: string, rules = commandRules([]), changes: Partial<Circumstances> = {}): string =>
  decide({ is: 'tool', tool: 'bash', capability: 'shell', command }, someRules({ commands: rules }), at(changes))
    .verdict;

describe('D01: what follows or fills an allowed command is judged on its own', () => {
  const BESIDE = ['git log && X', 'git log ; X', 'git log | X', 'git log || X', 'git log & X', 'git log\nX'];
  const WITHIN = ['git log $(X)', 'git log `X`', 'git log <(X)', 'git log > >(X)', 'git log <<E\n$(X)\nE'];
  it.each([...BESIDE, ...WITHIN])('D01: %j', (command) => {
    expect(verdict(command, commandRules(['git log **']))).toBe('ask');
    expect(verdict(command, commandRules(['git log **'], ['X **']))).toBe('deny');
  });
  it.each(BESIDE)('D01: %j is allowed where both are', (command) => {
    expect(verdict(command, commandRules(['git log **', 'X']))).toBe('allow');
  });
});

describe('D02: a denied program is found however it is written', () => {
  const DENIED = ["c''url x", '\\curl x', '/usr/bin/curl', 'command curl', 'env curl', 'FOO=1 curl', 'timeout 5 curl'];
  it.each([...DENIED, 'ls | xargs curl', 'sh -c curl', 'busybox wget', "$'\\x63url'", 'npx curl', 'nohup curl &'])(
    'D02: %j is denied in every mode',
    (command) => {
      const rules = commandRules(['**'], ['curl **', 'wget **']);
      for (const mode of MODES) expect(verdict(command, rules, { mode })).toBe('deny');
    },
  );
  it.each(['env -S "curl x"', '$X', 'cu{rl,} x', 'cur? x', 'echo curl | sh', 'sh <<< curl', 'ssh host curl'])(
    'D02: %j is asked about, and denied in yolo',
    (command) => {
      const rules = commandRules(['**'], ['curl **']);
      expect(verdict(command, rules)).toBe('ask');
      expect(verdict(command, rules, { mode: 'yolo' })).toBe('deny');
    },
  );
  it('D02: nowhere in the grammar is it missed, nor allowed', () => {
    const rules = commandRules(['**'], ['curl **']);
    fc.assert(
      fc.property(hiddenCurl(), (command) => {
        // In a pattern (`${A/$(curl)/b}`) it is a doubt: asked about, and denied in yolo.
        expect([['deny', 'unclear'].includes(says(command, rules)), command]).toEqual([true, command]);
      }),
      { numRuns: 500 },
    );
  });
});

it('D03: of sixty programs the last one is denied', () => {
  const sixty = (last: string): string => [...Array.from({ length: 59 }, () => 'ls'), last].join('; ');
  const rules = commandRules(['ls **'], ['curl **']);
  for (const mode of MODES) expect(verdict(sixty('curl x'), rules, { mode })).toBe('deny');
  // More than fifty are never allowed by a rule.
  expect(verdict(sixty('ls'), rules)).toBe('ask');
  expect(verdict('ls; ls', rules)).toBe('allow');
});

it('D04: a command of 12,000 characters asks, and is denied in yolo where a deny rule could not be tried', () => {
  const long = `ls ${'a'.repeat(12_000)}`;
  expect(verdict(long, commandRules(['ls **']))).toBe('ask');
  expect(verdict(long, commandRules(['ls **'], ['curl **']), { mode: 'yolo' })).toBe('deny');
});

it.each([
  'ls "a',
  "ls 'a",
  'ls $(a',
  'ls `a',
  'ls <<E\na',
  'ls &&',
  'ls; if',
  'l\rs',
  'ls !!',
  'ls !ls',
  'ls a\u200bb',
  'ls ;; ls',
  'ls \u0000',
])('D05: %j, which can not be read, asks, and is denied in yolo where a deny rule could not be tried', (command) => {
  expect(verdict(command, commandRules(['**', 'ls **']))).toBe('ask');
  expect(verdict(command, commandRules(['ls **'], ['curl **']), { mode: 'yolo' })).toBe('deny');
});

describe('D06: a wildcard does not cover an argument that is an act of its own', () => {
  const RULES = commandRules(['find **', 'sed **', 'awk **', 'sort **', 'tar **', 'rg **', 'git **', 'xargs **', 'X']);
  it.each([
    'find . -exec Y \\;',
    'find . -exec X \\;',
    'find . -delete',
    'find . -fprint out',
    "sed -n '1e X'",
    "sed 'w /out'",
    "sed 's/a/b/w out' a",
    "sed 's/a/b/e' a",
    'sed -i s/a/b/ a',
    'awk \'BEGIN{system("X")}\'',
    'awk \'{print > "out"}\' a',
    'sort -o out',
    'sort -uoout a',
    'sort --outp=out a',
    'tar --to-command=X -xf a',
    'tar xf a',
    'rg --pre X',
    'git -c core.pager=X log',
    'git log --output=out',
    'git bisect run X',
    'ls | xargs X',
  ])('D06: %j asks', (command) => {
    expect(verdict(command, RULES)).toBe('ask');
  });
  it.each([
    'find . -name "*.ts"',
    "sed -n '1,5p' a",
    'sed s/a/b/g a',
    "awk '{print $1}' a",
    'sort -u a',
    'tar tzf a.tgz',
    'rg foo src',
    'git log -p -3',
    'git --no-pager diff',
  ])('D06: %j is covered', (command) => {
    expect(verdict(command, RULES)).toBe('allow');
  });
  it('D06: a rule that spells the act out covers it', () => {
    expect(verdict('find . -delete', commandRules(['find * -delete']))).toBe('allow');
    expect(verdict('sort -o out a', commandRules(['sort -o out **']))).toBe('allow');
  });
});

describe('D08: what would remove everything always asks', () => {
  const WIDE = ['rm -rf /', 'rm -rf ~', 'rm -rf "$UNSET"/*', 'rm -r -f /usr', 'rm -fr /*', 'rm -rf -- ~/', 'rm -rf *'];
  it.each([
    ...WIDE,
    'sh -c "rm -rf /"',
    'ls; sudo rm -rf $HOME',
    'find / -delete',
    'ls | xargs rm -rf',
    'rm -rf /etc/..',
  ])('D08: %j, in every mode, whatever rules say; without a person it is denied', (command) => {
    const rules = commandRules(['**', 'rm **', 'rm -rf /']);
    for (const mode of MODES) {
      expect(verdict(command, rules, { mode })).toBe('ask');
      expect(verdict(command, rules, { mode, interactive: false })).toBe('deny');
    }
  });
  it('D08: is not said of a folder of the project, and a rule that denies still denies', () => {
    const yolo = (command: string, mode: Mode = 'yolo'): string => verdict(command, commandRules([]), { mode });
    expect(['rm -rf dist', 'rm -rf ./a/*', 'rm -r node_modules', 'rm /tmp/x'].map((one) => yolo(one))).toEqual(
      Array.from({ length: 4 }, () => 'allow'),
    );
    expect(judgeCommand('rm -rf /', commandRules([], ['rm **'])).verdict).toBe('deny');
  });
});
