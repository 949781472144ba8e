/** Modules without a test: what no test imports, is named after or mentions by a name that it defines; tests by folder; how they are run. */
import { behind, claim, faults, section } from '../evidence.ts';
import { exportsOf, holdersOf } from '../exports.ts';
import type { Export } from '../exports.ts';
import { importsOf, usersOf } from '../imports.ts';
import type { Imports } from '../imports.ts';
import { globFor, LANGUAGES, languageOf } from '../languages.ts';
import { isInComment, isInString } from '../lines.ts';
import { isHeader, isTest, testFolderOf } from '../paths.ts';
import { inventory, programOf, testFolders } from '../project.ts';
import type { Inventory } from '../project.ts';
import { hitsOf, search } from '../tools.ts';
import type { Hit, Seen } from '../tools.ts';
import type { Part, Work } from '../turns.ts';
import { captured, code, escaped, listed, plural, shortened } from '../words.ts';

const MOST_SHOWN = 15;
/** Names of a module that are looked for in tests. */
const MOST_NAMES = 8;

/** Lines that name the command for tests, in manifests, make files and CI. */
const COMMANDS = [
  String.raw`^\s*"(?:test|unit)[\w:-]*"\s*:\s*"|^(?:test|check)\s*:|\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test\b`,
  String.raw`^\s*(?:-?\s*run:\s*|commands\s*=\s*|script:\s*|\$ )(?:pytest|tox|nox|phpunit|ctest|rspec)\b`,
  String.raw`^\s+(?:pytest|tox|nox|phpunit|ctest|rspec)\s+[\w./-]`,
  String.raw`\b(?:go|cargo|mvn|gradle|gradlew|make|rake|dotnet|bundle exec rake)\s+(?:\S+\s+)?(?:test|check|verify)\b`,
  String.raw`\[tool\.pytest|^enable_testing|\badd_test\(|^TESTS\s*=|^check_PROGRAMS\s*=`,
].join('|');
const WHERE =
  '{package.json,Makefile,makefile,GNUmakefile,Makefile.am,justfile,tox.ini,noxfile.py,setup.cfg,pyproject.toml,pytest.ini,*.yml,*.yaml,Rakefile,Jenkinsfile,composer.json,CMakeLists.txt,CONTRIBUTING.*}';

export const untested: Part = {
  todos: ['List sources and tests', 'See what tests import', 'See which names tests hold', 'Find the test command'],
  work: testing,
};

