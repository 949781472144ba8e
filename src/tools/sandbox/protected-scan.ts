/** Finds what commands must not write or read in a project: protected names and `.env*` files, at the top and below. The
 * search is bounded; `root.ts` decides which names are protected. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { forbidden, isInside, isRepositoryName, realPlace } from '../paths/root.ts';
import { codeOf, tried } from '../../domain/result.ts';

/** The most folders to search, and the deepest level below the root. */
const MOST_LOOKED_INTO = 400;
const DEEPEST = 5;
/** Generated or third-party folders are too large to search. */
const PASSED_OVER = new Set(['node_modules', 'target', 'vendor', '.venv', 'venv', '__pycache__', '.cache', '.next']);

/** Top-level folders that agents must never create, because their content can run code. Missing ones are covered. */
export const NEVER_MADE = ['.git', '.mimir', '.vscode', '.idea', '.zed', '.fleet', '.devcontainer'] as const;

/** Real absolute paths without links. */
export interface Found {
  readonly readOnly: readonly string[];
  readonly secret: readonly string[];
  /** A protected top-level folder that is a link: a read-only bind of it would protect nothing. */
  readonly link: string | null;
}

/** `root` is a real path. */
export function lookThrough(root: string): Found {
  const readOnly: string[] = [];
  const secret: string[] = [];
  const folders: { readonly at: string; readonly depth: number }[] = [{ at: root, depth: 0 }];
  for (let next = 0; next < Math.min(folders.length, MOST_LOOKED_INTO); next += 1) {
    const { at, depth } = folders[next] ?? { at: root, depth: 0 };
    for (const entry of entriesOf(at)) {
      const kind = kindOf(entry, depth);
      const place = path.join(at, entry.name);
      if (kind === 'folder') folders.push({ at: place, depth: depth + 1 });
      if (kind === 'secret') secret.push(...realPlace(place));
      // The target of a link to the outside is read-only in any case.
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

const entriesOf = (folder: string): readonly Dirent[] => tried(() => readdirSync(folder, { withFileTypes: true }), []);

// Searches the whole project for what commands that only read must not see: `.env*` files, and nested repositories, whose
// configuration git would obey. A folder is read again only when it has changed, which keeps ten thousand files fast.

/** More folders than this are not searched, and more secrets than this are not covered: each cover is a mount. */
const MOST_FOLDERS = 20_000;
const MOST_SECRETS = 256;
/** Folders between two turns of the event loop. */
const AT_ONCE = 250;
/** Within this time a second change may leave the same timestamp. */
const SETTLED_MS = 2000;

export interface Walked {
  /** Absolute paths of files and folders named `.env*`; links are not followed. */
  readonly secret: readonly string[];
  readonly repositories: readonly string[];
  /** Names that a file system may read as `.git` or `.mimir`, in any spelling; at the root only unusual spellings. */
  readonly nested: readonly string[];
  /** False if the search reached its bound or an unreadable folder. */
  readonly whole: boolean;
}

export const NOT_WALKED: Walked = { secret: [], repositories: [], nested: [], whole: false };
/** Why a command that only reads cannot run without approval. */
export const TOO_LARGE = 'the project is too large to be searched for .env files';

interface Folder {
  readonly changed: number;
  readonly folders: readonly string[];
  readonly secret: readonly string[];
  readonly nested: readonly string[];
  readonly repository: boolean;
}

/** Returns a search of `root` (a real path) that remembers unchanged folders. Never rejects. */
export function projectWalk(root: string): () => Promise<Walked> {
  let known = new Map<string, Folder>();
  return async () => {
    const seen = new Map<string, Folder>();
    const found = { secret: [] as string[], repositories: [] as string[], nested: [] as string[], whole: true };
    const open = [root];
    for (let count = 0; open.length > 0; count += 1) {
      if (count >= MOST_FOLDERS || found.secret.length > MOST_SECRETS) return { ...found, whole: false };
      if (count % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => void setImmediate(resolve));
      const at = open.pop() ?? root;
      const folder = lookInto(at, known.get(at));
      if (folder === null) continue;
      if (folder === 'unread') {
        found.whole = false;
        continue;
      }
      seen.set(at, folder);
      found.secret.push(...folder.secret);
      found.nested.push(...folder.nested.filter((place) => !(at === root && /\/\.(?:git|mimir)$/.test(place))));
      if (folder.repository && at !== root) found.repositories.push(at);
      open.push(...folder.folders);
    }
    known = seen;
    return found;
  };
}

/** Null if the folder is gone or closed to this user, and so to the user's commands. */
function lookInto(at: string, before: Folder | undefined): Folder | 'unread' | null {
  try {
    const { ctimeMs } = lstatSync(at);
    if (before?.changed === ctimeMs) return before;
    // A folder is not remembered while another change could leave the same timestamp.
    return readFolder(at, Math.abs(Date.now() - ctimeMs) < SETTLED_MS ? Number.NaN : ctimeMs);
  } catch (error) {
    return GONE.has(codeOf(error)) ? null : 'unread';
  }
}

const GONE = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);

function readFolder(at: string, changed: number): Folder {
  const folders: string[] = [];
  const secret: string[] = [];
  const nested: string[] = [];
  let repository = false;
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    const { name } = entry;
    if (maySpell(name) && isRepositoryName(name)) nested.push(path.join(at, name));
    if (name === '.git') repository = true;
    else if (mayBeSecret(name) && forbidden(name, 'read') !== null) secret.push(path.join(at, name));
    else if (entry.isDirectory()) folders.push(path.join(at, name));
  }
  return { changed, folders, secret, nested, repository };
}

/** As `mayBeSecret`, for names of repositories, which some file systems also know in a short form. */
const maySpell = (name: string): boolean => mayBeSecret(name) || /~1/.test(name);

/** A cheap test before the exact one: a name that begins with a plain letter cannot be a secret. */
const mayBeSecret = (name: string): boolean => /^(?:\.|[^\0-\u007f])/.test(name);
