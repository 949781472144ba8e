/** The log of a project, for verbs that look back. A fault of the log ends the verb with its own words (2). */
import type { SessionId } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/event.ts';
import { fold } from '../../events/fold.ts';
import { StoredOutputs } from '../../events/sessions/stored-outputs.ts';
import type { RunState } from '../../events/state.ts';
import { EMPTY } from '../../events/state.ts';
import type { SessionSummary, Some } from '../../ports/log.ts';
import { LogFault, readOrNull } from '../../ports/log.ts';
import type { LogReader } from '../../store/log.ts';
import { openLogReadOnly } from '../../store/log.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { ProjectPlace } from '../project/project-place.ts';

/** The stored sessions of the project, for verbs that only look back. */
export function openReader({ root, places }: ProjectPlace): LogReader {
  return orExit(() => openLogReadOnly({ stateDir: places.state, project: root }));
}

/** A log that can't be read or written is said in its own words. */
export function orExit<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof LogFault) throw new Exit(EXIT.wrongUse, error.message);
    throw error;
  }
}

/** The session that was named (its start is enough), else the newest. Exit 2 when there is none. */
export function sessionOf(reader: Pick<LogReader, 'sessions'>, name: string | undefined): SessionSummary {
  const all = orExit(() => reader.sessions());
  if (name === undefined) {
    // Who asks for the last one means a run, where there is one.
    const newest = all.find(({ draft }) => draft !== true) ?? all[0];
    if (newest) return newest;
    throw new Exit(EXIT.wrongUse, 'there is no session of this project yet\n  `mimir` starts one');
  }
  const found = all.filter(({ session }) => session === name || session.startsWith(name));
  const [one] = found;
  if (one && (found.length === 1 || one.session === name)) return one;
  const words = one ? `${found.length} sessions begin with "${name}"` : `there is no session "${name}" of this project`;
  throw new Exit(EXIT.wrongUse, `${words}\n  \`mimir sessions\` lists them`);
}

/** The events of a session behind `after`, or some of them: read as they are taken, anew by each walk. */
export const eventsOf = (
  reader: Pick<LogReader, 'each'>,
  session: SessionId,
  after?: number,
  some?: Some,
): Iterable<MimirEvent> => ({
  *[Symbol.iterator]() {
    try {
      yield* reader.each(session, after, some);
    } catch (error) {
      orExit(() => {
        throw error;
      });
    }
  },
});

/** The state of a stored session. Outputs of tools are read from the log when something looks at them. */
export function stateOf(reader: Pick<LogReader, 'each' | 'at'>, session: SessionId): RunState {
  const outputs = new StoredOutputs((seq) => readOrNull(() => reader.at(session, seq)));
  let state = EMPTY;
  for (const event of eventsOf(reader, session, 0, { outputs: false }))
    state = outputs.after(fold(state, event), event);
  return state;
}
