/** Bytes to inputs: the same however a terminal, or the network, splits them. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Token, Tokenizer } from '../../../../src/ui/tui/terminal/input.ts';

/** The inputs of bytes that come in these pieces, and then nothing more. */
function inputs(...pieces: readonly (string | Uint8Array)[]): readonly Token[] {
  const tokenizer = new Tokenizer();
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  return [...bytes.flatMap((piece) => tokenizer.push(piece)), ...tokenizer.flush(), ...tokenizer.giveUp()];
}

/** Keys by name, other inputs as they are. */
const keys = (text: string): readonly unknown[] =>
  inputs(text).map((input) => (input.is === 'key' ? input.key : input));

describe('keys', () => {
  it('have the names of the key table', () => {
    expect(keys('aJ? é漢🚀')).toEqual(['a', 'J', '?', ' ', 'é', '漢', '🚀']);
    expect(keys('\r\n\t\u007f\u0003\u001a\u001f\u0000\u0008')).toEqual([
      'enter',
      'ctrl-j',
      'tab',
      'backspace',
      'ctrl-c',
      'ctrl-z',
      'ctrl-_',
      'ctrl- ',
      'ctrl-h',
    ]);
    expect(keys('\u001b[A\u001bOB\u001b[1;5C\u001b[1;2D\u001b[H\u001b[4~\u001b[5~\u001b[Z\u001b[3;5~')).toEqual([
      'up',
      'down',
      'ctrl-right',
      'shift-left',
      'home',
      'end',
      'pageup',
      'backtab',
      'ctrl-delete',
    ]);
    expect(keys('\u001bOP\u001b[15~\u001b[[B\u001b[24~\u001b[1;2P')).toEqual(['f1', 'f5', 'f2', 'f12', 'shift-f1']);
  });

  it('know Alt, and Esc alone', () => {
    expect(keys('\u001bb\u001b\r\u001b\u007f\u001b\u001b[A\u001b\u0002')).toEqual([
      'alt-b',
      'alt-enter',
      'alt-backspace',
      'alt-up',
      'ctrl-alt-b',
    ]);
    expect(keys('\u001b')).toEqual(['esc']);
    expect(keys('\u001b\u001b')).toEqual(['esc', 'esc']);
    expect(keys('\u001b[')).toEqual(['alt-[']);
    expect(keys('\u001bO')).toEqual(['alt-O']);
  });

  it('come in kitty words too', () => {
    expect(keys('\u001b[97;5u\u001b[13;2u\u001b[27u\u001b[98;3u\u001b[9;2u\u001b[27;2;13~\u001b[97:65;2u')).toEqual([
      'ctrl-a',
      'shift-enter',
      'esc',
      'alt-b',
      'backtab',
      'shift-enter',
      'A',
    ]);
    expect(keys('\u001b[97;1:3u\u001b[57414u\u001b[57358u')).toEqual(['enter']);
  });

  it('are never made of answers to queries', () => {
    expect(
      inputs('\u001b[?62;4c\u001b]11;rgb:0000/0000/0000\u0007\u001b[?2026;2$y\u001bP1$r0m\u001b\\\u001b[?1ux'),
    ).toEqual([
      { is: 'reply', text: '\u001b[?62;4c' },
      { is: 'reply', text: '\u001b]11;rgb:0000/0000/0000\u0007' },
      { is: 'reply', text: '\u001b[?2026;2$y' },
      { is: 'reply', text: '\u001bP1$r0m\u001b\\' },
      { is: 'reply', text: '\u001b[?1u' },
      { is: 'key', key: 'x' },
    ]);
    expect(keys('\u001b]11;broken\u001b[Aq')).toEqual(['up', 'q']);
    expect(keys('\u001b[12\u001b[A\u009bq')).toEqual(['up', 'q']);
  });
});

describe('the mouse and the focus', () => {
  it('are wheel, click, focus and blur', () => {
    expect(inputs('\u001b[<64;10;5M\u001b[<65;1;1M\u001b[<0;3;4M\u001b[<0;3;4m\u001b[<32;3;4M\u001b[<2;3;4M')).toEqual([
      { is: 'wheel', x: 9, y: 4, by: -1 },
      { is: 'wheel', x: 0, y: 0, by: 1 },
      { is: 'click', x: 2, y: 3 },
    ]);
    expect(inputs('\u001b[I\u001b[O\u001b[M !!q')).toEqual([{ is: 'focus' }, { is: 'blur' }, { is: 'key', key: 'q' }]);
  });
});

describe('a paste', () => {
  it('is one input, and no key in it acts', () => {
    expect(inputs('a\u001b[200~rm -rf q\r\nx\u001b[31m\u0003\u001b[201~b')).toEqual([
      { is: 'key', key: 'a' },
      { is: 'paste', text: 'rm -rf q\nx\u001b[31m\u0003' },
      { is: 'key', key: 'b' },
    ]);
  });

  it('ends when its end never comes', () => {
    expect(inputs('\u001b[200~half')).toEqual([{ is: 'paste', text: 'half' }]);
  });
});

const PIECES = [
  'a',
  ' ',
  'é',
  '漢',
  '🚀',
  '👩‍👩‍👧‍👦',
  '👍🏽',
  '🇫🇷',
  '\r',
  '\u0003',
  '\u001b[A',
  '\u001bOP',
  '\u001b[1;5C',
  '\u001bb',
  '\u001b[200~a\u001b[2Jq\u001b[201~',
  '\u001b[97;5u',
  '\u001b[<64;10;5M',
  '\u001b[M !!',
  '\u001b[I',
  '\u001b[?62;4c',
  '\u001b]11;rgb:0/0/0\u001b\\',
  '\u001bP1$r\u0007',
  '\u001b[[A',
  '\u001b\u001b[A',
];

describe('bytes in any pieces', () => {
  it('give the same inputs', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 }),
        (pieces, sizes) => {
          const bytes = Buffer.from(`${pieces.join('')}.`);
          const parts: Uint8Array[] = [];
          let at = 0;
          for (const size of sizes) {
            parts.push(bytes.subarray(at, at + size));
            at += size;
          }
          expect(inputs(...parts, bytes.subarray(at))).toEqual(inputs(bytes));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never throw, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 }), (parts) => {
        expect(inputs(...parts).every((token) => token.is !== 'key' || token.key !== '')).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
