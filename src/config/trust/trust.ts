/** Which projects the person trusts: those that `trust` in their own configuration names, or a folder above. Pure but for real paths. */
import { realpathSync } from 'node:fs';
import path from 'node:path';

export interface Trust {
  readonly trusted: boolean;
  /** Entries that say nothing, a line each, with the reason. */
  readonly notes: readonly string[];
}

/**
 * Compared as real paths, component by component. Home itself and what is above it would trust everything that is ever
 * downloaded: they count for nothing, like relative paths and folders that aren't there.
 */
export function trustOf(projectRoot: string, entries: readonly string[], home: string): Trust {
  const project = realOf(projectRoot) ?? projectRoot;
  const own = realOf(home) ?? home;
  const tooWide = (real: string): boolean => isTooWide(real, own);
  const judged = entries.map((entry): Judged => {
    const named = entry === '~' || entry.startsWith('~/') ? path.join(home, entry.slice(1)) : entry;
    const ignored = (why: string): Judged => ({ real: null, note: `trust: "${entry}" is ignored: ${why}` });
    if (!path.isAbsolute(named)) return ignored('name it from / or ~ on');
    const real = realOf(named);
    return real !== null && tooWide(real) ? ignored('it is too wide') : { real, note: null };
  });
  return {
    trusted: judged.some(({ real }) => real !== null && holds(real, project)),
    notes: judged.flatMap(({ note }) => note ?? []),
  };
}

/** Home, what is above it, and `/`: to trust them would be to trust all that is ever downloaded. Both are real paths. */
export const isTooWide = (real: string, home: string): boolean =>
  real === path.parse(real).root || holds(real, realOf(home) ?? home);

interface Judged {
  readonly real: string | null;
  readonly note: string | null;
}

/** The folder itself, or one above. */
const holds = (above: string, below: string): boolean => below === above || below.startsWith(above + path.sep);

/** Null for a folder that isn't there. */
function realOf(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}
