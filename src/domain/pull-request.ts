/** The pull request (on GitLab: merge request) of a run: its branch, its title, its steps. */
import { plainLine } from './text/text.ts';

/** The acts in their order; each is recorded before it begins and when it has ended. */
export const PR_STEPS = ['commit', 'branch', 'push', 'request'] as const;
export type PrStep = (typeof PR_STEPS)[number];

/** Where a pull request goes. */
export interface PrTarget {
  /** `mimir/fix-the-cache-4f9a2c` */
  readonly branch: string;
  /** The remote's name, and its address without credentials. */
  readonly remote: string;
  readonly address: string;
  /** The branch that it is to be merged into; null: the one that the host takes by default. */
  readonly base: string | null;
  readonly program: 'gh' | 'glab';
}

const MOST_SLUG = 48;
const MOST_TITLE = 72;

/** The branch of a session's changes: the same each time, and no other session's. Valid for `git check-ref-format`. */
export function branchOf(task: string, session: string): string {
  const words = task
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const short = words.length <= MOST_SLUG ? words : words.slice(0, MOST_SLUG).replace(/-[^-]*$/, '');
  const id = session.replaceAll(/[^\w-]/g, '');
  return `mimir/${short === '' ? '' : `${short}-`}${id}`;
}

/** The title of the request and the first line of the commit: the task's first line. */
export const titleOf = (task: string): string =>
  plainLine(task.trim().split('\n')[0] ?? '', MOST_TITLE) || 'Changes of a run of Mimir';
