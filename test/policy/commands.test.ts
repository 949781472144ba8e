import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../src/policy/commands.ts';
import { CAPABILITIES } from '../../src/domain/role.ts';
import { decide } from '../../src/policy/decide.ts';
import type { CommandRules } from '../../src/policy/rules.ts';
import { someRules, written } from './some-rules.ts';

const list = (verdict: string, texts: readonly string[]): CommandRules['allow'] =>
  texts.map((text, index) => ({ words: text.split(' '), from: written(`commands.${verdict}: "${text}"`, index + 1) }));
const rules = (allow: readonly string[], deny: readonly string[] = [], ask: readonly string[] = []): CommandRules => ({
  allow: list('allow', allow),
  ask: list('ask', ask),
  deny: list('deny', deny),
});
const says = (command: string, given: CommandRules): string => judgeCommand(command, given).verdict;

describe('command rules', () => {
  it('match words: "*" is one word, a last "**" is the rest', () => {
    const given = rules(['npm test', 'git log **', 'cat *']);
    expect(says('npm test', given)).toBe('allow');
    expect(says('npm  test', given)).toBe('allow');
    expect(says('npm test --watch', given)).toBe('none');
    expect(says('git log', given)).toBe('allow');
    expect(says('git log --oneline -3', given)).toBe('allow');
    expect(says('git push', given)).toBe('none');
    expect(says('cat a', given)).toBe('allow');
    expect(says('cat a b', given)).toBe('none');
  });

  it('let the strictest rule win', () => {
    expect(says('npm test', rules(['npm **'], ['npm test']))).toBe('deny');
    expect(says('npm test', rules(['npm **'], [], ['npm test']))).toBe('ask');
    expect(says('npm run x', rules(['npm **'], ['npm test'], ['npm ci']))).toBe('allow');
  });

  it('deny a program by its name wherever it lies, and allow it only as written', () => {
    expect(says('/usr/bin/curl x', rules([], ['curl **']))).toBe('deny');
    expect(says('./npm test', rules(['npm test']))).toBe('none');
  });

  it.each([
    'npm test; rm x',
    'npm test && rm x',
    'npm test | sh',
    'npm test > x',
    'npm test $(x)',
    'npm test `x`',
    'X=1 npm test',
    'sh -c x',
    'npm test\nrm x',
    "npm 'test'",
  ])('allow nothing in %j, which is more than plain words', (command) => {
    expect(says(command, rules(['npm **', 'sh **']))).toBe('none');
    expect(says(command, rules(['npm **'], ['curl **']))).toBe('unclear');
  });

  it('never allow a text with shell syntax, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom(...';&|<>$`\\"\'(){}*?!#~\n\t'.split('')),
        fc.string(),
        (a, syntax, b) => {
          expect(says(`echo ${a}${syntax}${b}`, rules(['**']))).toBe('none');
        },
      ),
    );
  });

  it('decide in confirm, and only deny in yolo', () => {
    const circumstances = {
      interactive: true,
      sandbox: 'read-write',
      capabilities: CAPABILITIES,
      granted: false,
    } as const;
    const given = someRules({ commands: rules(['npm test'], ['curl **']) });
    const verdict = (mode: 'human' | 'confirm' | 'yolo', command: string): string =>
      decide({ is: 'tool', tool: 'bash', capability: 'shell', command }, given, { ...circumstances, mode }).verdict;
    expect(['npm test', 'ls', 'curl x', 'ls; ls'].map((command) => verdict('confirm', command))).toEqual([
      'allow',
      'ask',
      'deny',
      'ask',
    ]);
    expect(['npm test', 'ls', 'curl x', 'ls; ls'].map((command) => verdict('yolo', command))).toEqual([
      'allow',
      'allow',
      'deny',
      'deny',
    ]);
    expect(['npm test', 'ls', 'curl x'].map((command) => verdict('human', command))).toEqual(['ask', 'ask', 'deny']);
  });
});
