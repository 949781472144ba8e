/** The question of trust in lines, before anything is planned: only where a person is at a terminal. */
import { unifiedDiff } from '../../../tools/files/diff.ts';
import type { ProjectTrust } from '../../../config/trust/record.ts';
import { isOpen } from '../../../app/views/trust-question.ts';
import { visible } from '../../../app/views/text/sanitise.ts';
import type { Arguments } from '../../../app/process/flags/flags.ts';
import type { Io } from '../../../app/process/io.ts';
import { harmless } from '../../../app/process/io.ts';
import type { ProjectPlace } from '../../../app/project/project-trust.ts';
import { trustHere, trustNow } from '../../../app/project/project-trust.ts';
import { hereOf } from '../../../app/project/project.ts';
import { startClean } from '../../../app/hosting/start-clean.ts';

/** Asks where it is open; whatever is answered, the run goes on, with or without what the project brings. */
export async function askTrust(project: ProjectPlace, args: Arguments, io: Io): Promise<void> {
  if (!io.terminal || args.has('json') || args.has('yes')) return;
  const { config, trust } = hereOf(project, io, {}, 'look');
  if (trust.unrecorded || !isOpen(trust)) return;
  // Nothing that was answered is asked twice.
  await startClean(project, config.rules);
  const shown = trustHere(project, config.preferences.trust ?? [], unifiedDiff);
  for (const line of trustLines(project.root, shown, io)) io.say(line);
  if (!(await saysYes())) return io.say('Not trusted: only its restrictions count.\n');
  const given = trustNow(project, shown.digest);
  return given.ok ? io.say('Trusted as shown.\n') : io.complain(`  not trusted: ${harmless(given.fault)}`);
}

/** Only the letter: Enter, and anything else, is a no. */
async function saysYes(): Promise<boolean> {
  const { openAsker } = await import('../../../app/process/asker.ts');
  const asker = openAsker();
  const typed = await asker.ask('Trust exactly this? y yes, anything else goes on without: ', 'fresh');
  asker.close();
  return typed?.trim() === 'y';
}

function trustLines(
  root: string,
  { state, brings, diff }: Pick<ProjectTrust, 'state' | 'brings' | 'diff'>,
  { paint }: Pick<Io, 'paint'>,
): readonly string[] {
  const changed =
    diff === '' ? [] : ['Changed since you trusted it:', ...diff.split('\n').map((line) => `  ${visible(line)}`)];
  return [
    paint.bold(`${visible(root)} ${state === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet'}.`),
    'Trusted, it would bring this into your runs:',
    ...brings.map((line) => `  - ${visible(line)}`),
    ...changed,
    paint.dim('Its restrictions hold either way. Without trust, nothing else of it counts.'),
  ];
}
