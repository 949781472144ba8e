/** Any jobs that need earlier ones only, for properties of what runs them. */
import * as fc from 'fast-check';
import type { Job } from '../../src/engine/agents/scheduler.ts';

export const dag: fc.Arbitrary<readonly Job<number>[]> = fc
  .integer({ min: 1, max: 12 })
  .chain((size) =>
    fc.tuple(
      ...Array.from({ length: size }, (_, id) =>
        fc.subarray(
          Array.from({ length: id }, (__, need) => need),
          { maxLength: Math.min(3, id) },
        ),
      ),
    ),
  )
  .map((needs) => needs.map((each, id): Job<number> => ({ id, needs: each })));
