/** Why a role may or may not run as a sub-agent: explained by `roleProblem`, which decides it for plans and spawns. */
import type { Role } from '../../domain/agents/role.ts';
import {
  type Change,
  type Explanation,
  type Outcome,
  type TookPart,
  isWritten,
  putInto,
  ranked,
  takeOut,
  whatHelps,
  NO_RULE,
} from './explain.ts';
import { roleNamed, roleProblem } from '../roles.ts';
import type { Rules } from '../rules.ts';

type Roles = readonly Pick<Role, 'name'>[];

/** For the role of this name, by either spelling. */
export function explainRole(name: string, rules: Rules, roles: Roles): Explanation {
  const own = roleNamed(name, roles)?.name ?? name;
  const judge = (given: Rules): Outcome => (roleProblem(name, given, roles) === null ? 'allow' : 'deny');
  const decision = judge(rules);
  const because = roleProblem(name, rules, roles)?.reason ?? grantOf(own, rules);
  return {
    subject: `role ${name}`,
    decision,
    because,
    rules: ranked(because, partsOf(own, rules), decision),
    change: whatHelps(rules, changesFor(own, rules), judge),
    resolved: own === name ? [] : [{ written: name, id: own }],
    used: null,
  };
}

const grantOf = (role: string, { allowedSubAgents }: Rules): Explanation['because'] =>
  allowedSubAgents.find(({ value }) => value.includes(role))?.from ?? NO_RULE;

type Part = Omit<TookPart, 'decides'>;

const partsOf = (role: string, { disabledRoles, allowedSubAgents, forcedAgents = [] }: Rules): readonly Part[] => [
  ...disabledRoles.filter((entry) => entry.role === role).map(({ from }): Part => ({ reason: from, says: 'deny' })),
  ...allowedSubAgents.map(({ value, from }): Part => ({ reason: from, says: value.includes(role) ? 'allow' : 'deny' })),
  // A forced agent runs whatever the lists say of plans.
  ...forcedAgents.filter(({ name }) => name === role).map(({ from }): Part => ({ reason: from, says: 'allow' })),
];

function changesFor(role: string, rules: Rules): readonly Change<Rules>[] {
  const on = rules.disabledRoles
    .filter((entry) => entry.role === role && isWritten(entry.from))
    .map(
      (entry): Change<Rules> => ({
        words: takeOut('enabled: false', entry.from),
        apply: (now) => ({ ...now, disabledRoles: now.disabledRoles.filter((each) => each !== entry) }),
      }),
    );
  const listed = rules.allowedSubAgents
    .filter(({ value }) => !value.includes(role))
    .map(
      (list): Change<Rules> => ({
        words: putInto(role, list.from),
        apply: (now) => ({
          ...now,
          allowedSubAgents: now.allowedSubAgents.map((each) =>
            each === list ? { ...each, value: [...each.value, role] } : each,
          ),
        }),
      }),
    );
  return [...on, ...listed];
}
