/** One event of a log on a line, for a person or as JSON. */
import type { MimirEvent } from '../events/event.ts';
import { logLine } from '../events/log-line.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';

export function sayEvent(event: MimirEvent, args: Arguments, io: Io): void {
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
