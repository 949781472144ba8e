/** Which processes of this machine are alive, by their command line. */
import { readdirSync, readFileSync } from 'node:fs';

export function sleepers(command: RegExp): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      } catch {
        return '';
      }
    })
    .filter((line) => line.startsWith('sleep ') && command.test(line));
}
