/**
 * Toolchains as data: which packages of the person's home a sandbox shows, what a project's private home keeps, and which
 * variables make the tool work offline. Only folders of packages are named, never their parents, which hold credentials and
 * start-up files. All folders are relative to a home.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isFolder, isInside, realPlace } from '../paths/root.ts';
import { type Environment, programOn } from '../process/environment.ts';

/** The home of commands in the sandbox. */
export const SANDBOX_HOME = '/tmp/home';

export interface Packages {
  /** Folder below the person's home. */
  readonly from: string;
  /** A variable that moves the folder, and the path of the packages below its value. */
  readonly moved?: readonly [variable: string, below: string];
  /** Folder below the sandbox's home; by default the same as `from`. */
  readonly to?: string;
  /**
   * `read-only`: mounted. `copy`: the tool writes into the folder, so a private home gets a copy; without a private home, and
   * if it is too large, it is mounted read-only. `only copy`: the tool refuses a read-only folder.
   */
  readonly how: 'read-only' | 'copy' | 'only copy';
  /** Subfolders that hold more than packages; they are covered. */
  readonly covered?: readonly string[];
}

export interface Toolchain {
  readonly name: string;
  /** The toolchain is present if one of them is on the PATH; the first one reports its version. */
  readonly programs: readonly string[];
  /** The arguments that make the first program print its version. */
  readonly version: readonly string[];
  /** Files at the top of a project that uses it; packages are copied only for such projects. */
  readonly marks: readonly string[];
  readonly packages: readonly Packages[];
  /** Caches of packages and builds that a private home keeps. No start-up and no configuration file lies in them. */
  readonly kept: readonly string[];
  /** Lock files that sandboxes filling the same cache share; always empty. */
  readonly locks?: readonly string[];
  readonly env: Environment;
  /** Added to `env` if the project is read-only. */
  readonly readOnlyEnv?: Environment;
}

const at = (name: string): string => `${SANDBOX_HOME}/${name}`;

/** Gradle finds shared packages in a folder of this name. */
const GRADLE_SHARED = '.cache/gradle-shared';

type Given = Pick<Toolchain, 'name' | 'packages' | 'env'> & Partial<Toolchain>;

