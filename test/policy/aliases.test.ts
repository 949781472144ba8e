/** Names of models as people and models say them for short. */
import { expect, it } from 'vitest';
import { spokenModel } from '../../src/policy/aliases.ts';

it('a line stands for its model of today, and every other name for itself', () => {
  const spoken = ['sonnet', ' Opus ', 'HAIKU', 'sonnet-4.5', 'local/coder', ' gpt-x '];
  expect(spoken.map(spokenModel)).toEqual([
    'sonnet-4.5',
    'opus-4.5',
    'haiku-4.5',
    'sonnet-4.5',
    'local/coder',
    ' gpt-x ',
  ]);
});
