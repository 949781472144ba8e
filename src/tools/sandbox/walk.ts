/**
 * Looks through all of a project for what commands that only read must not see: `.env*` files at any depth, and repositories
 * of their own, which git would obey. A folder is read again only when it has changed, so that ten thousand files stay fast.
 */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { forbidden, isRepositoryName } from '../paths/path-rules.ts';

/** More folders than this are not looked into, and more places than this are not covered: each cover is a mount. */
const MOST_FOLDERS = 20_000;
const MOST_SECRETS = 256;
/** Folders between two turns of the event loop. */
const AT_ONCE = 250;
/** A change that follows another within this time may leave the same date. */
const SETTLED_MS = 2000;

export interface Walked {
  /** Files and folders named `.env*`, as they are named: absolute, not followed. */
  readonly secret: readonly string[];
  /** Folders below the root that have a `.git` of their own. */
  readonly repositories: readonly string[];
  /** What is named like a folder of git or Mimir, however it is spelt; at the top only what is spelt otherwise. */
  readonly nested: readonly string[];
  /** False: the search met its bound, or a folder that can't be read. */
  readonly whole: boolean;
}

/** Of a project that nobody has looked through. */
export const NOT_WALKED: Walked = { secret: [], repositories: [], nested: [], whole: false };
/** Why a command that only reads can't be run without a question. */
export const TOO_LARGE = 'the project is too large to be searched for .env files';

interface Folder {
  readonly changed: number;
  readonly folders: readonly string[];
  readonly secret: readonly string[];
  readonly nested: readonly string[];
  readonly repository: boolean;
}

/** A walk through `root`, a real path, that remembers folders. Never rejects. */
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

/** Null: it is gone, or closed to this user and so to the user's commands. */
function lookInto(at: string, before: Folder | undefined): Folder | 'unread' | null {
  try {
    const { ctimeMs } = lstatSync(at);
    if (before?.changed === ctimeMs) return before;
    // Not remembered while another change could leave the same date.
    return readFolder(at, Math.abs(Date.now() - ctimeMs) < SETTLED_MS ? Number.NaN : ctimeMs);
  } catch (error) {
    return error instanceof Error && 'code' in error && GONE.has(String(error.code)) ? null : 'unread';
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

/** The same for names of repositories, which some file systems also have in short. */
const maySpell = (name: string): boolean => mayBeSecret(name) || /~1/.test(name);

/** A cheap look before the careful one: a name that begins with a plain letter is compared as it is. */
const mayBeSecret = (name: string): boolean => /^(?:\.|[^\0-\u007f])/.test(name);
