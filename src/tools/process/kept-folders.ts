/** Measures, empties and fills Mimir's own folders that commands write to. Agents control their content (links that lead
 * outside, concurrent changes), so small programs do the work in a sandbox that can write nothing else. */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeOf, tried } from '../../domain/result.ts';
import { leftByDead, ownMark } from '../paths/root.ts';
import { type Environment, programOn } from './environment.ts';
import { endLeftBy, OWN, type ProgramEnd, runProgram } from './run-program.ts';

/** What the small programs need to start. */
export interface Helpers {
  /** Path of bubblewrap; null without one: then no command can change a folder meanwhile, and no sandbox is needed. */
  readonly bubblewrap: string | null;
  readonly environment: Environment;
}

const ALONE =
  '--json-status-fd 3 --unshare-all --cap-drop ALL --new-session --die-with-parent --ro-bind / / --dev /dev --proc /proc';

const MEASURE_MS = 20_000;
const REMOVE_MS = 120_000;
const COPY_MS = 120_000;

/** Disk usage of all these folders in bytes; null if it cannot be measured within 20 seconds. */
export async function bytesIn(helpers: Helpers, folders: readonly string[]): Promise<number | null> {
  if (folders.length === 0) return 0;
  const end = await inSandbox(helpers, [], MEASURE_MS, ['du -skc -- "$@" 2>/dev/null | tail -n 1', ...folders]);
  const kibibytes = /^(\d+)\s/.exec(end?.stdout ?? '')?.[1];
  return end?.is !== 'exited' || kibibytes === undefined ? null : Number(kibibytes) * 1024;
}

/** Removes a folder with its content. False when a part of it remains. */
export async function removeFolder(helpers: Helpers, folder: string): Promise<boolean> {
  try {
    if (helpers.bubblewrap === null) {
      rmSync(folder, { recursive: true, force: true });
      return true;
    }
    // The folder itself is a mount point there and cannot be removed from inside.
    const script = 'chmod -R u+rwX -- "$1"; rm -rf --one-file-system -- "$1"; true';
    await inSandbox(helpers, [folder], REMOVE_MS, [script, folder]);
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** Copies into `to`, created if missing, all that it lacks and all that is newer in `from`. False when the copy is incomplete
 * or too slow; `to` may then hold a part. */
export async function copyInto(helpers: Helpers, from: string, to: string): Promise<boolean> {
  try {
    const fresh = isFresh(to) ? mkdtempSync(`${to}.`) : null;
    const script = 'cp -R -P -u --preserve=timestamps --reflink=auto -- "$1/." "$2/"';
    const end = await inSandbox(helpers, [fresh ?? to], COPY_MS, [script, from, fresh ?? to]);
    const whole = end?.is === 'exited' && end.exit === 0;
    // Of two processes that make the first copy, one is first.
    if (fresh !== null && !(whole && moved(fresh, to))) await removeFolder(helpers, fresh);
    return whole;
  } catch {
    return false;
  }
}

function isFresh(folder: string): boolean {
  mkdirSync(path.dirname(folder), { recursive: true, mode: 0o700 });
  try {
    rmdirSync(folder);
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
  return true;
}

const moved = (from: string, to: string): boolean =>
  tried(() => {
    renameSync(from, to);
    return true;
  }, false);

/** Runs a shell script with arguments that can write only to `writable`; null if there is no bash. */
async function inSandbox(
  { bubblewrap, environment }: Helpers,
  writable: readonly string[],
  timeLimit: number,
  words: readonly string[],
): Promise<ProgramEnd | null> {
  const bash = programOn(environment, 'bash');
  if (bash === null) return null;
  const [script = '', ...rest] = words;
  const shell = [bash, '--noprofile', '--norc', '-c', script, 'mimir', ...rest];
  const common = { cwd: '/', env: environment, timeLimit };
  if (bubblewrap === null) return runProgram({ ...common, file: bash, args: shell.slice(1) });
  const binds = writable.flatMap((folder) => ['--bind', folder, folder]);
  const args = [...ALONE.split(' '), ...binds, '--', ...shell];
  return runProgram({ ...common, file: bubblewrap, args, boxed: true });
}

// Names of the fresh files that stand beside a file until they are renamed over it. A note of each lies in the state folder,
// so that the next process removes those of a killed one.

const BASE = /^\.mimir-[0-9a-f]{16}\.tmp$/;
/** Whether `base` is the name of a fresh file. */
export const isFreshFile = (base: string): boolean => BASE.test(base);
const made = new Set<string>();
/** Whether `base` is the name of a fresh file of this process, also of one that is gone. */
export const isOwnFreshFile = (base: string): boolean => made.has(base);
const notesIn = (stateDir: string): string => path.join(stateDir, 'writing');

/** A name for a temporary file in `folder` (absolute), which is not created here. Without a state folder no note is made. Call `done` after
 * the file was renamed or removed. */
export function freshFile(
  stateDir: string | undefined,
  folder: string,
): { readonly base: string; readonly done: () => void } {
  const base = `.mimir-${randomBytes(8).toString('hex')}.tmp`;
  made.add(base);
  if (stateDir === undefined) return { base, done: () => undefined };
  const note = path.join(notesIn(stateDir), ownMark());
  try {
    mkdirSync(path.dirname(note), { recursive: true, mode: 0o700 });
    writeFileSync(note, path.join(folder, base), { mode: 0o600, flag: 'wx' });
  } catch {
    // A missing note must not prevent the write.
  }
  return {
    base,
    done: () => {
      rmSync(note, { force: true });
    },
  };
}

/** Removes the temporary files of ended processes. Never throws. */
export function sweepFreshFiles(stateDir: string): void {
  for (const name of leftByDead(notesIn(stateDir))) {
    const note = path.join(notesIn(stateDir), name);
    try {
      const left = readFileSync(note, 'utf8');
      const found = lstatSync(left, { throwIfNoEntry: false });
      if (BASE.test(path.basename(left)) && found !== undefined && !found.isDirectory()) rmSync(left);
      rmSync(note);
    } catch {
      // Another process removed it, or it is not permitted; the next start tries again.
    }
  }
}

// Notes of processes that may have something running: a sandbox binds itself to its parent only when it is set up, and a command
// outside a sandbox never does.

const own = new Set<string>();
const removeOwn = (): void => {
  for (const note of own) tried(() => rmSync(note, { force: true }), undefined);
};

/** Keeps a note of this process in the state folder until it exits, and ends what killed processes have left running. Never rejects. */
export async function endLeftRunning(stateDir: string): Promise<void> {
  const folder = path.join(stateDir, 'running');
  const namespace = tried(() => readlinkSync('/proc/self/ns/pid'), '');
  if (own.size === 0) process.on('exit', removeOwn);
  own.add(path.join(folder, OWN));
  tried(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(folder, OWN), namespace, { mode: 0o600 });
  }, undefined);
  for (const dead of leftByDead(folder)) {
    const note = path.join(folder, dead);
    // In another namespace, as in a container, its number is of another process: it may be alive.
    const isKnown = tried(() => readFileSync(note, 'utf8'), null) === namespace;
    if (isKnown && (await endLeftBy(dead))) tried(() => rmSync(note, { force: true }), undefined);
  }
}
