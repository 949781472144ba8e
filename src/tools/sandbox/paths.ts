/** What policy's paths come to in a box: what stays writable, what must stay absent, and what must stay where it is. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { isFolder, mountsBelow, realPlace } from '../paths/mounts.ts';
import { isInside, type Root } from '../paths/root.ts';

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

/** What of the project is writable, in place of all of it. Absolute paths; left out, nothing is otherwise. */
export interface Opened {
  readonly writable?: readonly string[];
  /** Folders in those that are read-only all the same, but for what is writable in them. */
  readonly closed?: readonly string[];
  /** Folders that are made first, the upper ones before, and are gone with the box where nothing was put in them. */
  readonly absent?: readonly string[];
}

/** What stays read-only in writable folders. */
export const closedPlaces = (opened: Opened | undefined, writable: readonly string[]): readonly string[] =>
  (opened?.closed ?? []).filter((place) => writable.some((folder) => isInside(folder, place)));

/** What is writable in those all the same. */
export const reopenedPlaces = (opened: Opened | undefined, closed: readonly string[]): readonly string[] =>
  (opened?.writable ?? []).filter((place) => closed.some((folder) => isInside(folder, place))).flatMap(realPlace);

export interface Paths {
  readonly allowRead: readonly string[];
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
}

export const pathsOf = ({ rules }: Root): Paths => ({
  allowRead: (rules.allowRead ?? []).map(({ path: place }) => place),
  denyRead: rules.denyRead.map(({ path: place }) => place),
  denyWrite: rules.denyWrite.map(({ path: place }) => place),
});

/** A list never opens what is denied, nor what lies in it. */
export function writableIn(
  { path: root, rules }: Root,
  { denyRead, denyWrite }: Paths,
  opened: Opened | undefined,
): readonly string[] {
  const kept = [...denyRead.filter(within(root)), ...denyWrite, ...mountsBelow(root)].flatMap(realPlace);
  const lists = rules.allowWrite.map(({ paths }) => paths);
  if (opened?.writable !== undefined) lists.push(opened.writable);
  return writablePlaces(root, lists).filter((place) => !kept.some((folder) => isInside(folder, place)));
}

/** Is a place in this folder? */
export const within =
  (root: string) =>
  (place: string): boolean =>
    isInside(root, place);
