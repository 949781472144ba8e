import { expect, it } from 'vitest';
import { nearest, suggestion } from '../../../src/domain/text/nearest.ts';

const KNOWN = ['allowedModels', 'deniedModels', 'modelFallback', 'allowedSubAgents'];

it('finds what was probably meant: a letter missing, too many, wrong, or two swapped', () => {
  expect(
    ['allowedModel', 'alowedModels', 'allowedModals', 'allwoedModels', 'ALLOWEDMODELS'].map((word) =>
      nearest(word, KNOWN),
    ),
  ).toEqual(Array(5).fill('allowedModels'));
});

it('guesses nothing for a word that is far from all', () => {
  expect(nearest('colour', KNOWN)).toBeNull();
  expect(nearest('', KNOWN)).toBeNull();
  expect(nearest('x'.repeat(10_000), KNOWN)).toBeNull();
});

it('offers what is known when it can not guess', () => {
  expect(suggestion('allowedModel', KNOWN)).toBe('did you mean "allowedModels"?');
  expect(suggestion('colour', ['theme', 'mouse'])).toBe('known here: theme, mouse');
  expect(suggestion('colour', [])).toBe('take it out');
});
