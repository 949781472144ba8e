/** `mimir events`: the log of a session, as lines or as JSON; `--follow` stays until its end. */
import type { MimirEvent } from '../events/event.ts';
import { logLine } from '../events/log-line.ts';
import { CWD, JSON_FLAG } from './common-flags.ts';
import { EXIT } from './exit.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import { openReader, orExit, sessionOf } from './log-of.ts';
import { projectOf } from './project.ts';
import type { Verb } from './verb.ts';
import { world } from './world.ts';

/** Another process writes the log: it is looked at this often. */
const LOOK_MS = 250;

export const eventsVerb: Verb = {
  usage: 'mimir events [SESSION] [--follow] [--json]',
  summary: 'Prints the events of a session, one a line.',
  example: 'mimir events --follow --json',
  words: 1,
  flags: { follow: { value: '', help: 'go on until the session ends' }, ...JSON_FLAG, ...CWD },
  run: (args, io) => events(args, io),
};

async function events(args: Arguments, io: Io): Promise<number> {
  const reader = openReader(projectOf(args, io));
  const { session } = sessionOf(reader, args.words[0]);
  for (let after = 0; ; ) {
    // Looked at before reading: what was written last is still read.
    const goesOn = args.has('follow') && !io.lost.aborted && isLive(reader, session);
    const some = orExit(() => reader.read(session, after));
    for (const event of some) print(event, args, io);
    after = some.at(-1)?.seq ?? after;
    if (!goesOn) return EXIT.done;
    await world.sleep(LOOK_MS, io.lost);
  }
}

const isLive = (reader: ReturnType<typeof openReader>, session: string): boolean =>
  orExit(() => reader.sessions()).some((one) => one.session === session && one.state === 'running');

function print(event: MimirEvent, args: Arguments, io: Io): void {
  if (args.has('json')) {
    io.json(event);
    return;
  }
  const line = logLine(event, 0);
  const who = 'agent' in event && event.agent !== null ? event.agent : '';
  io.say(
    `${String(event.seq).padStart(5)}  ${event.time}  ${event.type.padEnd(18)}  ${who.padEnd(10)}  ${harmless(line?.text ?? '')}`,
  );
}
