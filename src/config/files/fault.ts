/** What is wrong with a configuration, for the person who will mend it: where, what, and what to do. Exit code 3. */

export interface ConfigFault {
  /** As people would name it: relative to the project, or from `~`. */
  readonly file: string;
  /** From 1; null when the fault is the file as a whole. */
  readonly line: number | null;
  readonly column: number | null;
  readonly problem: string;
  readonly remedy: string;
}

export const NO_PERMISSION = "can't be read: no permission";
export const OTHER_NAME = 'would not be read by this name';
export const PLAIN_FILE = 'put a plain file there, or remove it';
export const NOT_A_DIRECTORY = 'is a file, not a directory';
export const THE_DIRECTORY = 'put the directory itself there';

/** `file:line:column: what — what to do`. */
export function faultText({ file, line, column, problem, remedy }: ConfigFault): string {
  const place = [file, line, line === null ? null : column].filter((part) => part !== null).join(':');
  return `${place}: ${problem} — ${remedy}`;
}
