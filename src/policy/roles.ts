/** Which roles may be used: known, switched on, and in every layer's list. What a role may do is `decide`'s to judge. */
import type { Reason } from '../domain/reason.ts';
import type { Role } from '../domain/role.ts';
import { type Rules, builtIn } from './rules.ts';

/** Names that the Task tool of other programs uses (CONTRACT D22). */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['Explore', 'explore'],
  ['general-purpose', 'code'],
  ['Plan', 'plan'],
]);

export interface RoleProblem {
  /** In words for a person; the place of the rule is in `reason`. */
  readonly text: string;
  readonly reason: Reason;
}

/** The role of this name, by either spelling, or null. */
export function roleNamed<R extends Pick<Role, 'name'>>(name: string, roles: readonly R[]): R | null {
  const own = SPELLINGS.get(name) ?? name;
  return roles.find((role) => role.name === own) ?? null;
}

/** Why a sub-agent of this role can't be made, or null when it can. `main` is the root and never a sub-agent. */
export function roleProblem(name: string, rules: Rules, roles: readonly Pick<Role, 'name'>[]): RoleProblem | null {
  const role = roleNamed(name, roles);
  if (role === null) return unknownRole(name, roles);
  if (role.name === 'main')
    return { text: `Role 'main' is the root of a run, never a sub-agent`, reason: builtIn('one root per run') };
  const off = rules.disabledRoles.find((entry) => entry.role === role.name);
  if (off !== undefined) return { text: `Role '${role.name}' is switched off`, reason: off.from };
  const list = rules.allowedSubAgents.find(({ value }) => !value.includes(role.name));
  if (list === undefined) return null;
  return { text: `Sub-agent role '${role.name}' is not allowed by enterprise policy`, reason: list.from };
}

/** The roles that a planner may use here. */
export const plannableRoles = (rules: Rules, roles: readonly Role[]): readonly Role[] =>
  roles.filter((role) => role.planned && roleProblem(role.name, rules, roles) === null);

function unknownRole(name: string, roles: readonly Pick<Role, 'name'>[]): RoleProblem {
  const known = roles.map((role) => role.name).filter((role) => role !== 'main');
  return {
    text: `There is no role '${name}'; known roles: ${known.join(', ')}`,
    reason: builtIn(`unknown role "${name}"`),
  };
}
