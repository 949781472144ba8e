/** Programs that run what their words name: rules look inside. */
import { expect, it } from 'vitest';
import { readCommand } from '../../../src/policy/commands/read.ts';
import { commandRules, says } from '../../support/commands.ts';

const given = commandRules(['ls **'], ['rm **']);

it.each(["bash -c 'rm a'", "bash -x -c 'rm a'", "sh -ec 'rm a'", "bash -o pipefail -c 'rm a'"])(
  'a rule denies what is in the text of a shell: %s',
  (command) => {
    expect(says(command, given)).toBe('deny');
  },
);

it.each(['env A=1 rm a', 'timeout --signal KILL 5 rm a', 'timeout --signal=KILL 5 rm a'])(
  'a rule denies the program behind the options and assignments of another: %s',
  (command) => {
    expect(says(command, given)).toBe('deny');
  },
);

it.each(['timeout $T rm a', 'timeout $T ls a', 'env timeout $T ls a'])(
  'a word that only the shell knows before the program leaves open which one runs: %s',
  (command) => {
    expect(says(command, given)).toBe('unclear');
  },
);

it.each(["trap 'rm a' EXIT", "trap -- 'rm a' EXIT"])('a rule denies what runs at the end of a shell: %s', (command) => {
  expect(says(command, given)).toBe('deny');
});

it.each(['npm exec rm a', 'npm exec -- rm a', 'uv run rm a', 'yarn exec rm a'])(
  'a rule denies the program behind the verb of a runner: %s',
  (command) => {
    expect(says(command, given)).toBe('deny');
  },
);

it.each(['npm', 'npm test', 'uv pip list'])('a runner without such a verb runs nothing else: %s', (command) => {
  expect([says(command, given), readCommand(command).doubts]).toEqual(['none', []]);
});

it('an option that is not known leaves open which program runs, and the doubt names the program that has the option', () => {
  expect(readCommand('env --made rm a').doubts).toEqual(['what env runs is unclear']);
  expect(says('env --made rm a', given)).toBe('unclear');
});

it('a script in a file is a program like any other', () => {
  expect(says('bash rm', given)).toBe('none');
});

it.each([
  ['bash', 'bash reads what it runs from its input'],
  ['bash -x', 'bash reads what it runs from its input'],
  ['bash -o pipefail', 'bash reads what it runs from its input'],
  ['bash -s a', 'bash reads what it runs from its input'],
  ['bash $X', 'what bash runs is not in the text'],
  ['bash -x "$X"', 'what bash runs is not in the text'],
])('a shell without a text or a file leaves open what it runs: %s', (command, doubt) => {
  expect(readCommand(command).doubts).toEqual([doubt]);
});

it.each([
  ['alias', []],
  ['alias a', ['alias changes what later words mean']],
  ['hash -p a b', ['hash changes what later words mean']],
])('what changes the meaning of words leaves open what they run: %s', (command, doubts) => {
  expect(readCommand(command).doubts).toEqual(doubts);
});

it.each([
  ['fd rm src', 'none'],
  ['fd -x rm', 'deny'],
  ['fdfind . src --exec-batch rm -f', 'deny'],
  ['fd --exec=rm', 'unclear'],
  ['fd $X', 'unclear'],
])('fd runs what follows its option, and nothing without one: %s', (command, verdict) => {
  expect(says(command, given)).toBe(verdict);
});

it('each program that find runs is judged, whatever stands before it', () => {
  expect(says("find . -exec ls a ';' -exec rm b ';'", given)).toBe('deny');
  expect(readCommand("find . -exec ls a ';' -name b").simples.map(({ words }) => words.join(' '))).toEqual([
    'find . -exec ls a ; -name b',
    'ls a',
  ]);
});

it('the words of what fd runs are those behind its option', () => {
  const [, inner] = readCommand('fd b -x rm "a b"').simples;
  expect([inner?.words, inner?.texts, inner?.open]).toEqual([['rm', 'a b'], ['rm', '"a b"'], true]);
});

it('jobs runs nothing, except with -x', () => {
  expect(
    ['jobs', 'jobs -l', 'jobs -p %1', 'jobs -x rm a', 'jobs -lx rm a'].map((command) => readCommand(command).doubts),
  ).toEqual([[], [], [], ['jobs may run a program'], ['jobs may run a program']]);
});

it.each([
  "x='a[$(rm b)]'; echo ${!x}",
  "x='$(rm a)'; echo ${x:0:2}",
  "x='`rm a`'; echo ${y[x]}",
  "x='$(rm a)'; echo ${x@P}",
])('text that holds code is doubted where an expansion evaluates it: %s', (command) => {
  expect(readCommand(command).doubts).toContain('it may evaluate text as code');
});

it.each(['x=a; echo ${!x}', "x='$(rm a)'; echo ${x:-b}"])(
  'neither text without code nor an expansion that evaluates nothing is: %s',
  (command) => {
    expect(readCommand(command).doubts).not.toContain('it may evaluate text as code');
  },
);

it('programs inside of each other are read to a depth of eight, and doubted below', () => {
  const nested = (depth: number): readonly string[] => readCommand(`${'timeout 1 '.repeat(depth)}ls`).doubts;
  expect([nested(8), nested(9)]).toEqual([[], ['its programs are nested too deeply']]);
  const shells = (depth: number): string =>
    Array.from({ length: depth }).reduce<string>((inner) => `bash -c ${JSON.stringify(inner)}`, 'ls');
  expect([readCommand(shells(3)).doubts, readCommand(shells(9)).doubts]).toEqual([
    [],
    ['its shells are nested too deeply'],
  ]);
});

it.each(["eval 'rm a'", 'eval rm a', "eval 'ls a; rm a'"])(
  'a rule denies what is evaluated as a command: %s',
  (command) => {
    expect(says(command, given)).toBe('deny');
  },
);

it('eval of nothing runs nothing', () => {
  expect([says('eval', given), says("eval 'ls a'", commandRules(['ls **', 'eval **'], []))]).toEqual(['none', 'allow']);
});
