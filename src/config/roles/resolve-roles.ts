/** The roles of all layers together, and which names the settings may use; what a project adds counts only where it is trusted. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Role } from '../../domain/agents/role.ts';
import { ok, type Result } from '../../domain/result.ts';
import type { ForcedRule } from '../../policy/rules.ts';
import type { ConfigFault } from '../files/fault.ts';
import { type Places, shownPath } from '../files/paths.ts';
import { projectRoleFiles, readProjectRoles } from './project-roles.ts';
import { byRank, OWN_ROLES, readRoles } from './roles.ts';

export interface KnownRoles {
  /** Built-in and managed ones: what an organisation may rely on. */
  readonly sure: readonly string[];
  /** These and the person's own. */
  readonly own: readonly string[];
}

export interface RoleSources {
  readonly packageRoot: string;
  readonly projectRoot: string;
  readonly managedRoot: string;
  readonly trusted: boolean;
}

export interface RolesOf {
  readonly roles: readonly Role[];
  /** Those of files that wait for trust as well: a list may name them. */
  readonly names: readonly string[];
  readonly forcible: KnownRoles;
  readonly notes: readonly string[];
}

/** `forced`: what an organisation forces, whose roles nobody else may describe. */
export function rolesOf(
  { packageRoot, projectRoot, managedRoot, trusted }: RoleSources,
  { config, home }: Places,
  forced: readonly ForcedRule[],
): Result<RolesOf, readonly ConfigFault[]> {
  const user = path.join(config, 'agents');
  const managed = path.join(managedRoot, 'agents');
  const own = readRoles(
    [
      { directory: path.join(packageRoot, OWN_ROLES), shown: OWN_ROLES, owner: 'built-in' },
      { directory: managed, shown: managed, owner: 'managed' },
      { directory: user, shown: shownPath(user, home), owner: 'user' },
    ],
    forced.map(({ name }) => name),
  );
  if (!own.ok) return own;
  const files = isItself(packageRoot, projectRoot) ? [] : projectRoleFiles(projectRoot);
  const theirs = readProjectRoles(projectRoot, trusted ? files : [], own.value.roles);
  if (!theirs.ok) return theirs;
  const waiting = trusted ? [] : files;
  const models = own.value.roles.find(({ name }) => name === 'main')?.models ?? [];
  const added = theirs.value.roles.map((role) => (role.models.length === 0 ? { ...role, models } : role));
  const roles = [...own.value.roles, ...added].sort(byRank);
  const isSure = ({ source }: Role): boolean => source === 'built-in' || source.startsWith(managed + path.sep);
  return ok({
    roles,
    names: [...roles.map(({ name }) => name), ...waiting.map((file) => path.parse(file).name)],
    forcible: {
      sure: own.value.roles.filter(isSure).map(({ name }) => name),
      own: own.value.roles.map(({ name }) => name),
    },
    notes: [
      ...own.value.notes,
      ...theirs.value.notes,
      ...(waiting.length === 0 ? [] : [`not loaded, since this project is not trusted: ${waiting.join(', ')}`]),
    ],
  });
}

/** In Mimir's own checkout the defaults are defaults, never a project's agreement. */
export const isItself = (packageRoot: string, projectRoot: string): boolean =>
  realpathSync(packageRoot) === realpathSync(projectRoot);
