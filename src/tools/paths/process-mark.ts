/** Names that tell which process made a file, so that a later process can see whether its maker still lives. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** Number and start of this process, and something random: a process may make several. */
export const ownMark = (): string =>
  `${process.pid}.${startOf(String(process.pid)) ?? ''}.${randomBytes(8).toString('hex')}`;

/** Does the process that made this mark still live? Another process that was given its number since does not count. */
export function isAlive(mark: string): boolean {
  const [pid = '', start = ''] = mark.split('.');
  const now = startOf(pid);
  if (now !== null) return now === start;
  // Without a start the mark was made where /proc does not tell: only the number is left to ask for.
  return start === '' && exists(Number(pid));
}

/** The names in `folder` that begin with the mark of a process that is gone. None where the folder can't be read. */
export function leftByDead(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !isAlive(name));
  } catch {
    return [];
  }
}

/** In the kernel's ticks; null where there is no such process, it has ended, or /proc does not tell. */
function startOf(pid: string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : (fields[18] ?? null);
  } catch {
    return null;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
