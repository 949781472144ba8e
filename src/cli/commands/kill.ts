/** `mimir kill`: ends a child session with all below it; for a person also a run. */
import type { AgentId } from '../../domain/ids.ts';
import type { Command } from '../../ports/controls.ts';
import { CWD } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { doneOrExit, seated } from '../../app/client/session-client.ts';
import type { Target } from '../sessions/target.ts';
import { targetOf } from '../sessions/target.ts';
import type { Verb } from '../verb.ts';

export const killVerb: Verb = {
  usage: 'mimir kill ID',
  summary: 'Ends a child session and all below it; a person may end any, and a whole run by its id.',
  example: 'mimir kill engineer-task1',
  words: 1,
  flags: { ...CWD },
  run: kill,
};

function kill(args: Arguments, io: Io): Promise<number> {
  const [word] = args.words;
  if (word === undefined) {
    throw new Exit(EXIT.wrongUse, 'which session?\n  mimir kill ID; `mimir children --recursive` lists them');
  }
  return seated(args, io, async (seat) => {
    const target = await targetOf(seat, word);
    const { record, seen } = target;
    // A person who names the root means the run: it is kept, and can be gone on with.
    const whole = seat.as === null && record.parent_session_id === null;
    if (seat.as === null) refuseOver(target);
    doneOrExit(await seat.submit(record.run, whole ? STOP : killing(record.agent)));
    io.say(`Session ${whole ? seen.family.run : record.session_id} terminated`);
    if (whole) io.say(`  \`mimir resume ${seen.family.run}\` goes on with it`);
    return EXIT.done;
  });
}

const STOP: Command = { do: 'stop run', reason: 'by you' };
const killing = (agent: AgentId): Command => ({ do: 'kill', agent });

/** Where nothing runs there is nothing to end, and that is said of the session, not of a socket. */
function refuseOver({ record, seen }: Target): void {
  const { family } = seen;
  if (family.state === 'running') return;
  const how = record.completion_status ?? family.state;
  throw new Exit(
    EXIT.wrongUse,
    `session ${record.session_id} is not running (${how}): run ${family.run} is ${family.state}\n  \`mimir all\` shows what runs`,
  );
}
