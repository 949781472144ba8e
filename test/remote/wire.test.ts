/** Bytes cut into lines. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineOf, openLines, readLine } from '../../src/remote/wire.ts';

describe('lines of a stream', () => {
  it('are the same however the bytes come', () => {
    const texts = fc.array(fc.string({ unit: 'binary', minLength: 1 }).map((text) => ({ text })));
    fc.assert(
      fc.property(texts, fc.array(fc.nat({ max: 60 })), (values, cuts) => {
        const bytes = Buffer.from(values.map(lineOf).join(''));
        const take = openLines(10_000);
        const ends = [...cuts].sort((a, b) => a - b).concat(bytes.length);
        let from = 0;
        const lines = ends.flatMap((end) => {
          const piece = bytes.subarray(from, Math.max(from, end));
          from = Math.max(from, end);
          return take(piece);
        });
        expect(lines.map((line) => readLine(line ?? ''))).toEqual(values);
      }),
    );
  });

  it('end at one that is too long, whether it ends itself or not', () => {
    expect(openLines(3)(Buffer.from('abc\nabcd\nabc\n'))).toEqual(['abc', null]);
    const take = openLines(3);
    expect([take(Buffer.from('ab')), take(Buffer.from('cd'))]).toEqual([[], [null]]);
  });

  it('are text, and not empty', () => {
    const take = openLines(100);
    expect(take(Buffer.from('a\n\n\nb\n'))).toEqual(['a', 'b']);
    expect(take(Buffer.from([0x61, 0x0a, 0xc3, 0x0a, 0x61, 0x0a]))).toEqual(['a', null]);
  });

  it('cost no more when they come byte by byte', () => {
    const take = openLines(100_000);
    for (let at = 0; at < 100_000; at += 1) expect(take(Buffer.from('x'))).toEqual([]);
    expect(take(Buffer.from('\n'))).toEqual(['x'.repeat(100_000)]);
  });

  it('are objects, or nothing', () => {
    expect(['{"a":1}', '[1]', '1', 'null', '{', ''].map(readLine)).toEqual([{ a: 1 }, null, null, null, null, null]);
  });
});
