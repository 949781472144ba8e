/** Runs programs in a sandbox to their end, or not at all. */
import { type ProgramEnd, runProgram } from '../shell/run-program.ts';
import type { Boxed, Sandbox, Wrapped } from './sandbox.ts';

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
