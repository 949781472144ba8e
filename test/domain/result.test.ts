import { expect, it } from 'vitest';
import { messageOf } from '../../src/domain/result.ts';

it('whatever was thrown has words', () => {
  expect([new Error('the disk is full'), 'a text', undefined, { reason: 1 }].map(messageOf)).toEqual([
    'the disk is full',
    'a text',
    'undefined',
    '[object Object]',
  ]);
});
