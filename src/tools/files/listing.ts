/** The files of a project by name, as ripgrep sees them: ignored and fenced ones left out, links not followed. */
import { commonFor, seek } from './ripgrep.ts';
import type { Root } from '../paths/root.ts';
import { openFolder } from '../workspace.ts';

export interface Listing {
  /** Relative to the root, sorted. */
  readonly files: readonly string[];
  /** True when there are more than were listed. */
  readonly more: boolean;
}

const LISTING_MS = 5000;

/** At most `most` of them, within some seconds; what can't be read is left out. */
export async function listProject(root: Root, most: number, signal: AbortSignal): Promise<Listing> {
  const folder = await openFolder(root, '.');
  if (!folder.ok) return { files: [], more: false };
  const files: string[] = [];
  try {
    const end = await seek({
      args: ['--files', '--null', ...commonFor(folder.value)],
      folder: folder.value,
      separator: 0,
      timeLimit: LISTING_MS,
      signal,
      onRecord(record) {
        if (files.length === most) return false;
        files.push(record.toString());
        return true;
      },
    });
    return { files, more: end.why !== 'finished' };
  } finally {
    await folder.value.handle.close();
  }
}
