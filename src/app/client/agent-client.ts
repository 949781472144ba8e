/** The seat of an agent: everything by its door, and nothing else is opened. */
import { reachDoor } from '../../remote/client/connect.ts';
import type { Seat } from '../../ports/control.ts';

/** Throws `ControlFault` when nobody answers there. */
export async function doorSeat(path: string): Promise<Seat> {
  const reached = await reachDoor(path);
  return {
    as: reached.as,
    runs: () => [{ session: reached.session, state: 'running' }],
    look: async () => ({
      family: await reached.family(),
      state: null,
      again: () => reached.family(),
      detail: (agent) => reached.detail(agent),
      events: (agent, after) => reached.events(agent, after),
    }),
    socket: () => path,
    submit: (_, command) => reached.controls.submit(command),
    close: () => reached.close(),
  };
}
