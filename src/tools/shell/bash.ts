/** The `bash` tool: runs one command in a fresh shell with a clean environment and a time limit, and leaves nothing running.
 * Whether the command may run is decided by policy and the person. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result, unreachable } from '../../domain/result.ts';
import type { ReadingLook, Tool, ToolContext, ToolOutput } from '../../ports/tool.ts';
import { harmlessGit, runGit } from '../git/hardening.ts';
import { capOutput, done, refused, RESULT_BYTES } from '../process/output.ts';
import { gitOf, hiddenBelow, type Root } from '../paths/root.ts';
import { workingFolder } from '../workspace.ts';
import { ATTRIBUTES, keepAttributes } from '../sandbox/mounts.ts';
import type { SandboxedCommand, Course, Sandbox } from '../sandbox/sandbox.ts';
import { notRun, runSandboxed, stateFault } from '../sandbox/sandbox.ts';
import { socketOutside } from '../sandbox/socket-mount.ts';
import { TOO_LARGE } from '../sandbox/protected-scan.ts';
import { watchNested } from '../writes/kept.ts';
import type { Writes } from '../writes/writes.ts';
import { closingInherited, type Environment, type OwnProgram, programOn, quoted } from '../process/environment.ts';
import { type ProgramEnd, runProgram } from '../process/run-program.ts';
import INPUTS from './inputs.json' with { type: 'json' };

const WORDS =
  'Runs one bash command in the project root and returns its output, exit code and duration. Each command runs in a fresh shell: `cd` and variables do not persist. There is no standard input and no terminal. When the command ends, all its background processes are ended too. Prefer read_file, list_files, search and git to their shell counterparts: they need no approval.';
/** What a command finds in the box, for the model to know. */
const IN_BOX =
  ' It runs in a sandbox: no network; only the project is writable (for roles that write, within what their task may change), but not .git, .mimir and editor folders; .env* files cannot be read; packages on this machine can be used by cargo, go, mvn, npm and the like; /tmp is your own and lasts until you end; HOME is empty each time, except for package and build caches.';

const Input = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(100_000)
    .refine((command) => !command.includes('\0'), 'a command cannot contain a NUL character')
    .describe('One bash command line, run in the project root in a fresh shell.'),
  timeout: z.number().int().min(1).max(600).default(120).describe('Time limit in seconds.'),
});
type Input = z.output<typeof Input>;

export interface BashPlace {
  readonly root: Root;
  readonly environment: Environment;
  readonly sandbox: Sandbox;
  readonly stateDir: string;
  /** Mimir itself, for commands that get an agent socket; absent: they get the socket without the program. */
  readonly program?: OwnProgram | undefined;
  /** Limits commands to the files that their task may change. */
  readonly writes: Writes;
}

export const bashTool = (place: BashPlace): Tool<Input> => ({
  name: 'bash',
  description: `${WORDS}${place.sandbox.state.is === 'none' ? '' : IN_BOX}`,
  input: Input,
  capability: 'shell',
  repeat: 'never',
  label: ({ command }) => command,
  // The start folder is part of what a person approves.
  preview: ({ command }, { workingDir }) =>
    Promise.resolve(ok(workingDir === undefined ? command : `cd ${quoted(workingDir)}\n${command}`)),
  inputs: ({ command }, context) =>
    commandInputs(place.root.path, command, path.resolve(place.root.path, context?.workingDir ?? '.')),

  reading: ({ command }, { workingDir }) => readingLook(place, command, workingDir),

  async run({ command, timeout }, context) {
    const bash = programOn(place.environment, 'bash');
    if (bash === null) return refused('not run: bash is not on the PATH');
    const folder = await workingFolder(place.root, context.workingDir);
    if (!folder.ok) return refused(`not run: ${folder.fault}`);
    const what = { file: bash, args: ['--noprofile', '--norc', '-c', command], cwd: folder.value };
    const course = {
      timeLimit: timeout * 1000,
      signal: context.signal,
      onOutput: (chunk: string) => context.onOutput(chunk),
    };
    const env =
      context.reads === true ? await readingEnvironment(place, command, context.signal) : ok(place.environment);
    if (!env.ok) return refused(`not run: ${env.fault}`);
    const { end, said, undone } = await ran(place, context, { ...what, env: env.value }, course);
    const bytes = Math.min(context.room ?? RESULT_BYTES, RESULT_BYTES);
    const output = commandOutput(end, { timeout, bytes, folder: context.workingDir, said });
    return undone ? { ...output, ok: false } : output;
  },
});

