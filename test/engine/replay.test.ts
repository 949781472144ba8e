/** Real work comes to its own end with default settings: sizes of recorded runs (the bench replays all of them). */
import { expect, it } from 'vitest';
import { defaults, replay, trajectories, type Trajectory } from '../support/replay.ts';

const tokensOf = ({ steps }: Trajectory): number => steps.reduce((sum, [, , , prompt, out]) => sum + prompt + out, 0);

/** The four that used the most tokens, and in even steps from the shortest to the longest. */
function sample(all: readonly Trajectory[]): readonly Trajectory[] {
  const largest = all.toSorted((a, b) => tokensOf(b) - tokensOf(a)).slice(0, 4);
  const others = all.filter((run) => !largest.includes(run)).toSorted((a, b) => a.steps.length - b.steps.length);
  const places = Array.from({ length: 16 }, (_, n) => Math.round((n * (others.length - 1)) / 15));
  return [...largest, ...places.flatMap((at) => others[at] ?? [])];
}

it('recorded runs come to their own end with default settings, but for what costs as much as the limit', async () => {
  const settings = defaults();
  const runs = sample(trajectories());
  expect(new Set(runs).size).toBe(20);
  const ends = new Map<string, number>();
  for (const run of runs) {
    const { outcome, summary, turns, steps, cost, recorded } = await replay(run, settings);
    const isWhole = outcome === 'completed' && turns === steps && Math.abs(cost - recorded) < 0.001;
    const isEnded = outcome === 'partial' && summary === 'What there is.' && recorded > 1.9 && cost < 2;
    const end = isWhole ? 'whole' : isEnded ? 'ended by $2, with an answer' : JSON.stringify({ outcome, turns, steps });
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  expect(Object.fromEntries(ends)).toEqual({ whole: 18, 'ended by $2, with an answer': 2 });
}, 60_000);
