/** The files that a task is about. */
import { behind } from './evidence.ts';
import { globFor, LANGUAGES, languagesIn } from './languages.ts';
import type { LanguageName } from './languages.ts';
import { isAside, isForeign, isSource, isTest } from './paths.ts';
import { countOf, filesOf, isCut, list } from './tools.ts';
import type { Looking, Seen } from './tools.ts';
import { captured, code, grouped, isFilePath, plural, termsIn } from './words.ts';

/** The files that a task is about: those of the folder or file that it names, else all. */
export interface Inventory {
  readonly names: readonly string[];
  /** False where the list stopped before its end: what is not in it may be there all the same. */
  readonly whole: boolean;
  readonly count: number;
  /** Code that is neither a test nor foreign; examples and scripts are in it. */
  readonly sources: readonly string[];
  readonly tests: readonly string[];
  readonly languages: readonly LanguageName[];
  /** For searches: the folder or file; undefined for the whole. */
  readonly path: string | undefined;
  /** In words: `src/` or `this repository`. */
  readonly called: string;
  readonly seen: readonly Seen[];
  /** The calls behind it, in words. */
  readonly behind: string;
}

const MOST_NAMES = 2000;

/** Lists the files of a task: one step, a second one where the first list stopped before its end. */
export function* inventory(task: string, todo = 0): Looking<Inventory> {
  const places = termsIn(task, 16).flatMap(({ is, text }) => (is === 'path' ? [text] : []));
  const folder = places.find((one) => !isFilePath(one))?.replace(/\/$/, '');
  const about = folder === undefined ? 'all files' : 'files';
  const first = yield { say: 'I list the files first.', todo, asks: [list(MOST_NAMES, { path: folder, about })] };
  const none = folder !== undefined && filesOf(first[0]).length === 0;
  if (!none && !isCut(first[0])) return inventoryFrom(first, folder, places);
  const say = none
    ? `There is no ${code(folder)} that I can see: I look at the whole.`
    : 'There are more files than a list shows: I list the sources.';
  const where = none ? { about: 'all files' } : { path: folder, glob: globFor(LANGUAGES), about: 'sources' };
  const more = yield { say, todo, asks: [list(MOST_NAMES, where)] };
  return inventoryFrom([...first, ...more], none ? undefined : folder, places);
}

function inventoryFrom(seen: readonly Seen[], folder: string | undefined, places: readonly string[]): Inventory {
  const all = [...new Set(seen.flatMap((one) => filesOf(one)))];
  const isNamed = (place: string, name: string): boolean => `/${name}`.endsWith(`/${place}`);
  const file = places.find((place) => isFilePath(place) && all.some((name) => isNamed(place, name)));
  const names = file === undefined ? all : all.filter((name) => isNamed(file, name));
  const own = names.filter((name) => isSource(name) && !isForeign(name));
  return {
    names,
    whole: !isCut(seen.at(-1)),
    count: file === undefined ? Math.max(names.length, ...seen.map((one) => countOf(one))) : names.length,
    sources: own.filter((name) => !isTest(name)),
    tests: own.filter((name) => isTest(name)),
    languages: languagesIn(own),
    path: names.length === 1 && file !== undefined ? names[0] : folder,
    called: file !== undefined ? code(file) : folder === undefined ? 'this repository' : code(`${folder}/`),
    seen,
    behind: behind(...seen),
  };
}

/** Sources that are the program itself; where there are none, examples and scripts are. */
export function programOf({ sources }: Pick<Inventory, 'sources'>): readonly string[] {
  const program = sources.filter((name) => !isAside(name));
  return program.length > 0 ? program : sources;
}

const MOST_FOLDERS = 12;

/** One row: folders with how many tests each has. */
export function testFolders({ tests, behind: how }: Inventory): readonly string[] {
  const folders = grouped(tests, (path) => captured(/^(.*\/)/, path) || './');
  if (folders.length === 0) return [`- no file is a test by its name or folder ${how}`];
  const shown = folders.slice(0, MOST_FOLDERS).map(([folder, files]) => `${folder} ${files.length}`);
  const more = folders.length > MOST_FOLDERS ? ` and ${plural(folders.length - MOST_FOLDERS, 'folder')} more` : '';
  return [`- ${shown.join(', ')}${more} ${how}`];
}
