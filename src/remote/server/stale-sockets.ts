/** Takes away what processes that were killed have left in the folders of sockets. What somebody may still use stays. */
import { lstatSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Millis } from '../../domain/ids.ts';
import type { Where } from '../socket-paths.ts';
import { isAnswered, isOurSocket } from '../socket-paths.ts';

const DAY: Millis = 24 * 3600 * 1000;
/** Of a session that begins just now nobody may listen yet: only what has lain there for a while is looked at. */
const OLD_SOCKET = DAY;
const OLD_OUTPUT = 30 * DAY;

const SOCKET = /^[0-9a-f]{16}(?:-[0-9a-f]{7})?$/;

/** Sockets of this session where nobody listens, old ones of others, and outputs of long ago. Never throws. */
export async function sweep(where: Where, folder: string, now: Millis): Promise<void> {
  for (const one of new Set([folder, dirname(where.note)])) {
    for (const name of namesIn(one)) await look(join(one, name), name, { where, now });
  }
}

async function look(path: string, name: string, { where, now }: { where: Where; now: Millis }): Promise<void> {
  try {
    const age = now - lstatSync(path).mtimeMs;
    if (await isLeft(path, name, name.startsWith(`${where.name}-`) ? Infinity : age)) rmSync(path);
  } catch {
    // Somebody else was quicker.
  }
}

async function isLeft(path: string, name: string, age: Millis): Promise<boolean> {
  if (SOCKET.test(name)) return age > OLD_SOCKET && isOurSocket(path) && !(await isAnswered(path));
  if (name.endsWith('.at')) return age > OLD_SOCKET && !isOurSocket(readlinkSync(path));
  return name.endsWith('.out') && age > OLD_OUTPUT;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
