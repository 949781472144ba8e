/** `mimir`: the full-screen session, or line mode if the terminal cannot show it. */
import { CWD, LIMITS, MODELS, newSession, SCREEN, wrongUse } from '../../app/process/index.ts';
import { openProject } from '../../app/project/index.ts';
import { projectOf } from '../../app/workspace/index.ts';
import { isScreen, openSession, type Verb } from '../verb.ts';

export const screenVerb: Verb = {
  usage: 'mimir ["<task>"] [--cwd DIR]',
  summary: 'Opens the full-screen session: task, plan, run, result.',
  example: 'mimir "Explain how the cache works and review it"',
  words: 1,
  flags: { ...CWD, ...SCREEN, ...LIMITS, ...MODELS },
  async run(args, io) {
    const project = projectOf(args, io);
    const [task = ''] = args.words;
    if (!isScreen(args, io)) await (await import('./trust.ts')).askTrust(project, args, io);
    const opened = await openProject(args, io, project);
    if (io.terminal) return openSession(args, io, opened, task.trim() === '' ? null : { start: task });
    if (task.trim() === '') {
      throw wrongUse('missing argument: task (there is no terminal to ask for it)\n  mimir run "<task>"');
    }
    const { carry } = await import('./run.ts');
    return carry(opened, args, io, { session: newSession(), task, plan: null });
  },
};
