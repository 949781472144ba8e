/** Where paths really lead, and the file systems mounted below a project: their files lie elsewhere, under a name in the project. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isInside } from './root.ts';

/** Their places below `root` (real), real and absolute; none where the system does not tell. */
export function mountsBelow(root: string): readonly string[] {
  const lines = mountLines();
  return lines.flatMap((line) => {
    const place = unescaped(line.split(' ')[4] ?? '');
    return place !== root && isInside(root, place) ? [place] : [];
  });
}

function mountLines(): readonly string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Blanks and the like stand there as `\\040`. */
const unescaped = (place: string): string =>
  place.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));

/** Where a place really is; nothing when it is not there. */
export function realPlace(place: string): readonly string[] {
  try {
    return [realpathSync.native(place)];
  } catch {
    return [];
  }
}

export const isFolder = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
