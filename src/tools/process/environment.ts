/**
 * What the programs that tools start may know of the person's environment: an allow-list. No key, no agent socket, no
 * loader variable passes. The only file of this room that reads `process.env`.
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../paths/root.ts';

export type Environment = Readonly<Record<string, string>>;

const PASSED = /^(HOME|LANG|LC_[A-Z]+|TZ)$/;
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Names that make a program load or run something else, and Mimir's own: never passed, whatever a rule says. */
const NEVER_PASSED = /^(?:LD_|DYLD_|GIT_|BASH_|MIMIR_)|^(?:ENV|SHELLOPTS|IFS|PATH|TERM|NODE_OPTIONS|PERL5OPT|RUBYOPT)$/;

/**
 * Names that lead to something that acts for the person: agents that hold keys, buses, what asks for passwords. A person's
 * list does not pass them, an administrator's does (D32). What else a person lists by name is theirs to say.
 */
const ACTS_FOR_THE_PERSON =
  /_SOCK(?:ET)?$|_BUS_(?:ADDRESS|PID)$|_ASKPASS$|_IPC_H(?:OOK|ANDLE)|^(?:SSH_AGENT_PID|SSH_CONNECTION|SSH_TTY|GPG_AGENT_INFO|GPG_TTY|XDG_RUNTIME_DIR)$/;

/**
 * The environment of every child: the usual names and those of `more`, `TERM=dumb`, and a PATH without entries inside the
 * project. `granted`: those of `more` that an administrator lists.
 */
export function toolEnvironment(
  root: string,
  source: NodeJS.ProcessEnv = process.env,
  more: readonly string[] = [],
  granted: readonly string[] = [],
): Environment {
  const passed: Record<string, string> = {};
  const asked = more.filter((name) => !NEVER_PASSED.test(name) && (granted.includes(name) || !isThePersons(name)));
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && (asked.includes(name) || PASSED.test(name))) passed[name] = value;
  }
  return { ...passed, PATH: safePath(root, source['PATH'] ?? USUAL_PATH), TERM: 'dumb' };
}

/** Does this variable lead to something that acts for the person (`SSH_AUTH_SOCK`)? */
const isThePersons = (name: string): boolean => ACTS_FOR_THE_PERSON.test(name);

/** Those of `names` that are set in Mimir's own environment. No child gets them. */
export const ownVariables = (names: readonly string[], source: NodeJS.ProcessEnv = process.env): Environment =>
  Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]] as const])));

/** The absolute path of a program on the PATH of `environment`, or null. */
export function programOn(environment: Environment, name: string): string | null {
  const found = (environment['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, name));
  return found.find(isProgram) ?? null;
}

/** Relative and empty entries name the current folder, which is the project. */
function safePath(root: string, given: string): string {
  const kept = given.split(path.delimiter).filter((entry) => path.isAbsolute(entry) && !isInside(root, realOr(entry)));
  return kept.length === 0 ? USUAL_PATH : kept.join(path.delimiter);
}

function realOr(entry: string): string {
  try {
    return realpathSync(entry);
  } catch {
    return path.normalize(entry);
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
