/** How often a person is asked in mode confirm, over the programs of 400 recorded runs. */
import { expect, it } from 'vitest';
import { moreThanReading } from '../../../../src/policy/commands/reading/reading.ts';
import { readCommand } from '../../../../src/policy/commands/read.ts';
import { decide } from '../../../../src/policy/decide.ts';
import { median, questionsIn, recordedCommands } from '../../../support/recorded-programs.ts';
import { at, someRules } from '../../some-rules.ts';

const place = { root: '/project', folder: '/project' };
const rules = someRules();
const runs = recordedCommands();

const asks = (command: string, facts: Parameters<typeof at>[0]): boolean =>
  decide({ is: 'tool', tool: 'bash', capability: 'shell', command }, rules, at(facts)).verdict === 'ask';
const reading = { reading: { place, obstacle: null } };

const medianOf = (judge: (command: string) => readonly string[] | null): number =>
  median(runs.map((run) => questionsIn(run, judge)));

/** Each program that is not known to be read-only, with its sub-command; and that files are written. */
const widest = (command: string): readonly string[] => {
  const names = readCommand(command).simples.map(({ words: [program, next] }) =>
    /^(?:git|sed|pip|make)$/.test(program ?? '') ? `${program} ${next}` : (program ?? ''),
  );
  const writing = moreThanReading(command, place) === 'it writes to a file' ? ['a file'] : [];
  return [...names.filter((name) => !READING.has(name)), ...writing];
};
const READING = new Set([
  'cat',
  'grep',
  'nl',
  'sed -n',
  'ls',
  'head',
  'tail',
  'find',
  'echo',
  'cd',
  'xargs',
  'git diff',
]);

it('asks of the median run 35 questions where every command asks, and 19 where reading does not', () => {
  expect(runs.length).toBe(400);
  expect(medianOf((command) => (asks(command, {}) ? [] : null))).toBe(35);
  expect(medianOf((command) => (asks(command, reading) ? [] : null))).toBe(19);
});

it('asks 7 at most in the median run where each answer covers a program with its sub-command', () => {
  expect(medianOf((command) => (asks(command, reading) ? widest(command) : null))).toBeLessThanOrEqual(7);
});

it('asks nothing where the approved plan allows commands', () => {
  const permitted = { ...reading, permissions: { edits: 'ask', commands: 'allow' } } as const;
  expect(runs.flat().filter((command) => asks(command, permitted))).toEqual([]);
});
