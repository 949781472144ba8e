/** Forced agents whose trigger is a person: `manual`. They open and close nothing; their verdict is in the log. */
import type { RoleName } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { RunParts } from '../run/parts.ts';

/** Starts the forced agent `role` on all that changed since the run began; it stands in line behind other reviews. */
export function review(parts: RunParts, role: RoleName): Result<string, string> {
  const { forced, recorder, scheduling } = parts;
  const node = forced.nodes('manual').find((one) => one.role === role);
  if (node === undefined) return fail(`no rule names ${role} as an agent to be started by hand`);
  if (scheduling.now === null || forced.isOver()) return fail('agents are not at work: there is nothing to judge yet');
  if (recorder.state().firstTree === null) return fail('nothing here can tell what has changed');
  forced.byHand(node).catch((error: unknown) => parts.stop(error instanceof Error ? error.message : String(error)));
  return ok(`${role} judges what has changed`);
}
