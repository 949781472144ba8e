import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../../../src/domain/agents/role.ts';
import { judgeCommand } from '../../../src/policy/commands/judge.ts';
import { readCommand } from '../../../src/policy/commands/read.ts';
import { decide } from '../../../src/policy/decide.ts';
import { commandRules, says, shellText } from '../../support/commands.ts';
import { someRules } from '../some-rules.ts';

describe('command rules', () => {
  it('match words: "*" is one word, a last "**" is the rest', () => {
    const given = commandRules(['npm test', 'git log **', 'cat *']);
    expect(says('npm test', given)).toBe('allow');
    expect(says('npm  test', given)).toBe('allow');
    expect(says("npm 'test'", given)).toBe('allow');
    expect(says('npm test --watch', given)).toBe('none');
    expect(says('git log', given)).toBe('allow');
    expect(says('git log --oneline -3', given)).toBe('allow');
    expect(says('git push', given)).toBe('none');
    expect(says('cat a', given)).toBe('allow');
    expect(says('cat a b', given)).toBe('none');
  });

  it('look for "!" where an interactive shell would: not in single quotes', () => {
    const doubtsOf = (command: string): readonly string[] => readCommand(command).doubts;
    for (const command of ["echo 'a!b'", "echo x'a!b'", "echo $'a!b'", 'echo a!', 'echo x$((1!=2))'])
      expect([command, doubtsOf(command)]).toEqual([command, []]);
    for (const command of ['echo a!b', 'echo "a!b"', 'echo "x"!b'])
      expect([command, doubtsOf(command)]).toEqual([command, ['it may mean an earlier command (!)']]);
  });

  it('let the strictest rule win', () => {
    expect(says('npm test', commandRules(['npm **'], ['npm test']))).toBe('deny');
    expect(says('npm test', commandRules(['npm **'], [], ['npm test']))).toBe('ask');
    expect(says('npm run x', commandRules(['npm **'], ['npm test'], ['npm ci']))).toBe('allow');
  });

  it('judge each program of a command, and allow it only when each has a rule', () => {
    const given = commandRules(['npm test', 'git log **'], ['curl **'], ['git push **']);
    expect(says('npm test && git log -3 | npm test', given)).toBe('allow');
    expect(says('npm test && ls', given)).toBe('none');
    expect(says('npm test; git push', given)).toBe('ask');
    expect(says('npm test; git push; curl x', given)).toBe('deny');
  });

  it('never allow a command of which not every word is known: `xargs` adds more to it', () => {
    const given = commandRules(['ls', 'cat **', 'cat', 'xargs **', 'timeout **']);
    for (const command of ['ls | xargs cat', 'xargs -n 1 cat', 'ls | timeout 5 xargs cat', 'xargs cat a'])
      expect([command, says(command, given)]).toEqual([command, 'none']);
    expect(says('ls | cat', given)).toBe('allow');
  });

  it('deny a program by its name wherever it lies, and allow it only as written', () => {
    expect(says('/usr/bin/curl x', commandRules([], ['curl **']))).toBe('deny');
    expect(says('./npm test', commandRules(['npm test']))).toBe('none');
  });

  it('are in doubt where options stand before a denied sub-command', () => {
    const given = commandRules(['git **'], ['git push **']);
    expect(says('git --no-pager push', given)).toBe('unclear');
    expect(says('git -C . push', given)).toBe('unclear');
    expect(says('git --no-pager log', given)).toBe('allow');
  });

  it('are in doubt where a word that only the shell knows stands where they look', () => {
    const given = commandRules(['git **', 'ls **'], ['git push **', 'rm **']);
    expect(says('git $VERB', given)).toBe('unclear');
    expect(says('$VERB x', given)).toBe('unclear');
    expect(says('git p* origin', given)).toBe('unclear');
    expect(says('rm "$X"', given)).toBe('deny');
    expect(says('ls $X', given)).toBe('none');
  });

  it('are in doubt where printf sets a variable that the text does not name, and are not where it names one', () => {
    const doubtsOf = (command: string): readonly string[] => readCommand(command).doubts;
    expect(doubtsOf('printf -v "$NAME" x')).toEqual(['printf sets a variable that the text does not name']);
    expect(doubtsOf('printf -v greeting x')).toEqual([]);
  });

  it('are in the same doubt about a variable that printf sets, whether its name stands alone or with the option', () => {
    const effectsOf = (command: string): unknown => {
      const { doubts, simples } = readCommand(command);
      return [doubts, simples.length];
    };
    for (const name of ['PATH', 'LD_PRELOAD', 'IFS', 'BASH_ENV', 'greeting'])
      expect([name, effectsOf(`printf -v${name} x; ls`)]).toEqual([name, effectsOf(`printf -v ${name} x; ls`)]);
    expect(readCommand('printf -vBASH_ENV x').doubts).toEqual(['BASH_ENV runs code that is not in the text']);
  });

  it('read the assignments that are words of a program, and leave in doubt what a place in a list makes of one', () => {
    const given = commandRules([], ['export NODE_ENV=test']);
    expect(says('export NODE_ENV=test', given)).toBe('deny');
    expect(says('export NODE_ENV=live', given)).toBe('none');
    expect(says('export NODE_ENV[0]=test', given)).toBe('unclear');
  });

  it.each([
    ['npm test > x', 'it writes to a file'],
    ['npm test >> x', 'it writes to a file'],
    ['npm test &> x', 'it writes to a file'],
    ['npm test 3<>/dev/tcp/1.1.1.1/80', 'it writes to a file'],
    ['npm test < /dev/tcp/1.1.1.1/80', 'it reads from a redirect that is not a plain file'],
    ['PATH=. npm test', 'it sets a variable'],
    ['for PATH in .; do npm test; done', 'it sets a variable'],
    ['npm() { npm test; }; npm test', 'it defines a function'],
    ['npm "$X"', 'it has words that only the shell knows'],
    ['npm *', 'it has words that only the shell knows'],
  ])('never allow %j: %s', (command, why) => {
    expect(readCommand(command).more).toContain(why);
    expect(says(command, commandRules(['npm **', '**']))).toBe('none');
  });

  it('let output go nowhere, or where it goes already', () => {
    for (const command of [
      'npm test 2>&1',
      'npm test >/dev/null 2>&1',
      'npm test >&2',
      'npm test < a',
      'npm test 2>&-',
    ])
      expect(says(command, commandRules(['npm test']))).toBe('allow');
  });

  it('say why a rule can not be ruled out', () => {
    const given = commandRules([], ['curl **']);
    const because = (command: string): unknown => judgeCommand(command, given);
    expect(because('ls "')).toEqual({
      verdict: 'unclear',
      because: {
        ...given.deny[0]?.from,
        rule: 'commands.deny: "curl **" cannot be ruled out: it is incomplete: unterminated double quote',
      },
    });
  });

  it('decide in confirm, and only deny in yolo', () => {
    const circumstances = {
      interactive: true,
      sandbox: 'read-write',
      capabilities: CAPABILITIES,
    } as const;
    const given = someRules({ commands: commandRules(['npm test'], ['curl **']) });
    const COMMANDS = ['npm test', 'ls', 'curl x', 'ls; ls', 'sh -c "$X"'];
    const verdicts = (mode: 'human' | 'confirm' | 'yolo'): readonly string[] =>
      COMMANDS.map(
        (command) =>
          decide({ is: 'tool', tool: 'bash', capability: 'shell', command }, given, { ...circumstances, mode }).verdict,
      );
    expect(verdicts('confirm')).toEqual(['allow', 'ask', 'deny', 'ask', 'ask']);
    expect(verdicts('yolo')).toEqual(['allow', 'allow', 'deny', 'allow', 'deny']);
    expect(verdicts('human')).toEqual(['ask', 'ask', 'deny', 'ask', 'ask']);
  });
});

