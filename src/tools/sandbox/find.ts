/** Finds bubblewrap: the system's own first, never one that an agent or the project could have put there. */
import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../shell/environment.ts';
import { programOn, toolEnvironment } from '../shell/environment.ts';
import { isInside } from '../paths/root.ts';
import { runProgram } from '../shell/run-program.ts';
import { realPlace } from './protected-scan.ts';

const SYSTEM_PLACES = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin', '/run/current-system/sw/bin'];

/** The real path of a bubblewrap that belongs to root and lies outside `root`; or null. */
export const findBubblewrap = (root: string, environment: Environment): string | null =>
  allOutside(root, environment).find(isRoots) ?? null;

/** Why there is none that can be used, and what to do. */
export function whyNoBubblewrap(root: string, environment: Environment): string {
  const [found] = allOutside(root, environment);
  return found === undefined
    ? 'bubblewrap is missing: install the package "bubblewrap"'
    : `${found} can not be relied on: it, or its folder, does not belong to root alone, as far as this process can see (in a user namespace it may not)`;
}

function allOutside(root: string, environment: Environment): readonly string[] {
  const places = [...SYSTEM_PLACES, ...(environment['PATH'] ?? '').split(path.delimiter)];
  return places.flatMap((place) => {
    const program = programOn({ PATH: place }, 'bwrap');
    return program === null ? [] : realPlace(program).filter((real) => !isInside(root, real));
  });
}

/** What it says of its own version, `0.8.0`; null where there is none or it says nothing like that. For people: no run needs it. */
export async function bubblewrapVersion(root: string): Promise<string | null> {
  const env = toolEnvironment(root);
  const file = findBubblewrap(root, env);
  if (file === null) return null;
  const { signal } = new AbortController();
  const { stdout } = await runProgram({ file, args: ['--version'], cwd: '/', env, timeLimit: VERSION_MS, signal });
  return /^bubblewrap (\d[\w.+~-]{0,40})\s*$/.exec(stdout)?.[1] ?? null;
}
const VERSION_MS = 2000;

/** It and its folder can be changed by root alone. */
function isRoots(file: string): boolean {
  return [lstatSync(file), statSync(path.dirname(file))].every(({ uid, mode }) => uid === 0 && (mode & 0o022) === 0);
}
