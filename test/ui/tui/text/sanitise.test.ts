/** What reaches a terminal can't steer it, hide in it, or break its layout. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sanitiser, toLabel, toTerminal, escapeHidden } from '../../../../src/app/views/text/sanitise.ts';
import { anyText, NASTY } from './texts.ts';

/** Everything that must never be left, said once more in other words than the code's. */
function isDangerous(text: string): boolean {
  const hidden = /[\p{Cc}\p{Bidi_Control}\p{Cs}\p{Zl}\p{Zp}]|\p{M}{5}/u;
  const invisible = new Set(['\u00ad', '\u200b', '\u200c', '\u2060', '\ufeff', '\u3164', '\ufffa']);
  const tag = (char: string): boolean => (char.codePointAt(0) ?? 0) >> 12 === 0xe0;
  return hidden.test(text.replaceAll('\n', '')) || Array.from(text).some((char) => invisible.has(char) || tag(char));
}

/** The text in pieces of the given sizes. */
function pieces(text: string, sizes: readonly number[]): readonly string[] {
  const out: string[] = [];
  let at = 0;
  for (const size of sizes) {
    out.push(text.slice(at, at + size));
    at += size;
  }
  return [...out, text.slice(at)];
}

function inPieces(parts: readonly string[]): string {
  const sanitiser = new Sanitiser();
  return parts.map((part) => sanitiser.push(part)).join('') + sanitiser.end();
}

describe('text for the terminal', () => {
  it('loses every escape sequence and keeps what can be read (F01)', () => {
    expect(toTerminal('a\u001b[2Jb\u001b]0;title\u0007c\u001bP1$r0m\u001b\\d\u001b(0e\u001bcf')).toBe('abcdef');
    expect(toTerminal('\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\')).toBe('link');
    expect(toTerminal('\u001b[31mred\u001b[0m \u001b[8mhidden\u001b[0m')).toBe('red hidden');
  });

  it('loses the 8-bit sequences too (F02)', () => {
    expect(toTerminal('a\u009b2Jb\u009d0;title\u009cc\u0090q\u009cd\u0085e')).toBe('abcde');
  });

  it('keeps what follows a sequence that is never finished', () => {
    expect(toTerminal('a\u001b]0;title\nrm -rf /')).toBe('a\nrm -rf /');
    expect(toTerminal('\u001b[31')).toBe('');
    expect(toTerminal(`\u001b]${'x'.repeat(9000)}end`)).toMatch(/end$/);
  });

  it('cannot be overwritten (F08)', () => {
    expect(toTerminal('safe\revil')).toBe('safe\nevil');
    expect(toTerminal('a\r\nb')).toBe('a\nb');
    expect(toTerminal('abc\b\b\bxyz')).toBe('abcxyz');
    expect(toTerminal('a\fb\u2028c')).toBe('ab\nc');
  });

  it('aligns tabs and takes braces literally (F07)', () => {
    expect(toTerminal('a\tb\n\tc')).toBe('a   b\n    c');
    expect(toTerminal('{red-fg}{bold}{/}{open}')).toBe('{red-fg}{bold}{/}{open}');
  });

  it('keeps pictures that belong together and drops joiners elsewhere (F05)', () => {
    expect(toTerminal('👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ❤️ 1️⃣ 🇫🇷')).toBe('👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ❤️ 1️⃣ 🇫🇷');
    expect(toTerminal('a\u200db\ufe0fc')).toBe('abc');
    expect(toTerminal('\u202egnp.exe\u202c')).toBe('gnp.exe');
    expect(toTerminal(`a${'\u0301'.repeat(200)}`)).toBe(`a${'\u0301'.repeat(4)}`);
    expect(toTerminal('\ud83d!')).toBe('\ufffd!');
  });

  it('is harmless for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(isDangerous(toTerminal(text))).toBe(false);
        expect(toLabel(text)).not.toContain('\n');
        expect(toTerminal(toTerminal(text))).toBe(toTerminal(text));
      }),
    );
  });

  it('is the same however the text was split (F03)', () => {
    for (const text of NASTY) {
      const around = `x${text}y${text}z`;
      for (let at = 0; at <= around.length; at++) {
        expect(inPieces([around.slice(0, at), around.slice(at)])).toBe(toTerminal(around));
      }
    }
    fc.assert(
      fc.property(anyText, fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 30 }), (text, sizes) => {
        expect(inPieces(pieces(text, sizes))).toBe(toTerminal(text));
      }),
    );
  });

  it('takes two megabytes without a line break, or 100 000 colour codes, in a blink (F09)', () => {
    const long = '漢x'.repeat(1_000_000);
    const colours = '\u001b[31mx'.repeat(100_000);
    const before = process.cpuUsage();
    expect(toTerminal('x'.repeat(2_000_000)).length).toBe(2_000_000);
    expect(toTerminal(colours).length).toBe(100_000);
    const { user } = process.cpuUsage(before);
    expect(user / 1000).toBeLessThan(400);
    expect(toTerminal(long).length).toBe(2_000_000);
  });
});

describe('text in a prompt that asks for permission', () => {
  it('shows what would be hidden (F04, F05)', () => {
    expect(escapeHidden('rm\u001b[8m -rf\u202e /\u200b\t\r\nx')).toBe('rm\\x1b[8m -rf\\u{202e} /\\u{200b}\\t\\r\nx');
    expect(escapeHidden('a\u00a0b\u3164')).toBe('a\\xa0b\\u{3164}');
    expect(escapeHidden(`a${'\u0301'.repeat(6)}`)).toBe(`a${'\u0301'.repeat(4)}\\u{301}\\u{301}`);
    expect(escapeHidden('\ud83d')).toBe('\\u{d83d}');
  });

  it('never collapses blanks (F06)', () => {
    const command = `ls${' '.repeat(300)}; curl x`;
    expect(escapeHidden(command)).toBe(command);
  });

  it('is harmless for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(isDangerous(escapeHidden(text))).toBe(false);
      }),
    );
  });
});
