/** Which project a verb works on, and where the state and configuration of its user are. Reads neither. A fault ends the verb with words (2). */
import { userInfo } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { faultText } from '../../config/files/fault.ts';
import type { Places } from '../../config/files/paths.ts';
import { placesOf } from '../../config/files/paths.ts';
import { findProject } from '../../config/trust/project.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Arguments } from '../process/flags/flags.ts';
import type { Io } from '../process/io.ts';

export interface ProjectPlace {
  /** Real path. */
  readonly root: string;
  readonly places: Places;
}

/** `--cwd`, else where the command was typed; from there the nearest folder with `.mimir` or `.git`. */
export function projectOf(args: Arguments, io: Io): ProjectPlace {
  const places = placesOf(io.env, homeOf(io.env));
  const named = args.get('cwd');
  if (named === '') throw new Exit(EXIT.wrongUse, '--cwd is empty\n  expected a directory');
  const start = named !== undefined && isAbsolute(named) ? named : resolve(io.where(), named ?? '.');
  const project = findProject(start, places.home);
  if (!project.ok) throw new Exit(EXIT.wrongUse, faultText(project.fault));
  return { root: project.value.root, places };
}

/** HOME may be missing or odd: then it is what the system knows about the user. */
function homeOf({ HOME = '' }: Io['env']): string {
  if (isAbsolute(HOME)) return HOME;
  try {
    return userInfo().homedir;
  } catch {
    throw new Exit(EXIT.wrongUse, 'there is no home directory to keep the state in\n  set HOME to a directory');
  }
}
