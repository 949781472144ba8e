/** The events of a run elsewhere, as they happen: a connection of its own, read no faster than they are taken. */
import type { SessionId } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/event.ts';
import { ControlFault } from '../../ports/control.ts';
import { refusal } from '../server/handshake.ts';
import { lineOf, readLine } from '../lines.ts';
import { GONE, greet, isEvent, resultOf } from './connection.ts';

export interface Followed {
  readonly path: string;
  readonly client: string;
  readonly session: SessionId;
  /** Ends it quietly. */
  readonly closed: AbortSignal;
}

/** Every event after `after`, until the run has ended. Throws `ControlFault` when it is gone before. */
export async function* followRun(run: Followed, after: number): AsyncGenerator<MimirEvent> {
  if (run.closed.aborted) return;
  const greeted = await greet(run.path, run.client);
  if (greeted === null) throw new ControlFault(GONE);
  const { socket, lines, hello } = greeted;
  const hangUp = (): void => void socket.destroy();
  run.closed.addEventListener('abort', hangUp);
  try {
    if (hello.session !== run.session) throw new ControlFault(`session ${hello.session} listens there by now`);
    socket.write(lineOf({ id: 1, ask: 'follow', after }));
    for await (const line of lines) {
      const event = eventIn(line);
      if (event === null) return;
      yield event;
    }
    if (!run.closed.aborted) throw new ControlFault(GONE);
  } finally {
    run.closed.removeEventListener('abort', hangUp);
    socket.destroy();
  }
}

/** The event of a line; null: the run has ended. */
function eventIn(line: string | null): MimirEvent | null {
  const said = line === null ? null : readLine(line);
  if (said === null) throw new ControlFault('what came from the run makes no sense');
  if (isEvent(said['event'])) return said['event'];
  const bye = refusal(said);
  if (bye !== null) throw new ControlFault(bye);
  const result = resultOf(said);
  if (!result.ok) throw new ControlFault(result.fault);
  return null;
}
