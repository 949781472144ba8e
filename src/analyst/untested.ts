/** Modules without a test: what no test imports, is named after or mentions by a name that it defines; tests by folder; how they are run. */
import { exportsOf } from './exports.ts';
import { central, importsOf, inventory, programOf } from './imports.ts';
import type { Imports, Inventory } from './imports.ts';
import { isHeader, isInComment, isInString, isTest, languageOf } from './languages.ts';
import { behind, claim, faults, hitsOf, isCut, LONGEST_PATTERN, search, section } from './tools.ts';
import type { Hit } from './tools.ts';
import type { Looking, Part, Seen, Step, Work } from './turns.ts';
import { captured, code, escaped, grouped, listed, plural } from './words.ts';

const MOST_SHOWN = 15;
const MOST_NAMES = 8;
const MOST_ROUNDS = 12;

/** Lines that name the command for tests, in manifests, make files and CI. */
const COMMANDS =
  '^\\s*"(?:test|unit)[\\w:-]*"\\s*:|^(?:test|check)\\s*:|\\b(?:npm|pnpm|yarn|bun)\\s+(?:run\\s+)?test\\b|^\\s*(?:-?\\s*run:\\s*|commands\\s*=\\s*|script:\\s*|\\$ )?\\b(?:pytest|tox|nox|phpunit|ctest|rspec)\\b|\\b(?:go|cargo|mvn|gradle|gradlew|make|rake|dotnet|bundle exec rake)\\s+(?:\\S+\\s+)?(?:test|check|verify)\\b|\\[tool\\.pytest|^enable_testing|\\badd_test\\(|^TESTS\\s*=|^check_PROGRAMS\\s*=';
const WHERE =
  '{package.json,Makefile,makefile,GNUmakefile,Makefile.am,justfile,tox.ini,noxfile.py,setup.cfg,pyproject.toml,pytest.ini,*.yml,*.yaml,Rakefile,Jenkinsfile,composer.json,CMakeLists.txt,CONTRIBUTING.*}';

export const untested: Part = {
  todos: ['List sources and tests', 'See what tests import', 'See which names tests hold', 'Find the test command'],
  work: testing,
};

