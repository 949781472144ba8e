/** `mimir kill`: ends a child session with all below it; for a person also a run. */
import { type Killable, endedByKill, killedAgents } from '../../app/actions/index.ts';
import type { SessionRecord } from '../../events/sessions/record.ts';
import type { Command } from '../../ports/controls.ts';
import { CWD } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { doneOrExit, seated } from '../../app/client/session-client.ts';
import type { Target } from '../sessions/target.ts';
import { named, targetOf } from '../sessions/target.ts';
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
    doneOrExit(await seat.submit(record.run, whole ? STOP : { do: 'kill', agent: record.agent }));
    io.say(`Session ${whole ? seen.family.run : record.session_id} terminated`);
    if (whole) io.say(`  \`mimir resume ${seen.family.run}\` goes on with it`);
    else for (const line of endedWith(target)) io.say(line);
    return EXIT.done;
  });
}

const STOP: Command = { do: 'stop run', reason: 'by you' };

/** The sessions that end with it. */
function endedWith({ record, seen }: Target): readonly string[] {
  const { sessions } = seen.family;
  const ended =
    seen.state === null
      ? endedByKill(sessions.map(killable), record.agent)
      : killedAgents(seen.state, record.agent).map(({ id }) => id);
  const others = sessions.filter(({ agent }) => agent !== record.agent && ended.includes(agent));
  return others.length === 0 ? [] : [`  with it: ${others.map(named).join(', ')}`];
}

/** An agent does not see the tasks of the plan, and kills children of its own only: they have begun. */
const killable = ({ agent, is_complete }: SessionRecord): Killable => ({
  id: agent,
  hasEnded: is_complete,
  needs: null,
});

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