const GIVEN: readonly Given[] = [
  {
    name: 'cargo',
    marks: ['Cargo.toml'],
    packages: [
      { from: '.cargo/registry/index', moved: ['CARGO_HOME', 'registry/index'], how: 'read-only' },
      { from: '.cargo/registry/cache', moved: ['CARGO_HOME', 'registry/cache'], how: 'read-only' },
      { from: '.cargo/git/db', moved: ['CARGO_HOME', 'git/db'], how: 'read-only' },
    ],
    // Unpacked packages: Cargo writes them, and looks for nothing else there.
    kept: ['.cargo/registry/src', '.cargo/git/checkouts'],
    locks: ['.cargo/.package-cache'],
    env: { CARGO_NET_OFFLINE: 'true' },
    readOnlyEnv: { CARGO_TARGET_DIR: '/tmp/target' },
  },
  {
    name: 'go',
    version: ['version'],
    marks: ['go.mod'],
    // Cloned repositories have configurations with addresses and possibly passwords.
    packages: [
      { from: 'go/pkg/mod', moved: ['GOMODCACHE', ''], how: 'read-only', covered: ['cache/vcs'] },
      { from: 'go/pkg/mod', moved: ['GOPATH', 'pkg/mod'], how: 'read-only', covered: ['cache/vcs'] },
    ],
    // It holds results of tests too: who judges work never reads it.
    kept: ['.cache/go-build'],
    env: { GOPROXY: 'off' },
  },
  {
    name: 'maven',
    programs: ['mvn', 'java'],
    marks: ['pom.xml'],
    packages: [
      { from: '.m2/repository', how: 'copy' },
      { from: '.m2/wrapper/dists', how: 'read-only' },
    ],
    kept: ['.m2/repository'],
    // Java takes the home from the user database and ignores HOME.
    env: { MAVEN_OPTS: `-Duser.home=${SANDBOX_HOME}` },
  },
  {
    name: 'gradle',
    programs: ['gradle', 'java'],
    marks: ['gradlew', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
    packages: [
      {
        from: '.gradle/caches/modules-2',
        moved: ['GRADLE_USER_HOME', 'caches/modules-2'],
        to: `${GRADLE_SHARED}/modules-2`,
        how: 'read-only',
      },
      { from: '.gradle/wrapper/dists', moved: ['GRADLE_USER_HOME', 'wrapper/dists'], how: 'copy' },
    ],
    kept: ['.gradle/caches', '.gradle/native', '.gradle/wrapper/dists'],
    env: { GRADLE_USER_HOME: at('.gradle'), GRADLE_RO_DEP_CACHE: at(GRADLE_SHARED) },
  },
  {
    name: 'npm',
    marks: ['package.json'],
    packages: [{ from: '.npm/_cacache', moved: ['npm_config_cache', '_cacache'], how: 'read-only' }],
    kept: ['.npm/_cacache'],
    env: { npm_config_offline: 'true', npm_config_update_notifier: 'false' },
  },
  {
    name: 'pnpm',
    marks: ['pnpm-lock.yaml'],
    packages: [{ from: '.local/share/pnpm/store', moved: ['PNPM_HOME', 'store'], how: 'only copy' }],
    kept: ['.local/share/pnpm/store'],
    env: { npm_config_offline: 'true' },
  },
  {
    name: 'python',
    programs: ['python3'],
    marks: ['pyproject.toml', 'requirements.txt', 'setup.py'],
    // pip uses its cache only after asking the index, so there is nothing to show.
    packages: [],
    kept: ['.cache/pip'],
    env: { PIP_NO_INDEX: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  },
  {
    name: 'uv',
    marks: ['uv.lock'],
    packages: [{ from: '.cache/uv', moved: ['UV_CACHE_DIR', ''], how: 'only copy' }],
    kept: ['.cache/uv'],
    env: { UV_OFFLINE: '1', UV_LINK_MODE: 'copy' },
  },
  {
    name: 'nuget',
    programs: ['dotnet'],
    packages: [{ from: '.nuget/packages', moved: ['NUGET_PACKAGES', ''], how: 'read-only' }],
    env: { NUGET_PACKAGES: at('.nuget/packages'), DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' },
  },
  {
    name: 'bundler',
    programs: ['bundle'],
    marks: ['Gemfile'],
    packages: [
      { from: '.gem/ruby', how: 'read-only' },
      { from: '.local/share/gem/ruby', how: 'read-only' },
      { from: '.bundle/cache', how: 'read-only' },
    ],
    env: { BUNDLE_ALLOW_OFFLINE_INSTALL: 'true', BUNDLE_PREFER_LOCAL: 'true' },
  },
  {
    name: 'composer',
    marks: ['composer.json'],
    packages: ['files', 'repo'].flatMap((name): readonly Packages[] => [
      { from: `.cache/composer/${name}`, moved: ['COMPOSER_CACHE_DIR', name], how: 'read-only' },
      { from: `.composer/cache/${name}`, moved: ['COMPOSER_HOME', `cache/${name}`], how: 'read-only' },
    ]),
    env: { COMPOSER_CACHE_READ_ONLY: '1', COMPOSER_DISABLE_NETWORK: '1' },
  },
];

const TOOLCHAINS: readonly Toolchain[] = GIVEN.map((given) => ({
  programs: [given.name],
  version: ['--version'],
  marks: [],
  kept: [],
  ...given,
}));

/** Folders of a home that a variable moves as a whole. */
const MOVED_BASES = [
  { folder: '.cache/', variable: 'XDG_CACHE_HOME' },
  { folder: '.local/share/', variable: 'XDG_DATA_HOME' },
] as const;

/** All variables that say where packages are. */
export const PLACE_VARIABLES: readonly string[] = [
  ...new Set([
    ...MOVED_BASES.map(({ variable }) => variable),
    ...TOOLCHAINS.flatMap(({ packages }) => packages.flatMap(({ moved }) => moved?.[0] ?? [])),
  ]),
];

// Which toolchains there are on this machine, and where on it their packages lie.

/** The toolchains with a program on the PATH. */
export const toolchainsOn = (environment: Environment): readonly Toolchain[] =>
  TOOLCHAINS.filter(({ programs }) => programs.some((name) => programOn(environment, name) !== null));

/** True if a file at the top of the project shows that it uses the tool. */
export const isUsedBy = ({ marks }: Toolchain, root: string): boolean =>
  marks.some((name) => existsSync(path.join(root, name)));

/** Folders of packages that are there. */
export interface Found extends Packages {
  /** Real path. */
  readonly place: string;
  /** Path below the home of the sandbox. */
  readonly below: string;
}

export interface ToolchainPlaces {
  readonly home: string;
  readonly root: string;
  /** Variables by which a person moves caches. */
  readonly variables: Environment;
  /** Real paths that must not be read. */
  readonly denied: readonly string[];
}

/** Existing folders of packages: none that a rule hides even in part, none in the project, none around a home or the project. */
export function packagesOf(
  { packages }: Toolchain,
  { home, root, variables, denied }: ToolchainPlaces,
): readonly Found[] {
  const isOurs = (place: string): boolean =>
    isFolder(place) &&
    ![home, root].some((other) => isInside(place, other)) &&
    !isInside(root, place) &&
    !denied.some((rule) => isInside(rule, place) || isInside(place, rule));
  // A folder that the person has set comes before the usual one.
  const moved = packages.filter(({ moved }) => moved !== undefined && variables[moved[0]] !== undefined);
  const found = [...new Set([...moved, ...packages])].flatMap((each) =>
    realPlace(placeOf(each, home, variables))
      .filter(isOurs)
      .map((place): Found => ({ ...each, place, below: each.to ?? each.from })),
  );
  return found.filter(({ below }, index) => found.findIndex((other) => other.below === below) === index);
}

function placeOf(
  { from, moved: [variable, below] = ['', ''] }: Packages,
  home: string,
  variables: Environment,
): string {
  const given = variables[variable];
  if (given !== undefined && path.isAbsolute(given)) return path.join(given, below);
  const base = MOVED_BASES.find(({ folder }) => from.startsWith(folder));
  const other = base === undefined ? undefined : variables[base.variable];
  if (base !== undefined && other !== undefined && path.isAbsolute(other))
    return path.join(other, from.slice(base.folder.length));
  return path.join(home, from);
}
