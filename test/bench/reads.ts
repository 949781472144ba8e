/** What a read call costs one agent: fifty in a row, the durable log included. */
import { openMeter } from './double/open.ts';
import type { Headless } from './headless.ts';
import { floorRun, mimirRun } from './headless.ts';
import { openPlace } from './place.ts';
import type { Bench, Measurement } from './run.ts';
import { figure, inTurn } from './run.ts';
import { percentile } from './statistics.ts';
import { reading } from './work.ts';

const READS = 50;

export const reads: Measurement = {
  name: 'reads',
  about: `one agent with ${READS} reads in a row`,
  async measure(bench) {
    const times = bench.quick ? 2 : 9;
    const none = await ran(bench, 0, times);
    const many = await ran(bench, READS, times);
    // What a start costs is taken off: it is a figure of its own.
    const starts = { mimir: middle(none.mimir), floor: middle(none.floor) };
    const perCall = (side: 'mimir' | 'floor') => many[side].map((one) => (one.cpuMs - starts[side]) / READS);
    return [
      figure('a read call: wall', 'ms', ({ marks }) => (marks.lastAskedAt - marks.firstAt) / READS, many),
      figure('a read call: CPU', 'ms', (ms) => ms, { mimir: perCall('mimir'), floor: perCall('floor') }),
      figure(`${READS} reads: peak memory`, 'MB', ({ peakMb }) => peakMb, many),
      figure('log: bytes per event', '', ({ logBytes, events }) => logBytes / events, { mimir: many.mimir }),
      figure('log: bytes per read call', '', ({ logBytes }) => logBytes / READS, { mimir: many.mimir }),
    ];
  },
};

const middle = (runs: readonly Headless[]): number =>
  percentile(
    runs.map(({ cpuMs }) => cpuMs),
    50,
  );

async function ran({ programs }: Bench, count: number, times: number) {
  const double = await openMeter(reading(count));
  const place = openPlace(double.url);
  try {
    return await inTurn(times, {
      mimir: () => mimirRun({ programs, place, double }, 1),
      floor: () => floorRun({ programs, place, double }, 1),
    });
  } finally {
    await double.close();
    place.remove();
  }
}