function* testing({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const all = project.path === undefined ? project : yield* inventory('', 0);
  const modules = programOf(project).filter(
    (name) => languageOf(name) !== 'shell' && !isHeader(name) && !/(?:package|module)-info\.java$/.test(name),
  );
  const tests = all.tests;
  const imports = yield* importsOf(
    [...all.sources, ...tests].filter((name) => languageOf(name) !== 'shell'),
    undefined,
    1,
  );
  const reached = importedBy(tests, imports, modules);
  const open = modules.filter((name) => !reached.has(name) && !tests.some((test) => isNamedAfter(test, name)));
  const names = yield* namesOf(open, project.path);
  const mentioned = yield* mentionedIn(tests, names);
  const [commands] = yield {
    say: 'I look for the command that runs the tests; I run nothing.',
    todo: 3,
    asks: [search(COMMANDS, { glob: WHERE, limit: 60, about: 'test commands in manifests and CI' })],
  };
  const rest = open.filter((name) => !mentioned.files.has(name));
  return [
    headText({ modules, tests, rest, project: all, imports, mentioned }),
    ...section('Modules that no test imports, is named after or mentions', untestedRows(rest, names, imports)),
    ...section(
      'Imported by no test and without one named after them, but the code of a test holds a name of theirs',
      [...mentioned.files].slice(0, MOST_SHOWN).map(([file, hit]) => `- ${file}: ${claim(hit)}`),
    ),
    ...section('Tests, by folder', folderRows(tests, all)),
    ...section('How they are run', commandRows(commands)),
    ...limits(mentioned, names),
    ...faults([...all.seen, ...imports.seen, ...names.seen, ...mentioned.seen, commands]),
  ].join('\n');
}

/** Modules that a test imports: the file itself, or for Go its folder by a test that is in it. */
function importedBy(
  tests: readonly string[],
  { links, hits }: Imports,
  modules: readonly string[],
): ReadonlySet<string> {
  const direct = links.filter(({ from }) => isTest(from) && tests.includes(from)).map(({ to }) => to);
  const within = modules.filter((name) =>
    direct.some(
      (to) =>
        to.endsWith('/') && languageOf(name) === 'go' && name.startsWith(to) && !name.slice(to.length).includes('/'),
    ),
  );
  // Rust has its tests within the module.
  const inside = hits.filter(({ text }) => /#\[cfg\(test\)\]/.test(text)).map(({ path }) => path);
  return new Set([...direct, ...within, ...inside]);
}

const stemOf = (file: string): string => (file.split('/').at(-1) ?? '').replace(/\.\w+$/, '');

/** `test_cart.py`, `cart.test.ts`, `CartTest.java` are named after `cart`. An `index` goes by the name of its folder. */
function isNamedAfter(test: string, module: string): boolean {
  const own = /^(?:index|mod|__init__|lib|main)$/.test(stemOf(module))
    ? (module.split('/').at(-2) ?? '')
    : stemOf(module);
  if (own.length < 2) return false;
  const name = stemOf(test);
  return new RegExp(
    `^(?:test[_-]?)?${escaped(own.replace(/^_+/, ''))}(?:[._-]?(?:test|tests|spec|unittest|IT|e2e))?(?:[._-]\\w+)?$`,
    'i',
  ).test(name);
}

interface Names {
  /** Names that each module defines at its top level, comments left out. */
  readonly of: ReadonlyMap<string, readonly string[]>;
  readonly seen: readonly Seen[];
}

function* namesOf(modules: readonly string[], path: string | undefined): Looking<Names> {
  const { exports, seen } = yield* exportsOf(modules, path, 2);
  const long = exports.filter(({ name }) => name.length > 3);
  const of = new Map(
    [...Map.groupBy(long, ({ hit }) => hit.path)].map(
      ([file, own]) => [file, [...new Set(own.map(({ name }) => name))]] as const,
    ),
  );
  return { of, seen };
}

interface Mentioned {
  /** With the line of a test that holds it. */
  readonly files: ReadonlyMap<string, Hit>;
  readonly seen: readonly Seen[];
  readonly whole: boolean;
}

/** Modules one of whose names is in the code of a test. */
function* mentionedIn(tests: readonly string[], { of }: Names): Looking<Mentioned> {
  const files = new Map<string, Hit>();
  const looks: Seen[] = [];
  const glob = testGlob([...new Set(tests.map((test) => testFolder(test)))]);
  let open: Open = tests.length === 0 ? [] : [...of];
  let whole = true;
  for (let round = 0; round < MOST_ROUNDS && open.length > 0; round += 1) {
    const names = batchOf(open);
    const seen = yield askFor(names, glob);
    const [look] = seen;
    const before = files.size;
    for (const [file, hit] of heldIn(names, hitsOf(look)).toReversed()) files.set(file, hit);
    looks.push(...seen);
    // A search that stopped early says nothing of those it did not find: they are asked again without those that were found.
    const again = isCut(look) && files.size > before;
    whole &&= again || isWhole(look);
    open = stillOpen(open, files, again ? [] : names);
  }
  return { files, seen: looks, whole: whole && open.length === 0 };
}

const isWhole = (look: Seen | undefined): boolean => look?.ok === true && !isCut(look);

function stillOpen(open: Open, files: ReadonlyMap<string, Hit>, done: readonly { readonly file: string }[]): Open {
  const asked = new Set(done.map(({ file }) => file));
  return open.filter(([file]) => !files.has(file) && !asked.has(file));
}

type Open = readonly (readonly [file: string, names: readonly string[]])[];

function askFor(names: readonly { readonly name: string }[], glob: string): Step {
  const words = names.map(({ name }) => name);
  return {
    say: `Do tests hold ${listed(words.slice(0, 3).map(code))}${words.length > 3 ? ' and others' : ''}?`,
    todo: 2,
    asks: [
      search(`\\b(?:${words.join('|')})\\b`, { glob, limit: 1000, about: `${plural(words.length, 'name')} in tests` }),
    ],
  };
}

/** The first line of code of a test for each file one of whose names it holds. */
const heldIn = (
  names: readonly { readonly file: string; readonly name: string }[],
  hits: readonly Hit[],
): readonly (readonly [string, Hit])[] =>
  hits
    .filter(({ path }) => isTest(path))
    .flatMap((hit) => names.filter(({ name }) => isHeld(name, hit)).map(({ file }) => [file, hit] as const));

function isHeld(name: string, hit: Hit): boolean {
  const at = hit.text.search(new RegExp(`\\b${name}\\b`));
  return at !== -1 && !isInComment(hit, at) && !isInString(hit.text, at);
}

/** Whole modules, as many as a search takes, at most eight names of each. */
function batchOf(
  open: readonly (readonly [string, readonly string[]])[],
): readonly { readonly file: string; readonly name: string }[] {
  const names: { readonly file: string; readonly name: string }[] = [];
  for (const [file, all] of open) {
    const own = all.slice(0, MOST_NAMES).map((name) => ({ file, name }));
    if ([...names, ...own].reduce((sum, { name }) => sum + name.length + 1, 10) > LONGEST_PATTERN) break;
    names.push(...own);
  }
  return names;
}

const testFolder = (test: string): string => captured(/^((?:.*?\/)?(?:tests?|__tests__|spec|specs|e2e))\//, test);

/** Files in folders of tests, and files that are tests by their name. */
function testGlob(folders: readonly string[]): string {
  const inside = folders.filter((folder) => folder !== '').map((folder) => `${folder}/**`);
  const named = ['*.test.*', '*.spec.*', '*_test.*', 'test_*', '*Test.*', '*Tests.*', '*_spec.*'];
  const globs = [...inside, ...named];
  while (globs.join(',').length > 280) globs.shift();
  return `{${globs.join(',')}}`;
}

interface Tested {
  readonly modules: readonly string[];
  readonly tests: readonly string[];
  readonly rest: readonly string[];
  readonly project: Inventory;
  readonly imports: Imports;
  readonly mentioned: Mentioned;
}

function headText({ modules, tests, rest, project, imports, mentioned }: Tested): string {
  const all = plural(modules.length, 'module');
  if (modules.length === 0) return `There is no module to test in ${project.called} ${project.behind}.`;
  if (tests.length === 0)
    return `None of ${plural(project.names.length, 'file')} is a test by its name or folder; modules: ${modules.length} ${project.behind}.`;
  const how = `${project.behind} ${behind(...imports.seen, ...mentioned.seen)}`;
  const files = plural(tests.length, 'test file');
  const words =
    rest.length === 0
      ? `each of ${all} is imported by one of ${files}, has one named after it, or has one whose code holds a name it defines`
      : `${rest.length} of ${all} ${rest.length === 1 ? 'is' : 'are'} imported by none of ${files}, with none named after ${rest.length === 1 ? 'it' : 'them'} and none whose code holds a name defined there`;
  const text = project.whole && imports.whole && mentioned.whole ? words : `as far as these looks came, ${words}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} ${how}.`;
}

/** Most imported first, each with the names that were looked for. */
function untestedRows(rest: readonly string[], { of }: Names, { links }: Imports): readonly string[] {
  const users = new Map(central(links).map(({ path, users: all }) => [path, all] as const));
  const rows = rest
    .toSorted((a, b) => (users.get(b)?.length ?? 0) - (users.get(a)?.length ?? 0) || (a < b ? -1 : 1))
    .map((name) => {
      const names = (of.get(name) ?? []).slice(0, 4);
      const use = users.get(name) ?? [];
      const what =
        names.length === 0
          ? 'no name that it offers could be told'
          : `no code of a test holds ${names.map(code).join(', ')}`;
      return `- ${name}: ${what}${use[0] === undefined ? '' : `; imported by ${plural(use.length, 'file')}, for example ${claim(use[0].hit)}`}`;
    });
  return rows.length > MOST_SHOWN
    ? [
        ...rows.slice(0, MOST_SHOWN),
        `- and ${rows.length - MOST_SHOWN} more: ${listed(rest.filter((name) => !rows.slice(0, MOST_SHOWN).some((row) => row.startsWith(`- ${name}:`))).slice(0, 20))}`,
      ]
    : rows;
}

const folderRows = (tests: readonly string[], project: Inventory): readonly string[] => {
  const folders = grouped(tests, (path) => captured(/^(.*\/)/, path) || './').map(
    ([folder, files]) => `${folder} ${files.length}`,
  );
  return folders.length === 0
    ? []
    : [
        `- ${folders.slice(0, 12).join(', ')}${folders.length > 12 ? ` and ${plural(folders.length - 12, 'folder')} more` : ''} ${project.behind}`,
      ];
};

function commandRows(commands: Seen | undefined): readonly string[] {
  const depth = ({ path, text }: Hit): number =>
    path.split('/').length * 2 - (/^\s*"test"\s*:/.test(text) ? 3 : 0) + (/\.ya?ml$/.test(path) ? 3 : 0);
  const lines = hitsOf(commands)
    .filter((hit) => !/^\s*#/.test(hit.text))
    .toSorted((a, b) => depth(a) - depth(b));
  return lines.length === 0
    ? [`- no line names a command for tests ${behind(commands)}`]
    : lines.slice(0, 5).map((hit) => `- ${claim(hit)}`);
}

const limits = (mentioned: Mentioned, { of }: Names): readonly string[] =>
  of.size === 0
    ? []
    : [
        '',
        `Up to ${MOST_NAMES} names of a module were looked for in the tests ${behind(...mentioned.seen)}; this is no measurement of coverage.`,
      ];
