/** The entrance of a run: its start, resume, hand-over and report. */
export { type Drafted, drafterFor, type DraftOrder, startDrafting } from './drafting.ts';
export type { RunOptions, RunResult } from './open-run.ts';
export { type Run, startRun } from './run.ts';
