/**
 * The tester: how the tests are run (named from manifests and CI, never run), how many there are, and which modules no test
 * imports or is named after. Coverage it can't know: that takes a run.
 */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { pathsIn } from '../findings.ts';
import { MOST_ASKS, searchesFor } from '../graph-drawing.ts';
import { IMPORT_PATTERNS, importOf, linksOf, nameOf } from '../import-graph.ts';
import type { Link } from '../import-graph.ts';
import {
  foreignAmong,
  globFor,
  isForeign,
  isSource,
  isTest,
  languagesIn,
  SOURCE_GLOB,
  TEST_GLOB,
} from '../languages.ts';
import { filesOf, hitsOf, isCut, list, search } from '../looking.ts';
import type { Brief, Part, Seen, Step, Work } from '../step.ts';
import { nameFits, topicIn } from '../topic.ts';
import type { Topic } from '../topic.ts';
import { captured, escaped, listed, plural } from '../words.ts';
import { faults, section } from './parts.ts';

const MOST_NAMES = 700;
const MOST_SHOWN = 10;

/** Lines that name the command for tests, in manifests, make files and CI. */
const COMMANDS =
  '^\\s*"(?:test|check|unit|e2e|coverage)[\\w:-]*"\\s*:|^(?:test|check)[\\w-]*\\s*:|\\b(?:npm|pnpm|yarn|bun)\\s+(?:run\\s+)?test\\b|\\b(?:pytest|tox|nox|vitest|jest|mocha|rspec|phpunit|ctest)\\b|\\b(?:go|cargo|mvn|gradle|gradlew|make|dotnet|mix|swift)\\s+(?:\\S+\\s+)?test\\b|\\[tool\\.pytest';
const WHERE =
  '{package.json,Makefile,makefile,justfile,tox.ini,noxfile.py,setup.cfg,pyproject.toml,pytest.ini,*.yml,*.yaml,Rakefile,.ci/*,Jenkinsfile,composer.json}';
export const tester: Part = {
  todos: () => [
    'List sources and tests',
    'Find the test command',
    'See what tests import',
    'Weigh the modules without a test',
  ],
  work: tests,
};

function* tests(brief: Brief): Work {
  const [sourceList, testList] = yield {
    say: 'I list sources and tests side by side.',
    todo: 0,
    asks: [list(MOST_NAMES, { glob: SOURCE_GLOB, about: 'sources' }), list(300, { glob: TEST_GLOB, about: 'tests' })],
  };
  const foreign = foreignAmong(filesOf(sourceList).names);
  const names = filesOf(sourceList).names.filter((name) => isSource(name) && !foreign(name));
  const testFiles = [...new Set([...names, ...filesOf(testList).names])].filter(
    (name) => isTest(name) && isSource(name) && !isForeign(name),
  );
  const modules = modulesOf(names, topicIn(brief.task));
  const [commands, manifests] = yield {
    say: 'I look for the command that runs the tests: in manifests, make files and CI. I only name it; I run nothing.',
    todo: 1,
    asks: [
      search(COMMANDS, { glob: WHERE, limit: 40, about: 'test commands' }),
      list(20, {
        glob: '{go.mod,Cargo.toml,pom.xml,build.gradle,build.gradle.kts,mix.exs,Package.swift}',
        about: 'manifests',
      }),
    ],
  };
  const languages = languagesIn(testFiles).filter((name) => IMPORT_PATTERNS[name] !== undefined);
  const imports = yield {
    say:
      testFiles.length === 0
        ? 'There are no test files to read imports from.'
        : `${plural(testFiles.length, 'test file')} seen: I search them for what they import.`,
    todo: 2,
    asks: [
      ...languages.flatMap((name) => searchesFor(name, testFiles)).slice(0, MOST_ASKS),
      ...(languagesIn(names).includes('rust')
        ? [search('#\\[cfg\\(test\\)\\]', { glob: '*.rs', limit: 100, about: 'tests inside modules' })]
        : []),
    ],
  };
  const lines = imports.flatMap((seen) => hitsOf(seen));
  const links = linksOf(lines, new Set([...names, ...testFiles]));
  const untested = modules.filter((path) => !isTested(path, testFiles, lines, links));
  const about = modulesAbout(nearness(brief), untested);
  const uses = yield* relying(about);
  return answer({
    modules,
    testFiles,
    untested: ranked(about, nearness(brief), names, uses[0]),
    commands,
    custom: customOf(filesOf(manifests).names),
    imports,
    all: [sourceList, testList, ...uses],
  });
}

