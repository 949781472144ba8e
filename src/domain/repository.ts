/** What Mimir knows of a repository, and the commands of its manifests. */
import { tried } from './result.ts';
import { ownField } from './text/text.ts';

/** The bounded set of facts about a repository that every planner gets (no tool call). */
export interface RepositoryFacts {
  readonly name: string;
  readonly isGit: boolean;
  /** Files counted (ignored ones left out), and whether counting stopped at the cap. */
  readonly files: number;
  readonly more: boolean;
  readonly bytes: number;
  /** Extensions with the number of files, most first, at most 12. */
  readonly languages: readonly { readonly extension: string; readonly files: number }[];
  /** Names at the top, folders with a trailing slash, at most 60. */
  readonly top: readonly string[];
  /** Paths of manifests (package.json, Cargo.toml, go.mod, pyproject.toml, pom.xml …) with their heads, cut. */
  readonly manifests: readonly { readonly path: string; readonly head: string }[];
  /** Head of the README, cut; empty when there is none. */
  readonly readme: string;
  /** The folders at the top with the most files, at most 8, and what lies in each, folders with their number of files. */
  readonly folders?: readonly { readonly path: string; readonly files: number; readonly inside: readonly string[] }[];
  /** Where the work stands: missing without git. Subjects of the last commits, newest first, at most 5; how many files are changed or untracked. */
  readonly git?: { readonly branch: string; readonly commits: readonly string[]; readonly changed: number };
  /** Paths that look like tests, at most 40, and how many there are. */
  readonly tests: { readonly count: number; readonly some: readonly string[] };
  /** Commands that the manifests name, such as `npm test`; missing: none are known. */
  readonly commands?: readonly string[];
}

const TEST_PATH =
  /(^|\/)(tests?|specs?|__tests__)\/|[._-](test|spec|tests|specs)\.[a-z]+$|(^|\/)test_[^/]+$|(Test|Tests|Spec)\.[a-z]+$/;

/** Whether a file is a test by its name. */
export const isTestPath = (path: string): boolean => TEST_PATH.test(path);

// Which commands test, build and check a project, as far as its manifests tell. Only names that need no quoting are given. Pure.

/** A manifest with the head of its content, and which other files are in its folder. */
interface Manifest {
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly head: string;
  readonly beside: ReadonlySet<string>;
}

type Reader = (manifest: Manifest) => readonly string[];

/** Scripts and targets that are worth a mention, in the order they are told. */
const WANTED = ['test', 'check', 'lint', 'typecheck', 'type-check', 'format', 'build', 'start', 'dev', 'all'] as const;

const READERS: Readonly<Record<string, Reader>> = {
  'package.json': packageScripts,
  'deno.json': ({ head }) => wanted(keysOf(head, 'tasks')).map((name) => `deno task ${name}`),
  'composer.json': ({ head }) => wanted(keysOf(head, 'scripts')).map((name) => `composer run ${name}`),
  Makefile: ({ head }) => wanted(targetsIn(head)).map((name) => `make ${name}`),
  justfile: ({ head }) => wanted(targetsIn(head)).map((name) => `just ${name}`),
  'Cargo.toml': () => ['cargo test', 'cargo build'],
  'go.mod': () => ['go test ./...', 'go build ./...'],
  'pom.xml': ({ beside }) => (beside.has('mvnw') ? ['./mvnw test', './mvnw package'] : ['mvn test', 'mvn package']),
  'build.gradle': gradle,
  'build.gradle.kts': gradle,
  'pyproject.toml': pytest,
  'setup.py': pytest,
  'pytest.ini': pytest,
  'tox.ini': ({ beside }) => (beside.has('pyproject.toml') ? [] : ['tox']),
  Gemfile: ({ head }) => (/rspec/.test(head) ? ['bundle exec rspec'] : ['bundle exec rake']),
  'mix.exs': () => ['mix test', 'mix compile'],
  'Package.swift': () => ['swift test', 'swift build'],
  'CMakeLists.txt': () => ['cmake -B build', 'cmake --build build', 'ctest --test-dir build'],
  'build.sbt': () => ['sbt test'],
  'pubspec.yaml': () => ['dart test'],
};

/** Does `name` belong to a file that names commands? */
export const isCommandManifest = (name: string): boolean => Object.hasOwn(READERS, name);

/** Commands of all `manifests`, each once; those of a folder below the top are marked with it. */
export function commandsIn(manifests: readonly Manifest[]): readonly string[] {
  const all = manifests.flatMap((manifest) => {
    const at = manifest.path.lastIndexOf('/');
    const folder = manifest.path.slice(0, at + 1);
    if (!/^[\w./-]*$/.test(folder)) return [];
    const commands = READERS[manifest.path.slice(at + 1)]?.(manifest) ?? [];
    return commands.map((command) => (folder === '' ? command : `in ${folder}: ${command}`));
  });
  return [...new Set(all)];
}

const wanted = (names: readonly string[]): readonly string[] => WANTED.filter((name) => names.includes(name));

function packageScripts({ head, beside }: Manifest): readonly string[] {
  const runner = beside.has('pnpm-lock.yaml')
    ? 'pnpm'
    : beside.has('yarn.lock')
      ? 'yarn'
      : beside.has('bun.lock') || beside.has('bun.lockb')
        ? 'bun'
        : 'npm';
  return wanted(keysOf(head, 'scripts')).map((name) =>
    name === 'test' && runner !== 'bun' ? `${runner} test` : `${runner} run ${name}`,
  );
}

/** Keys of the object `field` of a JSON text; none where it can't be read. */
function keysOf(text: string, field: string): readonly string[] {
  const found = tried(() => ownField(JSON.parse(text), field), undefined);
  return typeof found === 'object' && found !== null ? Object.keys(found) : [];
}

const targetsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^([a-z][a-z-]*)\s*:(?!=)/gm)].map(([, name = '']) => name);

function gradle({ beside }: Manifest): readonly string[] {
  return beside.has('gradlew') ? ['./gradlew test', './gradlew build'] : ['gradle test', 'gradle build'];
}

function pytest({ head, beside }: Manifest): readonly string[] {
  const hasTests =
    /pytest/.test(head) || ['pytest.ini', 'conftest.py', 'tests', 'test'].some((name) => beside.has(name));
  return [hasTests ? 'pytest' : 'python -m unittest'];
}
