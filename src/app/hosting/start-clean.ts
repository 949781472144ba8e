/**
 * Before anything of a project runs: is there a sandbox, so that no command reads what this process was started with? Where
 * there is none, keys leave the environment of this process first. What was found out is kept until the machine starts anew:
 * trying a sandbox takes longer than a first picture may.
 */
import { mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Rules } from '../../policy/rules.ts';
import type { Box } from '../project/sandbox.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { ProjectPlace } from '../project/project-place.ts';
import { isExposed, startWithoutSecrets } from '../project/secrets.ts';

/**
 * Starts this program anew without its keys where no sandbox works, and does not return then. Otherwise the box that was tried
 * out, or null where that was not needed. Rejects with an `Exit` where keys can't be taken out.
 */
export async function startClean(project: ProjectPlace, rules: Rules): Promise<Box | null> {
  const { state } = project.places;
  if (!isExposed() || isKnownToWork(state)) return null;
  const { openBox } = await import('../project/sandbox.ts');
  const box = await openBox(project, rules).catch((error: unknown) => {
    // Said again where it counts: to who starts a run.
    if (error instanceof Exit) return null;
    throw error;
  });
  if (box === null || noteBox(state, box)) return box;
  try {
    startWithoutSecrets(state);
  } catch (error) {
    throw stillExposed(error instanceof Error ? error.message : String(error));
  }
  return box;
}

/** What a run starts with: a box, or none, and then no key where a command could read it. Throws an `Exit` otherwise. */
export function refuseExposed({ places }: ProjectPlace, box: Box): void {
  if (noteBox(places.state, box) || !isExposed()) return;
  const { state } = box.sandbox;
  throw stillExposed(`a sandbox worked before, and does not now${state.is === 'none' ? ` (${state.because})` : ''}`);
}

const stillExposed = (why: string): Exit =>
  new Exit(
    EXIT.refused,
    `no sandbox works here, and a command could read the keys in the environment of Mimir: ${why}\n  start Mimir again; it takes them out of its environment first`,
  );

const noteIn = (state: string): string => join(state, 'boxes', 'works');

/** Of this start of the machine, this user, and this view of the file system (a container has its own). */
function machine(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot} ${process.getuid?.() ?? 0} ${readlinkSync('/proc/self/ns/mnt')}\n`;
}

function isKnownToWork(state: string): boolean {
  try {
    return readFileSync(noteIn(state), 'utf8') === machine();
  } catch {
    return false;
  }
}

/** Keeps whether it works, as far as that can be kept; and says it. */
function noteBox(state: string, { sandbox }: Box): boolean {
  const works = sandbox.state.is !== 'none';
  const note = noteIn(state);
  try {
    if (!works) rmSync(note, { force: true });
    else if (!isKnownToWork(state)) {
      mkdirSync(dirname(note), { recursive: true, mode: 0o700 });
      writeFileSync(note, machine(), { mode: 0o600 });
    }
  } catch {
    // It is tried out again at the next start.
  }
  return works;
}
