import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultText } from '../../../src/config/files/read-text.ts';
import { plainOf, readTree } from '../../../src/config/files/tree.ts';

const plain = (text: string): unknown => {
  const tree = readTree(text, 'config.yml');
  return tree.ok ? plainOf(tree.value) : faultText(tree.fault);
};
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `key${index}: 1`).join('\n');

/** Milliseconds of the best of three, of this process's own work where the machine does more besides. */
function fastest(act: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const began = performance.now();
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - began, (user + system) / 1000);
  });
  return Math.min(...times);
}

describe('the YAML of a configuration', () => {
  it('is maps, lists and scalars of the 1.2 core schema', () => {
    expect(plain('a: 1\nb: [x, {c: no}]\nd:\ne: 4.0\nf: "2"\ng: |\n  two\n  lines\n')).toEqual({
      a: 1,
      b: ['x', { c: 'no' }],
      d: null,
      e: 4,
      f: '2',
      g: 'two\nlines\n',
    });
  });

  it('may be empty, and may begin with one "---"', () => {
    expect([plain(''), plain('# nothing\n'), plain('---\na: 1\n')]).toEqual([{}, {}, { a: 1 }]);
  });

  it.each([
    [
      'B01 a key for the second time',
      'enforcement: {a: 1}\nx: 1\nenforcement: {a: 2}',
      '3:1: duplicate key "enforcement", first used in line 1 — keep one of them',
    ],
    ['B02 the same key once quoted', 'a: 1\n"a": 2', '2:1: duplicate key "a", first used in line 1 — keep one of them'],
    ['B02 a number and its text', '1: a\n"1": b', '2:1: duplicate key "1", first used in line 1 — keep one of them'],
    [
      'B04 an alias of itself',
      'a: &a [*a]',
      '1:7: anchors (&name) are not accepted — write out the value where it is needed',
    ],
    ['B05 a directive', '%YAML 1.1\n---\nenabled: no', '1:1: directives are not accepted — remove this line'],
    [
      'B10 a second document',
      'a: 1\n---\nb: 2',
      '2:1: a second document starts here — keep one document, without "---"',
    ],
    ['B11 a tag of one’s own', 'a: !foo 1', '1:9: tags (!foo) are not accepted — remove the tag'],
    ['B11 a binary', 'a: !!binary aaaa', '1:13: tags (tag:yaml.org,2002:binary) are not accepted — remove the tag'],
    [
      'B11 a function',
      'a: !!js/function "x"',
      '1:18: tags (tag:yaml.org,2002:js/function) are not accepted — remove the tag',
    ],
    ['a number without end', 'a: .inf', '1:4: this number is not finite — write a plain number'],
    ['a map as a key', '? [a]\n: 1', '1:3: a key cannot be a list or a map — write a plain key'],
    ['a prototype', '__proto__: {a: 1}', '1:1: "__proto__" is not accepted as a key — remove it'],
    ['a tab', 'a:\n\tb: 1', '2:1: Tabs are not allowed as indentation — fix the YAML here'],
  ])('is refused with %s', (_, text, expected) => {
    expect(plain(text)).toBe(`config.yml:${expected}`);
  });

  it('is refused as an alias bomb at once (B03)', () => {
    const level = (at: number): string =>
      Array(9)
        .fill(at === 0 ? 'x' : `*l${at - 1}`)
        .join(', ');
    const bomb = Array.from({ length: 9 }, (_, at) => `l${at}: &l${at} [${level(at)}]`).join('\n');
    expect(plain(bomb)).toBe(
      'config.yml:1:9: anchors (&name) are not accepted — write out the value where it is needed',
    );
    expect(fastest(() => plain(bomb))).toBeLessThan(1000);
  });

  it('is refused with too many keys, quickly (B07)', () => {
    expect(plain(lines(7000))).toBe('config.yml:2001:1: has more than 2000 keys — shorten it');
    expect(plain(lines(2001))).toBe('config.yml:2001:1: has more than 2000 keys — shorten it');
    expect(fastest(() => plain(lines(7000)))).toBeLessThan(1500);
    expect(fastest(() => plain(lines(2001)))).toBeLessThan(1500);
  });

  it('is refused when it is nested too deep, without running out of stack', () => {
    expect(plain(`a: ${'['.repeat(14)}${']'.repeat(14)}`)).toBe(
      'config.yml:1:16: is nested deeper than 12 levels — reduce the nesting',
    );
    expect(plain('['.repeat(30_000))).toMatch(/is nested deeper than 12 levels/);
    expect(plain('- '.repeat(7_000))).toMatch(/is nested deeper than 12 levels/);
  });

  it('gives a tree or a fault for any text, and never throws', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'a: ',
            '- ',
            '[',
            ']',
            '{',
            '}',
            '\n',
            '  ',
            '&x ',
            '*x',
            '!t ',
            '"',
            "'",
            '|',
            '>',
            '? ',
            ': ',
            '#',
            '%',
            '---',
            'é',
            '1',
          ),
        ),
        (parts) => {
          const tree = readTree(parts.join(''), 'f');
          expect(typeof tree.ok).toBe('boolean');
        },
      ),
      { numRuns: 500 },
    );
  });
});
