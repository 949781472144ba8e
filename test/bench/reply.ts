/** One reply without a screen: from the start of the program to its end. */
import { mimirRun, floorRun } from './headless.ts';
import { openMeter } from './double/open.ts';
import { openPlace } from './place.ts';
import type { Measurement } from './run.ts';
import { figure, inTurn } from './run.ts';
import { reading } from './work.ts';

export const reply: Measurement = {
  name: 'reply',
  about: 'a run without a screen that takes one reply',
  async measure({ programs, quick }) {
    const double = await openMeter(reading(0));
    const place = openPlace(double.url);
    const results = await inTurn(quick ? 3 : 15, {
      mimir: () => mimirRun({ programs, place, double }, 1),
      floor: () => floorRun({ programs, place, double }, 1),
    });
    await double.close();
    place.remove();
    return [
      figure('one reply: wall', 'ms', ({ wallMs }) => wallMs, results),
      figure('one reply: CPU', 'ms', ({ cpuMs }) => cpuMs, results),
      figure('one reply: peak memory', 'MB', ({ peakMb }) => peakMb, results),
    ];
  },
};
