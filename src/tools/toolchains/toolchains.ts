/**
 * Toolchains and their packages, as data: what of the person's home a sandbox shows, what a project's private home keeps
 * between commands, and which variables make the tool work without a network. Only folders that hold packages are named,
 * never the folder above, where credentials and start-up files lie. All folders are relative to a home.
 */
import type { Environment } from '../process/environment.ts';

/** The home of commands, in the sandbox. */
export const BOX_HOME = '/tmp/home';

export interface Packages {
  /** Below the person's home. */
  readonly from: string;
  /** A variable that names another folder than the usual one, and where the packages lie below that. */
  readonly moved?: readonly [variable: string, below: string];
  /** Below the sandbox's home, where it is not the same as `from`. */
  readonly to?: string;
  /**
   * `read-only`: mounted. `copy`: the tool writes into it, so that a private home gets a copy; where there is no private
   * home, and where it is too large, it is mounted read-only. `only copy`: the tool refuses one that it can't write.
   */
  readonly how: 'read-only' | 'copy' | 'only copy';
  /** Folders in it that hold more than packages: covered. */
  readonly covered?: readonly string[];
}

export interface Toolchain {
  readonly name: string;
  /** One of them on the PATH: the toolchain is there. The first one tells its version. */
  readonly programs: readonly string[];
  /** What the first program is asked for its version. */
  readonly version: readonly string[];
  /** Files at the top of a project that uses it; a copy is made for no other project. */
  readonly marks: readonly string[];
  readonly packages: readonly Packages[];
  /** Caches of packages and builds that a private home keeps. No start-up and no configuration file lies in them. */
  readonly kept: readonly string[];
  /** Lock files that several sandboxes share: two of them fill the same cache. Always empty. */
  readonly locks?: readonly string[];
  readonly env: Environment;
  /** Beside `env`, where the project can't be written. */
  readonly readOnlyEnv?: Environment;
}

const at = (name: string): string => `${BOX_HOME}/${name}`;

/** Where Gradle finds the packages of the person's home: below a folder of this name. */
const GRADLE_SHARED = '.cache/gradle-shared';

export const TOOLCHAINS: readonly Toolchain[] = [
  {
    name: 'cargo',
    programs: ['cargo'],
    version: ['--version'],
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
    programs: ['go'],
    version: ['version'],
    marks: ['go.mod'],
    // Clones of repositories have a configuration each, with addresses and perhaps passwords in them.
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
    version: ['--version'],
    marks: ['pom.xml'],
    packages: [
      { from: '.m2/repository', how: 'copy' },
      { from: '.m2/wrapper/dists', how: 'read-only' },
    ],
    kept: ['.m2/repository'],
    // Java takes the home from the list of users, whatever HOME says.
    env: { MAVEN_OPTS: `-Duser.home=${BOX_HOME}` },
  },
  {
    name: 'gradle',
    programs: ['gradle', 'java'],
    version: ['--version'],
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
    programs: ['npm'],
    version: ['--version'],
    marks: ['package.json'],
    packages: [{ from: '.npm/_cacache', moved: ['npm_config_cache', '_cacache'], how: 'read-only' }],
    kept: ['.npm/_cacache'],
    env: { npm_config_offline: 'true', npm_config_update_notifier: 'false' },
  },
  {
    name: 'pnpm',
    programs: ['pnpm'],
    version: ['--version'],
    marks: ['pnpm-lock.yaml'],
    packages: [{ from: '.local/share/pnpm/store', moved: ['PNPM_HOME', 'store'], how: 'only copy' }],
    kept: ['.local/share/pnpm/store'],
    env: { npm_config_offline: 'true' },
  },
  {
    name: 'python',
    programs: ['python3'],
    version: ['--version'],
    marks: ['pyproject.toml', 'requirements.txt', 'setup.py'],
    // What it has in its cache it uses only after it asked the index: there is nothing to show.
    packages: [],
    kept: ['.cache/pip'],
    env: { PIP_NO_INDEX: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  },
  {
    name: 'uv',
    programs: ['uv'],
    version: ['--version'],
    marks: ['uv.lock'],
    packages: [{ from: '.cache/uv', moved: ['UV_CACHE_DIR', ''], how: 'only copy' }],
    kept: ['.cache/uv'],
    env: { UV_OFFLINE: '1', UV_LINK_MODE: 'copy' },
  },
  {
    name: 'nuget',
    programs: ['dotnet'],
    version: ['--version'],
    marks: [],
    packages: [{ from: '.nuget/packages', moved: ['NUGET_PACKAGES', ''], how: 'read-only' }],
    kept: [],
    env: { NUGET_PACKAGES: at('.nuget/packages'), DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' },
  },
  {
    name: 'bundler',
    programs: ['bundle'],
    version: ['--version'],
    marks: ['Gemfile'],
    packages: [
      { from: '.gem/ruby', how: 'read-only' },
      { from: '.local/share/gem/ruby', how: 'read-only' },
      { from: '.bundle/cache', how: 'read-only' },
    ],
    kept: [],
    env: { BUNDLE_ALLOW_OFFLINE_INSTALL: 'true', BUNDLE_PREFER_LOCAL: 'true' },
  },
  {
    name: 'composer',
    programs: ['composer'],
    version: ['--version'],
    marks: ['composer.json'],
    packages: ['files', 'repo'].flatMap((name): readonly Packages[] => [
      { from: `.cache/composer/${name}`, moved: ['COMPOSER_CACHE_DIR', name], how: 'read-only' },
      { from: `.composer/cache/${name}`, moved: ['COMPOSER_HOME', `cache/${name}`], how: 'read-only' },
    ]),
    kept: [],
    env: { COMPOSER_CACHE_READ_ONLY: '1', COMPOSER_DISABLE_NETWORK: '1' },
  },
];

/** Folders of a home that a variable moves as a whole. */
export const MOVED_BASES = [
  { folder: '.cache/', variable: 'XDG_CACHE_HOME' },
  { folder: '.local/share/', variable: 'XDG_DATA_HOME' },
] as const;

/** Names of all variables that say where packages lie. */
export const PLACE_VARIABLES: readonly string[] = [
  ...new Set([
    ...MOVED_BASES.map(({ variable }) => variable),
    ...TOOLCHAINS.flatMap(({ packages }) => packages.flatMap(({ moved }) => moved?.[0] ?? [])),
  ]),
];
