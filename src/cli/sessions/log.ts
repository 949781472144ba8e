/** The log of a whole session, printed as it is read; `--follow` stays until its end. */
import type { SessionId } from '../../domain/ids.ts';
import type { LogReader } from '../../store/log.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { openReader, orExit, sessionOf } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import { sayEvent } from './event-line.ts';
import { world } from '../../app/process/world.ts';

/** Another process writes the log: it is looked at this often. */
const LOOK_MS = 250;

/** Prints the session that `word` begins, the newest without one; false when it is no session's id. */
export async function printedLog(word: string | undefined, args: Arguments, io: Io): Promise<boolean> {
  const reader = openReader(projectOf(args, io));
  const all = orExit(() => reader.sessions());
  if (word !== undefined && all.length > 0 && !all.some(({ session }) => session.startsWith(word))) return false;
  await printed(reader, sessionOf(reader, word).session, args, io);
  return true;
}

async function printed(reader: LogReader, session: SessionId, args: Arguments, io: Io): Promise<void> {
  for (let after = 0; ; ) {
    // Looked at before reading: what was written last is still read.
    const goesOn = args.has('follow') && !io.lost.aborted && isLive(reader, session);
    orExit(() => {
      for (const event of reader.each(session, after)) {
        sayEvent(event, args, io);
        after = event.seq;
      }
    });
    if (!goesOn) return;
    await world.sleep(LOOK_MS, io.lost);
  }
}

const isLive = (reader: LogReader, session: string): boolean =>
  orExit(() => reader.sessions()).some((one) => one.session === session && one.state === 'running');
