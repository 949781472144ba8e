/** What policy's paths come to in a box: what stays writable, what must stay absent, and what must stay where it is. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { isInside } from './root.ts';
import { isFolder, realPlace } from './sandbox-look.ts';

/** What lies in a folder of every list, and in the project: no list makes anything outside it writable. */
export function writablePlaces(root: string, lists: readonly (readonly string[])[]): readonly string[] {
  let writable: readonly string[] = [root];
  for (const list of lists) {
    const real = list.flatMap(realPlace);
    writable = writable.flatMap((place) =>
      real.flatMap((other) => {
        if (isInside(place, other)) return [other];
        return isInside(other, place) ? [place] : [];
      }),
    );
  }
  const all = [...new Set(writable)];
  return all.filter((place) => !all.some((other) => other !== place && isInside(other, place)));
}

/** The folders between a writable one and the places in it: with one of them moved, a rule on a path would no longer hold. */
export function foldersAbove(writable: readonly string[], places: readonly string[]): readonly string[] {
  const above = places.flatMap((place) => {
    const top = writable.find((folder) => folder !== place && isInside(folder, place));
    if (top === undefined) return [];
    const steps = path
      .relative(top, path.dirname(place))
      .split(path.sep)
      .filter((step) => step !== '');
    return steps.map((_, index) => path.join(top, ...steps.slice(0, index + 1)));
  });
  return [...new Set(above)].toSorted((a, b) => a.length - b.length);
}

/** Of a place that is not there, the first folder on the way to it that is not; it must not be made. */
export function firstAbsent(place: string): readonly string[] {
  if (isThere(place)) return [];
  let absent = place;
  while (!isThere(path.dirname(absent))) absent = path.dirname(absent);
  // A link on the way may lead anywhere: what counts is where the folder would be made. Below a file nothing is.
  const parents = realPlace(path.dirname(absent)).filter(isFolder);
  return parents.map((parent) => path.join(parent, path.basename(absent)));
}

/** Below a file is nothing, whatever the system calls that. */
const isThere = (place: string): boolean => {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};
