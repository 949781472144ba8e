/** Steps between long texts: what nobody touched stays, also where more changed than the shortest edit is searched for. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Step, stepsBetween } from '../../../src/domain/text/line-steps.ts';

const LINES = 4000;
const START = Array.from({ length: LINES }, (_, at) => `line ${at}`);
/** Of five lines in a row the last one is never touched; the others are with this chance. */
const isTouchable = (at: number): boolean => at % 5 !== 4;

const kept = (steps: readonly Step[], side: '-' | '+'): readonly string[] =>
  steps.filter(({ is }) => is === ' ' || is === side).map(({ line }) => line);

describe('the steps between two texts', () => {
  it('keep each line that nobody touched, however much else was changed, removed and added', () => {
    const deed = fc.constantFrom('changes', 'removes', 'adds', 'leaves');
    const some = fc.array(deed, { minLength: 40, maxLength: 60 });
    fc.assert(
      fc.property(some, (deeds) => {
        const fresh = START.flatMap((line, at) => {
          const done = isTouchable(at) ? deeds[at % deeds.length] : 'leaves';
          if (done === 'changes') return [`other ${at}`];
          if (done === 'removes') return [];
          return done === 'adds' ? [line, '}'] : [line];
        });
        const steps = stepsBetween(START, fresh);
        expect(kept(steps, '-')).toEqual(START);
        expect(kept(steps, '+')).toEqual(fresh);
        const now = new Set(fresh);
        expect(steps.filter(({ is }) => is === ' ').map(({ line }) => line)).toEqual(
          START.filter((line) => now.has(line)),
        );
      }),
      { numRuns: 20 },
    );
  });

  it('are a correct edit where lines that occur once changed places, and where there are none', () => {
    const moved = [...START.slice(2000).map((line) => `${line}!`), ...START.slice(1000), ...START.slice(0, 1000)];
    const many = Array.from({ length: 3000 }, (_, at) => `${at % 7}`);
    for (const [old, fresh] of [
      [START, moved],
      [many, many.map((line) => `${line}${line}`)],
    ] as const) {
      const steps = stepsBetween(old, fresh);
      expect([kept(steps, '-'), kept(steps, '+')]).toEqual([old, fresh]);
    }
    expect(stepsBetween(START, moved).filter(({ is }) => is === ' ').length).toBe(3000);
  });
});
