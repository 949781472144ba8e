/** `mimir`: the full-screen session, or line mode if the terminal cannot show it. */
import { newSession, wrongUse } from '../../app/process/index.ts';
import { openProject } from '../../app/project/index.ts';
import { projectOf } from '../../app/workspace/index.ts';
import { command, isScreen, openSession } from '../verb.ts';

export const screenVerb = command('mimir', async (args, io) => {
  const project = projectOf(args, io);
  const [task = ''] = args.words;
  if (!isScreen(args, io)) await (await import('./trust.ts')).askTrust(project, args, io);
  const opened = await openProject(args, io, project);
  if (io.terminal) return openSession(args, io, opened, task.trim() === '' ? null : { start: task });
  if (task.trim() === '')
    throw wrongUse('missing argument: task (there is no terminal to ask for it)\n  mimir run "<task>"');
  const { carry } = await import('./run.ts');
  return carry(opened, args, io, { session: newSession(), task, plan: null });
});
