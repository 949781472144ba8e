/** Runs without a plan whose rules want every piece of work judged. */
import type { RunState } from '../../src/events/state.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { forcedRun, forcing, verdict, writing } from './forced.ts';
import type { ForcedSetting } from './forced.ts';
import { waits } from './idle.ts';
import type { TestRun } from './run.ts';

export const isReview = ({ purpose }: ModelRequest): boolean => purpose.is === 'work' && purpose.role === 'security';

/** A run without a plan whose rules want every piece of work judged; who works writes once a word, reviewers pass. */
export const always = (setting: ForcedSetting = {}): TestRun => {
  let words = 0;
  return forcedRun({
    idle: true,
    forced: [forcing(['always'])],
    ...setting,
    script: async (request, n) => {
      const own = await setting.script?.(request, n);
      if (own !== undefined) return own;
      if (isReview(request)) return request.turns.length === 1 ? verdict(true) : { text: 'judged' };
      return request.turns.at(-1)?.by === 'user' ? writing('a.txt', `words ${(words += 1)}`) : { text: 'written' };
    },
  });
};

/** All is judged, with so many reviews. */
export const judged =
  (count: number) =>
  (state: RunState): boolean =>
    waits(state) &&
    state.gates.length > 0 &&
    state.gates.every(({ due }) => due === undefined) &&
    [...state.agents.values()].filter((one) => one.forced !== null && one.outcome !== null).length === count;

export const ended = async (run: TestRun): Promise<void> => {
  run.stop('done');
  await run.result;
};