interface Ran {
  readonly end: ProgramEnd;
  /** Of what it may change, and what was put back. */
  readonly said: string;
  readonly undone: boolean;
}

const NOTHING_SAID = { text: '', changed: false };

/** Runs it, held to what its task may change where there is a box. One that was promised and can't be had: then it is not run. */
async function ran(
  place: BashPlace,
  context: ToolContext,
  what: Pick<SandboxedCommand, 'file' | 'args' | 'cwd' | 'env'>,
  course: Course,
): Promise<Ran> {
  const { sandbox, socket, agent, judges, reads } = context;
  // Without a box a person looks at each command, and nothing holds it.
  const globs = sandbox === 'none' ? undefined : context.writes;
  const held = sandbox === 'read-only' ? null : await place.writes.hold(globs ?? null);
  const nested = sandbox === 'read-write' ? await watchNested(place.root, place.sandbox) : null;
  const end = await (sandbox === 'none'
    ? runProgram({
        ...what,
        args: openArguments(what),
        env: openEnvironment(place, socket),
        ...course,
        signal: context.signal,
      })
    : runSandboxed(
        place.sandbox,
        { ...what, box: sandbox, door: socket, agent, judges, reads, opened: held?.opened },
        course,
      ));
  const said = held === null ? NOTHING_SAID : await held.end();
  const aside = nested === null ? '' : await nested();
  return {
    end,
    said: [said.text, aside].filter((text) => text !== '').join('\n'),
    undone: said.changed || aside !== '',
  };
}

/** Of a command outside of a box, which gets no descriptor that Mimir was started with. */
function openArguments({ file, args }: Pick<SandboxedCommand, 'file' | 'args'>): readonly string[] {
  const closing = closingInherited();
  return closing === '' ? args : ['--noprofile', '--norc', '-c', `${closing}exec "$@"`, 'mimir', file, ...args];
}

const openEnvironment = ({ environment, program, stateDir }: BashPlace, door: string | undefined): Environment =>
  door === undefined ? environment : socketOutside(door, program, { stateDir, env: environment });

interface Frame {
  readonly timeout: number;
  readonly bytes: number;
  /** The start folder if it is not the root. */
  readonly folder: string | undefined;
  /** Of what it may change, and what was put back. */
  readonly said: string;
}

function commandOutput(end: ProgramEnd, { timeout, bytes, folder, said }: Frame): ToolOutput {
  if (end.is === 'not boxed') return { ...refused(notRun(end)), unsandboxedCommand: true };
  const seconds = `${(end.milliseconds / 1000).toFixed(1)} s`;
  const note = end.ended === 0 ? '' : `; processes ended: ${end.ended}`;
  const alive = end.survivors === 0 ? '' : `; STILL RUNNING, could not be ended: ${end.survivors}`;
  // File tools take paths from the root, so a model that reads paths in this output must know the difference.
  const where = folder === undefined ? '' : `; run in ${folder}, but file tools take paths from the project root`;
  const told = [end.note ?? '', said].map((text) => (text === '' ? '' : `\n${text}`)).join('');
  const head = `${endText(end, timeout)} after ${seconds}${note}${alive}${where}${told}`;
  // Both ends of both streams survive: the end of a long output is where the error stands.
  const room = bytes - Buffer.byteLength(head) - 64;
  const half = Math.floor(room / 2);
  const [outBytes, errBytes] = [Buffer.byteLength(end.stdout), Buffer.byteLength(end.stderr)];
  const stdout = capOutput(end.stdout, { bytes: Math.max(half, room - errBytes) });
  const stderr = capOutput(end.stderr, { bytes: Math.max(half, room - outBytes) });
  const parts = [stdout.trimEnd(), stderr.trim() === '' ? '' : `--- stderr ---\n${stderr.trimEnd()}`];
  const printed = parts.filter((part) => part !== '').join('\n');
  const text = printed === '' ? head : `${head}\n${printed}`;
  return withEnd(end, text, printed);
}

function withEnd({ is, exit }: ProgramEnd, text: string, printed: string): ToolOutput {
  if (is === 'not started' || is === 'not boxed') return refused(text);
  const output = is === 'exited' && exit === 0 ? done(text) : refused(text);
  return { ...output, command: { is, exit, printed } };
}

function endText(end: ProgramEnd, timeout: number): string {
  switch (end.is) {
    case 'exited':
      return end.exit === null ? `ended by ${end.endedBy ?? 'a signal'}` : `exit code ${end.exit}`;
    case 'time limit':
      return `stopped: the time limit of ${timeout} s was reached,`;
    case 'stopped':
      return 'stopped';
    case 'not started':
    case 'not boxed':
      return 'could not be started';
    default:
      return unreachable(end.is);
  }
}

