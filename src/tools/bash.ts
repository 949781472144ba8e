/**
 * Runs one command in a fresh shell. Whether it may run at all is policy's and the person's; here it gets a clean
 * environment, a time limit, and an end that leaves nothing running.
 */
import { z } from 'zod';
import { unreachable } from '../domain/result.ts';
import type { Tool, ToolOutput } from '../ports/tool.ts';
import { commandInputs } from './command-inputs.ts';
import { type Environment, programOn } from './environment.ts';
import { done, refused } from './outcome.ts';
import { capOutput, RESULT_BYTES } from './output.ts';
import type { Root } from './root.ts';
import { type ProgramEnd, runProgram } from './run-program.ts';
import { runBoxed, type Sandbox } from './sandbox.ts';

const WORDS =
  'Runs one bash command in the project root and gives its output, exit code and duration. Each command is a fresh shell: `cd` and variables do not last. There is no standard input and no terminal. When the command ends, everything it left running in the background is ended too. Prefer read_file, list_files, search and git to their shell counterparts: they need no question.';
/** What a command finds in the box, for the model to know. */
const IN_BOX =
  ' It runs in a sandbox: no network; only the project can be written (by roles that write), but not .git, .mimir and the folders of editors; .env* files can not be read; HOME and /tmp are empty and gone afterwards.';

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

export const bashTool = (root: Root, environment: Environment, sandbox: Sandbox): Tool<Input> => ({
  name: 'bash',
  description: `${WORDS}${sandbox.state.is === 'none' ? '' : IN_BOX}`,
  input: Input,
  capability: 'shell',
  repeat: 'never',
  label: ({ command }) => command,
  preview: ({ command }) => Promise.resolve(command),
  inputs: ({ command }) => commandInputs(root.path, command),

  async run({ command, timeout }, context) {
    const bash = programOn(environment, 'bash');
    if (bash === null) return refused('not run: there is no bash on the PATH');
    const what = { file: bash, args: ['--noprofile', '--norc', '-c', command], cwd: root.path, env: environment };
    const course = {
      timeLimit: timeout * 1000,
      signal: context.signal,
      onOutput: (chunk: string) => context.onOutput(chunk),
    };
    // A box that was promised and can't be had means that the command is not run.
    const end = await (context.box === 'none'
      ? runProgram({ ...what, ...course })
      : runBoxed(sandbox, { ...what, box: context.box }, course));
    return commandOutput(end, timeout, Math.min(context.room ?? RESULT_BYTES, RESULT_BYTES));
  },
});

function commandOutput(end: ProgramEnd, timeout: number, bytes: number): ToolOutput {
  if (end.is === 'not boxed') return refused(`not run: the sandbox could not start this: ${end.stderr.trim()}`);
  const seconds = `${(end.milliseconds / 1000).toFixed(1)} s`;
  const note = end.ended === 0 ? '' : `; processes ended: ${end.ended}`;
  const alive = end.survivors === 0 ? '' : `; STILL RUNNING, could not be ended: ${end.survivors}`;
  const head = `${endText(end, timeout)} after ${seconds}${note}${alive}`;
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
