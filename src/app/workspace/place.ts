/** Finds the project of a command and its user's folders for state and configuration. A fault is an `Exit` (2). */
import { userInfo } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { faultText, findProject, type Places, placesOf } from '../../config/index.ts';
import { type Arguments, type Io, wrongUse } from '../process/index.ts';

export interface ProjectPlace {
  /** The real path of the project. */
  readonly root: string;
  readonly places: Places;
}

/** Starts at `--cwd` or where the command was typed and takes the nearest folder with `.mimir` or `.git`. */
export function projectOf(args: Arguments, io: Io): ProjectPlace {
  const places = placesOf(io.env, homeOf(io.env));
  const named = args.get('cwd');
  if (named === '') throw wrongUse('--cwd is empty\n  expected a directory');
  const start = named !== undefined && isAbsolute(named) ? named : resolve(io.where(), named ?? '.');
  const project = findProject(start, places.home);
  if (!project.ok) throw wrongUse(faultText(project.fault));
  return { root: project.value.root, places };
}

/** The home directory; from the system's user database if HOME is missing or relative. */
function homeOf({ HOME = '' }: Io['env']): string {
  if (isAbsolute(HOME)) return HOME;
  try {
    return userInfo().homedir;
  } catch {
    throw wrongUse('there is no home directory to keep the state in\n  set HOME to a directory');
  }
}
