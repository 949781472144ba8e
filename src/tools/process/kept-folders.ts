/**
 * Folders of Mimir's own that commands fill: measured, emptied and copied into. Whatever lies in them was made by agents, a
 * link that leads outside too, and other commands may change it meanwhile. So all of it is done by small programs in a
 * sandbox in which nothing but that folder can be written.
 */
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Environment, programOn } from './environment.ts';
import { type ProgramEnd, runProgram } from './run-program.ts';

/** What these programs are started with. */
export interface Helpers {
  /** Path of bubblewrap; null where there is none: then nothing runs that could change a folder meanwhile. */
  readonly bubblewrap: string | null;
  readonly environment: Environment;
}

const ALONE =
  '--json-status-fd 3 --unshare-all --cap-drop ALL --new-session --die-with-parent --ro-bind / / --dev /dev --proc /proc';

const MEASURE_MS = 20_000;
const REMOVE_MS = 120_000;
const COPY_MS = 120_000;

/** Bytes on the disk of all these folders; null when they can't be measured in the time there is for it. */
export async function bytesIn(helpers: Helpers, folders: readonly string[]): Promise<number | null> {
  if (folders.length === 0) return 0;
  const end = await inSandbox(helpers, [], MEASURE_MS, ['du -skc -- "$@" 2>/dev/null | tail -n 1', ...folders]);
  const kibibytes = /^(\d+)\s/.exec(end?.stdout ?? '')?.[1];
  return end?.is !== 'exited' || kibibytes === undefined ? null : Number(kibibytes) * 1024;
}

/** Removes a folder with all that is in it. False when something of it stays. */
export async function removeFolder(helpers: Helpers, folder: string): Promise<boolean> {
  try {
    if (helpers.bubblewrap === null) {
      rmSync(folder, { recursive: true, force: true });
      return true;
    }
    // The folder itself is a mount there, which stays.
    const script = 'chmod -R u+rwX -- "$1"; rm -rf --one-file-system -- "$1"; true';
    await inSandbox(helpers, [folder], REMOVE_MS, [script, folder]);
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/**
 * Brings what `from` has and `to` has not, and what is newer there, into `to`, which is made where it is missing. False
 * when that can't be done in time or whole: then what is there may be a part.
 */
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
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
  return true;
}

function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** A line of shell with these words, where only `writable` can be written; null where there is nothing to run it with. */
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
  const { signal } = new AbortController();
  const common = { cwd: '/', env: environment, timeLimit, signal };
  if (bubblewrap === null) return runProgram({ ...common, file: bash, args: shell.slice(1) });
  const binds = writable.flatMap((folder) => ['--bind', folder, folder]);
  const args = [...ALONE.split(' '), ...binds, '--', ...shell];
  return runProgram({ ...common, file: bubblewrap, args, boxed: true });
}
