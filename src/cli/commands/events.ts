/** `mimir events`: the log of a session, or the lifecycle of one agent, as lines or as JSON; `--follow` stays until its end. */
import type { AgentId } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/event.ts';
import { type SessionEvent, sessionEvent } from '../../events/sessions/session-events.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import { type Io, harmless } from '../../app/process/io.ts';
import { EVENT, fieldLines } from '../sessions/fields.ts';
import { sayEvent } from '../sessions/event-line.ts';
import { doorOf, seated, seenOrExit } from '../../app/client/session-client.ts';
import { targetOf, usualSeen } from '../sessions/target.ts';
import type { Verb } from '../verb.ts';
import { world } from '../../app/process/world.ts';
import type { Seen } from '../../ports/control.ts';

/** Another process writes the log: it is looked at this often. */
const LOOK_MS = 250;

export const eventsVerb: Verb = {
  usage: 'mimir events [SESSION|ID] [--follow] [--json]',
  summary: 'Prints the events of a session, one a line: of a run as its log has them, of one agent its lifecycle.',
  example: 'mimir events engineer-task1 --follow --json',
  words: 1,
  flags: { follow: { value: '', help: 'go on until the session ends' }, ...JSON_FLAG, ...CWD },
  notes: [
    ...fieldLines('--json of an agent prints an object a line:', EVENT),
    '--json of a run prints the same events as `mimir run --json`.',
  ],
  run: (args, io) => events(args, io),
};

async function events(args: Arguments, io: Io): Promise<number> {
  const [word] = args.words;
  if (doorOf(io) === null) {
    // A person may mean a whole session, which is printed as it is read: a long log is never held as one.
    const { printedLog } = await import('../sessions/log.ts');
    if (await printedLog(word, args, io)) return EXIT.done;
  }
  return seated(args, io, async (seat) => {
    if (word === undefined) await follow(await usualSeen(seat), null, args, io);
    else {
      const { seen, record } = await targetOf(seat, word);
      await follow(seen, record.agent, args, io);
    }
    return EXIT.done;
  });
}

/** Of one agent its lifecycle, until its end; without one all that the calling agent may see, until its run is gone. */
async function follow(seen: Seen, agent: AgentId | null, args: Arguments, io: Io): Promise<void> {
  for (let after = 0; ; ) {
    // Looked at before reading: what happened last is still told.
    const goesOn = args.has('follow') && !io.lost.aborted && !(await isOver(seen, agent));
    const some = seenOrExit(await seen.events(agent, after));
    for (const event of some) {
      print(event, agent, args, io);
      after = event.seq;
    }
    if (!goesOn) return;
    await world.sleep(LOOK_MS, io.lost);
  }
}

async function isOver(seen: Seen, agent: AgentId | null): Promise<boolean> {
  const { state, sessions } = await seen.again();
  return state !== 'running' || sessions.some((one) => one.agent === agent && one.is_complete);
}

function print(event: MimirEvent, agent: AgentId | null, args: Arguments, io: Io): void {
  if (agent === null) sayEvent(event, args, io);
  else sayLifecycle(sessionEvent(event, agent), args, io);
}

function sayLifecycle(told: SessionEvent | null, args: Arguments, io: Io): void {
  if (told === null) return;
  if (args.has('json')) io.json(told);
  else io.say(`${told.timestamp}  ${told.event_type.padEnd(10)}  ${harmless(told.message).replaceAll('\n', ' ')}`);
}
