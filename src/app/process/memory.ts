/** Memory of this process. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all garbage now and gives the memory back; takes up to a tenth of a second. V8 itself lets garbage grow to a multiple of what is in use,
 * and keeps it as long as little happens. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext("gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })");
  setFlagsFromString('--no-expose-gc');
}
