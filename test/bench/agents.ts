/** Agents at the same time: how near their span comes to the ideal one, and what they cost. */
import { openMeter } from './double/open.ts';
import type { Headless } from './headless.ts';
import { floorRun, mimirRun } from './headless.ts';
import { openPlace } from './place.ts';
import type { Measurement } from './run.ts';
import { figure, inTurn } from './run.ts';
import { percentile } from './statistics.ts';
import { reading } from './work.ts';

const READS = 10;
const LATENCY_MS = 200;
/** Every read is asked for in a reply of its own, and one more reply ends it. */
const IDEAL_MS = (READS + 1) * LATENCY_MS;
const COUNTS = [1, 16, 64, 256];

export const agents: Measurement = {
  name: 'agents',
  about: `${COUNTS.join(', ')} agents of ${READS} reads at ${LATENCY_MS} ms a reply`,
  async measure({ programs, quick, say }) {
    const double = await openMeter(reading(READS, LATENCY_MS));
    const place = openPlace(double.url);
    const figures = [];
    try {
      const start = await startCpu({ programs, quick });
      for (const count of COUNTS) {
        say(`  ${count} agents`);
        const results = await inTurn(timesOf(count, quick), {
          mimir: () => mimirRun({ programs, place, double }, count),
          floor: () => floorRun({ programs, place, double }, count),
        });
        figures.push(...figuresOf(count, results, start));
      }
    } finally {
      await double.close();
      place.remove();
    }
    return figures;
  },
};

const timesOf = (count: number, quick: boolean): number => (quick ? 1 : count > 64 ? 3 : 5);

interface Sides<T> {
  readonly mimir: T;
  readonly floor: T;
}

/** CPU of a run with one reply: what starting costs is a figure of its own. */
async function startCpu({
  programs,
  quick,
}: Pick<Parameters<Measurement['measure']>[0], 'programs' | 'quick'>): Promise<Sides<number>> {
  const double = await openMeter(reading(0));
  const place = openPlace(double.url);
  try {
    const results = await inTurn(quick ? 2 : 5, {
      mimir: () => mimirRun({ programs, place, double }, 1),
      floor: () => floorRun({ programs, place, double }, 1),
    });
    const middle = (runs: readonly Headless[]) =>
      percentile(
        runs.map(({ cpuMs }) => cpuMs),
        50,
      );
    return { mimir: middle(results.mimir), floor: middle(results.floor) };
  } finally {
    await double.close();
    place.remove();
  }
}

function figuresOf(count: number, runs: Sides<readonly Headless[]>, start: Sides<number>) {
  const name = `${count} ${count === 1 ? 'agent' : 'agents'}`;
  const perCall = (side: 'mimir' | 'floor') => runs[side].map(({ cpuMs }) => (cpuMs - start[side]) / (count * READS));
  return [
    figure(`${name}: ideal/span`, '', ({ marks }) => IDEAL_MS / (marks.lastAt - marks.firstAt), runs),
    figure(`${name}: CPU per call`, 'ms', (ms) => ms, { mimir: perCall('mimir'), floor: perCall('floor') }),
    figure(`${name}: peak memory`, 'MB', ({ peakMb }) => peakMb, runs),
  ];
}