// What policy has to know of the project before a command that only reads runs without a question, and what such a command gets
// that a repository names.

type SandboxContext = Pick<BashPlace, 'root' | 'environment' | 'sandbox'>;

/** As the options of the tool git: submodules are ignored, and no content of a `.env` file is shown. */
const SETTINGS = [
  ['diff.ignoreSubmodules', 'all'],
  ['core.attributesFile', ATTRIBUTES],
] as const;

/** True if git may be among the programs, however its name is quoted. */
const mayRunGit = (command: string): boolean =>
  /\bgit\b|\$'/.test(`${command}\n${command.replaceAll(/\\\n|[\\'"]/g, '')}`);

/** `folder`: where the command starts, relative to the root. */
export function readingLook(ground: SandboxContext, command: string, folder = '.'): ReadingLook {
  const { path: root } = ground.root;
  return { place: { root, folder: path.resolve(root, folder) }, obstacle: () => obstacleOf(ground, command) };
}

async function obstacleOf(ground: SandboxContext, command: string): Promise<string | null> {
  const { root, sandbox } = ground;
  const { whole, repositories } = await sandbox.walk();
  if (!whole) return TOO_LARGE;
  if (!mayRunGit(command)) return null;
  const state = gitOf(root.path);
  if (state.is === 'none') return state.because;
  // A commit has what a rule hides in the folder.
  const [hidden] = hiddenBelow(root, root.path);
  if (hidden !== undefined) return `policy hides ${hidden}, which git would show from its commits`;
  const [inner] = repositories;
  // git would obey its configuration, in its folder as well as from above, where it is a submodule.
  if (inner !== undefined) return `${path.relative(root.path, inner)} is a separate git repository`;
  return contentById(ground, state.directory, command);
}

/** What of `command`, or of the repository's names, may stand for a file's content: no path tells then whether it is a secret one. */
async function contentById(
  { root, environment, sandbox }: SandboxContext,
  directory: string,
  command: string,
): Promise<string | null> {
  const ids = idsIn(command);
  if (ids === null) return 'git may be given an id that the shell composes';
  const call = { root, environment, sandbox };
  const refs = await runGit(call, directory, ['for-each-ref', '--format=%(objecttype) %(*objecttype) %(refname)']);
  if (refs.is === 'not started') return null;
  if (refs.exit !== 0) return 'git could not resolve its tags';
  const named = /^(?:blob |tag (?:blob|tag)) (.+)$/m.exec(refs.stdout)?.[1];
  if (named !== undefined) return `${named} is the content of a file without its name`;
  if (ids.length === 0) return null;
  // An id is looked at through the tag that it may be; one that is short for several is told as ambiguous.
  const input = ids.map((id) => `${id}^{}\n`).join('');
  const end = await runGit({ ...call, input }, directory, ['cat-file', '--batch-check=%(objecttype)']);
  if (end.exit !== 0) return 'git could not resolve its ids';
  const found = end.stdout.split('\n').findIndex((line) => /^blob$| ambiguous$/.test(line));
  return ids[found] === undefined ? null : `${ids[found]} is the content of a file without its name`;
}

