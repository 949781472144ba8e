/** The client of a command about sessions: an agent reaches its run by its socket, a person the log and the sockets of runs. An agent's
 * command must start fast and has no state folder, so the person's side is loaded only for a person. */
import { type AgentId, isBelow } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { ControlFault, type SessionClient } from '../../ports/control.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import { reachSocket } from '../../remote/index.ts';
import { type Arguments, EXIT, Exit, type Io, wrongUse } from '../process/index.ts';

/** Calls `act` with the client of the calling agent or person. Exits with code 2 and the reason when the run is gone meanwhile. */
export async function withSessionClient<T>(
  args: Arguments,
  io: Io,
  act: (client: SessionClient) => Promise<T>,
): Promise<T> {
  const socket = agentSocketOf(io);
  try {
    const client =
      socket === null ? (await import('./person-client.ts')).personClient(args, io) : await agentClient(socket);
    try {
      return await act(client);
    } finally {
      client.close();
    }
  } catch (error) {
    if (error instanceof ControlFault) throw wrongUse(error.message);
    throw error;
  }
}

/** The socket of the agent that calls the command; null when a person calls. */
export function agentSocketOf({ env }: Pick<Io, 'env'>): string | null {
  const socket = env['MIMIR_SOCKET'];
  return socket === undefined || socket === '' ? null : socket;
}

/** Are the words and activity of `record` hidden from the caller, an agent that is not its ancestor? */
export const isHidden = ({ as }: Pick<SessionClient, 'as'>, { agent }: { readonly agent: AgentId }): boolean =>
  as !== null && agent !== as && !isBelow(agent, as);

/** The receipt; a refusal exits with its reason and code 3. */
export function doneOrExit(result: Result<Receipt, Refusal>): Receipt {
  if (result.ok) return result.value;
  throw new Exit(EXIT.refused, result.fault.text);
}

/** The value; a fault exits with its text and code 3. */
export function seenOrExit<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new Exit(EXIT.refused, result.fault);
}

/** The client of an agent, which uses nothing but its socket. Throws `ControlFault` when nobody answers there. */
async function agentClient(path: string): Promise<SessionClient> {
  const reached = await reachSocket(path);
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
