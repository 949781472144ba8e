/** The agents of this place: custom ones first, with what can be done to each; and files that describe none, with the reason. */
import type { AgentFolder } from '../../config/roles/agent-files.ts';
import { agentFolder } from '../../config/roles/agent-files.ts';
import type { Loaded } from '../../config/settings/load.ts';
import { isItself } from '../../config/roles/resolve-roles.ts';
import type { Role } from '../../domain/agents/role.ts';
import type { AgentInfo, LobbyInfo } from '../../ports/project-service.ts';
import { packageRoot } from '../process/package-root.ts';
import type { ProjectPlace } from '../project/project-trust.ts';

/** The folders in which custom agents are made: in Mimir's own checkout, only the person's. */
export const agentFolders = ({ root, places }: ProjectPlace): readonly AgentFolder[] => [
  ...(isItself(packageRoot(), root) ? [] : [agentFolder('project', root, places)]),
  agentFolder('user', root, places),
];

/** All that a run here could use. */
export function agentsHere(
  project: ProjectPlace,
  { roles, notes }: Pick<Loaded, 'roles' | 'notes'>,
): NonNullable<LobbyInfo['agents']> {
  const own = agentFolders(project).map(({ shown }) => `${shown}/`);
  const infos = roles.map((role) => infoOf(role, own));
  return {
    all: [...infos.filter(isCustom), ...infos.filter((one) => !isCustom(one))],
    leftOut: notes.filter((note) => AGENT_FILE.test(note)),
  };
}

const AGENT_FILE = /(?:^|[\s/])agents\/[^\s:]+\.(?:md|json)\b/;

export const isCustom = ({ source }: Pick<AgentInfo, 'source'>): boolean => source !== 'built-in';

const infoOf = (
  { name, description, tools, capabilities, models, prompt, source }: Role,
  own: readonly string[],
): AgentInfo => ({
  name,
  description,
  tools,
  capabilities,
  models,
  prompt,
  source,
  whyKept: own.some((folder) => source.startsWith(folder)) ? null : whyKept(name, source),
});

/** Why Mimir doesn't delete an agent of this source. */
export function whyKept(name: string, source: string): string {
  if (source === 'built-in') return `it is built in; agentOrchestration.roles.${name}.enabled: false switches it off`;
  if (source.startsWith('/etc/')) return `an administrator wrote it (${source})`;
  return `it is a file of another program (${source}): delete it by hand`;
}
