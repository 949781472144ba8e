/**
 * Runs one command in a fresh shell. Whether it may run at all is policy's and the person's; here it gets a clean
 * environment, a time limit, and an end that leaves nothing running.
 */
import path from 'node:path';
import { z } from 'zod';
import { ok, unreachable } from '../../domain/result.ts';
import type { Tool, ToolContext, ToolOutput } from '../../ports/tool.ts';
import { commandInputs } from './command-inputs.ts';
import { closingInherited } from './descriptors.ts';
import { type Environment, programOn } from './environment.ts';
import { type OwnProgram, quoted } from './launcher.ts';
import { done, refused } from '../outcome.ts';
import { capOutput, RESULT_BYTES } from './output.ts';
import type { Root } from '../paths/root.ts';
import { type ProgramEnd, runProgram } from './run-program.ts';
import { readingEnvironment, readingLook } from './reading.ts';
import type { Boxed, Sandbox } from '../sandbox/sandbox.ts';
import { type Course, runBoxed } from '../sandbox/run.ts';
import { watchNested } from '../writes/set-aside.ts';
import { doorOutside } from '../sandbox/socket-mount.ts';
import { workingFolder } from '../paths/working-folder.ts';
import type { Writes } from '../writes/writes.ts';

const WORDS =
  'Runs one bash command in the project root and gives its output, exit code and duration. Each command is a fresh shell: `cd` and variables do not last. There is no standard input and no terminal. When the command ends, everything it left running in the background is ended too. Prefer read_file, list_files, search and git to their shell counterparts: they need no question.';
/** What a command finds in the box, for the model to know. */
const IN_BOX =
  ' It runs in a sandbox: no network; only the project can be written (by roles that write, and as far as their task may change it), but not .git, .mimir and the folders of editors; .env* files can not be read; packages that are on this machine can be used, by cargo, go, mvn, npm and the like; /tmp is your own and stays until you have ended; HOME is empty each time, but for caches of packages and builds.';

const Input = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(100_000)
    .refine((command) => !command.includes('\0'), 'a command can not hold a NUL character')
    .describe('One bash command line, run in the project root in a fresh shell.'),
  timeout: z.number().int().min(1).max(600).default(120).describe('Seconds until it is ended.'),
});
type Input = z.output<typeof Input>;

export interface BashPlace {
  readonly root: Root;
  readonly environment: Environment;
  readonly sandbox: Sandbox;
  readonly stateDir: string;
  /** Mimir itself, for commands that have a door; absent: they get the socket alone. */
  readonly program?: OwnProgram | undefined;
  /** Holds commands to what their task may change. */
  readonly writes: Writes;
}

