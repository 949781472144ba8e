/** What a person can do to a run, once for the screen, line mode and the command line. */
import type { RunState } from '../../events/state.ts';
import type { Command } from '../../ports/controls.ts';
export interface Action<Args> {
  /** A verb and its object, at most three words: "Retry failed tasks". */
  readonly name: string;
  /** One sentence for the help. */
  readonly help: string;
  /** Default keys on the screen. */
  readonly keys: readonly string[];
  /** The word in line mode. */
  readonly word: string;
  /** Null when it can be done now; else why not. */
  whyNot(state: RunState, args: Args): string | null;
  /** What is asked of the run. */
  command(state: RunState, args: Args): Command;
}
