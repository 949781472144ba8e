/** Why there is no sandbox, in words for a person: what bubblewrap said when it was tried. */
import type { ProgramEnd } from '../shell/run-program.ts';

/** Of a trial that did not end well, and may have had so long. */
export function whyRefused({ is, stderr }: ProgramEnd, milliseconds: number): string {
  const said =
    stderr
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^bwrap: /, '') ?? '';
  if (is === 'time limit') return `bubblewrap did not answer within ${milliseconds / 1000} s`;
  if (/mount proc|mounting proc/i.test(said))
    return `bubblewrap can't make its own /proc (${said}): Mimir seems to run inside another sandbox or container`;
  if (/namespace|uid map|gid map|clone|unshare|No space left/i.test(said))
    return `bubblewrap is there, but this system refuses it new namespaces (${said}): they are switched off or used up, or Mimir runs inside another sandbox`;
  return `bubblewrap is there, but does not work${said === '' ? '' : ` (${said})`}`;
}
