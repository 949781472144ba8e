/** The entrance of `app/process`: arguments, exit codes, signals and the streams of the terminal. */
export {
  signalCode,
  type EndSignal,
  EXIT,
  Exit,
  exitCodeOf,
  exitOnFault,
  attempt,
  SIGNAL_WORDS,
  wrongUse,
} from './exit.ts';
export { fileErrorText, saveCopy, writeNewFile, writePrivate } from './files.ts';
export {
  ALLOW,
  type Arguments,
  readChoice,
  COLOR,
  readColour,
  CWD,
  flagLines,
  type Flags,
  JSON_FLAG,
  LIMITS,
  MODELS,
  createPainter,
  readArguments,
  SCREEN,
} from './flags.ts';
export { type Asker, askOnce, escapeJson, sanitise, type Io, openAsker, openIo, flushOutput, IS_YES } from './io.ts';
export { ownProgram, packageRoot, packageVersion } from './program.ts';
export { newSession, watchSignals, world } from './world.ts';
