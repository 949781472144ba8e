/** Who may ask what of a run (CONTRACT D27, D28): a person everything, an agent for itself, its children and messages. */
import type { AgentId } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail } from '../domain/result.ts';
import type { Command, Receipt } from '../ports/controls.ts';
import type { RunParts } from './parts.ts';

type OfFamily = Extract<Command, { readonly do: 'spawn' | 'complete' }>;

/** Carries out what concerns children; `by`: the agent that asks, null for a person. */
export function ofFamily(_parts: RunParts, { do: act }: OfFamily, _by: AgentId | null): Result<Receipt, string> {
  return fail(`${act}: there are no children yet`);
}