function* testing({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const all = project.path === undefined ? project : yield* inventory('', 0);
  const { tests } = all;
  const modules = programOf(project).filter(
    (name) =>
      languageOf(name) !== 'shell' && !isHeader(name) && !/(?:package|module)-info\.java$|(?:^|\/)doc\.go$/.test(name),
  );
  const linked = [...all.sources, ...tests].filter((name) => languageOf(name) !== 'shell');
  const imports = yield* importsOf(linked, undefined, 1);
  const reached = importedBy(tests, imports, modules);
  const open = modules.filter((name) => !reached.has(name) && !tests.some((test) => isNamedAfter(test, name)));
  const offered = yield* exportsOf(open, project.path, 2);
  const names = namesByFile(offered.exports);
  const wanted = tests.length === 0 ? [] : [...names.values()].flat();
  const held = yield* holdersOf(wanted, testGlob(tests), 'tests', isHeld);
  // A package of Python that offers nothing itself is loaded with each of its modules.
  const isEmpty = (name: string): boolean => name.endsWith('/__init__.py') && open.includes(name) && !names.has(name);
  const told = namesByFile([...held.of.keys()]);
  const mentioned = new Map<string, Hit>();
  for (const [one, hits] of held.of) {
    const hit = hits.find((each) => isHeld(one, each));
    if (hit !== undefined && !mentioned.has(one.hit.path)) mentioned.set(one.hit.path, hit);
  }
  const [commands] = yield {
    say: 'I look for the command that runs the tests; I run nothing.',
    todo: 3,
    asks: [search(COMMANDS, { glob: WHERE, limit: 60, about: 'test commands in manifests and CI' })],
  };
  const rest = open.filter((name) => !mentioned.has(name) && !isEmpty(name));
  const whole = all.whole && imports.whole && held.left === 0 && held.seen.every(({ ok }) => ok);
  return [
    headText({
      modules: modules.filter((name) => !isEmpty(name)),
      rest,
      scope: project,
      project: all,
      whole,
      looks: [...imports.seen, ...held.seen],
    }),
    ...section('Modules that no test imports, is named after or mentions', untestedRows(rest, told, imports)),
    ...section(
      'Imported by no test and without one named after them, but the code of a test holds a name of theirs',
      [...mentioned].slice(0, MOST_SHOWN).map(([file, hit]) => `- ${file}: ${claim(hit)}`),
    ),
    ...section('Tests, by folder', testFolders(all)),
    ...section('How they are run', commandRows(commands)),
    ...(names.size === 0
      ? []
      : [
          '',
          `Up to ${MOST_NAMES} names of a module were looked for in the tests ${behind(...held.seen)}; this is no measurement of coverage.`,
        ]),
    ...faults([...all.seen, ...imports.seen, ...offered.seen, ...held.seen, commands]),
  ].join('\n');
}

/** Modules that a test imports: the file itself, or for Go its folder by a test that is in it. */
function importedBy(
  tests: readonly string[],
  { links, hits }: Imports,
  modules: readonly string[],
): ReadonlySet<string> {
  const known = new Set(tests);
  const direct = links.filter(({ from }) => known.has(from)).map(({ to }) => to);
  const folders = new Set(direct.filter((to) => to.endsWith('/')));
  const within = modules.filter((name) => languageOf(name) === 'go' && folders.has(captured(/^(.*\/)/, name)));
  // Rust has its tests within the module.
  const inside = hits.filter(({ text }) => /#\[cfg\(test\)\]/.test(text)).map(({ path }) => path);
  return new Set([...direct, ...within, ...inside]);
}

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

/** Names that each module offers, each once; short ones are held by anything. */
function namesByFile(exports: readonly Export[]): ReadonlyMap<string, readonly Export[]> {
  const long = exports.filter(({ name }) => name.length > 3);
  return new Map(
    [...Map.groupBy(long, ({ hit }) => hit.path)].map(([file, own]) => [
      file,
      own.filter(({ name }, at) => own.findIndex((other) => other.name === name) === at).slice(0, MOST_NAMES),
    ]),
  );
}

/** A line of code of a test that holds the name. */
function isHeld({ name }: Export, hit: Hit): boolean {
  const at = isTest(hit.path) ? hit.text.search(new RegExp(`(?<![\\w$])${escaped(name)}(?![\\w$])`)) : -1;
  return at !== -1 && !isInComment(hit, at) && !isInString(hit.text, at);
}

const LONGEST_GLOB = 280;

/** Folders of tests and the other tests one by one; all code where that is too long. */
function testGlob(tests: readonly string[]): string {
  const glob = `{${[...new Set(tests.map((test) => testFolderOf(test) ?? test))].join(',')}}`;
  return glob.length > LONGEST_GLOB ? globFor(LANGUAGES) : glob;
}

interface Tested {
  readonly modules: readonly string[];
  readonly rest: readonly string[];
  /** What the modules are of; tests are looked for in the whole project. */
  readonly scope: Inventory;
  readonly project: Inventory;
  readonly whole: boolean;
  readonly looks: readonly Seen[];
}

function headText({ modules, rest, scope, project, whole, looks }: Tested): string {
  const { tests, names } = project;
  const all = plural(modules.length, 'module');
  if (modules.length === 0) return `There is no module to test in ${scope.called} ${scope.behind}.`;
  if (tests.length === 0)
    return `None of ${plural(names.length, 'file')} is a test by its name or folder; modules: ${modules.length} ${project.behind}.`;
  const files = plural(tests.length, 'test file');
  const [are, them] = rest.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const words =
    rest.length === 0
      ? `each of ${all} is imported by one of ${files}, has one named after it, or has one whose code holds a name it defines`
      : `${rest.length} of ${all} ${are} imported by none of ${files}, with none named after ${them} and none whose code holds a name defined there`;
  const text = whole ? words : `as far as these looks came, ${words}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} ${project.behind} ${behind(...looks)}.`;
}

/** Most imported first, each with the names that were looked for. */
function untestedRows(
  rest: readonly string[],
  names: ReadonlyMap<string, readonly Export[]>,
  { links }: Imports,
): readonly string[] {
  const users = usersOf(links);
  const count = (name: string): number => users.get(name)?.length ?? 0;
  return shortened(
    rest.toSorted((a, b) => count(b) - count(a) || (a < b ? -1 : 1)),
    MOST_SHOWN,
    (name) => {
      const own = (names.get(name) ?? []).slice(0, 4).map((one) => code(one.name));
      const what =
        own.length === 0 ? 'no name that it offers could be told' : `no code of a test holds ${own.join(', ')}`;
      const [use] = users.get(name) ?? [];
      const used =
        use === undefined ? '' : `; imported by ${plural(count(name), 'file')}, for example ${claim(use.hit)}`;
      return `- ${name}: ${what}${used}`;
    },
    (others) => `${others.length} more: ${listed(others.slice(0, 20))}`,
  );
}

function commandRows(commands: Seen | undefined): readonly string[] {
  const depth = ({ path, text }: Hit): number =>
    path.split('/').length * 2 - (/^\s*"test"\s*:/.test(text) ? 3 : 0) + (/\.ya?ml$/.test(path) ? 3 : 0);
  const lines = hitsOf(commands)
    .filter(({ text }) => !/^\s*#/.test(text))
    .toSorted((a, b) => depth(a) - depth(b));
  return lines.length === 0
    ? [`- no line names a command for tests ${behind(commands)}`]
    : lines.slice(0, 5).map((hit) => `- ${claim(hit)}`);
}
