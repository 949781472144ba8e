/** Asks in line mode, before anything is planned, whether to trust the project. */
import { type Arguments, askOnce, sanitise, type Io } from '../../app/process/index.ts';
import { unifiedDiff } from '../../tools/index.ts';
import { isOpen, escapeHidden } from '../../app/views/index.ts';
import { projectConfigOf, type ProjectPlace, trustOf, trustNow } from '../../app/workspace/index.ts';
import { startClean } from '../../app/workspace/secrets.ts';
import { NOT_TRUSTED, trustLines, trusts } from './questions.ts';

/** Asks a person at a terminal if the question is open. The run continues after any answer, with or without the additions of the project. */
export async function askTrust(project: ProjectPlace, args: Arguments, io: Io): Promise<void> {
  if (!io.terminal || args.has('json') || args.has('yes')) return;
  const { config, trust } = projectConfigOf(project, io, {}, 'look');
  if (trust.unrecorded || !isOpen(trust)) return;
  await startClean(project, config.rules);
  const shown = trustOf(project, config.preferences.trust ?? [], unifiedDiff);
  io.say(io.paint.bold(`${escapeHidden(project.root)} ${stateWords(shown)}.`));
  for (const line of trustLines(shown)) io.say(line);
  if (!(await trusts((prompt) => askOnce(prompt, 'fresh')))) return io.say(`${NOT_TRUSTED}\n`);
  const given = trustNow(project, shown.digest);
  return given.ok ? io.say('Trusted.\n') : io.complain(`  not trusted: ${sanitise(given.fault)}`);
}

const stateWords = ({ state }: ReturnType<typeof trustOf>): string =>
  state === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet';
