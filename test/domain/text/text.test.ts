/** Texts for models: never longer than was said, well-formed, with nothing hidden in them. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesIn,
  fairShare,
  headAndTail,
  headOf,
  nearest,
  plainLine,
  plainText,
  suggestion,
} from '../../../src/domain/text/text.ts';

const text = fc.string({ unit: 'binary', maxLength: 400 });
const bytes = fc.integer({ min: 0, max: 500 });

describe('the head of a text', () => {
  it('is the text where it fits, else ends with a word on the cut, at a line where one is near', () => {
    expect(headOf('short', 20)).toBe('short');
    expect(headOf(`${'a'.repeat(60)}\n${'b'.repeat(60)}`, 80)).toBe(`${'a'.repeat(60)}\n… (cut)`);
    expect(headOf('é'.repeat(100), 31)).toBe(`${'é'.repeat(10)}\n… (cut)`);
  });

  it('is never longer than was said, and well-formed', () => {
    fc.assert(
      fc.property(text, bytes, (whole, most) => {
        const head = headOf(whole, most);
        expect(bytesIn(head)).toBeLessThanOrEqual(Math.max(most, 0));
        expect(head.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('head and tail of a text', () => {
  const marker = (left: number): string => `[${left} left out]`;

  it('name what is missing between them', () => {
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n');
    const cut = headAndTail(lines, 200, marker);
    expect(cut.startsWith('line 0\nline 1\n')).toBe(true);
    expect(cut.endsWith('\nline 98\nline 99')).toBe(true);
    const left = Number(/\[(\d+) left out\]/.exec(cut)?.[1]);
    expect(left).toBe(bytesIn(lines) - (bytesIn(cut) - bytesIn(marker(left)) - 2));
  });

  it('are together no longer than was said where the marker fits, and well-formed', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 500 }), (whole, most) => {
        const cut = headAndTail(whole, most, marker);
        expect(bytesIn(cut)).toBeLessThanOrEqual(most);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('plain text', () => {
  it('keeps words, line ends and tabs, and nothing that a person would not see', () => {
    expect(plainText('a\tb\r\nc\rd\u2028e\u0000\u001B[31m\u202E\u200B\u{E0041}\uE000\uFEFFé 名')).toBe(
      'a\tb\nc\nd\ne[31mé 名',
    );
    expect(plainLine('  a\n\nb  c ', 5)).toBe('a b c');
    expect(plainLine('abcdef', 4)).toBe('abc…');
  });

  it('stays as it is the second time', () => {
    fc.assert(
      fc.property(text, (whole) => {
        expect(plainText(plainText(whole))).toBe(plainText(whole));
      }),
    );
  });
});

describe('a fair share', () => {
  it('leaves small ones whole and cuts the large ones alike', () => {
    expect(fairShare([10, 20, 30], 100)).toBe(30);
    expect(fairShare([10, 100, 200], 110)).toBe(50);
    expect(fairShare([], 10)).toBe(0);
  });

  it('never adds up to more than there is, and leaves no room that somebody could use', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1000 }), { maxLength: 60 }), fc.nat({ max: 20_000 }), (sizes, total) => {
        const share = fairShare(sizes, total);
        const used = sizes.reduce((sum, size) => sum + Math.min(size, share), 0);
        expect(used).toBeLessThanOrEqual(total);
        const more = sizes.reduce((sum, size) => sum + Math.min(size, share + 1), 0);
        expect(more === used || more > total).toBe(true);
      }),
    );
  });
});

const KNOWN = ['allowedModels', 'deniedModels', 'modelFallback', 'allowedSubAgents'];

it('finds what was probably meant: a letter missing, too many, wrong, or two swapped', () => {
  expect(
    ['allowedModel', 'alowedModels', 'allowedModals', 'allwoedModels', 'ALLOWEDMODELS'].map((word) =>
      nearest(word, KNOWN),
    ),
  ).toEqual(Array(5).fill('allowedModels'));
});

it('prefers a word of the same length among those that are equally near', () => {
  expect(nearest('modle', ['mode', 'model'])).toBe('model');
});

it('guesses nothing for a word that is far from all', () => {
  expect(nearest('colour', KNOWN)).toBeNull();
  expect(nearest('', KNOWN)).toBeNull();
  expect(nearest('x'.repeat(10_000), KNOWN)).toBeNull();
});

it('offers what is known when it can not guess', () => {
  expect(suggestion('allowedModel', KNOWN)).toBe('did you mean "allowedModels"?');
  expect(suggestion('colour', ['theme', 'mouse'])).toBe('use one of: theme, mouse');
  expect(suggestion('colour', [])).toBe('remove it');
});
