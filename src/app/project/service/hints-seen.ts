/** Which hints the person has been shown, in a small file of their own. A broken file means none: they are shown once more. */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** More than all hints can have. */
const MOST_BYTES = 64 * 1024;

export interface Hints {
  seen(): ReadonlySet<string>;
  /** Kept for later sessions where that can be written. */
  mark(hint: string): void;
}

/** In `hints.json` of the state folder. The file is read when first asked for. */
export function openHints(state: string): Hints {
  const file = join(state, 'hints.json');
  let known: ReadonlySet<string> | null = null;
  const seen = (): ReadonlySet<string> => {
    known ??= new Set(readHints(file));
    return known;
  };
  return {
    seen,
    mark(hint) {
      if (seen().has(hint)) return;
      // What another session has marked meanwhile is kept.
      known = new Set([...readHints(file), ...seen(), hint]);
      writeHints(state, file, [...known]);
    },
  };
}

function readHints(file: string): readonly string[] {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile() || status.size > MOST_BYTES) return [];
      const parsed: unknown = JSON.parse(readFileSync(descriptor, 'utf8'));
      return Array.isArray(parsed) ? parsed.filter((one) => typeof one === 'string') : [];
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
}

/** Whole or not at all, for this user alone. */
function writeHints(state: string, file: string, hints: readonly string[]): void {
  const fresh = `${file}.${process.pid}.new`;
  try {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    rmSync(fresh, { force: true });
    writeFileSync(fresh, `${JSON.stringify(hints.toSorted())}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch {
    // It is shown again in the next session, which harms nobody.
  }
}