/** Parts of a word, each whole by itself. */
const PIECES =
  `a|b-|'c d'|"e f"|''|""|\\g|\\ |\\'|\\\\|"\\""|"\\h"|'\\i'|$'\\x6a'|$'\\n'|$'\\'k'|$'\\u00e9'|$'\\x41b'|\\
|$'\\cA'|$'\\101'|"l\\
m"|$%|=|@|%|é`.split('|');

describe('reading a command', () => {
  it('never fails, whatever the text is', () => {
    fc.assert(
      fc.property(fc.oneof(shellText(), fc.string({ maxLength: 200 }), fc.string({ unit: 'binary' })), (text) => {
        const { verdict } = judgeCommand(text, commandRules(['ls **'], ['curl **']));
        expect(['allow', 'ask', 'deny', 'unclear', 'none']).toContain(verdict);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    '('.repeat(10_000),
    '$('.repeat(5000),
    '`'.repeat(10_000),
    '"$('.repeat(290),
    '${x:-'.repeat(290),
    '$(('.repeat(290),
    'a;'.repeat(5000),
    '[['.repeat(5000),
    '<<E\n'.repeat(2500),
    '{a,'.repeat(3333),
    'sh -c '.repeat(1600),
    'env '.repeat(2500),
    'eval '.repeat(2000),
    'if '.repeat(3333),
    `rm -rf ${'./'.repeat(4900)}x`,
    `rm -rf ${'/'.repeat(9900)}x`,
    `sed 's${'/a'.repeat(4900)}' b`,
    `sed '${'1'.repeat(9900)}'`,
    'sed '.repeat(2500),
    'find -exec '.repeat(900),
  ])('of %.12s… at full length holds nobody up', (text) => {
    // Time of the processor: other programs of the machine don't count.
    const before = process.cpuUsage();
    judgeCommand(text.slice(0, 10_000), commandRules(['ls'], ['curl **']));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(600);
  });

  it('takes quotes and escapes off as bash does', () => {
    const pieces = fc.constantFrom(...PIECES);
    const words = fc.array(pieces, { minLength: 1, maxLength: 6 }).map((some) => `x${some.join('')}`);
    const texts = fc.sample(words, { numRuns: 60, seed: 7 });
    const script = texts.map((text) => `printf '%s\\0' ${text}`).join('\n');
    const said = execFileSync('bash', ['--noprofile', '--norc', '-c', script], {
      encoding: 'utf8',
      env: { LC_ALL: 'C.UTF-8', PATH: process.env['PATH'] },
    });
    const read = texts.map((text) => readCommand(`printf x ${text}`).simples[0]?.words.slice(2));
    expect(read.flat()).toEqual(said.split('\0').slice(0, -1));
  });
});

// Words that make a program write, or run something else: a rule that ends with a wildcard does not cover them.

const given = commandRules(['sed **', 'git **', 'tar **', 'uniq **'], ['rm **']);

describe('a wildcard of a rule', () => {
  it.each([
    'sed s/a/b/g a',
    'sed p a',
    'sed -n 1,3p a',
    'git log -3',
    'git -P log',
    'git rebase main',
    'tar -tzf a.tar.gz',
    'uniq a',
  ])('covers what only prints or changes its own files: %s', (command) => {
    expect(says(command, given)).toBe('allow');
  });

  it.each([
    "sed 's/a/b/w made' a",
    "sed 'y/a/b/' a",
    "sed 's;a;b;' a",
    "sed 's+a+b+' a",
    "sed 's/a;b/c/' a",
    "sed 's/a/b/\nw made' a",
    'sed p -i a',
    'sed -e p -i a',
    'sed -e p --in-place=.old a',
    'git log --output=made',
    'tar -xf a.tar',
    'uniq a made',
  ])('does not cover what may write a file, or is not read: %s', (command) => {
    expect(says(command, given)).toBe('none');
  });

  it.each([
    "sed 's/a/b/e' a",
    'git bisect run x',
    'git log --ext-diff',
    'git -c core.pager=x log',
    'git rebase -x true',
    'git rebase -i main',
    'tar -cf a.tar --to-command=x a',
  ])('leaves in doubt what runs another program: %s', (command) => {
    expect(says(command, given)).toBe('unclear');
  });
});
