/** What most code of a run needs. Other collaborators are passed where a module is opened. */
import type { Rules } from '../../policy/rules.ts';
import type { World } from '../../ports/world.ts';
import type { Recorder } from '../run/recorder.ts';

export interface RunContext {
  readonly recorder: Recorder;
  readonly world: World;
  /** As they are at this moment: to be read anew for each decision. */
  readonly rules: () => Rules;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  /** Stops the run so that it can be resumed, when it can't go on for anybody. */
  readonly fail: (text: string, is: 'model' | 'denied' | 'budget') => void;
}
