/** `mimir resume`: continues a stopped or crashed run from its last recorded turn. */
import path from 'node:path';
import * as cli from '../../app/process/index.ts';
import { asHosted, runHosted, type OpenProject, openProject } from '../../app/project/index.ts';

import { defined } from '../../domain/result.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { acceptedDamage, configOf, newestResumable, type ProjectPlace } from '../../app/workspace/index.ts';
import { whyNotResume, projectOf, sessionOf, sharedSession } from '../../app/workspace/index.ts';
import { carry } from './run.ts';
import { command, isScreen, openSession } from '../verb.ts';

export const resumeVerb = command('resume', (args, io) => resume(args, io));

async function resume(args: cli.Arguments, io: cli.Io): Promise<number> {
  const project = await placeFor(args, io);
  const [, followUp] = args.words;
  if (followUp?.trim() === '') throw cli.wrongUse('the message is empty\n  omit it');
  const opened = await openProject(args, asHosted(args, io), project);
  const { session, task } = toResume(opened, args, io);
  if (args.has('detach')) {
    opened.close();
    const { detach } = await import('../../app/project/hosting.ts');
    const words = followUp === undefined ? [] : [followUp];
    return detach(['resume', session, '--hosted', session], args, project, io, words);
  }
  const what = { session, task, plan: null, ...defined({ followUp }) };
  if (args.has('hosted')) return runHosted(opened, args, io, what);
  const isAsked = io.terminal && !args.has('json') && (isScreen(args, io) || !args.has('yes'));
  if (!isAsked) return carry(opened, args, io, what, true);
  return openSession(args, io, opened, { resume: session, ...defined({ followUp }) });
}

/** The project here, or with `--into` the one of a run from another machine, which is brought into that folder. */
async function placeFor(args: cli.Arguments, io: cli.Io): Promise<ProjectPlace> {
  const [here, into] = [projectOf(args, io), args.get('into')];
  if (into === undefined) return here;
  if (!args.has('cluster'))
    throw cli.wrongUse('--into continues a run of another machine\n  mimir resume SESSION --cluster --into FOLDER');
  const session = sharedSession(args.words[0]);
  const { bringRun } = await import('../../app/cluster/index.ts');
  const whenLost = (text: string): void => io.complain(`mimir: ${text}`);
  const brought = await bringRun({ project: here, config: configOf(here, io, {}) }, session, {
    into: path.resolve(io.where(), into),
    ...(args.has('when-lost') && { whenLost }),
  });
  io.complain(`mimir: run ${session} continues in ${brought.root}`);
  return brought;
}

function toResume(opened: OpenProject, args: cli.Arguments, io: cli.Io): SessionSummary {
  const found = wantedBy(opened, args, io);
  const { session, events } = found;
  // The screen opens after the log was checked, which takes a second for each 50,000 events.
  if (io.terminal && events > 20_000) io.complain(`mimir: checking the log of session ${session} (${events} events) …`);
  const over = whyNotResume(opened, found, args.words[1] !== undefined);
  if (over !== null) throw cli.wrongUse(`${over}\n  \`mimir report ${session}\` shows its report`);
  return found;
}

/** The named session or the newest, after its damage was accepted if the person said so. */
function wantedBy(opened: OpenProject, args: cli.Arguments, io: cli.Io): SessionSummary {
  const [name] = args.words;
  const found = name === undefined ? newestToResume(opened) : sessionOf(opened.log, name);
  if (found.state === 'running') throw cli.wrongUse(runsElsewhere(found.session));
  if (!args.has('accept-damaged-log')) return found;
  const words = acceptedDamage(opened.project, found.session, new Date(cli.world.now()).toISOString());
  if (words === null) return found;
  io.complain(`mimir: ${words}`);
  return sessionOf(opened.log, found.session);
}

const runsElsewhere = (session: string): string =>
  `session ${session} runs in another process\n  \`mimir attach ${session}\` shows it`;

/** The newest run that can be resumed; never one that another process owns. */
function newestToResume({ log }: OpenProject): SessionSummary {
  const all = cli.exitOnFault(() => log.sessions());
  const stopped = newestResumable(all);
  if (stopped) return stopped;
  const running = all.find(({ state }) => state === 'running');
  throw cli.wrongUse(
    running
      ? runsElsewhere(running.session)
      : 'nothing to resume: this project has no stopped or failed session\n  `mimir sessions` lists all sessions',
  );
}
