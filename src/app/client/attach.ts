/** Reaches a run that another process carries. */
import type { SessionId } from '../../domain/ids.ts';
import { fail } from '../../domain/result.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Lobby } from '../../ports/project-service.ts';

/** The controls of a run that another process carries. */
export async function attachTo(lobby: Lobby, session: SessionId): ReturnType<Lobby['resume']> {
  try {
    return await (lobby.attach?.(session) ??
      Promise.resolve(fail({ text: 'Runs of other processes can not be shown here.' })));
  } catch (error) {
    if (error instanceof ControlFault) return fail({ text: error.message });
    throw error;
  }
}
