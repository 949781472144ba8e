/** Which faults are planted: some of each file, the same ones for the same seed. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOMS, type Room, sourcesOf, weightOf } from './rooms.ts';
import { changeOf, mutantsOf } from './sites.ts';
import type { InFile } from './trial.ts';

export interface Case extends InFile {
  readonly room: Room;
  /** The lines that it changes, as they are and as they would be. */
  readonly change: readonly [now: string, becomes: string];
}

/** All faults of the files whose path begins with `below`. */
export const casesBelow = (below: string, root: string): readonly Case[] =>
  ROOMS.flatMap((room) =>
    sourcesOf(room, root)
      .filter((file) => file.startsWith(below))
      .flatMap((file) => {
        const source = readFileSync(join(root, file), 'utf8');
        return mutantsOf(source).map((one) => ({ ...one, room, file, change: changeOf(source, one) }));
      }),
  );

/** At least `each` of each file that has so many, in the order of the text. A file's sample is the same beside whatever others. */
export function sampleOf(all: readonly Case[], each: number, seed: number): readonly Case[] {
  const lotOf = ({ file, start, end, text }: Case): string =>
    createHash('sha256').update([seed, file, start, end, text].join('\0')).digest('hex');
  const drawn = [...Map.groupBy(all, ({ file }) => file)].flatMap(([file, own]) =>
    own
      .map((one) => ({ one, lot: lotOf(one) }))
      .toSorted((a, b) => (a.lot < b.lot ? -1 : 1))
      .slice(0, each * weightOf(file)),
  );
  const chosen = new Set(drawn.map(({ one }) => one));
  return all.filter((one) => chosen.has(one));
}
