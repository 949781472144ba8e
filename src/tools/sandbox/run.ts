/** Runs programs in a sandbox to their end, or not at all. */
import type { Result } from '../../domain/result.ts';
import type { SandboxState, ToolContext } from '../../ports/tool.ts';
import type { Environment } from '../process/environment.ts';
import { type ProgramEnd, runProgram } from '../process/run-program.ts';
import type { Opened } from './paths.ts';
import type { Walked } from './walk.ts';

export interface Boxed {
  readonly box: Exclude<ToolContext['box'], 'none'>;
  /** Absolute path, as seen in the box. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** Of programs that tell nothing of what is in `.env*` files: the files are left as they are. */
  readonly secrets?: 'seen';
  /** A command that only reads and that nobody was asked about: it sees less, and runs only where every secret is covered. */
  readonly reads?: boolean | undefined;
  readonly opened?: Opened | undefined;
  /** As `ToolContext.door`. */
  readonly door?: string | undefined;
  /** Whose `/tmp` it gets; absent: an empty one. */
  readonly agent?: string | undefined;
  /** As `ToolContext.judges`. */
  readonly judges?: boolean | undefined;
}

/** What to start instead. Started with this environment and no other: bubblewrap's own can be read in the box. */
export interface Wrapped {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Environment;
  /** For who reads the output; null: nothing. */
  readonly note: string | null;
  /** To be called when no process of it is left. */
  end(): Promise<void>;
}

export interface Sandbox {
  readonly state: SandboxState;
  /** How to start a program boxed; or why it can't be, and then it must not be started at all. */
  wrap(spec: Boxed): Promise<Result<Wrapped, string>>;
  /** This agent, or every agent (null), has ended: its `/tmp` goes. */
  ended(agent: string | null): Promise<void>;
  /** What the project holds that no command may read, and repositories below it. */
  walk(): Promise<Walked>;
}

/** How a program is run, beside what it is. */
export interface Course {
  readonly timeLimit: number;
  readonly signal?: AbortSignal;
  readonly input?: string;
  onOutput?(chunk: string): void;
}

/**
 * Runs a program in a box to its end, or not at all: `is` is then "not boxed", with the reason in `stderr`. Where bubblewrap
 * refuses, nothing of it has run: it is tried once more, since a socket that was to be covered may have gone meanwhile.
 */
export async function runBoxed(sandbox: Sandbox, spec: Boxed, course: Course): Promise<ProgramEnd> {
  for (let again = true; ; again = false) {
    const wrapped = await sandbox.wrap(spec);
    if (!wrapped.ok) return notBoxed(wrapped.fault);
    const end = await startBoxed(wrapped.value, course);
    const { note } = wrapped.value;
    if (end.is !== 'not boxed' || !again) return note === null ? end : { ...end, note };
  }
}

export async function startBoxed(wrapped: Wrapped, course: Course): Promise<ProgramEnd> {
  try {
    const signal = course.signal ?? new AbortController().signal;
    const { file, argv, env } = wrapped;
    return await runProgram({ ...course, signal, file, args: argv, env, cwd: '/', boxed: true });
  } finally {
    await wrapped.end();
  }
}

/** Words of a tool for a program that could not be started in the sandbox. */
export const notRun = ({ stderr }: ProgramEnd): string => `not run: the sandbox could not start this: ${stderr.trim()}`;

/** Why nothing can be sandboxed: `fault` is what went wrong in the state directory. */
export const stateFault = (stateDir: string, fault: string): string =>
  `the state directory ${stateDir} can't be used for it: ${fault}`;

const notBoxed = (fault: string): ProgramEnd => ({
  is: 'not boxed',
  exit: null,
  endedBy: null,
  stdout: '',
  stderr: fault,
  whole: true,
  milliseconds: 0,
  ended: 0,
  survivors: 0,
});
