/** `mimir resume`: goes on with a stopped or crashed run from its last recorded turn. */
import { CWD, JSON_FLAG, LIMITS, MODELS, SCREEN } from './common-flags.ts';
import { EXIT, Exit } from './exit.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import type { SessionSummary } from '../ports/log.ts';
import type { Workshop } from './workshop.ts';
import { openWorkshop } from './workshop.ts';
import { orExit, sessionOf } from './log-of.ts';
import { projectOf } from './project.ts';
import { overBecause } from './resumable.ts';
import { carry } from './run.ts';
import type { Verb } from './verb.ts';

export const resumeVerb: Verb = {
  usage: 'mimir resume [SESSION] [options]',
  summary: 'Goes on with a stopped or crashed run; without an id, the newest that was stopped.',
  example: 'mimir resume 4f9a2c',
  words: 1,
  flags: {
    yes: { value: '', help: 'approve the plan if it was not approved yet' },
    ...JSON_FLAG,
    ...LIMITS,
    ...MODELS,
    ...CWD,
    ...SCREEN,
  },
  run: (args, io) => resume(args, io),
};

async function resume(args: Arguments, io: Io): Promise<number> {
  const workshop = await openWorkshop(args, io, projectOf(args, io));
  const [name] = args.words;
  const { session, task } = name === undefined ? newestStopped(workshop) : sessionOf(workshop.log, name);
  const over = overBecause(workshop.log, session);
  if (over !== null) throw new Exit(EXIT.wrongUse, `${over}\n  \`mimir report ${session}\` shows its report`);
  if (io.terminal && !args.has('json') && !args.has('plain') && io.env['TERM'] !== 'dumb') {
    const { openScreen } = await import('./screen.ts');
    return openScreen(args, io, workshop, { resumeSession: session });
  }
  if (io.terminal && !args.has('json') && !args.has('yes')) {
    const { openLines } = await import('./line-follow.ts');
    return openLines(args, io, workshop, { resume: session });
  }
  return carry(workshop, args, io, { session, task, plan: null });
}

/** The newest that can be gone on with; one that another process carries on is left to it. */
function newestStopped({ log }: Workshop): SessionSummary {
  const all = orExit(() => log.sessions());
  const stopped = all.find(({ state }) => state === 'stopped');
  if (stopped) return stopped;
  const running = all.find(({ state }) => state === 'running');
  throw new Exit(
    EXIT.wrongUse,
    running
      ? `session ${running.session} runs in another process\n  \`mimir events --follow\` shows what it does`
      : 'no session of this project was stopped\n  `mimir sessions` lists what there is',
  );
}
