/** Lines as wide as the terminal: broken at words, never in what is meant to be copied. */
import { Chalk } from 'chalk';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { widthOf } from '../../../src/app/views/text/width.ts';
import { fitting, wrapped } from '../../../src/ui/lines/console.ts';

const rows = (text: string, columns: number): readonly string[] => wrapped(text, columns).split('\n');

describe('a line in a terminal', () => {
  it('is broken at words, and what follows hangs below its beginning', () => {
    expect(rows('[finder] Find the entry points of this repository - done (6 tools, 0.2s)', 40)).toEqual([
      '[finder] Find the entry points of this',
      '  repository - done (6 tools, 0.2s)',
    ]);
    expect(rows('   - one two three four five six', 20)).toEqual(['   - one two three', '     four five six']);
    expect(rows('12. one two three four', 14)).toEqual(['12. one two', '    three four']);
  });

  it('stays as it is where it has the room', () => {
    expect(wrapped('twelve signs', 12)).toBe('twelve signs');
    expect(wrapped('日本語', 6)).toBe('日本語');
  });

  it('keeps commands whole, and leaves a line with a long word to the terminal', () => {
    expect(rows('The run continues: mimir attach a89p9a comes back', 32)).toEqual([
      'The run continues:',
      '  mimir attach a89p9a comes back',
    ]);
    expect(rows('Say (`mimir send oracle x`) to it', 26)).toEqual(['Say', '  (`mimir send oracle x`)', '  to it']);
    expect(rows('In src/a/very/long/path/to/a/file.ts:12 it is', 16)).toHaveLength(1);
  });

  it.each([
    '{"session": "run-7f3a", "status": "completed", "more": 1}',
    '["one", "two", "three", "four", "five", "six", "seven"]',
    '| agent | outcome | model | time | tools | input | output |',
    '  | rm -rf build && npm run build && npm run publish it all',
    '  : and what is still the same line of the action, to its end',
    '[tester]   npm run test -- --coverage --reporter verbose src',
  ])('is never broken where it is meant to be copied: %s', (line) => {
    expect(wrapped(line, 30)).toBe(line);
  });

  it('counts columns, not letters, and breaks behind wide letters, as the screen does', () => {
    expect(rows('[検索] 認証の競合を見つけて直す。', 16)).toEqual(['[検索] 認証の競', '  合を見つけて直', '  す。']);
    expect(rows('長長長長。長', 8)).toEqual(['長長長長', '  。長']);
  });

  it('keeps styles, which take no columns', () => {
    const { bold, dim } = new Chalk({ level: 1 });
    expect(wrapped(`${bold('Mimir')} session ${dim('one two')}`, 16)).toBe(
      `${bold('Mimir')} session\n  ${dim('one two')}`,
    );
  });
});

describe('a text of several lines', () => {
  it('hangs only its lists, and keeps its code', () => {
    const text =
      'One two three four.\n\n- five six seven eight\n\n```\nnine ten eleven twelve\n```\nand so on to its end';
    expect(rows(text, 16)).toEqual([
      'One two three',
      'four.',
      '',
      '- five six seven',
      '  eight',
      '',
      '```',
      'nine ten eleven twelve',
      '```',
      'and so on to its',
      'end',
    ]);
  });
});

it('is as wide as the terminal is now, and never broken in a pipe', () => {
  const stream = { isTTY: true, columns: 80 };
  const line = 'one two three four five six';
  const fit = fitting(stream);
  expect(fit(line)).toBe(line);
  stream.columns = 16;
  expect(fit(line)).toBe('one two three\n  four five six');
  expect(fitting({})(line)).toBe(line);
  expect(fitting({ isTTY: false, columns: 16 })(line)).toBe(line);
});

it('loses and adds nothing but blanks, and is no wider than the terminal where no word is', () => {
  const word = fc.oneof(
    fc.stringMatching(/^[a-z.:()]{1,12}$/),
    fc.constantFrom('漢字かな', '“quoted”', 'é', '👩‍💻', 'mimir resume a89p9a'),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), fc.integer({ min: 24, max: 100 }), (words, columns) => {
      const line = words.join(' ');
      const broken = wrapped(line, columns);
      expect(broken.replaceAll(/\s/g, '')).toBe(line.replaceAll(/\s/g, ''));
      expect(Math.max(...broken.split('\n').map(widthOf))).toBeLessThanOrEqual(columns);
    }),
  );
});
