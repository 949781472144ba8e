/** Keeps the tree of an agent within its size, and its disk from being full, while commands run. */
import { statfsSync } from 'node:fs';
import { tried } from '../../domain/result.ts';
import type { Tool } from '../../ports/tool.ts';
import { bytesIn, type Helpers } from '../process/kept-folders.ts';

/** How often the free space is looked at while a command runs. */
const LOOK_MS = 500;
/** How often the folder is measured at the most, as long as nothing points to its growing. */
const MEASURE_MS = 2000;
const MIB = 1024 * 1024;
/** What stays free on its disk, for the log above all. */
const SPARE_BYTES = 512 * MIB;

/** Stops commands when the folder gets larger than `most`, or its disk is nearly full. What they have written stays, and may be made smaller. */
export function sizeLimit(helpers: Helpers, folder: string, most: number): (tool: Tool) => Tool {
  const freeNow = (): number => tried(() => freeIn(folder), Number.POSITIVE_INFINITY);
  /** At the last measurement, and when the next one is due. */
  let [bytes, free, due] = [-1, 0, 0];
  const problem = async (before: { readonly bytes: number; readonly free: number }): Promise<string | null> => {
    const now = freeNow();
    if (now < SPARE_BYTES && now < before.free) return `only ${Math.ceil(now / MIB)} MiB are free on the disk`;
    // Others write and remove files on the disk, too, so what is gone from it is only a reason to measure sooner.
    const began = performance.now();
    if (began >= due || Math.max(bytes, bytes + free - now) > most) {
      [bytes, free] = [(await bytesIn(helpers, [folder])) ?? bytes, now];
      const took = performance.now() - began;
      due = began + Math.max(MEASURE_MS, took * 50);
    }
    if (bytes <= Math.max(most, before.bytes)) return null;
    return `this tree has ${Math.ceil(bytes / MIB)} MiB, and at most ${most / MIB} MiB are allowed: remove what is not needed`;
  };
  return (tool) => ({
    ...tool,
    async run(input, context) {
      const stop = new AbortController();
      const before = { bytes, free: freeNow() };
      let looking = Promise.resolve<string | null>(null);
      const look = async (): Promise<void> => {
        looking = looking.then((found) => found ?? problem(before));
        if ((await looking) !== null) stop.abort();
      };
      const timer = setInterval(() => void look(), LOOK_MS);
      const signal = AbortSignal.any([context.signal, stop.signal]);
      const output = await tool.run(input, { ...context, signal }).finally(() => clearInterval(timer));
      await look();
      const why = await looking;
      return why === null
        ? output
        : { ...output, ok: false, text: `${output.text}\nSTOPPED: ${why}. Nothing is lost.` };
    },
  });
}

function freeIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
