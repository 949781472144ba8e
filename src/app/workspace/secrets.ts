/** Removes configured secrets from this process's environment, so that no program inherits them. The initial environment stays readable for programs
 * of the same user (`/proc/PID/environ`); if no sandbox prevents that, Mimir restarts itself without the secrets. */
import { messageOf, tried } from '../../domain/result.ts';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Secret } from '../../config/index.ts';
import type { Rules } from '../../policy/index.ts';
import { EXIT, Exit } from '../process/index.ts';
import type { ProjectPlace } from './place.ts';
import type { TriedSandbox } from './sandbox.ts';

/** The variable that passes the secrets to the restarted program or to a child process of Mimir. */
const SECRETS_VARIABLE = 'MIMIR_HANDED';

const taken = new Set<string>();
/** Variables with secrets in the initial environment of this process. */
const exposed = new Map<string, string>();

/** Removes the variables from the environment of this process and remembers their values for redaction. */
export function takeSecrets(secrets: readonly Secret[]): void {
  const names = new Set(secrets.map(({ name }) => name));
  for (const { value } of secrets) taken.add(value);
  for (const [name, value = ''] of Object.entries(process.env)) {
    // The same key may also be set under another name.
    if (!names.has(name) && !taken.has(value.trim())) continue;
    exposed.set(name, value);
    delete process.env[name];
  }
}

/** The values of all removed secrets. */
export const takenSecrets = (): readonly string[] => [...taken];

/** True if another process of this user could read a secret in the initial environment. */
export const isExposed = (): boolean => exposed.size > 0;

/** Restarts this program without secrets in its environment; a file passes them on. Does not return; throws if impossible. */
export function startWithoutSecrets(stateDir: string): void {
  const env = { ...process.env, [SECRETS_VARIABLE]: writeSealed(folderIn(stateDir), Object.fromEntries(exposed)) };
  if (process.execve === undefined) throw new Error('this system cannot replace a running program');
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env);
}

/** The environment for a child process of Mimir: without secrets, which a file passes on. */
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
  return { ...others, [SECRETS_VARIABLE]: writeSealed(folderIn(stateDir), secrets) };
}

/** The environment of this process with the secrets that were passed to it; removes the reference to them. */
export function environmentWithHanded(): Record<string, string | undefined> {
  const { [SECRETS_VARIABLE]: reference, ...env } = process.env;
  delete process.env[SECRETS_VARIABLE];
  return reference === undefined ? env : { ...env, ...readSealed(reference) };
}

const folderIn = (stateDir: string): string => join(stateDir, 'handed');
const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, START_BYTES, TAG_BYTES] = [32, 12, 16];
/** Milliseconds after which an unread file is removed. */
const EXPIRY_MS = 60_000;

/** Encrypts values into a file below `folder` and returns its path and key. The receiver reads it once and deletes it;
 * without the key the file of a killed process is useless. Throws if it cannot be written. */
function writeSealed(folder: string, values: Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  sweep(folder);
  const [key, start] = [randomBytes(KEY_BYTES), randomBytes(START_BYTES)];
  const cipher = createCipheriv(CIPHER, key, start);
  const body = Buffer.concat([cipher.update(JSON.stringify(values), 'utf8'), cipher.final()]);
  const file = join(folder, randomBytes(8).toString('hex'));
  writeFileSync(file, Buffer.concat([start, cipher.getAuthTag(), body]), { mode: 0o600, flag: 'wx' });
  return `${key.toString('hex')}:${file}`;
}

/** Reads and removes the values; null if they cannot be read. */
function readSealed(told: string): Readonly<Record<string, string>> | null {
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
    if (stat !== undefined && Date.now() - stat.mtimeMs > EXPIRY_MS) rmSync(file, { force: true });
  }
}

/** Called before anything of a project runs. If no sandbox works, restarts the program without its keys and does not
 * return. Otherwise returns the sandbox that was tried, or null if none was needed; a success is remembered until the
 * next boot, since the trial is slow. Rejects with an `Exit` if the keys cannot be removed. */
export async function startClean(project: ProjectPlace, rules: Rules): Promise<TriedSandbox | null> {
  const { state } = project.places;
  if (!isExposed() || isKnownToWork(state)) return null;
  const { trySandbox } = await import('./sandbox.ts');
  const sandbox = await trySandbox(project, rules).catch((error: unknown) => {
    // The start of a run reports this fault again.
    if (error instanceof Exit) return null;
    throw error;
  });
  if (sandbox === null || recordSandbox(state, sandbox)) return sandbox;
  try {
    startWithoutSecrets(state);
  } catch (error) {
    throw exposedFault(messageOf(error));
  }
  return sandbox;
}

/** Throws an `Exit` if no sandbox works and commands could read a key. */
export function refuseExposed({ places }: ProjectPlace, box: TriedSandbox): void {
  if (recordSandbox(places.state, box) || !isExposed()) return;
  const { state } = box.sandbox;
  throw exposedFault(`the sandbox no longer works${state.is === 'none' ? ` (${state.because})` : ''}`);
}

const exposedFault = (why: string): Exit =>
  new Exit(
    EXIT.refused,
    `no sandbox works here, and a command could read the API keys in Mimir's environment: ${why}\n  start Mimir again; it then removes them from its environment first`,
  );

const recordPath = (state: string): string => join(state, 'boxes', 'works');

/** Identifies this boot, user and mount namespace (a container has its own). */
function machine(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot} ${process.getuid?.() ?? 0} ${readlinkSync('/proc/self/ns/mnt')}\n`;
}

const isKnownToWork = (state: string): boolean =>
  tried(() => readFileSync(recordPath(state), 'utf8') === machine(), false);

/** Remembers whether the sandbox works, if that can be written, and returns it. */
function recordSandbox(state: string, { sandbox }: TriedSandbox): boolean {
  const works = sandbox.state.is !== 'none';
  const note = recordPath(state);
  try {
    if (!works) rmSync(note, { force: true });
    else if (!isKnownToWork(state)) {
      mkdirSync(dirname(note), { recursive: true, mode: 0o700 });
      writeFileSync(note, machine(), { mode: 0o600 });
    }
  } catch {
    // The sandbox is tried again at the next start.
  }
  return works;
}
