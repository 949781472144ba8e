/** The report of a bug: the trace in a file of the user's own, so that the terminal shows words only. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { placesOf } from '../config/paths.ts';
import type { Io } from './io.ts';
import { world } from './world.ts';

/** The report of a bug outside a run. */
export function reportOf(env: Io['env'], error: unknown): string | null {
  const { state } = placesOf(env, '');
  return isAbsolute(state) ? crashReport(state, error) : null;
}

/** Where it was written below the state directory, or null when even that failed. */
export function crashReport(state: string, error: unknown): string | null {
  const folder = join(state, 'crashes');
  const file = join(folder, `${new Date(world.now()).toISOString().replace(/[:.]/g, '-')}.txt`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`, {
      mode: 0o600,
    });
    return file;
  } catch {
    return null;
  }
}
