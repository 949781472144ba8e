/** The caps of tool output hold for any bytes. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capLines, capOutput, capText, HeadAndTail, isBinary, shownName } from '../../../src/tools/process/output.ts';

describe('output of tools', () => {
  it('is left alone when it is short', () => {
    expect(capOutput('a\nb\n')).toBe('a\nb\n');
  });

  it('keeps head and tail and says how much was left out', () => {
    expect(capText('a'.repeat(500) + 'z'.repeat(500), 120)).toBe(
      `${'a'.repeat(20)}\n[… 960 bytes left out …]\n${'z'.repeat(20)}`,
    );
  });

  it('cuts long lines and says by how much', () => {
    expect(capLines(`${'x'.repeat(12)}\nshort`, 10)).toBe(`${'x'.repeat(10)}… (+2 characters)\nshort`);
  });

  it('never exceeds its bytes and is always well-formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), fc.integer({ min: 100, max: 900 }), (text, bytes) => {
        const capped = capText(text, bytes);
        expect(Buffer.byteLength(capped)).toBeLessThanOrEqual(bytes);
        expect(capped.isWellFormed()).toBe(true);
        if (Buffer.byteLength(text.toWellFormed()) <= bytes) expect(capped).toBe(text.toWellFormed());
      }),
    );
  });

  it('counts every byte of a stream, keeps its ends, and holds its memory down', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 })), fc.integer({ min: 2, max: 600 }), (chunks, capacity) => {
        const kept = new HeadAndTail(capacity);
        for (const chunk of chunks) kept.add(chunk);
        const all = Buffer.concat(chunks);
        expect(kept.total).toBe(all.length);
        const text = kept.text();
        expect(text.isWellFormed()).toBe(true);
        // A byte that is no text becomes three: the cap is on what is kept, before that.
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(capacity * 3 + 80);
        if (all.length <= capacity - 1) expect(text).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(all));
      }),
    );
  });

  it('leaves out a character that the gap cuts in two, rather than showing half of it', () => {
    const kept = new HeadAndTail(20);
    kept.add(Buffer.from('aé€😀'.repeat(20)));
    expect(kept.text()).not.toContain('\ufffd');
  });

  it('takes a NUL in the first 8 KiB for binary', () => {
    expect([
      isBinary(Buffer.from('a\0b')),
      isBinary(Buffer.from(`${'a'.repeat(9000)}\0`)),
      isBinary(Buffer.alloc(0)),
    ]).toEqual([true, false, false]);
  });

  it('shows any file name on one line', () => {
    expect(shownName('a\nb\u001b[2J\u2028 名')).toBe(String.raw`a\nb\u001b[2J\u2028 名`);
  });
});
