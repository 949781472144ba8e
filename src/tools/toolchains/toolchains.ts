/** Toolchains as data, in `toolchains.json`: which packages of the person's home a sandbox shows, what a project's private home keeps, and which
 * variables make the tool work offline. Only folders of packages are named, never their parents, which hold credentials and
 * start-up files. All folders are relative to a home. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isFolder, isInside, realPlace } from '../paths/root.ts';
import { type Environment, programOn } from '../process/environment.ts';
import ROWS from './toolchains.json' with { type: 'json' };

export const SANDBOX_HOME = '/tmp/home';

interface Packages {
  readonly from: string;
  /** A variable that moves the folder, and the path of the packages below its value. */
  readonly moved?: { readonly variable: string; readonly below: string };
  /** Folder below the sandbox's home; by default the same as `from`. */
  readonly to?: string;
  /** The tool writes into the folder, so a private home gets a copy. Without a private home, and if it is too large, it is mounted
   * read-only as others are. */
  readonly copied?: boolean;
  /** False: the tool refuses a read-only folder. */
  readonly mounted?: boolean;
  /** Subfolders that hold more than packages; they are covered. */
  readonly covered?: readonly string[];
}

/** A row of `toolchains.json`. In values of variables `~` stands for the home in the sandbox. */
interface Row {
  readonly name: string;
  /** The toolchain is present if one of them is on the PATH; the first one reports its version. */
  readonly programs: readonly string[];
  /** The arguments that make the first program print its version. */
  readonly version?: readonly string[];
  /** Files at the top of a project that uses it; packages are copied only for such projects. */
  readonly marks?: readonly string[];
  readonly packages: readonly Packages[];
  /** Caches of packages and builds that a private home keeps. No start-up and no configuration file lies in them. */
  readonly kept?: readonly string[];
  /** Lock files that sandboxes filling the same cache share; always empty. */
  readonly locks?: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Added to `env` if the project is read-only. */
  readonly readOnlyEnv?: Readonly<Record<string, string | undefined>>;
}

export interface Toolchain extends Required<Row> {
  readonly env: Environment;
  readonly readOnlyEnv: Environment;
}

const inSandbox = (env: Row['env']): Environment =>
  Object.fromEntries(
    Object.entries(env).map(([name, value = '']) => [name, value.replaceAll('~', SANDBOX_HOME)] as const),
  );

const LISTED: readonly Row[] = ROWS;
const TOOLCHAINS = LISTED.map(
  ({ version = ['--version'], marks = [], kept = [], locks = [], readOnlyEnv = {}, ...row }): Toolchain => ({
    ...row,
    version,
    marks,
    kept,
    locks,
    env: inSandbox(row.env),
    readOnlyEnv: inSandbox(readOnlyEnv),
  }),
);

/** Folders of a home that a variable moves as a whole. */
const MOVED_BASES = [
  { folder: '.cache/', variable: 'XDG_CACHE_HOME' },
  { folder: '.local/share/', variable: 'XDG_DATA_HOME' },
] as const;

/** All variables that say where packages are. */
export const PLACE_VARIABLES: readonly string[] = [
  ...new Set([
    ...MOVED_BASES.map(({ variable }) => variable),
    ...TOOLCHAINS.flatMap(({ packages }) => packages.flatMap(({ moved }) => moved?.variable ?? [])),
  ]),
];

/** The toolchains with a program on the PATH. */
export const toolchainsOn = (environment: Environment): readonly Toolchain[] =>
  TOOLCHAINS.filter(({ programs }) => programs.some((name) => programOn(environment, name) !== null));

/** True if a file at the top of the project shows that it uses the tool. */
export const isUsedBy = ({ marks }: Toolchain, root: string): boolean =>
  marks.some((name) => existsSync(path.join(root, name)));

/** Folders of packages that are there. */
export interface Found extends Packages {
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
  const moved = packages.filter(({ moved }) => moved !== undefined && variables[moved.variable] !== undefined);
  const found = [...new Set([...moved, ...packages])].flatMap((each) =>
    realPlace(placeOf(each, home, variables))
      .filter(isOurs)
      .map((place): Found => ({ ...each, place, below: each.to ?? each.from })),
  );
  return found.filter(({ below }, index) => found.findIndex((other) => other.below === below) === index);
}

function placeOf({ from, moved }: Packages, home: string, variables: Environment): string {
  const given = moved === undefined ? undefined : variables[moved.variable];
  if (given !== undefined && path.isAbsolute(given)) return path.join(given, moved?.below ?? '');
  const base = MOVED_BASES.find(({ folder }) => from.startsWith(folder));
  const other = base === undefined ? undefined : variables[base.variable];
  if (base !== undefined && other !== undefined && path.isAbsolute(other))
    return path.join(other, from.slice(base.folder.length));
  return path.join(home, from);
}
