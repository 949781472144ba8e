/** Names that files offer, and where they are held: modules without a test, and exported names that no other file uses. */
import { captured, distinct, escaped, grouped, listed, plural } from '../../domain/lists.ts';
import { behind, claim, place, report, type Section } from '../evidence.ts';
import * as links from '../imports.ts';
import { globFor, type Hit, isComment, isHeader, isInCode, isPrototype, languageOf, LANGUAGES } from '../languages.ts';
import { inventory, type Inventory, isAside, isTest, programOf, TESTS_GLOB } from '../project.ts';
import { hitsOf, LONG_LINE } from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byPlace, code, shortened } from '../words.ts';

const MOST_SHOWN = 15;
const MOST_FOLDERS = 12;
/** Names of a module that are looked for in tests. */
const MOST_NAMES = 8;

const isShell = (path: string): boolean => languageOf(path)?.name === 'shell';

export function* untested({ task }: Brief): Work {
  const project = yield* inventory(task);
  const all = project.path === undefined ? project : yield* inventory('');
  const { tests } = all;
  const candidates = programOf(project).filter(
    (name) => !isShell(name) && !isHeader(name) && !/(?:package|module)-info\.java$|(?:^|\/)doc\.go$/.test(name),
  );
  const files = [...all.sources, ...tests].filter((name) => !isShell(name));
  const imports = yield* links.importsOf(files, undefined, 1);
  // Rust has its tests within the module.
  const inside = imports.seen
    .flatMap(hitsOf)
    .filter(({ text }) => text.includes('#[cfg(test)]'))
    .map((hit) => hit.path);
  const direct = new Set([...inside, ...imports.links.filter(({ from }) => tests.includes(from)).map(({ to }) => to)]);
  const open = candidates.filter((name) => !isReached(direct, name) && !tests.some((test) => isNamedAfter(test, name)));
  const { exports } = yield* links.exportsOf(candidates, project.path, 2);
  const names = Map.groupBy(exports, ({ hit }) => hit.path);
  const searched = tests.length === 0 ? [] : open;
  const wanted = searched.flatMap((name) => telling(names.get(name) ?? [], exports));
  const held = yield* links.holdersOf(wanted, TESTS_GLOB, 'tests', isHeld);
  const mentioned = mentionsIn(held);
  // A package of Python that offers nothing itself is loaded with each of its modules.
  const isEmpty = (name: string): boolean => name.endsWith('/__init__.py') && open.includes(name) && !names.has(name);
  const modules = candidates.filter((name) => !isEmpty(name));
  if (modules.length === 0) return `There is no module to test in ${project.called} ${project.behind}.`;
  const reached = links.reachedFrom([...tests, ...inside], imports.links);
  const rest = modules.filter((name) => open.includes(name) && !mentioned.has(name));
  const { none = [], indirect = [] } = Object.groupBy(rest, (name) => (isReached(reached, name) ? 'indirect' : 'none'));
  const isWhole = all.whole && imports.whole && held.left === 0 && held.seen.every(({ ok }) => ok);
  const head = headText(modules.length, none.length, indirect.length, all, isWhole);
  const note = `At most ${MOST_NAMES} names of each module were looked for in tests. This does not measure coverage.`;
  return report(
    `${head} ${all.behind} ${behind(...imports.seen, ...held.seen)}.${wanted.length === 0 ? '' : `\n\n${note}`}`,
    ['Modules for which no test was found', rowsOf(none, names, held, imports)],
    ['Modules that tests import only through other modules', rowsOf(indirect, names, held, imports)],
    [
      'Modules that no test imports, but whose names are in the code of a test',
      shortened([...mentioned], MOST_SHOWN, ([file, hit]) => `- ${file}: ${claim(hit)}`),
    ],
    ['Test files in known languages, by folder', folderRows(all)],
  );
}

/** Whether a file is among `reached`; in Go folders are. */
const isReached = (reached: ReadonlySet<string>, name: string): boolean =>
  reached.has(name) || (name.endsWith('.go') && reached.has(captured(/^(.*\/)/, name) || './'));

const stemOf = (file: string): string => (file.split('/').at(-1) ?? '').replace(/\.\w+$/, '');

