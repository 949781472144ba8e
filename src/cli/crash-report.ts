/** Crash reports: the stack trace, without keys, in a file of the user; the terminal shows only a message. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { placesOf } from '../config/files/read-text.ts';
import { openRedactor } from '../domain/text/redact.ts';
import { type Io, world } from '../app/process/index.ts';
import { takenSecrets } from '../app/workspace/secrets.ts';

/** Writes the report of a crash outside a run; returns its path. */
export function reportOf(env: Io['env'], error: unknown): string | null {
  const { state } = placesOf(env, '');
  return isAbsolute(state) ? crashReport(state, error, env) : null;
}

/** `text` without the values of environment variables named like keys, and without secrets of the configuration. */
export function withoutKeys(env: Io['env'], text: string): string {
  const keys = Object.entries(env).flatMap(([name, value]) =>
    SECRET.test(name) && value !== undefined ? [value] : [],
  );
  return openRedactor([...keys, ...takenSecrets()]).clean(text);
}

const SECRET = /KEY|TOKEN|SECRET|PASSW/i;

/** Writes a report below the state directory; returns its path, or null if that failed. */
export function crashReport(state: string, error: unknown, env: Io['env']): string | null {
  const folder = join(state, 'crashes');
  // Two processes may crash at the same moment.
  const name = `${new Date(world.now()).toISOString().replace(/[:.]/g, '-')}-${world.name(4)}`;
  const file = join(folder, `${name}.txt`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    // `wx`: never writes to an existing file.
    writeFileSync(file, `${withoutKeys(env, text)}\n`, { mode: 0o600, flag: 'wx' });
    return file;
  } catch {
    return null;
  }
}
