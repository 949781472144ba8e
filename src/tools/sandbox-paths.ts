/** What policy says about paths of the box: written paths become places of this machine. Nothing is looked at but that. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { isInside } from './root.ts';
import { realPlace } from './sandbox-look.ts';

/** Paths as written: absolute, `~/…`, or relative to the project. */
export interface BoxPaths {
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
  /** One list for each layer that names one: writable is what is in all of them. */
  readonly allowWrite: readonly (readonly string[])[];
}

/** The same, absolute. */
export function placesOf(root: string, home: string, paths: BoxPaths | undefined): BoxPaths {
  const place = (written: string): string =>
    /^~(\/|$)/.test(written) ? path.join(home, written.slice(1)) : path.resolve(root, written);
  return {
    denyRead: (paths?.denyRead ?? []).map(place),
    denyWrite: (paths?.denyWrite ?? []).map(place),
    allowWrite: (paths?.allowWrite ?? []).map((list) => list.map(place)),
  };
}

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

/** Of a place that is not there, the first folder on the way to it that is not; it must not be made. */
export function firstAbsent(place: string): readonly string[] {
  const isThere = (it: string): boolean => lstatSync(it, { throwIfNoEntry: false }) !== undefined;
  if (isThere(place)) return [];
  let absent = place;
  while (!isThere(path.dirname(absent))) absent = path.dirname(absent);
  // A link on the way may lead anywhere: what counts is where the folder would be made.
  return realPlace(path.dirname(absent)).map((parent) => path.join(parent, path.basename(absent)));
}