/** `test_cart.py`, `cart.test.ts`, `CartTest.java` are named after `cart`. An `index` goes by the name of its folder. */
function isNamedAfter(test: string, module: string): boolean {
  const file = stemOf(module);
  const own = /^(?:index|mod|__init__|lib|main)$/.test(file) ? (module.split('/').at(-2) ?? '') : file;
  if (own.length < 2) return false;
  return new RegExp(
    `^(?:test[_-]?)?${escaped(own.replace(/^_+/, ''))}(?:[._-]?(?:test|tests|spec|unittest|IT|e2e))?(?:[._-]\\w+)?$`,
    'i',
  ).test(stemOf(test));
}

/** The names of a module that tell of it: neither short nor common, and offered by no other module. */
const telling = (own: readonly links.Export[], all: readonly links.Export[]): readonly links.Export[] =>
  distinct(own, ({ name }) => name)
    .filter(({ name }) => !links.isCommon(name, 4))
    .filter(({ name, hit }) => !all.some((other) => other.name === name && other.hit.path !== hit.path))
    .slice(0, MOST_NAMES);

/** The first line of code of a test that holds a name of a module, by the module. */
function mentionsIn({ of }: links.Holders): ReadonlyMap<string, Hit> {
  const found = [...of].map(([one, hits]) => [one.hit.path, hits.find((hit) => isHeld(one, hit))] as const);
  return new Map(found.toReversed().flatMap(([file, hit]) => (hit === undefined ? [] : [[file, hit]])));
}

/** A line of code of a test that holds the name; of a long line that cannot be told, and it counts. */
function isHeld({ name }: links.Export, hit: Hit): boolean {
  const at = hit.text.search(new RegExp(`(?<![\\w$])${escaped(name)}(?![\\w$])`));
  return isTest(hit.path) && (at === -1 ? LONG_LINE.test(hit.text) : isInCode(hit, at));
}

function headText(all: number, none: number, indirect: number, project: Inventory, isWhole: boolean): string {
  const { tests, names } = project;
  const modules = plural(all, 'module');
  if (tests.length === 0)
    return `None of ${plural(names.length, 'file')} is a test in a known language by its name or folder; there ${all === 1 ? 'is' : 'are'} ${modules}`;
  const start = isWhole ? '' : 'As far as these searches went: ';
  const others = `tests import ${plural(indirect, 'module')} only through other modules`;
  const [them, theirs] = none === 1 ? ['it', 'its names'] : ['them', 'their names'];
  if (none > 0)
    return `${start}No test was found for ${none} of ${modules}: no test file imports ${them}, even through other modules, is named after ${them}, or has in its code one of ${theirs} that were searched for${indirect === 0 ? '' : `; ${others}`}`;
  if (indirect > 0) return `${start}A test imports, names or mentions ${all - indirect} of ${modules}; ${others}`;
  return `${start}A test imports each of ${modules}, is named after it, or holds a name that it exports`;
}

/** One row: folders with how many tests each has. */
function folderRows({ tests, behind: how }: Inventory): readonly string[] {
  const folders = grouped(tests, (path) => captured(/^(.*\/)/, path) || './');
  const shown = folders.slice(0, MOST_FOLDERS).map(([name, own]) => `${name} ${own.length}`);
  const more = folders.length > MOST_FOLDERS ? ` and ${plural(folders.length - MOST_FOLDERS, 'folder')} more` : '';
  return folders.length === 0 ? [] : [`- ${shown.join(', ')}${more} ${how}`];
}

/** The names that each module exports. */
type Names = ReadonlyMap<string, readonly links.Export[]>;

/** Most imported first, each with the names that were looked for. */
function rowsOf(
  all: readonly string[],
  names: Names,
  { of }: links.Holders,
  imports: links.Imports,
): readonly string[] {
  const users = links.usersOf(imports.links);
  const count = (name: string): number => users.get(name)?.length ?? 0;
  const row = (name: string): string => {
    const [use] = users.get(name) ?? [];
    const used =
      use === undefined
        ? ''
        : `; imported by ${plural(count(name), 'file')} of the program, for example ${claim(use.hit)}`;
    return `- ${name}: ${namesText(names.get(name) ?? [], of)}${used}`;
  };
  const sorted = all.toSorted((a, b) => count(b) - count(a) || (a < b ? -1 : 1));
  return shortened(sorted, MOST_SHOWN, row, (others) => `: ${listed(others.slice(0, 20))}`);
}

