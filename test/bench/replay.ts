/** All recorded runs with default settings: how many come to their own end, and what was ended by a limit. */
import { defaults, replay, trajectories } from '../support/replay.ts';
import type { Measurement } from './run.ts';
import { figure } from './run.ts';

export const replaying: Measurement = {
  name: 'replay',
  about: '400 recorded runs of real work, replayed with default settings',
  async measure({ quick, say }) {
    const settings = defaults();
    const runs = trajectories().filter((_, at) => !quick || at % 10 === 0);
    let ended = 0;
    for (const [at, run] of runs.entries()) {
      const { outcome, error, steps, recorded } = await replay(run, settings);
      if (outcome === 'completed') continue;
      ended += 1;
      say(`  run ${at}, ${steps} steps, $${recorded}: ${outcome}: ${error}`);
    }
    return [
      { ...figure('replay: ended before their own end', '', (count) => count, { mimir: [ended] }), of: runs.length },
    ];
  },
};
