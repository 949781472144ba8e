/** `mimir audit verify` checks the hash chain of the log; `mimir audit export` prints who decided what, by which rule. */
import type { MimirEvent } from '../../events/event.ts';
import type { AuditFault } from '../../store/audit.ts';
import { verifyLog } from '../../store/audit.ts';
import { decisionIn, decisionLine } from '../policy/audit-decision.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { eventsOf, openReader, orExit, sessionOf } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import type { ProjectPlace } from '../../app/project/project.ts';
import type { Verb } from '../verb.ts';

export const auditVerb: Verb = {
  usage: 'mimir audit verify|export [SESSION] [--json]',
  summary: 'Checks the hash chain of the log, or prints its decisions (never contents).',
  example: 'mimir audit verify',
  words: 2,
  flags: { ...JSON_FLAG, ...CWD },
  run(args, io) {
    const [what, session] = args.words;
    const project = projectOf(args, io);
    if (what === 'verify') return Promise.resolve(verify(project, session, args, io));
    if (what === 'export') return Promise.resolve(exported(project, session, args, io));
    const words = what === undefined ? 'say what to do' : `there is no "audit ${what}"`;
    throw new Exit(EXIT.wrongUse, `${words}\n  \`mimir audit verify\` or \`mimir audit export\``);
  },
};

/** 0 when every record is as it was written, 1 when one is not. */
function verify(project: ProjectPlace, session: string | undefined, args: Arguments, io: Io): number {
  const place = { stateDir: project.places.state, project: project.root };
  // A damaged session may not be listed any more: its name is looked for in the records themselves.
  const wanted = (name: string): boolean => session === undefined || name.startsWith(session);
  const found = orExit(() => verifyLog(place, wanted));
  if (session !== undefined && found.sessions === 0 && found.faults.length === 0) {
    throw new Exit(EXIT.wrongUse, `there is no session "${session}" of this project\n  \`mimir sessions\` lists them`);
  }
  if (args.has('json')) io.json(found);
  else {
    for (const fault of found.faults) io.complain(faultLine(fault));
    const checked = `${count(found.records, 'record')} of ${count(found.sessions, 'session')}, ${count(found.checkpoints, 'checkpoint')}`;
    io.say(found.faults.length === 0 ? `${checked}: all as they were written` : `${checked}: damaged`);
  }
  return found.faults.length === 0 ? EXIT.done : EXIT.agentFailed;
}

function faultLine({ session, seq, problem }: AuditFault): string {
  if (session === null) return harmless(problem);
  return harmless(seq === null ? `session ${session}: ${problem}` : `session ${session}, record ${seq}: ${problem}`);
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

function exported(project: ProjectPlace, session: string | undefined, args: Arguments, io: Io): number {
  const reader = openReader(project);
  const sessions = session === undefined ? orExit(() => reader.sessions()).toReversed() : [sessionOf(reader, session)];
  for (const one of sessions) for (const event of eventsOf(reader, one.session)) print(event, args, io);
  return EXIT.done;
}

function print(event: MimirEvent, args: Arguments, io: Io): void {
  const decision = decisionIn(event);
  if (decision === null) return;
  if (args.has('json')) io.json(decision);
  else io.say(harmless(decisionLine(decision)));
}