/** What could be tested, in the folders of the task where it names some that are there. */
function modulesOf(names: readonly string[], { folders }: Topic): readonly string[] {
  const own = names.filter(
    (name) =>
      !isTest(name) && !/^(?:[\w.-]+\/)?(?:examples?|docs?|scripts?|bench(?:mark)?s?)\/|\.config\.\w+$/.test(name),
  );
  const inside = own.filter((name) => folders.some((folder) => name.startsWith(folder)));
  return inside.length > 0 ? inside : own;
}

/** Who relies on the modules without a test. */
function* relying(untested: readonly string[]): Generator<Step, readonly Seen[], readonly Seen[]> {
  return yield {
    say:
      untested.length === 0
        ? 'Every module has a test that names it.'
        : `${plural(untested.length, 'module')} without one: I count who relies on them, to say which matter.`,
    todo: 3,
    asks:
      untested.length === 0
        ? []
        : [
            search(importOf(untested.slice(0, 20)), {
              glob: globFor(languagesIn(untested)),
              limit: 120,
              about: 'imports of untested modules',
            }),
          ],
  };
}

/** A test imports it, is named after it, or lies inside it (Rust). Where imports can't be followed, their words count. */
function isTested(path: string, testFiles: readonly string[], lines: readonly Hit[], links: readonly Link[]): boolean {
  const name = nameOf(path);
  const own = new RegExp(
    `(?:^|[/_.-])(?:test_)?${escaped(name)}(?:[._-](?:test|spec|tests|e2e)|_test|Tests?|Spec|IT|)\\.\\w+$`,
    'i',
  );
  if (testFiles.some((test) => own.test(test))) return true;
  if (lines.some((hit) => hit.path === path)) return true;
  if (followed(path))
    return links.some(({ from, to }) => isTest(from) && (to === path || (to.endsWith('/') && isIn(path, to))));
  const imported = new RegExp(`[/."'\\s:]${escaped(name)}(?:\\.\\w+)?(?:["';\\s,:./>]|$)`);
  return lines.some((hit) => imported.test(hit.text));
}

const followed = (path: string): boolean => languagesIn([path]).some((name) => IMPORT_PATTERNS[name] !== undefined);
const isIn = (path: string, folder: string): boolean =>
  path.startsWith(folder) && !path.slice(folder.length).includes('/');

/** Modules that the task or the findings are about come first, then those nearest to the top. */
function modulesAbout(near: (path: string) => number, untested: readonly string[]): readonly string[] {
  return untested.toSorted(
    (a, b) => near(b) - near(a) || a.split('/').length - b.split('/').length || (a < b ? -1 : 1),
  );
}

/** How close a path is to the task and the findings: 0 for any other. */
function nearness({ findings, task }: Brief): (path: string) => number {
  const named = new Set(pathsIn(findings));
  const { words } = topicIn(task);
  return (path) => (named.has(path) ? 2 : 0) + Math.min(2, nameFits(path, words));
}

interface Untested {
  readonly path: string;
  readonly use: Hit | null;
  readonly users: number;
}

function ranked(
  paths: readonly string[],
  near: (path: string) => number,
  files: readonly string[],
  uses: Seen | undefined,
): readonly Untested[] {
  const links = linksOf(
    hitsOf(uses).filter(({ path }) => !isTest(path)),
    new Set(files),
  );
  return paths
    .map((path): Untested => {
      const own = links.filter(({ to }) => to === path);
      return { path, use: own[0]?.hit ?? null, users: own.length };
    })
    .toSorted((a, b) => near(b.path) - near(a.path) || b.users - a.users);
}

interface Tested {
  readonly modules: readonly string[];
  readonly testFiles: readonly string[];
  readonly untested: readonly Untested[];
  readonly commands: Seen | undefined;
  /** What the custom of a manifest says, where no command is written down. */
  readonly custom: string;
  readonly imports: readonly Seen[];
  readonly all: readonly (Seen | undefined)[];
}

