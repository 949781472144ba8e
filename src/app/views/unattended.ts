/** What a run that nobody watches will deny, said before it begins. */
import type { Permitted } from '../../domain/plan/permissions.ts';
import { PERMITTED } from '../../domain/plan/permissions.ts';

const MAY: Readonly<Record<Permitted, string>> = { edits: 'change files', commands: 'run commands' };

/** `2 tasks may change files and 1 may run commands; nobody can be asked: …`; empty where no task comes to such an act. */
export function unattendedWords(tasks: Readonly<Record<Permitted, readonly string[]>>): string {
  const kinds = PERMITTED.filter((what) => tasks[what].length > 0);
  if (kinds.length === 0) return '';
  const parts = kinds.map((what, at) => {
    const count = tasks[what].length;
    return `${count}${at > 0 ? '' : count === 1 ? ' task' : ' tasks'} may ${MAY[what]}`;
  });
  const denied = 'nobody can be asked: acts that need an answer will be denied';
  return `${parts.join(' and ')}; ${denied}. Allow them with --allow ${kinds.join(',')}.`;
}