export const bashTool = (place: BashPlace): Tool<Input> => ({
  name: 'bash',
  description: `${WORDS}${place.sandbox.state.is === 'none' ? '' : IN_BOX}`,
  input: Input,
  capability: 'shell',
  repeat: 'never',
  label: ({ command }) => command,
  // Where it starts is part of what a person allows.
  preview: ({ command }, { workingDir }) =>
    Promise.resolve(workingDir === undefined ? command : `cd ${quoted(workingDir)}\n${command}`),
  inputs: ({ command }, context) =>
    commandInputs(place.root.path, command, path.resolve(place.root.path, context?.workingDir ?? '.')),

  reading: ({ command }, { workingDir }) => readingLook(place, command, workingDir),

  async run({ command, timeout }, context) {
    const bash = programOn(place.environment, 'bash');
    if (bash === null) return refused('not run: there is no bash on the PATH');
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
  what: Pick<Boxed, 'file' | 'args' | 'cwd' | 'env'>,
  course: Course,
): Promise<Ran> {
  const { box } = context;
  // Without a box a person looks at each command, and nothing holds it.
  const globs = box === 'none' ? undefined : context.writes;
  const held = box === 'read-only' ? null : await place.writes.hold(globs ?? null);
  const nested = box === 'read-write' ? await watchNested(place.root, place.sandbox) : null;
  const end = await (box === 'none'
    ? runProgram({
        ...what,
        args: openArguments(what),
        env: openEnvironment(place, context.door),
        ...course,
        signal: context.signal,
      })
    : runBoxed(place.sandbox, { ...what, ...inBox(context, box), opened: held?.opened }, course));
  const said = held === null ? NOTHING_SAID : await held.end();
  const aside = nested === null ? '' : await nested();
  return {
    end,
    said: [said.text, aside].filter((text) => text !== '').join('\n'),
    undone: said.changed || aside !== '',
  };
}

const inBox = (
  { door, agent, judges, reads }: ToolContext,
  box: Boxed['box'],
): Pick<Boxed, 'box' | 'door' | 'agent' | 'judges' | 'reads'> => ({ box, door, agent, judges, reads });

/** Of a command outside of a box, which gets no descriptor that Mimir was started with. */
function openArguments({ file, args }: Pick<Boxed, 'file' | 'args'>): readonly string[] {
  const closing = closingInherited();
  return closing === '' ? args : ['--noprofile', '--norc', '-c', `${closing}exec "$@"`, 'mimir', file, ...args];
}

/** Of a command outside of a box. */
const openEnvironment = ({ environment, program, stateDir }: BashPlace, door: string | undefined): Environment =>
  door === undefined ? environment : doorOutside(door, program, { stateDir, env: environment });

interface Frame {
  readonly timeout: number;
  readonly bytes: number;
  /** Where it started, other than in the root. */
  readonly folder: string | undefined;
  /** Of what it may change, and what was put back. */
  readonly said: string;
}

function commandOutput(end: ProgramEnd, { timeout, bytes, folder, said }: Frame): ToolOutput {
  if (end.is === 'not boxed')
    return { ...refused(`not run: the sandbox could not start this: ${end.stderr.trim()}`), unboxed: true };
  const seconds = `${(end.milliseconds / 1000).toFixed(1)} s`;
  const note = end.ended === 0 ? '' : `; processes ended: ${end.ended}`;
  const alive = end.survivors === 0 ? '' : `; STILL RUNNING, could not be ended: ${end.survivors}`;
  // The tools for files go by the root: a model that reads paths in this output should know the difference.
  const where = folder === undefined ? '' : `; run in ${folder}, but tools for files take paths from the project root`;
  const told = [end.note, said === '' ? undefined : said]
    .map((text) => (text === undefined ? '' : `\n${text}`))
    .join('');
  const head = `${endText(end, timeout)} after ${seconds}${note}${alive}${where}${told}`;
  // Both ends of both streams survive: the end of a long output is where the error stands.
  const room = bytes - Buffer.byteLength(head) - 64;
  const half = Math.floor(room / 2);
  const [outBytes, errBytes] = [Buffer.byteLength(end.stdout), Buffer.byteLength(end.stderr)];
  const stdout = capOutput(end.stdout, { bytes: Math.max(half, room - errBytes) });
  const stderr = capOutput(end.stderr, { bytes: Math.max(half, room - outBytes) });
  const parts = [head, stdout.trimEnd(), stderr.trim() === '' ? '' : `--- stderr ---\n${stderr.trimEnd()}`];
  const text = parts.filter((part) => part !== '').join('\n');
  return end.is === 'exited' && end.exit === 0 ? done(text) : refused(text);
}

function endText(end: ProgramEnd, timeout: number): string {
  switch (end.is) {
    case 'exited':
      return end.exit === null ? `ended by ${end.endedBy ?? 'a signal'}` : `exit code ${end.exit}`;
    case 'time limit':
      return `stopped: the time limit of ${timeout} s is over,`;
    case 'stopped':
      return 'stopped';
    case 'not started':
    case 'not boxed':
      return 'could not be started';
    default:
      return unreachable(end.is);
  }
}
