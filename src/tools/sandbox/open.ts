/** Folders of the machine that commands may read beyond the usual, and what in them stays hidden all the same. */
import path from 'node:path';
import { CREDENTIALS } from '../../domain/text/credentials.ts';
import { isInside } from '../paths/root.ts';
import { realPlace } from './protected-scan.ts';

export interface Surroundings {
  readonly home: string;
  readonly root: string;
  readonly stateDir: string;
  /** Real places that nobody may read. */
  readonly denied: readonly string[];
}

/**
 * Of these places, those that can be shown, real. None that holds the home, the project or Mimir's state, none of these
 * but the home's own parts, and none that a rule hides.
 */
export function openPlaces(places: readonly string[], around: Surroundings): readonly string[] {
  const [home, root, stateDir] = [around.home, around.root, around.stateDir].map(
    (place) => realPlace(place)[0] ?? place,
  );
  const kept = [home, root, stateDir].filter((place) => place !== undefined);
  const closed = [...around.denied, ...CREDENTIALS.flatMap((name) => realPlace(path.join(around.home, name)))];
  return [...new Set(places.flatMap(realPlace))].filter(
    (place) =>
      !kept.some((other) => isInside(place, other)) &&
      ![root, stateDir, '/proc', '/dev'].some((other) => other !== undefined && isInside(other, place)) &&
      !closed.some((other) => isInside(other, place)),
  );
}

/** What in these open places stays hidden: where credentials lie, and what rules hide. */
export const closedIn = (open: readonly string[], { home, denied }: Surroundings): readonly string[] =>
  open.length === 0
    ? []
    : [...denied, ...CREDENTIALS.flatMap((name) => realPlace(path.join(home, name)))].filter((place) =>
        open.some((folder) => isInside(folder, place)),
      );
