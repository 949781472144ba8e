/** Reads what git tells of the latest commits: which files they changed, how often and by how many lines. */
import type { Seen } from './step.ts';

export interface Change {
  readonly path: string;
  /** Commits that changed it, and lines added or taken away by them together. */
  readonly times: number;
  readonly lines: number;
}

/** Files of a `git log` with sizes, those changed most often first. Shortened paths are left out: they name no file. */
export function changesIn(log: Seen | undefined): readonly Change[] {
  const counts = new Map<string, Change>();
  for (const { path, lines } of rowsOf(log)) {
    const before = counts.get(path) ?? { path, times: 0, lines: 0 };
    counts.set(path, { path, times: before.times + 1, lines: before.lines + lines });
  }
  return [...counts.values()].toSorted((a, b) => b.times - a.times || b.lines - a.lines || (a.path < b.path ? -1 : 1));
}

const rowsOf = (log: Seen | undefined): readonly { readonly path: string; readonly lines: number }[] =>
  (log?.ok === true ? log.text.split('\n') : []).flatMap((line) => {
    const [, path = '', lines = '0'] = /^ (\S.*?)\s+\|\s+(\d+) [+-]*$/.exec(line) ?? [];
    return path === '' || path.startsWith('...') || path.includes(' => ') ? [] : [{ path, lines: Number(lines) }];
  });

/** How many commits a `git log` shows. */
export const commitsIn = (log: Seen | undefined): number =>
  log?.ok === true ? log.text.split('\n').filter((line) => /^[0-9a-f]{7,40} \d{4}-\d{2}-\d{2}/.test(line)).length : 0;
