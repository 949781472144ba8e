/** Which toolchains there are on this machine, and where on it their packages lie. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Environment, programOn } from '../process/environment.ts';
import { isInside } from '../paths/root.ts';
import { isFolder, realPlace } from '../paths/mounts.ts';
import { MOVED_BASES, type Packages, type Toolchain, TOOLCHAINS } from './toolchains.ts';

/** Those of which a program is on the PATH. */
export const toolchainsOn = (environment: Environment): readonly Toolchain[] =>
  TOOLCHAINS.filter(({ programs }) => programs.some((name) => programOn(environment, name) !== null));

/** Does a file at the top of this project say that it uses the tool? */
export const isUsedBy = ({ marks }: Toolchain, root: string): boolean =>
  marks.some((name) => existsSync(path.join(root, name)));

/** Folders of packages that are there. */
export interface Found extends Packages {
  /** Real. */
  readonly place: string;
  /** Below the home of the sandbox. */
  readonly below: string;
}

export interface Ground {
  readonly home: string;
  readonly root: string;
  /** Variables by which a person keeps caches elsewhere. */
  readonly variables: Environment;
  /** Real places that nobody may read. */
  readonly denied: readonly string[];
}

/** None that a rule hides, even in part, none of the project's own, and none that holds a home or the project. */
export function packagesOf({ packages }: Toolchain, { home, root, variables, denied }: Ground): readonly Found[] {
  const isOurs = (place: string): boolean =>
    isFolder(place) &&
    ![home, root].some((other) => isInside(place, other)) &&
    !isInside(root, place) &&
    !denied.some((rule) => isInside(rule, place) || isInside(place, rule));
  // What a person says of the place goes before the usual one.
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