/** Which of the names that a module exports were looked for, or why none was. */
function namesText(own: readonly links.Export[], of: links.Holders['of']): string {
  if (own.length === 0) return 'no exported name was recognised in it';
  const searched = own.filter((one) => of.has(one));
  const some = searched.length > 0 ? searched : own;
  const names = [...new Set(some.map(({ name }) => code(name)))].slice(0, 4);
  if (searched.length > 0) return `no code of a test holds ${listed(names, 'or')}`;
  return `it exports ${listed(names)}, which ${own.length === 1 ? 'was' : 'were'} not searched for in tests`;
}

// Exported names that no other file holds.

const MOST_DEAD = 40;
/** Of names that tests use, too, and their own file. */
const MOST_TESTED = 10;
const OWN_AND_TESTS = 'in their own file and in tests';
const PLACES = ['on no other line of code', 'only in tests', 'only in their own file', OWN_AND_TESTS];

export function* deadExports({ task }: Brief): Work {
  const project = yield* inventory(task);
  const program = programOf(project).filter((name) => !isAside(name));
  const { exports: offered, seen: looks } = yield* links.exportsOf(program, project.path, 1);
  const all = offered.filter(({ name }) => !links.isCommon(name, 3));
  const exports = distinct(all, ({ name }) => name);
  if (exports.length === 0) return `No exported name was recognised in ${project.called} ${behind(...looks)}.`;
  const imports = yield* links.importsOf(project.sources, undefined, 1);
  const definitions = new Map(all.map(({ name, hit }) => [place(hit), name]));
  /** A line of documents is no use of a name in code, a prototype none of a function, nor another definition of it. */
  const counts = ({ name }: links.Export, hit: Hit): boolean =>
    languageOf(hit.path) !== undefined && !isPrototype(hit) && !isComment(hit) && definitions.get(place(hit)) !== name;
  const isUse = (one: links.Export, hit: Hit): boolean =>
    hit.path !== one.hit.path && !isTest(hit.path) && counts(one, hit);
  const { of, left, seen } = yield* links.holdersOf(exports, globFor(LANGUAGES), 'code', isUse);
  const single = [...of].filter(([one, hits]) => !hits.some((hit) => isUse(one, hit)));
  const files = new Set(single.map(([one]) => one.hit.path));
  const whole = imports.links.filter(({ to, hit }) => files.has(to) && WHOLE_EXPORT.test(hit.text));
  const dead = single
    .filter(([one]) => !whole.some(({ to }) => to === one.hit.path))
    .toSorted(([a], [b]) => byPlace(a.hit, b.hit));
  /** Who holds each beside the line that defines it. */
  const placeOf = ([one, hits]: links.Held): string => {
    const others = hits.filter((hit) => counts(one, hit) && place(hit) !== place(one.hit));
    const isInTests = others.some(({ path }) => isTest(path));
    if (others.some(({ path }) => path === one.hit.path)) return isInTests ? OWN_AND_TESTS : 'only in their own file';
    return isInTests ? 'only in tests' : 'on no other line of code';
  };
  const groups = PLACES.map((where) => [where, dead.filter((one) => placeOf(one) === where)] as const);
  const unknown = left === 0 ? '' : ` ${plural(left, 'more name')} occurred too often for these searches.`;
  const counted = groups.map(([where, some]) => `${some.length} ${where}`).join(', ');
  return report(
    `Of ${plural(exports.length - left, 'exported name')}, ${dead.length} ${dead.length === 1 ? 'occurs' : 'occur'} in no other file of the program: ${counted} ${behind(...looks)} ${behind(...seen)}.${unknown}\n\nFiles in other languages were not searched, and a library may export a name for its users alone.`,
    ...groups.map(([where, some]): Section => [where.charAt(0).toUpperCase() + where.slice(1), deadRows(some, where)]),
    [
      'Left out: files that another file exports as a whole',
      [...new Set(whole.map(({ to, hit }) => `- ${to}, by ${claim(hit)}`))],
    ],
  );
}

/** `export * from './a'`, `from .a import *`: what is in such a file is offered under its own name elsewhere. */
const WHOLE_EXPORT = /export\s+\*|import\s+\*(?!\s+as)|\bpub use\b.*\*|exports\s*=\s*require/;

const deadRows = (dead: readonly links.Held[], where: string): readonly string[] =>
  shortened(
    dead,
    where === OWN_AND_TESTS ? MOST_TESTED : MOST_DEAD,
    ([{ name, hit }]) => `- ${name}: ${claim(hit)}`,
    (others) => `: ${listed(others.slice(0, 30).map(([{ name }]) => name))}`,
  );
