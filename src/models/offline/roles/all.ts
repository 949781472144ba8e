/** Which part the analyst takes for which role. Roles that it doesn't know look around like a finder. */
import { roleForAlone } from '../plan-slots.ts';
import type { Brief, Part, Work } from '../step.ts';
import { finder } from './finder.ts';
import { librarian } from './librarian.ts';
import { oracle } from './oracle.ts';
import { refactoring } from './refactoring.ts';
import { reviewer } from './reviewer.ts';
import { rush } from './rush.ts';
import { tester } from './tester.ts';

/** Roles that are sent to write: the analyst finds the places, and says that it wrote nothing. */
const unwritten: Part = {
  todos: (brief) => finder.todos(brief),
  *work(brief: Brief): Work {
    const answer = yield* finder.work(brief);
    return `${answer}\n\n## What was not done\n\nNo code was written or changed: the offline analyst only finds places.`;
  },
};

const PARTS: ReadonlyMap<string, Part> = new Map([
  ['finder', finder],
  ['librarian', librarian],
  ['oracle', oracle],
  ['plan', oracle],
  ['Plan', oracle],
  ['rush', rush],
  ['refactoring', refactoring],
  ['reviewer', reviewer],
  ['security', reviewer],
  ['tester', tester],
  ['code', unwritten],
  ['general-purpose', unwritten],
  ['main', unwritten],
]);

/** Never fails: an unknown role gets the finder's part, and `main` the part that its task asks for. */
export const partFor = (role: string, task: string): Part =>
  PARTS.get(role === 'main' ? (roleForAlone(task) ?? role) : role) ?? finder;