/** What may be ids of git's in a command, however it is quoted; null where the shell could make one of pieces. */
function idsIn(command: string): readonly string[] | null {
  if (command.includes("$'")) return null;
  const words = command.replaceAll(/\\\n|[\\'"]/g, '').split(/[\s;|&()<>]+|\.{2,}/);
  const isMade = words.some((word) => {
    const bare = word.replaceAll(/\$(?:\w+|\{\w+\})/g, '$');
    return /^[0-9a-f$?*[\]{},^!-]+$/i.test(bare) && /[$?*[{]/.test(bare) && /[0-9a-f]|\$.*\$/i.test(bare);
  });
  return isMade ? null : [...new Set(words.flatMap((word) => word.match(/\b[0-9a-f]{4,64}\b/gi) ?? []))];
}

/** Of the variables that commands may see, those that say nothing of the person's: what is passed by name is for commands that ask. */
const PLAIN = /^(?:HOME|LANG|LC_[A-Z]+|TZ|PATH|TERM)$/;

/** The environment of a command that only reads, or why it can't be made. */
async function readingEnvironment(
  { root, environment, sandbox, stateDir }: SandboxContext & { readonly stateDir: string },
  command: string,
  signal: AbortSignal,
): Promise<Result<Environment, string>> {
  const state = mayRunGit(command) ? gitOf(root.path) : null;
  const plain = Object.fromEntries(Object.entries(environment).filter(([name]) => PLAIN.test(name)));
  if (state === null || programOn(environment, 'git') === null) return ok(plain);
  if (state.is === 'none') return fail(state.because);
  try {
    keepAttributes(stateDir);
  } catch (error) {
    return fail(stateFault(stateDir, String(error)));
  }
  const found = await harmlessGit({ root, environment: plain, signal, sandbox }, state.directory, SETTINGS);
  return found.ok ? found : fail(`git could not be made safe: ${found.fault.stderr.trim()}`);
}

// Which files decide what a command does: `package.json` of `npm test`, `Makefile` of `make`, the script of `sh x.sh`. A
// standing yes is bound to their content. Found by plain words, so never all of them: the box is what holds a command.

interface InputFile {
  /** Relative to the root where it is below it. */
  readonly path: string;
  /** Of its first mebibyte and its size; `missing` where there is no such file, so that a new one counts as a change. */
  readonly digest: string;
}

const MOST_FILES = 32;
const MOST_BYTES = 1024 * 1024;

/** Digests of the files that `command`, run in `root` or in `start` below it, declares as its inputs. Reads only; never fails. */
export async function commandInputs(root: string, command: string, start = root): Promise<readonly InputFile[]> {
  const files = new Set<string>();
  let folder = start;
  for (const words of commandsIn(command)) {
    const program = withoutWrapper(words);
    const [name, place] = program;
    if (name === 'cd' && place !== undefined) folder = path.resolve(folder, place);
    for (const file of filesOf(program, folder, root)) files.add(file);
  }
  const some = [...files].toSorted().slice(0, MOST_FILES);
  return Promise.all(some.map(async (file) => ({ path: nameOf(root, file), digest: await digestOf(file) })));
}

const nameOf = (root: string, file: string): string =>
  file.startsWith(`${root}${path.sep}`) ? path.relative(root, file) : file;

/** The words of each simple command, quotes taken off; nothing of what only a shell could know. */
const commandsIn = (command: string): readonly (readonly string[])[] =>
  command
    .split(/[;|&\n(){}]+/)
    .map((part) => [...part.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, '')))
    .filter((words) => words.length > 0);

const WRAPPERS: ReadonlySet<string> = new Set(
  'env timeout nohup nice time command exec sudo stdbuf setsid xargs npx bunx'.split(' '),
);

/** Without assignments, and without what only starts another program. */
function withoutWrapper(words: readonly string[]): readonly string[] {
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const passing =
      /^\w+=/.test(word) || WRAPPERS.has(word) || (at > 0 && /^(?:-\S*|\d+(?:\.\d+)?[smhd]?)$/.test(word));
    if (!passing) break;
  }
  return words.slice(at);
}

/** Programs that take their orders from files of these names, in the folder they run in or above it. */
const BY_NAME: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(INPUTS));

const INTERPRETERS =
  /^(?:ba|da|z|k)?sh$|^(?:python|node|ruby|perl|php|deno|bun|lua|tsx|ts-node|Rscript|source|\.)(?:\d[\d.]*)?$/;

function filesOf(words: readonly string[], folder: string, root: string): readonly string[] {
  const [program = '', ...rest] = words;
  const name = path.basename(program);
  const own = program.includes('/') ? [path.resolve(folder, program)] : [];
  const named = rest.flatMap((word, at) =>
    /^(?:-f|--file|--makefile|--manifest-path)$/.test(word) ? rest.slice(at + 1, at + 2) : [],
  );
  const script = INTERPRETERS.test(name) ? rest.filter((word) => !word.startsWith('-')).slice(0, 1) : [];
  const known = (BY_NAME.get(name) ?? []).flatMap((file) =>
    upwards(folder, root).map((place) => path.join(place, file)),
  );
  return [...own, ...known, ...[...named, ...script].map((file) => path.resolve(folder, file))];
}

/** The folder and all above it up to the root; only itself where it isn't below it. */
function upwards(folder: string, root: string): readonly string[] {
  const places = [folder];
  while (places.length < MOST_FILES && (places.at(-1) ?? root).startsWith(`${root}${path.sep}`))
    places.push(path.dirname(places.at(-1) ?? root));
  return places;
}

async function digestOf(file: string): Promise<string> {
  try {
    // A pipe must not hold this up, and what a device says is no content.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return 'no file';
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(found.size, MOST_BYTES)), 0);
      const hash = createHash('sha256').update(buffer.subarray(0, bytesRead));
      return hash.update(`:${found.size}`).digest('hex');
    } finally {
      await handle.close();
    }
  } catch {
    return 'missing';
  }
}
