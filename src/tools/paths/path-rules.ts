/**
 * Which names inside the project may be read and written, from the name alone: no file is looked at. Protected names are
 * compared the way lenient file systems do (case, Unicode form, ignorable characters, trailing dots).
 */
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import { isInside } from './root.ts';

export type Access = 'read' | 'write';

/** Longest path and longest component, in bytes. */
const MAX_PATH_BYTES = 4096;
const MAX_COMPONENT_BYTES = 255;

/** Folders whose content configures git, Mimir, editors or other agents: code in disguise. */
const PROTECTED_FOLDERS = new Set([
  '.git',
  'git~1',
  '.mimir',
  'mimir~1',
  '.vscode',
  '.idea',
  '.zed',
  '.fleet',
  '.devcontainer',
]);

/** Files that a shell, an editor or git runs or obeys when somebody opens the folder. */
const PROTECTED_FILES = new Set(
  [
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile',
    '.zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login',
    '.inputrc .gitconfig .vimrc .exrc .nvimrc .nvim.lua .dir-locals.el',
  ].flatMap((names) => names.split(' ')),
);

/** What lenient file systems leave out of a name: zero-width characters, marks of direction, a byte order mark. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * The path relative to `root`, normal, with `/` and without `.` or `..`; or why it is no path inside. Absolute paths
 * count when they lie inside. The empty string is the root itself, given only for `folder: true`.
 */
export function insideName(
  root: string,
  given: string,
  { folder = false }: { readonly folder?: boolean } = {},
): Result<string, string> {
  const malformed = malformedName(given, folder);
  if (malformed !== null) return fail(malformed);
  if (/^~(\/|$)/.test(given)) return fail(`${given}: outside the project; paths are relative to its root`);
  const absolute = path.resolve(root, given);
  if (!isInside(root, absolute)) return fail(`${given}: outside the project; paths are relative to its root`);
  const name = path.relative(root, absolute).split(path.sep).join('/');
  if (name === '' && !folder) return fail(`${given}: the project's folder, not a file`);
  return ok(name);
}

/** Why a name inside the root may not be read or written whatever the mode; null when nothing forbids it. */
export function forbidden(name: string, access: Access): string | null {
  const components = name.split('/').map(folded);
  const secret = components.some((component) => component.startsWith('.env'));
  if (secret) return `${name}: files named .env* are neither read nor written by agents`;
  if (access === 'read') return null;
  const folder = components.find((component) => PROTECTED_FOLDERS.has(component));
  if (folder !== undefined) return `${name}: ${folder} is protected; agents never write there`;
  const last = components.at(-1) ?? '';
  if (PROTECTED_FILES.has(last) || last.endsWith('.code-workspace')) {
    return `${name}: start-up files of shells and editors are protected; agents never write them`;
  }
  return null;
}

/** Is this the name of a folder that configures git or Mimir, as any file system may spell it? */
export const isRepositoryName = (name: string): boolean =>
  ['.git', 'git~1', '.mimir', 'mimir~1'].includes(folded(name));

/** One component as lenient file systems compare it; NTFS takes what follows a colon for a stream of the same file. */
function folded(component: string): string {
  return component
    .replace(/:.*$/s, '')
    .normalize('NFKC')
    .replaceAll(IGNORABLE, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

function malformedName(given: string, folder: boolean): string | null {
  if (given === '') return 'the path is empty';
  if (given.includes('\0')) return 'the path holds a NUL character';
  if (!given.isWellFormed()) return 'the path is not well-formed Unicode';
  if (Buffer.byteLength(given) > MAX_PATH_BYTES) return `the path is longer than ${MAX_PATH_BYTES} bytes`;
  const tooLong = given.split('/').some((component) => Buffer.byteLength(component) > MAX_COMPONENT_BYTES);
  if (tooLong) return `a part of the path is longer than ${MAX_COMPONENT_BYTES} bytes`;
  return !folder && given.endsWith('/') ? `${given}: names a folder, not a file` : null;
}
