/** Programs that run what their words name: rules look inside. */
import { expect, it } from 'vitest';
import { commandRules, says } from '../support/commands.ts';

const given = commandRules(['ls **'], ['rm **']);

it.each(["bash -c 'rm a'", "bash -x -c 'rm a'", "sh -ec 'rm a'", "bash -o pipefail -c 'rm a'"])(
  'a rule denies what is in the text of a shell: %s',
  (command) => {
    expect(says(command, given)).toBe('deny');
  },
);

it('a script in a file is a program like any other', () => {
  expect(says('bash rm', given)).toBe('none');
});
