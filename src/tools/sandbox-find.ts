/** Finds bubblewrap: the system's own first, never one that an agent or the project could have put there. */
import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from './environment.ts';
import { programOn } from './environment.ts';
import { isInside } from './root.ts';
import { realPlace } from './sandbox-look.ts';

const SYSTEM_PLACES = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin', '/run/current-system/sw/bin'];

/** The real path of a bubblewrap that belongs to root and lies outside `root`; or null. */
export function findBubblewrap(root: string, environment: Environment): string | null {
  const places = [...SYSTEM_PLACES, ...(environment['PATH'] ?? '').split(path.delimiter)];
  for (const place of places) {
    const program = programOn({ PATH: place }, 'bwrap');
    const [real] = program === null ? [] : realPlace(program);
    if (real !== undefined && !isInside(root, real) && isRoots(real)) return real;
  }
  return null;
}

/** It and its folder can be changed by root alone. */
function isRoots(file: string): boolean {
  return [lstatSync(file), statSync(path.dirname(file))].every(({ uid, mode }) => uid === 0 && (mode & 0o022) === 0);
}