function answer({ modules, testFiles, untested, commands, custom, imports, all }: Tested): string {
  const lines = hitsOf(commands).filter(({ path, text }) => !isForeign(path) && !/^\s*#/.test(text));
  const best = lines.toSorted((a, b) => commandRank(a) - commandRank(b));
  const [first] = best;
  const counted = filesOf(all[0]);
  const cut = counted.count > counted.names.length || imports.some(isCut);
  if (modules.length + testFiles.length === 0)
    return ['There are no sources and no tests that I know the look of.', ...faults([...all, commands])].join('\n');
  return [
    headText(
      modules.length,
      testFiles.length,
      untested,
      `${first === undefined ? `No command for tests is named in a manifest or in CI${custom}` : `The tests are run by ${claim(first)}`}; tests were not run.`,
    ),
    ...section(
      'Where the command stands',
      best.slice(0, 6).map((hit) => `- ${claim(hit)}`),
    ),
    ...section('Modules that no test imports', untestedText(untested)),
    ...section('Tests, by folder', folders(testFiles)),
    '',
    `A module can be tested through another one: this is what imports and names tell, not coverage.${cut ? ' The repository is larger than what was looked at: more of them may be tested.' : ''}`,
    ...faults([...all, commands, ...imports]),
  ].join('\n');
}

/** How much is tested first, as far as imports and names tell; then how the tests are run. */
function headText(modules: number, tests: number, untested: readonly Untested[], command: string): string {
  const most = untested.filter(({ users }) => users > 0).slice(0, 3);
  const weight =
    most.length === 0 ? '' : ` Most rely on ${listed(most.map(({ path, users }) => `${path} (${users})`))}.`;
  if (tests === 0 && untested.length === modules)
    return `There is no test file for ${plural(modules, 'module')} that I know by its name or folder.${weight} ${command}`;
  const state =
    untested.length === 0
      ? `Each of ${plural(modules, 'module')} is imported by one of ${plural(tests, 'test file')} or named in its name.`
      : `${untested.length} of ${plural(modules, 'module')} ${untested.length === 1 ? 'is' : 'are'} imported by none of ${plural(tests, 'test file')}, nor named in a test's file name.${weight}`;
  return `${state} ${command}`;
}

const CUSTOMS: Readonly<Record<string, string>> = {
  'go.mod': 'go test ./...',
  'Cargo.toml': 'cargo test',
  'pom.xml': 'mvn test',
  'build.gradle': 'gradle test',
  'build.gradle.kts': 'gradle test',
  'mix.exs': 'mix test',
  'Package.swift': 'swift test',
};

/** The usual command where a manifest of that kind lies at the top or nearest to it. */
function customOf(names: readonly string[]): string {
  const [nearest] = names.toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
  const command = CUSTOMS[nearest?.split('/').at(-1) ?? ''];
  return nearest === undefined || command === undefined ? '' : ` (with ${nearest} the usual one is \`${command}\`)`;
}

/** The project's own manifest first, then make files, then CI. */
const commandRank = ({ path, text }: Hit): number =>
  path.split('/').length * 2 +
  (/^\s*"test"\s*:/.test(text) ? -3 : 0) +
  (/\.ya?ml$/.test(path) ? 3 : 0) +
  (/^\s*"(?:check|unit|coverage)/.test(text) ? 1 : 0);

function untestedText(untested: readonly Untested[]): readonly string[] {
  const rows = untested
    .slice(0, MOST_SHOWN)
    .map(
      ({ path, use, users }) =>
        `- ${path}${use === null ? '' : `: relied on by ${plural(users, 'file')}, for example ${claim(use)}`}`,
    );
  return untested.length > MOST_SHOWN ? [...rows, `- and ${untested.length - MOST_SHOWN} more`] : rows;
}

function folders(testFiles: readonly string[]): readonly string[] {
  const groups = Map.groupBy(testFiles, (path) => captured(/^(.*\/)/, path) || './');
  const rows = [...groups]
    .map(([folder, files]) => [folder, files.length] as const)
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const shown = rows.slice(0, 8).map(([folder, files]) => `${folder} ${files}`);
  return shown.length === 0
    ? []
    : [`- ${listed(shown)}${rows.length > 8 ? `, and ${rows.length - 8} folders more` : ''}`];
}
