/** Reasons are data: sentences are for people, and no code compares or parses one, so that each can be worded better at any time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSources } from './support/source-structure.ts';

const ROOT = join(import.meta.dirname, '..');
/** Where the sentences of earlier versions are translated, and where words of providers are read. */
const READS = /^src\/(?:events\/earlier-words\.ts|models\/)/;

/** How many comparisons are left; may only fall. */
const LEFT = 0;

/** A text that is not empty, or the name of a constant. */
const TEXT = String.raw`(?:'[^']|"[^"]|\x60[^\x60]|\/|[A-Z][A-Z_]+\b)`;
/** Not the reason of an `AbortSignal`, which is a code. */
const SENTENCE = String.raw`(?<!signal\.|parent\?\.)\b(?:reason|summary|error)\b`;
const COMPARES = [
  new RegExp(String.raw`${SENTENCE} [!=]== ${TEXT}`),
  new RegExp(String.raw`${SENTENCE}\??\.(?:startsWith|endsWith|includes|indexOf|match|search)\(${TEXT}`),
  new RegExp(String.raw`\.(?:test|exec)\([^)]*${SENTENCE}`),
];
const compares = (line: string): boolean => COMPARES.some((form) => form.test(line));

describe('code that compares a sentence', () => {
  it.each([
    "agent.reason === 'idle'",
    'finished.summary === HANDED_OVER',
    'RESTS.test(reason)',
    "agent.reason.startsWith('blocked by')",
    'error?.startsWith(EXCEEDED)',
  ])('is found: %s', (line) => {
    expect(compares(line)).toBe(true);
  });

  it.each(["agent.reason === ''", "signal.reason === 'run stopped'", "agent.waitingFor?.is === 'message'"])(
    'is not this: %s',
    (line) => {
      expect(compares(line)).toBe(false);
    },
  );

  it('is nowhere but where earlier logs are translated, and in no more places than before', () => {
    const found = readSources(ROOT)
      .filter(({ file }) => !READS.test(file))
      .flatMap(({ file }) =>
        readFileSync(join(ROOT, file), 'utf8')
          .split('\n')
          .filter(compares)
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(LEFT);
  });
});
