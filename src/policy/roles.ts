/** Which roles may be used: known, switched on, and in every layer's list. `decide` decides what a role may do. */
import type { Reason } from '../domain/reason.ts';
import { MAIN, type Role } from '../domain/agents/role.ts';
import { isForeignRole } from './models.ts';
import { type Rules, builtIn } from './rules.ts';

/** Names that the Task tool of other programs uses. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['Explore', 'explore'],
  ['general-purpose', 'code'],
  ['Plan', 'plan'],
]);

export interface RoleProblem {
  /** Text for a person; the rule's location is in `reason`. */
  readonly text: string;
  readonly reason: Reason;
}

/** The role of this name, in either spelling, or null. */
export function roleNamed<R extends Pick<Role, 'name'>>(name: string, roles: readonly R[]): R | null {
  const own = SPELLINGS.get(name) ?? name;
  return roles.find((role) => role.name === own) ?? null;
}

/** Why a sub-agent of this role cannot be created, or null. `main` is the root and never a sub-agent. */
export function roleProblem(
  name: string,
  rules: Rules,
  roles: readonly Pick<Role, 'name' | 'models'>[],
): RoleProblem | null {
  const role = roleNamed(name, roles);
  if (role === null) return unknownRole(name, roles);
  if (role.name === MAIN)
    return { text: `Role 'main' is the root of a run, never a sub-agent`, reason: builtIn('one root per run') };
  const off = switchedOff(role.name, rules) ?? foreignProblem(role, rules);
  if (off !== null) return off;
  const list = rules.allowedSubAgents.find(({ value }) => !value.includes(role.name));
  if (list === undefined) return null;
  return { text: `Sub-agent role '${role.name}' is not allowed by enterprise policy`, reason: list.from };
}

/** Why no task of a plan can have this role, or null. `main` does a plan's only task: lists of sub-agents do not apply to it, but it can be
 * switched off. */
export function plannedRoleProblem(
  name: string,
  rules: Rules,
  roles: readonly Pick<Role, 'name' | 'planned' | 'models'>[],
): RoleProblem | null {
  const role = roleNamed(name, roles);
  if (role?.name === MAIN) return switchedOff(MAIN, rules);
  const problem = roleProblem(name, rules, roles);
  if (problem !== null || role?.planned !== false) return problem;
  return { text: `The role ${name} cannot be planned`, reason: builtIn(`role "${name}" is not for plans`) };
}

/** The roles that tasks of a plan may have; `main` for a plan of one task. */
export const plannableRoles = (rules: Rules, roles: readonly Role[]): readonly Role[] =>
  roles.filter((role) => plannedRoleProblem(role.name, rules, roles) === null);

function switchedOff(role: string, { disabledRoles }: Rules): RoleProblem | null {
  const off = disabledRoles.find((entry) => entry.role === role);
  return off === undefined ? null : { text: `Role '${role}' is disabled`, reason: off.from };
}

const foreignProblem = (
  { name, models }: Pick<Role, 'name' | 'models'>,
  { foreignAgents }: Rules,
): RoleProblem | null =>
  foreignAgents?.value === 'deny' && isForeignRole(models)
    ? { text: `'${name}' is an agent of another program`, reason: foreignAgents.from }
    : null;

function unknownRole(name: string, roles: readonly Pick<Role, 'name'>[]): RoleProblem {
  const known = roles.map((role) => role.name).filter((role) => role !== MAIN);
  return {
    text: `There is no role '${name}'; known roles: ${known.join(', ')}`,
    reason: builtIn(`unknown role "${name}"`),
  };
}
