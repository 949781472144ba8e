/** Bytes cut into lines. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineOf, linesIn, readLine } from '../../src/remote/wire.ts';

/** The lines of `pieces` that are at most so long. */
async function read(most: number, pieces: readonly Uint8Array[]): Promise<(string | null)[]> {
  const stream = (async function* () {
    yield* pieces;
  })();
  const lines: (string | null)[] = [];
  for await (const line of linesIn(stream, most)) lines.push(line);
  return lines;
}
const of = (...texts: readonly string[]): readonly Buffer[] => texts.map((text) => Buffer.from(text));

describe('lines of a stream', () => {
  it('are the same however the bytes come', async () => {
    const texts = fc.array(fc.string({ unit: 'binary', minLength: 1 }).map((text) => ({ text })));
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat({ max: 60 })), async (values, cuts) => {
        const bytes = Buffer.from(values.map(lineOf).join(''));
        const ends = [...cuts].sort((a, b) => a - b).concat(bytes.length);
        const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
        const lines = await read(10_000, pieces);
        expect(lines.map((line) => readLine(line ?? ''))).toEqual(values);
      }),
    );
  });

  it('end at one that is too long, whether it ends itself or not', async () => {
    expect(await read(3, of('abc\nabcd\nabc\n'))).toEqual(['abc', null]);
    expect(await read(3, of('ab', 'cd', '\nabc\n'))).toEqual([null]);
  });

  it('are text, and not empty', async () => {
    expect(await read(100, of('a\n\n\nb\n'))).toEqual(['a', 'b']);
    expect(await read(100, [Buffer.from([0x61, 0x0a, 0xc3, 0x0a, 0x61, 0x0a])])).toEqual(['a', null]);
  });

  it('cost no more when they come byte by byte', async () => {
    expect(await read(100_000, of(...Array<string>(100_000).fill('x'), '\n'))).toEqual(['x'.repeat(100_000)]);
  });

  it('are objects, or nothing', () => {
    expect(['{"a":1}', '[1]', '1', 'null', '{', ''].map(readLine)).toEqual([{ a: 1 }, null, null, null, null, null]);
  });
});
