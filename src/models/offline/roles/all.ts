/** Which part the analyst takes for which role. Roles that it doesn't know work like a finder. */
import type { Part } from '../step.ts';
import { finder } from './finder.ts';
import { librarian } from './librarian.ts';
import { oracle } from './oracle.ts';
import { refactoring } from './refactoring.ts';
import { reviewer } from './reviewer.ts';
import { rush } from './rush.ts';
import { tester } from './tester.ts';

const PARTS: ReadonlyMap<string, Part> = new Map([
  ['finder', finder],
  ['librarian', librarian],
  ['oracle', oracle],
  ['rush', rush],
  ['refactoring', refactoring],
  ['reviewer', reviewer],
  ['security', reviewer],
  ['tester', tester],
]);

export const partFor = (role: string): Part => PARTS.get(role) ?? finder;
