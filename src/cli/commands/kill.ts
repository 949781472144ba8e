/** `mimir kill`: ends a child session with all below it; for a person also a run. */
import { endedByKill, type KillCandidate, killedAgents } from '../../app/actions/index.ts';
import type { SessionRecord } from '../../events/index.ts';
import type { Command } from '../../ports/controls.ts';
import { wrongUse } from '../../app/process/index.ts';
import { doneOrExit } from '../../app/client/index.ts';
import { idIn, named, sessionVerb, type Target, targetOf } from '../sessions/target.ts';

export const killVerb = sessionVerb('kill', (args, io) => {
  const word = idIn(args, 'kill');
  return async (client) => {
    const target = await targetOf(client, word);
    const { record, seen } = target;
    // For a person the root stands for the whole run, which is stopped and can be resumed.
    const whole = client.as === null && record.parent_session_id === null;
    if (client.as === null) refuseOver(target);
    doneOrExit(await client.submit(record.run, whole ? STOP : { do: 'kill', agent: record.agent }));
    io.say(`Session ${whole ? seen.family.run : record.session_id} terminated`);
    if (whole) io.say(`  \`mimir resume ${seen.family.run}\` continues it`);
    else for (const line of endedWith(target)) io.say(line);
  };
});

const STOP: Command = { do: 'stop run', reason: 'by you' };

/** Lines about the other sessions that end with it. */
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
const killable = ({ agent, is_complete }: SessionRecord): KillCandidate => ({
  id: agent,
  hasEnded: is_complete,
  needs: null,
});

/** Refuses a session that is not running, before an error about its socket. */
function refuseOver({ record, seen }: Target): void {
  const { family } = seen;
  if (family.state === 'running') return;
  const how = record.completion_status ?? family.state;
  throw wrongUse(
    `session ${record.session_id} is not running (${how}): run ${family.run} is ${family.state}\n  \`mimir all\` shows what runs`,
  );
}
