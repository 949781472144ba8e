/**
 * From where a verb about child sessions asks: as an agent by its door, or as the person by the log and the socket of a run. An
 * agent's verb must start fast and has no state folder, so either side is loaded only when it is taken.
 */
import { isBelow, type AgentId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { ControlFault, type Seat } from '../../ports/control.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Arguments } from '../process/flags/flags.ts';
import type { Io } from '../process/io.ts';

/** What `act` returns, asked from the seat of whoever calls. A run that is gone meanwhile is said in its own words (2). */
export async function seated<T>(args: Arguments, io: Io, act: (seat: Seat) => Promise<T>): Promise<T> {
  const door = doorOf(io);
  try {
    const seat =
      door === null
        ? (await import('./person-client.ts')).personSeat(args, io)
        : await (await import('./agent-client.ts')).doorSeat(door);
    try {
      return await act(seat);
    } finally {
      seat.close();
    }
  } catch (error) {
    if (error instanceof ControlFault) throw new Exit(EXIT.wrongUse, error.message);
    throw error;
  }
}

/** The socket of the agent whose command this is; null: a person calls. */
export function doorOf({ env }: Pick<Io, 'env'>): string | null {
  const door = env['MIMIR_SOCKET'];
  return door === undefined || door === '' ? null : door;
}

/** Is what `record` says and does left out, since the calling agent is not above it? */
export const isHidden = ({ as }: Pick<Seat, 'as'>, { agent }: { readonly agent: AgentId }): boolean =>
  as !== null && agent !== as && !isBelow(agent, as);

/** What was done; a refusal ends the verb with its words (3): the rules, or how things stand, say no. */
export function doneOrExit(result: Result<Receipt, Refusal>): Receipt {
  if (result.ok) return result.value;
  throw new Exit(EXIT.refused, result.fault.text);
}

/** The value, or an exit with the words of the fault (3). */
export function seenOrExit<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new Exit(EXIT.refused, result.fault);
}
