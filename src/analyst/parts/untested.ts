/** Names that files offer, and where they are held: modules without a test, and exported names that no other file uses. */
import { byName, captured, distinct, escaped, listed, plural, sentence } from '../../domain/lists.ts';
import { behind, claim, place, report, type Section, sentences } from '../evidence.ts';
import * as links from '../imports.ts';
import { globFor, type Hit, isComment, isHeader, isInCode, isPrototype, languageOf, LANGUAGES } from '../languages.ts';
import { inventory, isAside, isForeign, isFixture, isTest, programOf, TESTS_GLOB } from '../project.ts';
import { hitsOf, LONG_LINE } from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byPlace, code, shortened } from '../words.ts';

const MOST_SHOWN = 15;
const MOST_NAMES = 8;
/** Files that only gather, describe or start a module where they offer no name themselves. */
const FRAME = /(?:^|\/)(?:(?:index|mod|lib|main|__init__|__main__|package-info|module-info|doc|AssemblyInfo)\.\w+)$/;
const HAS_TESTS = /#\[(?:cfg\(test\)|(?:\w+::)*test)\]/;

export function* untested({ task }: Brief): Work {
  const project = yield* inventory(task);
  const all = project.path === undefined ? project : yield* inventory('');
  const { tests } = all;
  const candidates = programOf(project).filter((name) => !isHeader(name) && languageOf(name)?.name !== 'shell');
  const files = [...all.sources, ...tests];
  const imports = yield* links.importsOf(files, undefined, 1);
  const { exports, seen: looks } = yield* links.exportsOf(candidates, project.path, 2);
  const names = Map.groupBy(exports, ({ hit }) => hit.path);
  const modules = candidates.filter((name) => !FRAME.test(name) || names.has(name));
  if (modules.length === 0) return `There is no module to test in ${project.called} ${project.behind}.`;
  // Rust has tests within the module.
  const inside = imports.seen.flatMap(hitsOf).flatMap(({ path, text }) => (HAS_TESTS.test(text) ? [path] : []));
  const direct = new Set([...inside, ...imports.links.filter(({ from }) => tests.includes(from)).map(({ to }) => to)]);
  const open = modules.filter((name) => !isReached(direct, name) && !tests.some((test) => isNamedAfter(test, name)));
  const wanted = (tests.length === 0 ? [] : open).flatMap((name) => telling(names.get(name) ?? [], exports));
  const held = yield* links.holdersOf(wanted, TESTS_GLOB, 'tests', isHeld);
  const isMentioned = ([one, own]: links.Held): boolean => own.some((hit) => isHeld(one, hit));
  const mentioned = new Set([...held.of].filter(isMentioned).map(([one]) => one.hit.path));
  const rest = open.filter((name) => !mentioned.has(name));
  const used = yield* linksByName(rest.flatMap((name) => telling(names.get(name) ?? [], exports)));
  const every = [...imports.links, ...used.links];
  const reached = links.reachedFrom([...tests, ...modules.filter((name) => !rest.includes(name))], every);
  const { none = [], indirect = [] } = Object.groupBy(rest, (name) => (isReached(reached, name) ? 'indirect' : 'none'));
  const isWhole = all.whole && imports.whole && held.left + used.left === 0 && held.seen.every(({ ok }) => ok);
  const users = links.usersOf(every);
  const count = (name: string): number => users.get(name)?.length ?? 0;
  const sorted = (all: Paths): Paths => all.toSorted((a, b) => count(b) - count(a) || byName(a, b));
  return report(
    `${isWhole ? '' : 'As far as these searches went: '}${headText(modules, sorted(none), indirect, tests)} ${behind(...imports.seen, ...looks, ...held.seen)}.`,
    ['Modules without a test', moduleRows(sorted(none), held, users)],
    ['Modules that tests reach only through other modules', moduleRows(sorted(indirect), held, users)],
  );
}

