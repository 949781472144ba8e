/**
 * Remembers in the person's state which managed files there were: a policy that vanishes is refused, since it may only have
 * been hidden. An administrator's real removal is acknowledged by removing this record, whose name the refusal says.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { ConfigFault } from '../files/fault.ts';
import type { Loaded } from './load.ts';
import { type Places, shownPath } from '../files/paths.ts';
import { codeOf } from '../files/read-text.ts';

const Seen = z.strictObject({
  v: z.literal(1),
  files: z.array(z.strictObject({ shown: z.string().max(4096), digest: z.string().max(128) })).max(200),
});

type Managed = Loaded['managed'];

/** The record's place; whoever removes it says that the files are meant to be gone. */
export const seenFile = ({ state }: Pick<Places, 'state'>): string => path.join(state, 'managed-seen.json');

/** A fault for each managed file that was seen before and isn't there now, and for a record that can't be read. */
export function vanished(managed: Managed, places: Places): readonly ConfigFault[] {
  const file = seenFile(places);
  const known = shownPath(file, places.home);
  const remedy = `put it back; if the administrator took it away, remove ${known}`;
  const before = readSeen(file);
  if (before === 'unreadable') {
    const problem = 'this record of the managed policy is damaged';
    return [
      {
        file: known,
        line: null,
        column: null,
        problem,
        remedy: 'remove it, when the managed policy is as it should be',
      },
    ];
  }
  return before
    .filter(({ shown }) => managed.every((each) => each.shown !== shown))
    .map(({ shown }) => ({ file: shown, line: null, column: null, problem: 'ruled here before and is gone', remedy }));
}

/** Writes the record, where it isn't as it should be already. Never fails: without a state to write to, no run starts either. */
export function rememberManaged(managed: Managed, places: Pick<Places, 'state'>): void {
  const file = seenFile(places);
  const text = `${JSON.stringify({ v: 1, files: managed })}\n`;
  const before = readSeen(file);
  if (before !== 'unreadable' && JSON.stringify({ v: 1, files: before }) === text.trim()) return;
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(places.state, { recursive: true, mode: 0o700 });
    rmSync(fresh, { force: true });
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch (error) {
    if (codeOf(error) === 'unknown error') throw error;
  }
}

function readSeen(file: string): Managed | 'unreadable' {
  try {
    const read = Seen.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    return read.success ? read.data.files : 'unreadable';
  } catch (error) {
    return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR' ? [] : 'unreadable';
  }
}
