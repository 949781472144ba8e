/** The files of a project: what the path of each says of it, and those that a task is about. */
import { grouped } from '../domain/lists.ts';
import PATTERNS from './data/patterns.json' with { type: 'json' };
import { behind } from './evidence.ts';
import { globFor, languageOf, LANGUAGES, languagesIn } from './languages.ts';
import { countOf, filesOf, isCut, list, type Looking, type Seen } from './tools.ts';
import { code, isFilePath, termsIn } from './words.ts';

// What a path says of a file: the patterns are in `data/patterns.json`.

const fits = (pattern: string, flags = ''): ((path: string) => boolean) => {
  const expression = new RegExp(pattern, flags);
  return (path) => expression.test(path);
};
const isCopy = fits(PATTERNS.copy);
const isInTests = fits(PATTERNS.testFolder);
const isAsideFolder = fits(PATTERNS.asideFolder, 'i');
const isAsideFile = fits(PATTERNS.asideFile);
export const isSource = (path: string): boolean => languageOf(path) !== undefined && !isCopy(path);

/** Data of tests that looks like code, such as samples of a language: no test itself. */
export const isFixture = fits(PATTERNS.fixture, 'i');

/** A glob for all files that may be tests, by their name or a folder. */
export const TESTS_GLOB = PATTERNS.testsGlob;

/** A test by its name or its folder; data of tests counts too. A `tests.py` in a folder of the program is none. */
export const isTest = (path: string): boolean =>
  isInTests(path) || languageOf(path)?.tests.test(path) === true || path.endsWith('.bats');

/** Beside the program itself: examples, measurements, scripts, documents. */
export const isAside = (path: string): boolean => isAsideFolder(path) || isAsideFile(path);

/** Not the project's own work, or data: vendored, generated, translations. */
export const isForeign = fits(PATTERNS.foreign);

/** Such files in words. */
export const FOREIGN = 'vendored, generated or translated';

/** Where one looks first: code in source folders, then other code, then other files, examples, tests and foreign files. */
export function rankOf(path: string): number {
  if (isForeign(path)) return 5;
  if (isTest(path)) return 4;
  if (isAside(path)) return 3;
  if (!isSource(path)) return 2;
  return /^(?:src|lib|pkg|packages)\//.test(path) ? 0 : 1;
}

/** The files that a task is about: those of the folder or file that it names, else all. */
export type Inventory = ReturnType<typeof inventoryFrom>;

const MOST_NAMES = 2000;

/** Lists the files of a task: one step, a second one where the first list stopped before its end. */
export function* inventory(task: string): Looking<Inventory> {
  const places = termsIn(task, 16).flatMap(({ is, text }) => (is === 'path' ? [text] : []));
  const folder = places.find((one) => !isFilePath(one))?.replace(/\/$/, '');
  const about = folder === undefined ? 'all files' : 'files';
  const first = yield { todo: 0, say: 'I list the files first.', asks: [list(MOST_NAMES, { path: folder, about })] };
  const none = folder !== undefined && filesOf(first[0]).length === 0;
  if (!none && !isCut(first[0])) return inventoryFrom(first, folder, places);
  const say = none
    ? `There is no ${code(folder)}: I look at the whole.`
    : 'A list shows no more files: I list the sources.';
  const where = none ? { about: 'all files' } : { path: folder, glob: globFor(LANGUAGES), about: 'sources' };
  const more = yield { todo: 0, say, asks: [list(MOST_NAMES, where)] };
  return inventoryFrom([...first, ...more], none ? undefined : folder, places);
}

function inventoryFrom(seen: readonly Seen[], folder: string | undefined, places: readonly string[]) {
  const all = [...new Set(seen.flatMap((one) => filesOf(one)))];
  const isNamed = (place: string, name: string): boolean => `/${name}`.endsWith(`/${place}`);
  const file = places.find((place) => isFilePath(place) && all.some((name) => isNamed(place, name)));
  const names = file === undefined ? all : all.filter((name) => isNamed(file, name));
  const { own = [], foreign = [] } = Object.groupBy(names.filter(isSource), (name) =>
    isForeign(name) ? 'foreign' : 'own',
  );
  return {
    names,
    /** False where the list stopped before its end: what is not in it may be there all the same. */
    whole: !isCut(seen.at(-1)),
    count: file === undefined ? Math.max(names.length, ...seen.map((one) => countOf(one))) : names.length,
    /** Code that is neither a test nor foreign; examples and scripts are in it. */
    sources: own.filter((name) => !isTest(name)),
    tests: own.filter((name) => isTest(name) && !isFixture(name)),
    /** How many files of code are not the project's own. */
    foreign: foreign.length,
    languages: languagesIn(own),
    path: names.length === 1 && file !== undefined ? names[0] : folder,
    /** In words: `src/` or `this repository`. */
    called: file !== undefined ? code(file) : folder === undefined ? 'this repository' : code(`${folder}/`),
    behind: behind(...seen),
  };
}

/** Sources that are the program itself; where there are none, examples and scripts are. */
export function programOf({ sources }: Pick<Inventory, 'sources'>): readonly string[] {
  const program = sources.filter((name) => !isAside(name));
  return program.length > 0 ? program : sources;
}

/** The folders of files, as deep as at most `most` of them allow: those with most files first, each with its files. */
export function foldersOf(names: readonly string[], most: number): readonly (readonly [string, readonly string[]])[] {
  const at = (depth: number) =>
    grouped(names, (name) => {
      const folders = name.split('/').slice(0, -1).slice(0, depth);
      return folders.length === 0 ? 'the top folder' : code(`${folders.join('/')}/`);
    });
  return [7, 6, 5, 4, 3, 2].map(at).find(({ length }) => length <= most) ?? at(1);
}
