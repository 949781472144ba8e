/** Gives a run to another process: nothing new is begun, what runs comes to its end, and then the run stops as it stands. */
import type { Result } from '../domain/result.ts';
import { fail } from '../domain/result.ts';
import type { Command, Receipt } from '../ports/controls.ts';
import type { RunParts } from './parts.ts';

/** Resolves when the run has stopped, or with why it goes on here. */
export function handOver(
  _parts: RunParts,
  { how }: Extract<Command, { readonly do: 'hand over' }>,
): Promise<Result<Receipt, string>> {
  return Promise.resolve(fail(`${how}: a run can't be handed over yet`));
}
