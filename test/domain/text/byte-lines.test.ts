import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteLines } from '../../../src/domain/text/byte-lines.ts';

it('gives the beginning of each line and its length, whatever pieces it comes in', () => {
  const line = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).filter((text) => !text.includes(';'));
  fc.assert(
    fc.property(fc.array(line), line, fc.array(fc.nat({ max: 90 })), fc.nat({ max: 20 }), (lines, last, cuts, most) => {
      const bytes = Buffer.from([...lines, last].join(';'));
      const ends = [...cuts].sort((a, b) => a - b).concat(bytes.length);
      const splitter = new ByteLines(most, 0x3b);
      const found: [string, number][] = [];
      for (const [at, end] of ends.entries()) {
        for (const { bytes: beginning, length } of splitter.add(bytes.subarray(ends[at - 1] ?? 0, end)))
          found.push([beginning.toString().slice(0, most), length]);
      }
      expect(found).toEqual(lines.map((text) => [text.slice(0, most), text.length]));
      expect(splitter.unfinished).toBe(last.length);
      const rest = splitter.rest();
      expect([rest.bytes.toString(), rest.length]).toEqual([last.slice(0, most), last.length]);
      expect(splitter.unfinished).toBe(0);
    }),
  );
});
