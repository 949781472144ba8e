/** The files of a project: what the path of each says of it, and those that a task is about. */
import { behind } from './evidence.ts';
import { globFor, type Language, languageOf, LANGUAGES, languagesIn } from './languages.ts';
import { countOf, filesOf, isCut, list, type Looking, type Seen } from './tools.ts';
import { code, isFilePath, termsIn } from './words.ts';

// What a path says of a file: source, test, example, or not the project's own work.

export const isSource = (path: string): boolean =>
  languageOf(path) !== undefined && !/\.min\.\w+$|\.d\.[cm]?ts$/.test(path);

const TEST_FOLDER = /(?:^|\/)(?:tests?|Tests|__tests__|specs?|e2e|testdata|test-data|fixtures|testsuite|__mocks__)\//;

/** A glob for all files that may be tests, by their name or a folder. */
export const TESTS_GLOB =
  '{**/*[tT]est*,**/*[sS]pec*,**/*e2e*,**/*[.-]cy.*,**/*IT.*,**/{*[tT]est*,spec,specs,e2e,fixtures,__mocks__}/**}';

/** A test by its name or its folder; data of tests counts too. A `tests.py` in a folder of the program is none. */
export const isTest = (path: string): boolean =>
  TEST_FOLDER.test(path) || languageOf(path)?.tests.test(path) === true || path.endsWith('.bats');

const ASIDE_FOLDER =
  /(?:^|\/)(?:examples?|samples?|demos?|bench(?:mark)?s?|scripts?|docs?|tools|website|integration|\.[\w-]+)\//i;
const ASIDE_FILE =
  /(?:^|\/)[\w.-]*\.config\.\w+$|^(?:setup|conf|gulpfile|Gruntfile|build)\.(?:py|js|rs|ts)$|(?:^|\/)\.\w+rc\.\w+$/;

/** Beside the program itself: examples, measurements, scripts, documents. */
export const isAside = (path: string): boolean => ASIDE_FOLDER.test(path) || ASIDE_FILE.test(path);

const FOREIGN_PATH =
  /(?:^|\/)(?:node_modules|vendor|third_party|thirdparty|dist|build|out|target|bower_components|generated|__generated__|debian)\/|(?<!(?:^|\/)tests?(?:\/.*)?)(?:^|\/)(?:locales?|i18n|translations)\/|\.min\.\w+$|\.(?:pb|generated|gen)\.\w+$|(?:^|\/)package-lock\.json$/;

/** Not the project's own work, or data: vendored, generated, translations. */
export const isForeign = (path: string): boolean => FOREIGN_PATH.test(path);

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

// The files that a task is about.

/** The files that a task is about: those of the folder or file that it names, else all. */
export interface Inventory {
  readonly names: readonly string[];
  /** False where the list stopped before its end: what is not in it may be there all the same. */
  readonly whole: boolean;
  readonly count: number;
  /** Code that is neither a test nor foreign; examples and scripts are in it. */
  readonly sources: readonly string[];
  readonly tests: readonly string[];
  /** How many files of code are not the project's own. */
  readonly foreign: number;
  readonly languages: readonly Language[];
  /** For searches: the folder or file; undefined for the whole. */
  readonly path: string | undefined;
  /** In words: `src/` or `this repository`. */
  readonly called: string;
  /** The calls behind it, in words. */
  readonly behind: string;
}

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
    ? `There is no ${code(folder)} that I can see: I look at the whole.`
    : 'There are more files than a list shows: I list the sources.';
  const where = none ? { about: 'all files' } : { path: folder, glob: globFor(LANGUAGES), about: 'sources' };
  const more = yield { todo: 0, say, asks: [list(MOST_NAMES, where)] };
  return inventoryFrom([...first, ...more], none ? undefined : folder, places);
}

function inventoryFrom(seen: readonly Seen[], folder: string | undefined, places: readonly string[]): Inventory {
  const all = [...new Set(seen.flatMap((one) => filesOf(one)))];
  const isNamed = (place: string, name: string): boolean => `/${name}`.endsWith(`/${place}`);
  const file = places.find((place) => isFilePath(place) && all.some((name) => isNamed(place, name)));
  const names = file === undefined ? all : all.filter((name) => isNamed(file, name));
  const { own = [], foreign = [] } = Object.groupBy(names.filter(isSource), (name) =>
    isForeign(name) ? 'foreign' : 'own',
  );
  return {
    names,
    whole: !isCut(seen.at(-1)),
    count: file === undefined ? Math.max(names.length, ...seen.map((one) => countOf(one))) : names.length,
    sources: own.filter((name) => !isTest(name)),
    tests: own.filter((name) => isTest(name)),
    foreign: foreign.length,
    languages: languagesIn(own),
    path: names.length === 1 && file !== undefined ? names[0] : folder,
    called: file !== undefined ? code(file) : folder === undefined ? 'this repository' : code(`${folder}/`),
    behind: behind(...seen),
  };
}

/** Sources that are the program itself; where there are none, examples and scripts are. */
export function programOf({ sources }: Pick<Inventory, 'sources'>): readonly string[] {
  const program = sources.filter((name) => !isAside(name));
  return program.length > 0 ? program : sources;
}
