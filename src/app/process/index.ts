/** The entrance of `app/process`: arguments, exit codes, signals and the streams of the terminal. */
export * from './exit.ts';
export * from './files.ts';
export * from './flags.ts';
export { discardTypeAhead, escapeJson, sanitise, type Io, openIo, flushOutput, IS_YES } from './io.ts';
export { collectGarbage } from './memory.ts';
export * from './program.ts';
export * from './world.ts';