/** Where imports name no file, as in C#, a file that holds the names of another stands for one that imports it. */
function* linksByName(names: readonly links.Export[]) {
  const own = names.filter(({ hit }) => languageOf(hit.path)?.imports === null);
  const files = globFor(LANGUAGES.filter(({ imports }) => imports === null));
  const isUse = ({ hit: { path } }: links.Export, hit: Hit): boolean => hit.path !== path && !isComment(hit);
  const { of, left } = yield* links.holdersOf(own, files, 'code', isUse);
  const found = [...of].flatMap(([one, hits]) =>
    hits
      .filter((hit) => isUse(one, hit))
      .map((hit): links.Link => ({ from: hit.path, to: one.hit.path, hit, late: false })),
  );
  return { links: distinct(found, ({ from, to }) => `${from}\n${to}`), left };
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
function telling(own: readonly links.Export[], all: readonly links.Export[]): readonly links.Export[] {
  const isElsewhere = ({ name, hit }: links.Export): boolean =>
    all.some(
      ({ name: other, hit: { path, text } }) =>
        other === name && path !== hit.path && !text.includes(`${name}Attribute`),
    );
  const names = distinct(own, ({ name }) => name).filter(({ name }) => !links.isCommon(name, 4));
  return names.filter((one) => !isElsewhere(one)).slice(0, MOST_NAMES);
}

/** A line of code of a test that holds the name; of a long line that cannot be told, and it counts. */
function isHeld(one: links.Export, hit: Hit): boolean {
  const at = hit.text.search(new RegExp(`(?<![\\w$])${escaped(one.name)}(?![\\w$])`));
  if (languageOf(hit.path) !== languageOf(one.hit.path) || !isTest(hit.path) || isFixture(hit.path)) return false;
  return at === -1 ? LONG_LINE.test(hit.text) : isInCode(hit, at);
}

type Paths = readonly string[];

function headText(modules: Paths, none: Paths, indirect: Paths, tests: Paths): string {
  const count = plural(modules.length, 'module');
  if (tests.length === 0 && none.length === modules.length)
    return `No file in a known language is a test by its name or folder, so none of ${count} has one`;
  const named = `${none.length > 3 ? ', among them' : ':'} ${listed(none.slice(0, 3).map(code))}`;
  const which = none.length === 0 ? `${indirect.length} of them` : plural(indirect.length, 'other');
  return sentences(
    none.length === 0
      ? `Each of ${count} has a test or is reached by one.`
      : `No test was found for ${none.length} of ${count}${named}.`,
    indirect.length === 0 ? '' : `Tests reach ${which} only through other modules.`,
    `A module counts as tested if a test imports it, is named after it or holds one of the first ${MOST_NAMES} names that it exports`,
  );
}

function moduleRows(all: Paths, held: links.Holders, users: links.Imported): Paths {
  const row = (name: string): string => {
    const own = [...held.of.keys()].filter(({ hit }) => hit.path === name).map((one) => code(one.name));
    const names = own.length === 0 ? 'no name to search for' : `no test holds ${listed(own.slice(0, 4), 'or')}`;
    const [use, ...others] = users.get(name) ?? [];
    const used = use === undefined ? '' : `; used by ${plural(others.length + 1, 'file')}, as at ${place(use.hit)}`;
    return `- ${name}: ${names}${used}`;
  };
  return shortened(all, MOST_SHOWN, row, (others) => `: ${listed(others.slice(0, 20))}`);
}

/** Where exporting takes a word of its own, a name that only its own file uses needs none. */
const EXPORTED = /^\s*(?:export\b|pub\b|module\.exports|exports\.|func [A-Z]|(?:type|var|const) [A-Z])/;
/** Of C#: used by its methods alone, or by the first part of its name. */
const USED_OTHERWISE = /\b(?:public|internal)\s+static\b|class\s+\w+Attribute\b/;
/** `export * from './a'`, `from .a import *`: what is in such a file is offered under its own name elsewhere. */
const WHOLE_EXPORT = /export\s+\*|import\s+\*(?!\s+as)|\bpub use\b.*\*|exports\s*=\s*require/;
const MOST_DEAD = 20;
const PLACES = ['On no other line', 'Only in tests', 'Only in tests, documents or settings', 'Only in their own file'];
const [NOWHERE, IN_TESTS, IN_OTHERS, IN_OWN] = PLACES;

export function* deadExports({ task }: Brief): Work {
  const project = yield* inventory(task);
  const program = programOf(project).filter((name) => !isAside(name));
  const { exports: offered, seen: looks } = yield* links.exportsOf(program, project.path, 1);
  const all = offered.filter(({ name, hit }) => !links.isCommon(name, 3) && !USED_OTHERWISE.test(hit.text));
  const exports = distinct(all, ({ name }) => name);
  if (exports.length === 0) return `No exported name was recognised in ${project.called} ${behind(...looks)}.`;
  const imports = yield* links.importsOf(project.sources, undefined, 1);
  const definitions = new Map(all.map(({ name, hit }) => [place(hit), name]));
  /** A prototype is no use of a function, nor another definition of it. */
  const counts = ({ name }: links.Export, hit: Hit): boolean =>
    languageOf(hit.path) !== undefined && !isPrototype(hit) && !isComment(hit) && definitions.get(place(hit)) !== name;
  const isUse = (one: links.Export, hit: Hit): boolean =>
    hit.path !== one.hit.path && !isTest(hit.path) && counts(one, hit);
  const { of, left, seen } = yield* links.holdersOf(exports, globFor(LANGUAGES), 'code', isUse);
  const idle = [...of].filter(([one, hits]) => !hits.some((hit) => isUse(one, hit)));
  const whole = imports.links.filter(({ hit }) => WHOLE_EXPORT.test(hit.text));
  const inPart = idle.filter(([one]) => !whole.some(({ to }) => to === one.hit.path));
  /** Who holds each beside its definitions. Where exporting takes no word, what its own file uses is no export. */
  const dead = inPart.flatMap(([one, hits]) => {
    const others = hits.filter((hit) => counts(one, hit));
    const isInOwn = others.some(({ path }) => path === one.hit.path);
    if (!isInOwn) return [{ one, where: others.length === 0 ? NOWHERE : IN_TESTS }];
    return EXPORTED.test(one.hit.text) && !others.some(({ path }) => isTest(path)) ? [{ one, where: IN_OWN }] : [];
  });
  const unsure = dead.filter(({ where }) => where !== IN_OWN).map(({ one }) => one);
  const papers = yield* links.holdersOf(unsure, `!${globFor(LANGUAGES)}`, 'other files', () => true);
  // A list of files, as a project file has it, names the file. What documents or settings name may be meant for users.
  const found = dead.map(({ one, where }): Dead => {
    const isNamed = ({ path, text }: Hit): boolean => !isForeign(path) && !text.includes(`${one.name}.`);
    const paper = papers.of.get(one)?.find(isNamed);
    return { one, paper, where: paper === undefined ? where : IN_OTHERS };
  });
  const count = exports.length - left - idle.length + inPart.length;
  return deadText(
    found.toSorted((a, b) => byPlace(a.one.hit, b.one.hit)),
    `${plural(count, 'exported name')} ${behind(...looks, ...seen)}`,
    left === 0 ? '' : `${plural(left, 'more name')} occurred too often to search for.`,
    ...whole
      .slice(0, 1)
      .map(({ hit }) => sentence(`Files that another exports as a whole are left out, for example by ${claim(hit)}`)),
  );
}

type Dead = { readonly one: links.Export; readonly paper: Hit | undefined; readonly where: string | undefined };

function deadText(found: readonly Dead[], exports: string, ...notes: readonly string[]): string {
  const groups = PLACES.map((place) => [place, found.filter(({ where }) => where === place)] as const);
  const counts = groups.flatMap(([where, own]) => (own.length === 0 ? [] : [`${own.length} ${where.toLowerCase()}`]));
  const nowhere = found.filter(({ where }) => where === NOWHERE).map(({ one }) => code(one.name));
  const some = `${listed(nowhere.slice(0, 5))}${nowhere.length > 5 ? ' and others' : ''}`;
  const row = ({ one, paper }: Dead): string =>
    `- ${one.name}: ${claim(one.hit)}${paper === undefined ? '' : `, named at ${place(paper)}`}`;
  const rest = (others: readonly Dead[]): string => `: ${listed(others.slice(0, 40).map(({ one }) => one.name))}`;
  return report(
    sentences(
      nowhere.length === 0
        ? `No unused name was found among ${exports}.`
        : `${some} can probably be deleted: no other line holds ${nowhere.length === 1 ? 'it' : 'them'}. This was checked for ${exports}.`,
      counts.length === 0 ? '' : `Names that no other file of the program uses: ${counts.join(', ')}.`,
      ...notes,
      'A library may export a name for its users alone: check before you delete.',
    ),
    ...groups.map(([heading, own]): Section => [heading, shortened(own, MOST_DEAD, row, rest)]),
  );
}
