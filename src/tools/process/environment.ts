/** The environment, the launcher and the descriptors of programs that tools start. Variables pass by an allow-list: no key, no
 * agent socket and no loader variable gets through. Only this file of the tools reads `process.env`. */
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isInside } from '../paths/root.ts';
import { tried } from '../../domain/result.ts';

export type Environment = Readonly<Record<string, string>>;
const PASSED = /^(HOME|LANG|LC_[A-Z]+|TZ)$/;
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Variables that make a program load or run something else, and Mimir's own: never passed, whatever a rule lists. */
const NEVER_PASSED = /^(?:LD_|DYLD_|GIT_|BASH_|MIMIR_)|^(?:ENV|SHELLOPTS|IFS|PATH|TERM|NODE_OPTIONS|PERL5OPT|RUBYOPT)$/;

/** Variables that lead to a program acting for the person: key agents, buses, password prompts. A person's own list does not
 * pass them, an administrator's does. Any other name that a person lists is passed. */
const ACTS_FOR_THE_PERSON =
  /_SOCK(?:ET)?$|_BUS_(?:ADDRESS|PID)$|_ASKPASS$|_IPC_H(?:OOK|ANDLE)|^(?:SSH_AGENT_PID|SSH_CONNECTION|SSH_TTY|GPG_AGENT_INFO|GPG_TTY|XDG_RUNTIME_DIR)$/;

/** The environment of every child: the usual variables and those of `more`, `TERM=dumb`, and a PATH without entries inside the
 * project. `granted` are the names in `more` that an administrator lists. */
export function toolEnvironment(
  root: string,
  source: NodeJS.ProcessEnv = process.env,
  more: readonly string[] = [],
  granted: readonly string[] = [],
): Environment {
  const passed: Record<string, string> = {};
  const asked = more.filter(
    (name) => !NEVER_PASSED.test(name) && (granted.includes(name) || !ACTS_FOR_THE_PERSON.test(name)),
  );
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && (asked.includes(name) || PASSED.test(name))) passed[name] = value;
  }
  return { ...passed, PATH: safePath(root, source['PATH'] ?? USUAL_PATH), TERM: 'dumb' };
}

/** The variables of `names` that are set for Mimir itself. They are not passed to children. */
export const ownVariables = (names: readonly string[], source: NodeJS.ProcessEnv = process.env): Environment =>
  Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]] as const])));

/** The absolute path of a program on the PATH of `environment`, or null. */
export function programOn(environment: Environment, name: string): string | null {
  const found = (environment['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, name));
  return found.find(isProgram) ?? null;
}

/** Drops relative and empty entries, which name the current folder, and entries inside the project. */
function safePath(root: string, given: string): string {
  const kept = given.split(path.delimiter).filter((entry) => path.isAbsolute(entry) && !isInside(root, realOr(entry)));
  return kept.length === 0 ? USUAL_PATH : kept.join(path.delimiter);
}

const realOr = (entry: string): string => tried(() => fs.realpathSync(entry), path.normalize(entry));

const isProgram = (file: string): boolean =>
  tried(() => {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  }, false);

// The program `mimir` for commands of agents: what of Mimir's own package a box shows, and a script of that name which
// starts it. Scripts lie in the state folder, one for each way to be started; they are made when they are first needed.

/** The running Mimir. All paths are absolute and real. */
export interface OwnProgram {
  readonly node: string;
  /** `src/main.ts` of a checkout, or the published `dist/mimir.js`. */
  readonly entry: string;
  /** Files and folders that it loads: code only, nothing of the person's. */
  readonly parts: readonly string[];
  /** Node's compile cache for it (with a subfolder per version); null if there is none. */
  readonly cache: string | null;
}

const NAME = 'mimir';

/** The folder below `stateDir` to put on the PATH; null if it cannot be created. `cacheHome` replaces the person's own folder of caches. */
export function launcherFolder(program: OwnProgram, stateDir: string, cacheHome: string | null): string | null {
  const text = scriptOf(program, cacheHome);
  const folder = path.join(stateDir, 'program', createHash('sha256').update(text).digest('hex').slice(0, 16));
  try {
    keepFile(path.join(folder, NAME), text, 0o700);
    return folder;
  } catch {
    return null;
  }
}

/** Early versions of Node 24 warn about features that Mimir uses; the warnings are switched off. */
function scriptOf({ node, entry }: OwnProgram, cacheHome: string | null): string {
  const cache = cacheHome === null ? '' : `XDG_CACHE_HOME=${quoted(cacheHome)} `;
  return `#!/bin/sh\n${cache}exec ${quoted(node)} --disable-warning=ExperimentalWarning ${quoted(entry)} "$@"\n`;
}

/** Quotes a word for a shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Makes `file` hold `text`: written under a temporary name and renamed, because another process may be reading it. Throws if it cannot. */
export function keepFile(file: string, text: string, mode = 0o600): void {
  if (tried(() => fs.readFileSync(file, 'utf8'), null) === text) return;
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  fs.writeFileSync(fresh, text, { mode, flag: 'wx' });
  fs.renameSync(fresh, file);
}

// What a program that is started gets of descriptors: its own three, the sandbox's one, and nothing that Mimir inherited.

/** By number, for `spawn`: input if there is some, two pipes, and a pipe for what the sandbox tells. A descriptor that this
 * process itself inherited would go on to every child: in the child each such one is of nothing. */
export function descriptors(program: {
  readonly input?: string;
  readonly boxed?: boolean;
}): readonly ('ignore' | 'pipe' | number)[] {
  const input = program.input === undefined ? 'ignore' : 'pipe';
  const own = [input, 'pipe', 'pipe', ...(program.boxed === true ? (['pipe'] as const) : [])] as const;
  const leaks = inherited();
  if (leaks.length === 0) return own;
  const length = Math.max(own.length, ...leaks.map((number) => number + 1));
  return Array.from({ length }, (_, number) => own[number] ?? (leaks.includes(number) ? ofNothing() : 'ignore'));
}

let nothing: number | null = null;

/** Open for the whole process: "ignore" leaves a number above 2 as it is. */
function ofNothing(): number {
  nothing ??= fs.openSync('/dev/null', 'r+');
  return nothing;
}

/** Shell commands that also close those descriptors, so that a program sees none of them; empty if there are none. */
export const closingInherited = (): string =>
  inherited()
    .map((number) => `exec ${number}>&-; `)
    .join('');

/** Descriptors above 2 that a child would inherit; none without /proc. What Node opens itself is closed in children, so one look suffices. */
const inherited = (): readonly number[] => {
  atStart ??= tried(() => fs.readdirSync('/proc/self/fd').map(Number), []).filter(
    (number) => number > 2 && staysOpen(number),
  );
  return atStart.filter(staysOpen);
};
let atStart: readonly number[] | null = null;

const CLOSE_ON_EXEC = 0o2_000_000;

function staysOpen(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // Closed meanwhile, like the descriptor of this very listing.
    return false;
  }
}
