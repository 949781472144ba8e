/** Which commands remove or change far more than one means to: they ask even where a rule allows the program. */
import { expect, it } from 'vitest';
import { judgeCommand } from '../../../src/policy/commands/judge.ts';
import { commandRules } from '../../support/commands.ts';

const destroys = (command: string): string | undefined => judgeCommand(command, commandRules([])).destroys;

it.each([
  ['rm -rf /', 'rm of everything in /'],
  ['rm -r /etc', 'rm of everything in /etc'],
  ['rm -R ~', 'rm of everything in ~'],
  ['rm --recursive ..', 'rm of everything in ..'],
  ['rm -rf .', 'rm of everything in .'],
  ['rm -rf *', 'rm of everything in *'],
  ['rm -rf a/..', 'rm of everything in a/..'],
  ['rm -rf /a/b/..', 'rm of everything in /a/b/..'],
  ['rm -rf ~/a/..', 'rm of everything in ~/a/..'],
  ['rm -rf a b /', 'rm of everything in /'],
  ['rm -rf "$X"', 'rm of everything in "$X"'],
  ['rm -rf $(ls)', 'rm of everything in $(ls)'],
  // An unknown word might be the option.
  ['rm $X /', 'rm of everything in $X'],
  ['rm "$X" /', 'rm of everything in "$X"'],
  ['ls | xargs rm -rf', 'rm of paths that come from elsewhere'],
  ['find src -exec rm -rf made +', 'rm of paths that come from elsewhere'],
  ['fd -x rm -rf', 'rm of paths that come from elsewhere'],
  ['chmod -R 777 /', 'chmod of everything in /'],
  ['npm test && rm -rf /', 'rm of everything in /'],
])('%s does', (command, words) => {
  expect(destroys(command)).toBe(words);
});

it.each([
  'rm -rf a',
  'rm -rf ./a',
  'rm -rf a/*',
  'rm -rf a~',
  'rm -rf /etc/x',
  'rm -rf ~/x',
  'rm -rf a/../b',
  'rm -rf a/b/..',
  'rm -f /',
  'rm /',
  'ls -R /',
  'chmod 777 /',
  'ls | xargs rm',
])('%s does not', (command) => {
  expect(destroys(command)).toBeUndefined();
});

it.each([
  'find / -delete',
  'find src / -delete',
  'find src lib / -delete',
  'find ~ -exec rm {} +',
  'find .. -delete',
  'find "$X" -exec /bin/rm {} +',
])('%s removes more than the project', (command) => {
  expect(destroys(command)).toBe('find that removes far more than this project');
});

it.each([
  'find . -delete',
  'find ./ -delete',
  'find src -delete',
  'find src -path / -delete',
  'find / -name rmx',
  'find -delete',
])('%s does not', (command) => {
  expect(destroys(command)).toBeUndefined();
});
