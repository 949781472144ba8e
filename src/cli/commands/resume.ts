/** `mimir resume`: goes on with a stopped or crashed run from its last recorded turn. */
import { CWD, JSON_FLAG, LIMITS, MODELS, SCREEN } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import { asHosted, carryHosted, DETACH, HOSTED } from '../../app/hosting/hosted.ts';
import type { Io } from '../../app/process/io.ts';
import type { SessionSummary } from '../../ports/log.ts';
import type { Workshop } from '../../app/project/open-project.ts';
import { openWorkshop } from '../../app/project/open-project.ts';
import { orExit, sessionOf } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import { acceptedDamage, newestToResumeOf, overBecause } from '../../app/client/resumable.ts';
import { carry } from './run.ts';
import type { Verb } from '../verb.ts';
import { world } from '../../app/process/world.ts';

export const resumeVerb: Verb = {
  usage: 'mimir resume [SESSION ["message to main"]] [options]',
  summary:
    'Resumes a stopped, crashed or failed run; failed tasks run again. Without an id, the newest such run. A message goes to main: it answers after the end as well.',
  example: 'mimir resume 4f9a2c',
  words: 2,
  flags: {
    yes: { value: '', help: 'approve the plan if it was not approved yet' },
    'accept-damaged-log': {
      value: '',
      help: 'go on although records of the log are missing or were changed: what they told may be done a second time',
    },
    ...DETACH,
    ...HOSTED,
    ...JSON_FLAG,
    ...LIMITS,
    ...MODELS,
    ...CWD,
    ...SCREEN,
  },
  run: (args, io) => resume(args, io),
};

async function resume(args: Arguments, io: Io): Promise<number> {
  const project = projectOf(args, io);
  const [, followUp] = args.words;
  if (followUp?.trim() === '') throw new Exit(EXIT.wrongUse, 'the message to main is empty\n  leave it out');
  const said = followUp === undefined ? {} : { followUp };
  const workshop = await openWorkshop(args, asHosted(args, io), project);
  const found = toResume(workshop, args, io);
  const { session, task } = found;
  const over = overBecause(project, found, followUp !== undefined);
  if (over !== null) throw new Exit(EXIT.wrongUse, `${over}\n  \`mimir report ${session}\` shows its report`);
  if (args.has('detach')) {
    workshop.close();
    const { detach } = await import('../../app/hosting/hosting.ts');
    return detach(
      ['resume', session, '--hosted', session],
      args,
      project,
      io,
      followUp === undefined ? [] : [followUp],
    );
  }
  const what = { session, task, plan: null, ...said };
  return args.has('hosted') ? carryHosted(workshop, args, io, what) : goOn(workshop, args, io, what);
}

/** The session that is meant, as it is when the damage that the person accepts is set aside. */
function toResume(workshop: Workshop, args: Arguments, io: Io): SessionSummary {
  const [name] = args.words;
  const found = name === undefined ? newestToResume(workshop) : sessionOf(workshop.log, name);
  if (found.state === 'running') throw new Exit(EXIT.wrongUse, runsElsewhere(found.session));
  if (!args.has('accept-damaged-log')) return found;
  const words = acceptedDamage(workshop.project, found.session, new Date(world.now()).toISOString());
  if (words === null) return found;
  io.complain(`mimir: ${words}`);
  return sessionOf(workshop.log, found.session);
}

/** On a screen, in lines, or without anybody. */
async function goOn(workshop: Workshop, args: Arguments, io: Io, what: Parameters<typeof carry>[3]): Promise<number> {
  const { session, followUp } = what;
  const said = followUp === undefined ? {} : { followUp };
  if (io.terminal && !args.has('json') && !args.has('plain') && io.env['TERM'] !== 'dumb') {
    const { openScreen } = await import('./screen.ts');
    return openScreen(args, io, workshop, { resumeSession: session, ...said });
  }
  if (io.terminal && !args.has('json') && !args.has('yes')) {
    const { openLines } = await import('../../ui/lines/follow.ts');
    return openLines(args, io, workshop, { resume: session, ...said });
  }
  return carry(workshop, args, io, what, true);
}

const runsElsewhere = (session: string): string =>
  `session ${session} runs in another process\n  \`mimir attach ${session}\` shows it`;

/** The newest run that can be resumed; a run of another process is left to that process. */
function newestToResume({ log }: Workshop): SessionSummary {
  const all = orExit(() => log.sessions());
  const stopped = newestToResumeOf(all);
  if (stopped) return stopped;
  const running = all.find(({ state }) => state === 'running');
  throw new Exit(
    EXIT.wrongUse,
    running
      ? runsElsewhere(running.session)
      : 'no session of this project was stopped or failed\n  `mimir sessions` lists what there is',
  );
}
