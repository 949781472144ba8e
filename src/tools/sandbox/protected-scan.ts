/**
 * What of a project must not be written or read by commands, found by looking: protected names and `.env*` files, at the
 * top and in folders below. The look is bounded; the names are `path-rules.ts`'s.
 */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { forbidden } from '../paths/path-rules.ts';
import { realPlace } from '../paths/mounts.ts';
import { isInside } from '../paths/root.ts';

/** Folders looked into, and how deep below the root. */
const MOST_FOLDERS = 400;
const DEEPEST = 5;
/** What others have written, or made: too much to look through. */
const PASSED_OVER = new Set(['node_modules', 'target', 'vendor', '.venv', 'venv', '__pycache__', '.cache', '.next']);

/** Folders at the top that nobody may make: code in disguise. Each is covered where it is absent. */
export const NEVER_MADE = ['.git', '.mimir', '.vscode', '.idea', '.zed', '.fleet', '.devcontainer'] as const;

/** Real absolute paths, no link on the way. */
export interface Found {
  readonly readOnly: readonly string[];
  readonly secret: readonly string[];
  /** A protected folder at the top that is a link: binding it read-only would protect nothing. */
  readonly link: string | null;
}

/** `root` is a real path. */
export function lookThrough(root: string): Found {
  const readOnly: string[] = [];
  const secret: string[] = [];
  const folders: { readonly at: string; readonly depth: number }[] = [{ at: root, depth: 0 }];
  for (let next = 0; next < Math.min(folders.length, MOST_FOLDERS); next += 1) {
    const { at, depth } = folders[next] ?? { at: root, depth: 0 };
    for (const entry of entriesOf(at)) {
      const kind = kindOf(entry, depth);
      const place = path.join(at, entry.name);
      if (kind === 'folder') folders.push({ at: place, depth: depth + 1 });
      if (kind === 'secret') secret.push(...realPlace(place));
      // What a link leads to outside is read-only in any case.
      if (kind === 'protected') readOnly.push(...realPlace(place).filter((real) => isInside(root, real)));
    }
  }
  const tops = NEVER_MADE.map((name) => path.join(root, name));
  return {
    readOnly,
    secret,
    link: tops.find((place) => lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true) ?? null,
  };
}

function kindOf(entry: Dirent, depth: number): 'secret' | 'protected' | 'folder' | 'other' {
  if (forbidden(entry.name, 'read') !== null) return 'secret';
  if (forbidden(entry.name, 'write') !== null) return 'protected';
  const goOn = entry.isDirectory() && depth < DEEPEST && !PASSED_OVER.has(entry.name);
  return goOn ? 'folder' : 'other';
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
