/** Words that make a program write, or run something else: a rule that ends with a wildcard does not cover them. */
import { describe, expect, it } from 'vitest';
import { commandRules, says } from '../../support/commands.ts';

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
