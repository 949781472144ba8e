/** A command that prints without end: how much memory it takes to keep its head and its tail. */
import { runProgram } from '../../../src/tools/process/run-program.ts';
import { spreadOf } from '../statistics.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { inPlace } from './place.ts';

const MB = 1024 * 1024;

export const output = ({ quick }: Size): Promise<readonly Figure[]> =>
  inPlace(async ({ project, environment }) => {
    const bytes = (quick ? 0.2 : 10) * 1e9;
    // Once beforehand: what a first run makes is no growth.
    await flood(100 * MB);
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
    await flood(bytes);
    clearInterval(watch);
    return [
      {
        what: 'memory taken by an endless output',
        unit: 'MB',
        mimir: spreadOf([(most - before) / MB]),
        floor: null,
      },
    ];

    async function flood(count: number): Promise<void> {
      const end = await runProgram({
        file: '/bin/bash',
        args: ['-c', `head -c ${count} /dev/zero | tr '\\0' x`],
        cwd: project,
        env: environment,
        timeLimit: 600_000,
        signal: new AbortController().signal,
        onOutput: () => undefined,
      });
      if (end.exit !== 0) throw new Error('the flood did not end well');
    }
  });
