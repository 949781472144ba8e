/** For whom `mimir policy explain` answers: an agent of a session as the log has it, a role, or the root. */
import type { Loaded } from '../../config/settings/load.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { depthOf } from '../../domain/ids.ts';
import type { AllPermissions } from '../../domain/plan/permissions.ts';
import { configuredPermissions, permissionsFor } from '../../engine/planning/permissions.ts';
import type { Mode } from '../../domain/mode.ts';
import { CAPABILITIES, type Capability, type Role } from '../../domain/agents/role.ts';
import { modeFor } from '../../events/modes.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { roleNamed } from '../../policy/roles.ts';
import { toolsFor } from '../../tools/tools.ts';
import { modeFrom } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { stateOf, openReader, sessionOf } from '../../app/client/log-of.ts';
import type { ProjectPlace } from '../../app/project/project-trust.ts';
import { hereOf, projectOf } from '../../app/project/project.ts';

export interface Asker {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly role: Role;
  readonly mode: Mode;
  readonly capabilities: readonly Capability[];
  /** Its id; null where no agent was named. */
  readonly agent: string | null;
  /** What its plan lets it do without asking; where no agent is named, what plans start with. */
  readonly permissions: AllPermissions;
  /** Where its next child would stand. */
  readonly spawns: Spawns;
}

/** How deep a child would be, and how many there are already: in the run, and of its parent at work. */
export interface Spawns {
  readonly depth: number;
  readonly agents: number;
  readonly siblings: number;
}

/** The first child of a root. */
const FIRST: Spawns = { depth: 1, agents: 0, siblings: 0 };

/** `withRole`: `--role` says for whom, and is not itself the question. */
export function askerOf(args: Arguments, io: Io, withRole: boolean): Asker {
  const project = projectOf(args, io);
  const { config } = hereOf(project, io, {}, 'look');
  const named = args.get('agent');
  const given = withRole ? args.get('role') : undefined;
  const common = {
    project,
    config,
    mode: modeFrom(args) ?? config.rules.mode,
    permissions: configuredPermissions(config.rules),
    agent: null,
    spawns: FIRST,
  };
  if (named === undefined) {
    const role = roleOf(given ?? 'main', config.roles);
    return { ...common, role, capabilities: role.capabilities };
  }
  const { state, one } = agentNamed(named, project);
  const mode = modeFrom(args) ?? modeFor(state, one.id);
  const role = roleOf(given ?? one.role, config.roles);
  const permissions = permissionsFor(state, one.id, config.rules);
  const capabilities = capabilitiesOf(one);
  return { ...common, role, mode, permissions, capabilities, agent: one.id, spawns: spawnsOf(state, one) };
}

interface Found {
  readonly state: RunState;
  readonly one: AgentState;
}

/** `ROOT::S1`, its name, or either behind `SESSION/`. */
function agentNamed(named: string, project: ProjectPlace): Found {
  const cut = named.indexOf('/');
  const reader = openReader(project);
  const { session } = sessionOf(reader, cut === -1 ? undefined : named.slice(0, cut));
  const state = stateOf(reader, session);
  const wanted = named.slice(cut + 1);
  const agents = [...state.agents.values()];
  const one = agents.find(({ id, name }) => id === wanted || name === wanted);
  if (one !== undefined) return { state, one };
  const known = agents.map(({ id }) => id);
  throw new Exit(EXIT.wrongUse, `there is no agent "${wanted}" in session ${session}\n  ${suggestion(wanted, known)}`);
}

function spawnsOf({ agents }: RunState, { id }: AgentState): Spawns {
  const siblings = [...agents.values()].filter(
    (one) => one.parent === id && (one.spawned !== null || one.call !== null) && !isFinal(one),
  );
  return { depth: depthOf(id) + 1, agents: agents.size - 1, siblings: siblings.length };
}

/** By the tools that it was given: fewer than its role's where a plan said so. */
const capabilitiesOf = ({ tools }: AgentState): readonly Capability[] =>
  CAPABILITIES.filter((capability) => ofCapability(capability).some((tool) => tools.includes(tool)));

/** Tools that stand for this capability alone. */
export const ofCapability = (capability: Capability): readonly string[] =>
  toolsFor([capability]).filter((tool) => !toolsFor([]).includes(tool));

function roleOf(name: string, roles: readonly Role[]): Role {
  const role = roleNamed(name, roles);
  if (role !== null) return role;
  const known = roles.map((one) => one.name);
  throw new Exit(EXIT.wrongUse, `there is no role "${name}"\n  ${suggestion(name, known)}`);
}
