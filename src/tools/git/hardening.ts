/** Runs git so that a hostile repository stays data: its configuration, attributes and hooks can name programs, and none of
 * them is started. Each setting of settings.json was added because git ran a program without it. */
import OFF from './settings.json' with { type: 'json' };
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { type Environment, programOn } from '../process/environment.ts';
import type { Root } from '../paths/root.ts';
import { neverRan, type ProgramEnd, runProgram } from '../process/run-program.ts';
import { runSandboxed, type Sandbox } from '../sandbox/sandbox.ts';

/** Settings that name a program, read another file, or reach a network, each disabled. `log.showSignature` and `format.pretty`: a log with
 * signatures runs the checking program, and so does a custom format with %G?. */
const SETTINGS: Settings = Object.entries(OFF);

/** Programs that a repository can name freely. They are emptied one by one, because no switch covers all of them. */
const NAMED_PROGRAM = /^(?:filter|diff|merge)\..+\.(?:clean|smudge|process|command|textconv|driver)$/is;
const GIT_TIME_LIMIT = 30_000;
const TOO_LONG = 'the configuration of this repository is too long to be made safe; git does not run';

export interface GitCall {
  readonly root: Root;
  /** The first git on its PATH is run; without one the end is `not started`. */
  readonly environment: Environment;
  readonly signal?: AbortSignal;
  /** The sandbox that git runs in, read-only; absent: git runs unsandboxed. */
  readonly sandbox?: Sandbox;
  /** Standard input of the sub-command. */
  readonly input?: string;
}

/** Runs one sub-command. `directory` is the git directory of the root, passed explicitly so that git searches for none. */
export async function runGit(call: GitCall, directory: string, args: readonly string[]): Promise<ProgramEnd> {
  const harmless = await settingsOf(call, directory);
  return harmless.ok ? plainGit(call, directory, args, harmless.value[2]) : harmless.fault;
}

/** Runs several read-only sub-commands in parallel; results are in the order of `all`. */
export const runGits = async (call: GitCall, directory: string, all: Commands): Promise<readonly ProgramEnd[]> =>
  (await lookAndRun(call, directory, [], all)).slice(2);

/** The same after what is asked before any of them: `rev-parse` with these flags, and `config --list -z`. */
export async function lookAndRun(
  call: GitCall,
  directory: string,
  flags: readonly string[],
  all: Commands,
): Promise<readonly ProgramEnd[]> {
  const harmless = await settingsOf(call, directory, flags);
  if (!harmless.ok) return ['rev-parse', 'config', ...all].map(() => harmless.fault);
  const [sure, listed, settings] = harmless.value;
  return [sure, listed, ...(await Promise.all(all.map((args) => plainGit(call, directory, args, settings))))];
}

type Commands = readonly (readonly string[])[];
type Look = readonly [sure: ProgramEnd, listed: ProgramEnd, settings: Settings];

/** The settings that disable the programs of this repository's configuration, or why git is not run. */
async function settingsOf(
  { input: _input, ...call }: GitCall,
  directory: string,
  flags: readonly string[] = [],
): Promise<Result<Look, ProgramEnd>> {
  // Outside a repository `git diff` compares any two files, so the repository is checked first.
  const [sure, listed] = await Promise.all([
    plainGit(call, directory, ['rev-parse', ...flags, '--git-dir'], []),
    plainGit(call, directory, ['config', '--list', '-z'], []),
  ]);
  if (sure.exit !== 0) return fail(sure);
  // A name missing from a cut list could be that of a program.
  if (listed.exit !== 0 || !listed.whole)
    return fail({ ...listed, exit: listed.exit || 1, stderr: listed.stderr || TOO_LONG });
  return ok([sure, listed, neutralised(listed.stdout)]);
}

type Settings = readonly (readonly [name: string, value: string])[];

function plainGit(
  { root, environment, signal, sandbox, input }: GitCall,
  directory: string,
  args: readonly string[],
  more: Settings,
): Promise<ProgramEnd> {
  const file = programOn(environment, 'git');
  if (file === null) return Promise.resolve(neverRan('not started', 'git is not on the PATH'));
  const fixed = ['--no-pager', '--no-optional-locks', '--literal-pathspecs'];
  const what = {
    file,
    args: [...fixed, `--git-dir=${directory}`, `--work-tree=${root.path}`, ...args],
    cwd: root.path,
    env: gitEnvironment(environment, [...SETTINGS, ...more]),
  };
  const course = { timeLimit: GIT_TIME_LIMIT, ...defined({ input, signal }) };
  if (sandbox === undefined || sandbox.state.is === 'none') return runProgram({ ...what, ...course });
  // Git may see the names of secret files; if they were covered, git would report them as changed.
  return runSandboxed(sandbox, { ...what, box: 'read-only', secrets: 'seen' }, course);
}

/** The environment for git in a directory of Mimir's own, where no repository's configuration is read. */
export const hardenedEnvironment = (environment: Environment, more: Settings): Environment =>
  gitEnvironment(environment, [...SETTINGS, ...more]);

/** The environment in which every git of a shell command ignores the programs that this repository's configuration names.
 * Nested repositories are not covered. `more` are additional settings. */
export async function harmlessGit(
  call: GitCall,
  directory: string,
  more: Settings,
): Promise<Result<Environment, ProgramEnd>> {
  const harmless = await settingsOf(call, directory);
  return harmless.ok ? ok(gitEnvironment(call.environment, [...SETTINGS, ...harmless.value[2], ...more])) : harmless;
}

/** An empty value for each program that the configuration names; a filter without a program is also no longer required. */
function neutralised(listed: string): Settings {
  const names = listed.split('\0').map((setting) => setting.split('\n', 1)[0] ?? '');
  const programs = [...new Set(names)].filter((name) => NAMED_PROGRAM.test(name));
  return programs.flatMap((name) => {
    const section = name.slice(0, name.lastIndexOf('.'));
    const empty = [name, ''] as const;
    return /^filter\./i.test(name) ? [empty, [`${section}.required`, 'false'] as const] : [empty];
  });
}

/** Settings are passed in variables instead of `-c`, because a name from a hostile configuration may contain `=`. Inherited
 * `GIT_*` variables cannot get here: the tools' environment is an allow-list. */
function gitEnvironment(environment: Environment, settings: readonly (readonly [string, string])[]): Environment {
  const numbered = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]);
  return {
    ...environment,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    // A partial clone would fetch missing objects through a program that its configuration names.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(numbered),
  };
}
