import { describe, expect, it } from 'vitest';
import { coveredWords } from '../../../src/domain/agents/grant.ts';

describe('an answer for programs says what it covers', () => {
  it.each([
    [[['npm', 'test']], 'commands that run only npm test …, in the sandbox'],
    [[['>']], 'commands that only write files with >, in the sandbox'],
    [
      [['npm', 'test'], ['cp'], ['>']],
      'commands that run only npm test … and cp … and write files with >, in the sandbox',
    ],
  ])('%j', (programs, words) => {
    expect(coveredWords({ action: 'shell', same: 'a', programs }, 'program')).toBe(words);
  });
});
