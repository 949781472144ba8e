/** Puts the early end of what was opened into a value, for callers that go on without it. */
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { Refusal } from '../../ports/controls.ts';
import { Exit } from './exit.ts';

/** What a verb would end with is said, not thrown. */
export async function settled<T>(open: () => Promise<T>): Promise<Result<T, Refusal>> {
  try {
    return ok(await open());
  } catch (error) {
    if (error instanceof Exit) return fail({ text: error.message });
    throw error;
  }
}
