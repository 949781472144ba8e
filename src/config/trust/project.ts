/** Finds the project directory, once at the start and as a real path. */
import { accessSync, constants, type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import type { ConfigFault } from '../files/read-text.ts';
import { codeOf, fileFault, NO_PERMISSION, NOT_A_DIRECTORY, THE_DIRECTORY } from '../files/read-text.ts';

export interface Project {
  /** Real path. */
  readonly root: string;
  /** What marks it as a project; `directory` if nothing does. */
  readonly by: '.mimir' | '.git' | 'directory';
}

/** The nearest directory from `cwd` upwards with `.mimir` or `.git`; `cwd` itself if there is none. The search ends before the home directory,
 * which is never a project, and at the border of the file system. */
export function findProject(cwd: string, home: string): Result<Project, ConfigFault> {
  const start = realDirectory(cwd);
  if (!start.ok) return start;
  const top = realOrSame(home);
  const device = statSync(start.value).dev;
  for (let here = start.value; here !== top; here = path.dirname(here)) {
    if (statSync(here, { throwIfNoEntry: false })?.dev !== device) break;
    const by = markOf(here);
    if (by !== null) return soundMarks({ root: here, by });
    if (path.dirname(here) === here) break;
  }
  return ok({ root: start.value, by: 'directory' });
}

function realDirectory(directory: string): Result<string, ConfigFault> {
  const wrong = (problem: string, remedy: string): Result<never, ConfigFault> =>
    fail(fileFault(directory, problem, remedy));
  try {
    const real = realpathSync(directory);
    if (!statSync(real).isDirectory()) return wrong(NOT_A_DIRECTORY, 'give the directory of the project');
    accessSync(real, constants.R_OK | constants.X_OK);
    return ok(real);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return wrong('does not exist', 'check the path, or create the directory first');
    if (code === 'ENOTDIR')
      return wrong('has a file in its path where a directory is expected', 'give the directory of the project');
    if (code === 'EACCES') return wrong(NO_PERMISSION, 'check its permissions');
    return wrong(`cannot be opened (${code})`, 'check the path');
  }
}

const MARKS = ['.mimir', '.git'] as const;

const markOf = (directory: string): Project['by'] | null =>
  MARKS.find((mark) => lstatSync(path.join(directory, mark), { throwIfNoEntry: false }) !== undefined) ?? null;

/** Refuses a link in place of `.mimir` or `.git`, which could borrow the trust of another directory. */
function soundMarks(project: Project): Result<Project, ConfigFault> {
  const linked = MARKS.find((mark) =>
    lstatSync(path.join(project.root, mark), { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  return linked === undefined
    ? ok(project)
    : fail(fileFault(path.join(project.root, linked), 'is a symbolic link', THE_DIRECTORY));
}

const realOrSame = (directory: string): string => tried(() => realpathSync(directory), directory);

// Finds `.mimir` folders below a project's root, which have no effect, so that the person can be told. The search is bounded.

const MOST_FOLDERS = 2000;
const DEEPEST = 6;
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.venv', 'target', 'dist']);

/** Paths relative to the root, with `/`, upper ones first. Of very large trees only the upper part is searched. */
export function nestedFolders(root: string): readonly string[] {
  const found: string[] = [];
  const waiting: { readonly folder: string; readonly depth: number }[] = [{ folder: '', depth: 0 }];
  for (let looked = 0; looked < MOST_FOLDERS; looked += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    for (const entry of foldersIn(path.join(root, next.folder))) {
      const name = path.posix.join(next.folder, entry.name);
      if (entry.name === '.mimir') found.push(name);
      else if (!SKIPPED.has(entry.name) && next.depth < DEEPEST) waiting.push({ folder: name, depth: next.depth + 1 });
    }
  }
  return found.filter((name) => name !== '.mimir');
}

const foldersIn = (folder: string): readonly Dirent[] =>
  tried(() => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()), []);
