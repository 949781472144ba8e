/** Forced agents whose trigger is a person: `manual`. */
import type { RoleName } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail } from '../domain/result.ts';
import type { RunParts } from './parts.ts';

/** Starts the forced agent `role` on all that changed since the run began. */
export function review({ recorder }: RunParts, role: RoleName): Result<string, string> {
  const node = recorder.state().plan?.forced?.find((one) => one.role === role && one.triggers.includes('manual'));
  return fail(
    node === undefined ? `no rule names ${role} as an agent to be started by hand` : `${role} can't be started`,
  );
}
