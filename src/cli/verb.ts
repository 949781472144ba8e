/** What a verb is. Each lies in a file of its own, loaded only when it is called. */
import type { Arguments, Flags } from '../app/process/flags/flags.ts';
import type { Io } from '../app/process/io.ts';

export interface Verb {
  /** `mimir run "<task>" [options]` */
  readonly usage: string;
  readonly summary: string;
  readonly example: string;
  readonly flags: Flags;
  /** Lines of its help behind the options: what its JSON holds. */
  readonly notes?: readonly string[];
  /** How many plain words it takes. */
  readonly words: number;
  /** Resolves with the exit code; throws `Exit` for what the person can mend. */
  run(args: Arguments, io: Io): Promise<number>;
}
