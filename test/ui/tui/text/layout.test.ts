/** Widths: whatever the text, a line that was asked to be w columns wide is w columns wide. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ASCII, UNICODE } from '../../../../src/ui/tui/text/glyphs.ts';
import { beside, blank, box, overlay, sized } from '../../../../src/ui/tui/text/blocks.ts';
import {
  aligned,
  clip,
  columns,
  fit,
  fitText,
  type Line,
  lineWidth,
  plain,
  spread,
  wrap,
  wrapText,
} from '../../../../src/app/views/text/line.ts';
import { toTerminal } from '../../../../src/app/views/text/sanitise.ts';
import { graphemes, widthOf } from '../../../../src/app/views/text/width.ts';
import { anyText } from './texts.ts';

const width = fc.integer({ min: 1, max: 300 });
const anyLine: fc.Arbitrary<Line> = fc.array(
  fc.tuple(
    anyText.map((text) => toTerminal(text).replaceAll('\n', ' ')),
    fc.constantFrom({}, { fg: 'ok' as const }, { bold: true }),
  ),
  { maxLength: 5 },
);

describe('the width of text', () => {
  it('counts columns, not characters', () => {
    expect(
      ['plain', 'é', 'e\u0301', '漢字', '👩‍👩‍👧‍👦', '🇫🇷', '❤️', '❤', '1️⃣', '👍🏽', '●', '▰', 'ｱ', '한', '⌚'].map(
        widthOf,
      ),
    ).toEqual([5, 1, 1, 4, 2, 2, 2, 1, 2, 2, 1, 1, 1, 2, 2]);
  });

  it('is the same for simple letters, with and without segmenting', () => {
    // Latin, Greek, signs; the scripts between have letters that join with the next.
    const codes = Array.from({ length: 0x3000 }, (_, code) => code).filter((code) => code < 0x483 || code >= 0x2000);
    const simple = codes.map((code) => String.fromCharCode(code));
    const alone = simple.filter((letter) => widthOf(letter) === 1 && graphemes(letter).length === 1);
    // A flag behind it makes the whole text one that is segmented.
    const wrong = alone.filter((letter) => widthOf(`${letter}🇫🇷`) !== 3);
    expect(wrong).toEqual([]);
  });

  it('never cuts what a person sees as one character', () => {
    expect(graphemes('a👩‍👩‍👧‍👦e\u0301🇫🇷')).toEqual(['a', '👩‍👩‍👧‍👦', 'e\u0301', '🇫🇷']);
  });
});

describe('lines of an exact width', () => {
  it.each(['\u0600', '\u0890', '\u0d4e', '\u{11a3a}'])(
    'are that wide where they end in a sign that takes what follows: %s',
    (sign) => {
      expect(graphemes(`x${sign}${sign} y`)).toEqual(['x', sign, sign, ' ', 'y']);
      expect(widthOf(fitText(`x${sign}`, 5))).toBe(5);
      expect(widthOf(fitText(`x${sign}yz`, 3))).toBe(3);
    },
  );

  it('are that wide for any text (F05)', () => {
    fc.assert(
      fc.property(anyLine, anyLine, width, (left, right, w) => {
        const made = [fit(left, w), spread(left, right, w), aligned(left, w, 'center'), columns(left, 3, 3 + w)];
        expect(made.map(lineWidth)).toEqual([w, w, w, w]);
        expect(lineWidth(clip(left, w))).toBeLessThanOrEqual(w);
      }),
    );
  });

  it('show what was cut', () => {
    expect(plain(fit([['漢字漢字', {}]], 5))).toBe('漢字…');
    expect(plain(fit([['漢字漢字', {}]], 6))).toBe('漢字… ');
    expect(plain(spread([['a long title', {}]], [['$1.00', {}]], 12))).toBe('a lon… $1.00');
    expect(fitText('12', 5, 'right')).toBe('   12');
  });

  it('lay one block over another even where a wide letter is cut in half', () => {
    const base: readonly Line[] = [[['漢字漢字', {}]], [['abcdefgh', {}]]];
    expect(overlay(base, [[['XX', {}]], [['YY', {}]]], 3, 0).map(plain)).toEqual(['漢 XX 字', 'abcYYfgh']);
  });

  it('stay exact under anything laid over them', () => {
    fc.assert(
      fc.property(anyLine, anyLine, width, fc.integer({ min: -20, max: 320 }), (under, over, w, x) => {
        expect(overlay([fit(under, w)], [over], x, 0).map(lineWidth)).toEqual([w]);
      }),
    );
  });

  it('stand side by side', () => {
    expect(
      beside({ lines: [[['a', {}]]], width: 2 }, { lines: [[['b', {}]], [['c', {}]]], width: 1 }).map(plain),
    ).toEqual(['a b', '  c']);
    expect(sized([], 2, 1).map(plain)).toEqual(blank(2, 1).map(plain));
  });
});

const BOLD = { bold: true } as const;

describe('wrapping', () => {
  it('breaks at words and keeps the indentation', () => {
    expect(wrapText('  one two three four', 9).map(plain)).toEqual(['  one two', '  three', '  four']);
    expect(wrap([['- one two three', {}]], 9, 2).map(plain)).toEqual(['- one two', '  three']);
    expect(wrapText('abcdefghij kl', 4).map(plain)).toEqual(['abcd', 'efgh', 'ij', 'kl']);
    expect(wrapText('漢字漢字漢', 5).map(plain)).toEqual(['漢字', '漢字', '漢']);
    expect(wrapText('a\n\nb', 5).map(plain)).toEqual(['a', '', 'b']);
  });

  it('keeps the styles', () => {
    expect(
      wrap(
        [
          ['one ', { bold: true }],
          ['two', {}],
        ],
        4,
      ),
    ).toEqual([[['one', { bold: true }]], [['two', {}]]]);
  });

  it('breaks plain letters where it breaks others of one column', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', '-', ' ', ' ', ' '), maxLength: 40 });
    const styled = fc.tuple(words, fc.constantFrom({}, BOLD, BOLD));
    const bounds = [fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 4 })] as const;
    fc.assert(
      fc.property(fc.array(styled, { maxLength: 5 }), ...bounds, (line, w, hang) => {
        // Cyrillic letters are measured one by one.
        const others = line.map(([text, style]) => [text.replaceAll(/[^ ]/g, 'ж'), style] as const);
        const dashed = (lines: readonly Line[]): readonly Line[] =>
          lines.map((row) => row.map(([text, style]) => [text.replaceAll(/[^ ]/g, 'ж'), style] as const));
        expect(dashed(wrap(line, w, hang))).toEqual(wrap(others, w, hang));
      }),
      { numRuns: 500 },
    );
  });

  it('is never wider than asked and loses no letter', () => {
    fc.assert(
      fc.property(anyLine, fc.integer({ min: 2, max: 300 }), fc.integer({ min: 0, max: 4 }), (line, w, hang) => {
        const rows = wrap(line, w, hang);
        expect(rows.every((row) => lineWidth(row) <= w)).toBe(true);
        if (w < 6) return;
        const letters = (lines: readonly Line[]): string => lines.map(plain).join('').replaceAll(' ', '');
        expect(letters(rows)).toBe(letters([line]));
      }),
    );
  });
});

describe('a box', () => {
  it('carries its texts in the border lines', () => {
    const card = box({
      width: 34,
      height: 3,
      glyphs: UNICODE,
      border: 'light',
      kind: 'card',
      title: [['● oracle  o3', {}]],
      titleEnd: [['2m 13s', {}]],
      foot: [['⟩ Bash', {}]],
      footEnd: [['79%', {}]],
      body: [[['✓ Reproduce', {}]]],
    });
    expect(card.map(plain)).toEqual([
      '┌ ● oracle  o3 ────────── 2m 13s ┐',
      '│ ✓ Reproduce                    │',
      '└─ ⟩ Bash ────────────────── 79% ┘',
    ]);
    const pane = box({ width: 20, height: 2, glyphs: ASCII, border: 'light', title: [['Log', {}]], body: [] });
    expect(pane.map(plain)).toEqual(['+- Log ------------+', '+------------------+']);
  });

  it('has its exact size for any texts', () => {
    fc.assert(
      fc.property(anyLine, anyLine, width, fc.integer({ min: 0, max: 6 }), (title, body, w, height) => {
        const lines = box({
          width: w,
          height,
          glyphs: UNICODE,
          border: 'heavy',
          title,
          titleEnd: body,
          foot: body,
          footEnd: title,
          body: [body],
        });
        expect(lines.map(lineWidth)).toEqual(Array.from({ length: height }, () => w));
      }),
    );
  });
});
