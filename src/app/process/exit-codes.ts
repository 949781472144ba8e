/** From the result of a run to the exit code of the command. */
import type { RunResult } from '../../engine/run/run-options.ts';
import { EXIT } from './exit.ts';

export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const OF_SIGNAL = { SIGINT: EXIT.interrupt, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hangUp } as const;

/** The code of a program that a signal ended. */
export const codeOfSignal = (signal: EndSignal): number => OF_SIGNAL[signal];

/** `signal`: what ended the run from outside, if something did. */
export function exitCodeOf(result: RunResult, signal: EndSignal | null): number {
  if (signal !== null) return OF_SIGNAL[signal];
  switch (result.status) {
    case 'completed':
      return EXIT.done;
    case 'rejected':
      return EXIT.notApproved;
    case 'stopped':
      // It was paused for want of a model, or since another one answered.
      return result.errorIs === null ? EXIT.agentFailed : failedCode(result);
    case 'failed':
      return failedCode(result);
    default:
      return EXIT.agentFailed;
  }
}

function failedCode({ overBudget, errorIs }: RunResult): number {
  if (overBudget || errorIs === 'budget') return EXIT.budget;
  if (errorIs === 'denied') return EXIT.refused;
  return errorIs === 'model' ? EXIT.noProvider : EXIT.agentFailed;
}
