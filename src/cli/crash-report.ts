/** The report of a bug: the trace in a file of the user's own, without keys, so that the terminal shows words only. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { placesOf } from '../config/files/paths.ts';
import { openRedactor } from '../domain/text/redact.ts';
import type { Io } from '../app/process/io.ts';
import { takenSecrets } from '../app/project/secrets.ts';
import { world } from '../app/process/world.ts';

/** The report of a bug outside a run. */
export function reportOf(env: Io['env'], error: unknown): string | null {
  const { state } = placesOf(env, '');
  return isAbsolute(state) ? crashReport(state, error, env) : null;
}

/** Text about a fault, without what the environment holds under the name of a key, whosever it is, or of a secret of the configuration. */
export function withoutKeys(env: Io['env'], text: string): string {
  const keys = Object.entries(env).flatMap(([name, value]) =>
    SECRET.test(name) && value !== undefined ? [value] : [],
  );
  return openRedactor([...keys, ...takenSecrets()]).clean(text);
}

const SECRET = /KEY|TOKEN|SECRET|PASSW/i;

/** Where it was written below the state directory, or null when even that failed. */
export function crashReport(state: string, error: unknown, env: Io['env']): string | null {
  const folder = join(state, 'crashes');
  // Two may come to it in one moment.
  const name = `${new Date(world.now()).toISOString().replace(/[:.]/g, '-')}-${world.name(4)}`;
  const file = join(folder, `${name}.txt`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    // Made new: what somebody else put there is not written to.
    writeFileSync(file, `${withoutKeys(env, text)}\n`, { mode: 0o600, flag: 'wx' });
    return file;
  } catch {
    return null;
  }
}
