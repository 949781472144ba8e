/** Which directory is the project: found once at the start, as a real path. What its files may say is layer.ts's. */
import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Result, fail, ok } from '../../domain/result.ts';
import { type ConfigFault, NO_PERMISSION, NOT_A_DIRECTORY, THE_DIRECTORY } from '../files/fault.ts';
import { codeOf } from '../files/read-text.ts';

export interface Project {
  /** Real path. */
  readonly root: string;
  /** What it was known by; `directory` when nothing marks it. */
  readonly by: '.mimir' | '.git' | 'directory';
}

/**
 * The nearest directory from `cwd` up that holds `.mimir` or `.git`; `cwd` itself when there is none. The search ends at
 * the home directory, which is nobody's project, and where another file system begins.
 */
export function findProject(cwd: string, home: string): Result<Project, ConfigFault> {
  const start = realDirectory(cwd);
  if (!start.ok) return start;
  const top = realOrSame(home);
  const device = statSync(start.value).dev;
  for (let here = start.value; here !== top; here = path.dirname(here)) {
    if (deviceOf(here) !== device) break;
    const by = markOf(here);
    if (by !== null) return soundMarks({ root: here, by });
    if (path.dirname(here) === here) break;
  }
  return ok({ root: start.value, by: 'directory' });
}

function realDirectory(directory: string): Result<string, ConfigFault> {
  const wrong = (problem: string, remedy: string): Result<never, ConfigFault> =>
    fail({ file: directory, line: null, column: null, problem, remedy });
  try {
    const real = realpathSync(directory);
    if (!statSync(real).isDirectory()) return wrong(NOT_A_DIRECTORY, 'name the directory of the project');
    accessSync(real, constants.R_OK | constants.X_OK);
    return ok(real);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return wrong('does not exist', 'check the path, or make the directory first');
    if (code === 'ENOTDIR') return wrong('is below a file, not a directory', 'name the directory of the project');
    if (code === 'EACCES') return wrong(NO_PERMISSION, 'check its permissions');
    return wrong(`can't be opened (${code})`, 'check the path');
  }
}

const MARKS = ['.mimir', '.git'] as const;

const markOf = (directory: string): Project['by'] | null =>
  MARKS.find((mark) => lstatSync(path.join(directory, mark), { throwIfNoEntry: false }) !== undefined) ?? null;

/** A link in place of `.mimir` or `.git` could borrow the trust of another directory. */
function soundMarks(project: Project): Result<Project, ConfigFault> {
  const linked = MARKS.find((mark) =>
    lstatSync(path.join(project.root, mark), { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  if (linked === undefined) return ok(project);
  const file = path.join(project.root, linked);
  return fail({
    file,
    line: null,
    column: null,
    problem: 'is a symbolic link',
    remedy: THE_DIRECTORY,
  });
}

function deviceOf(directory: string): number | null {
  return statSync(directory, { throwIfNoEntry: false })?.dev ?? null;
}

function realOrSame(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}
