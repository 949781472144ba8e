/**
 * What the configuration names as secrets, taken out of this process: no program that it starts inherits them. What a process was
 * started with stays readable for others of the same user (`/proc/PID/environ`); where no sandbox keeps commands from that, this
 * program is started once more without them.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../../config/providers/secrets.ts';

/** Names the values that a process hands to its successor, or to a process that it starts. */
const HANDED = 'MIMIR_HANDED';

const taken = new Set<string>();
/** Variables that this process was started with, and that held secrets. */
const exposed = new Map<string, string>();

/** Removes the variables from the environment of this process, and remembers their values for texts that hold them. */
export function takeSecrets(secrets: readonly Secret[]): void {
  const names = new Set(secrets.map(({ name }) => name));
  for (const { value } of secrets) taken.add(value);
  for (const [name, value = ''] of Object.entries(process.env)) {
    // A key may be there under another name as well.
    if (!names.has(name) && !taken.has(value.trim())) continue;
    exposed.set(name, value);
    delete process.env[name];
  }
}

/** The values of all secrets that were taken. */
export const takenSecrets = (): readonly string[] => [...taken];

/** Could another process of this user read a secret in what this one was started with? */
export const isExposed = (): boolean => exposed.size > 0;

/**
 * Becomes the same program anew, with the same arguments in the same process, without the secrets in its environment: they are
 * handed over by a file. Does not return; throws where that can't be done.
 */
export function startWithoutSecrets(stateDir: string): void {
  const env = { ...process.env, [HANDED]: sealed(folderIn(stateDir), Object.fromEntries(exposed)) };
  if (process.execve === undefined) throw new Error('this system can not start a program in the place of another');
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env);
}

/** The environment for another process of Mimir's own: without secrets in it, and with them where it looks for them. */
export function environmentWithout(
  env: Readonly<Record<string, string | undefined>>,
  stateDir: string,
): Readonly<Record<string, string | undefined>> {
  const isSecret = (value: string): boolean => taken.has(value.trim());
  const secrets: Record<string, string> = {};
  const others: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isSecret(value)) secrets[name] = value;
    else others[name] = value;
  }
  if (Object.keys(secrets).length === 0) return env;
  return { ...others, [HANDED]: sealed(folderIn(stateDir), secrets) };
}

/** The environment of this process with what was handed to it, which is taken out of the process itself. */
export function environmentWithHanded(): Record<string, string | undefined> {
  const { [HANDED]: told, ...env } = process.env;
  delete process.env[HANDED];
  return told === undefined ? env : { ...env, ...unsealed(told) };
}

const folderIn = (stateDir: string): string => join(stateDir, 'handed');

// Values that one process hands to another by a file, enciphered: the other is told the file and its key, reads it once and
// removes it. What a process that was killed in between leaves can't be read by anybody.

const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, START_BYTES, TAG_BYTES] = [32, 12, 16];
/** Milliseconds after which nobody comes for a file any more. */
const ABANDONED = 60_000;

/** Writes them below `folder`, and gives what the other process has to be told. Throws where that can't be written. */
function sealed(folder: string, values: Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  sweep(folder);
  const [key, start] = [randomBytes(KEY_BYTES), randomBytes(START_BYTES)];
  const cipher = createCipheriv(CIPHER, key, start);
  const body = Buffer.concat([cipher.update(JSON.stringify(values), 'utf8'), cipher.final()]);
  const file = join(folder, randomBytes(8).toString('hex'));
  writeFileSync(file, Buffer.concat([start, cipher.getAuthTag(), body]), { mode: 0o600, flag: 'wx' });
  return `${key.toString('hex')}:${file}`;
}

/** The values, once; null where there are none for it. */
function unsealed(told: string): Readonly<Record<string, string>> | null {
  const at = KEY_BYTES * 2;
  const file = told.slice(at + 1);
  try {
    const bytes = readFileSync(file);
    const [start, tag, body] = [
      bytes.subarray(0, START_BYTES),
      bytes.subarray(START_BYTES, START_BYTES + TAG_BYTES),
      bytes.subarray(START_BYTES + TAG_BYTES),
    ];
    const cipher = createDecipheriv(CIPHER, Buffer.from(told.slice(0, at), 'hex'), start, { authTagLength: TAG_BYTES });
    cipher.setAuthTag(tag);
    const values: unknown = JSON.parse(Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8'));
    rmSync(file, { force: true });
    return Object.fromEntries(
      Object.entries(values ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return null;
  }
}

function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > ABANDONED) rmSync(file, { force: true });
  }
}
