/** The interface to the contents of the files that agents changed: whose each change is. */
import type { AuthoredFile } from '../domain/authorship.ts';
import type { Result } from '../domain/result.ts';
import type { RecordedActs } from '../events/index.ts';

export type { RecordedActs } from '../events/index.ts';

export interface ChangesPort {
  /** The files that the acts changed, by path, with the authors of what differs between their contents at the start and now. */
  authored(recorded: RecordedActs, signal: AbortSignal): Promise<Result<readonly AuthoredFile[], string>>;
}
