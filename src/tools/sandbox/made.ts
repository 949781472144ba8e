/** Folders that are there for the time of a box, since a mount needs something to stand on. */
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Wrapped } from './sandbox.ts';
import type { Masks } from './mount-placeholders.ts';

/** Makes `absent` (absolute, the upper ones first), then the box. What nothing was put in is gone when the box has ended. */
export async function withFolders(
  masks: Masks,
  absent: readonly string[],
  stateDir: string,
  wrap: () => Promise<Result<Wrapped, string>>,
): Promise<Result<Wrapped, string>> {
  if (absent.length === 0) return wrap();
  const made = await masks.begin(absent);
  if (!made.ok) return fail(`the state directory ${stateDir} can't be used for it: ${made.fault}`);
  const wrapped = await wrap();
  if (!wrapped.ok) {
    await made.value();
    return wrapped;
  }
  return ok({ ...wrapped.value, end: () => wrapped.value.end().then(made.value) });
}
