/** The agents of a project: lists, creates and deletes them. config/roles/agent-files.ts checks the content of their files. */
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentFile, AgentFolder, Loaded, Others } from '../../config/index.ts';
import { agentFiles, agentFolder, isItself, newAgent } from '../../config/index.ts';
import type { Role } from '../../domain/agents/role.ts';
import { memoize } from '../../domain/memoize.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/text.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import type { AgentInfo, AgentRequest, ProjectInfo } from '../../ports/project-service.ts';
import { fileErrorText, packageRoot, writeNewFile } from '../process/index.ts';
import { preserveTrust, type ProjectPlace } from '../workspace/index.ts';

/** The folders in which custom agents are created. In Mimir's own checkout only the user's: the project's are the built-in ones. */
export const agentFolders = ({ root, places }: ProjectPlace): readonly AgentFolder[] => [
  ...(isItself(packageRoot(), root) ? [] : [agentFolder('project', root, places)]),
  agentFolder('user', root, places),
];

/** All agents that a run in this project can use, custom ones first. */
export function listAgents(
  project: ProjectPlace,
  { roles, notes }: Pick<Loaded, 'roles' | 'notes'>,
): ProjectInfo['agents'] {
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

function whyKept(name: string, source: string): string {
  if (source === 'built-in') return `it is built in; agentOrchestration.roles.${name}.enabled: false switches it off`;
  if (source.startsWith('/etc/')) return `an administrator wrote it (${source})`;
  return `it is a file of another program (${source}): delete it by hand`;
}

type Config = Pick<Loaded, 'roles' | 'preferences' | 'staticConfig'>;

interface FileReceipt extends Receipt {
  readonly file: string;
}

/** Writes the agent's file (0644) whole, never over another; trust stays. Refused if the name is taken or looks like another. */
export function createAgent(project: ProjectPlace, config: Config, wish: AgentRequest): Result<FileReceipt, Refusal> {
  const folder = agentFolders(project).find(({ owner }) => owner === wish.for);
  if (folder === undefined) return refused(OWN_CHECKOUT);
  const made = newAgent(wish, folder, takenNames(project, config));
  if (!made.ok) return refused(made.fault);
  const { file, text, role } = made.value;
  const shown = `${folder.shown}/${file}`;
  const base = wish.for === 'project' ? project.root : project.places.config;
  const problem = wish.for === 'project' ? null : makeFolder(base);
  if (problem !== null) return refused(problem);
  const trusted = wish.for === 'project' ? preserveTrust(project, trustedByConfig(config), shown) : () => true;
  const folders = wish.for === 'project' ? ['.mimir', 'agents'] : ['agents'];
  const written = writeNewFile({ base, folders, name: file, shown, text });
  if (!written.ok) return refused(written.fault);
  const available = trusted() ? 'available from the next run' : 'available once the project is trusted: mimir trust';
  const may = role.capabilities.join(', ');
  return ok({ file: shown, text: `Created ${shown}: ${role.name} may ${may}; ${available}.` });
}

const OWN_CHECKOUT = "this is Mimir's own checkout, whose agents are the built-in ones: --user";

/** Why no agent can be created here, or null; known before a draft is requested. */
export function whyNoAgent(project: ProjectPlace, owner: AgentRequest['for'], name: string | null): string | null {
  if (name !== null) return `Not created: ${name}`;
  return agentFolders(project).some((one) => one.owner === owner) ? null : `Not created: ${OWN_CHECKOUT}`;
}

/** Deletes the file of a custom agent, valid or not. Refused for any other agent, with the reason. */
export function deleteAgent(project: ProjectPlace, config: Config | null, name: string): Result<FileReceipt, Refusal> {
  const found = findAgentFile(project, config, name);
  if (!found.ok) return fail({ text: `Not deleted: ${found.fault}` });
  const file = found.value;
  const link = file.owner === 'project' ? linkAbove(project.root) : null;
  if (link !== null) return fail({ text: `Not deleted: ${link} is a link: delete what it leads to by hand` });
  const trusted = file.owner === 'project' ? preserveTrust(project, trustedByConfig(config), file.shown) : () => true;
  try {
    rmSync(file.path);
  } catch (error) {
    return fail({ text: `Not deleted: ${file.shown}: ${fileErrorText(error)}` });
  }
  trusted();
  return ok({ file: file.shown, text: `Deleted ${file.shown}.` });
}

/** The file of a custom agent by its name, or why it cannot be deleted here. */
export function findAgentFile(
  project: ProjectPlace,
  config: Pick<Config, 'roles'> | null,
  name: string,
): Result<AgentFile, string> {
  const files = agentFiles(agentFolders(project));
  const [one, ...others] = files.filter((file) => file.name === name);
  if (one !== undefined && others.length === 0) return ok(one);
  if (one !== undefined)
    return fail(
      `${name} has several files: ${[one, ...others].map(({ shown }) => shown).join(', ')}; delete one by hand`,
    );
  const role = config?.roles.find((each) => each.name === name);
  if (role !== undefined) return fail(`${name}: ${whyKept(name, role.source)}`);
  const agentsByConfig = files.map((file) => file.name);
  return fail(
    `there is no custom agent "${name}"; ${agentsByConfig.length === 0 ? 'there are none here' : suggestion(name, agentsByConfig)}`,
  );
}

const refused = (text: string): Result<never, Refusal> => fail({ text: `Not created: ${text}` });
const trustedByConfig = (config: Config | null): readonly string[] => config?.preferences.trust ?? [];

/** The names that are taken: roles in use, agent files, and roles of files that are not trusted yet. */
export const takenNames = (
  project: ProjectPlace,
  { roles, staticConfig }: Pick<Config, 'roles' | 'staticConfig'>,
): Others => [
  ...roles,
  ...agentFiles(agentFolders(project)).map(({ name, shown }) => ({ name, source: shown })),
  ...staticConfig.known.roles.map((name) => ({ name, source: 'a file that waits for trust' })),
];

function makeFolder(folder: string): string | null {
  try {
    mkdirSync(folder, { recursive: true });
    return null;
  } catch (error) {
    return `${folder} cannot be created: ${fileErrorText(error)}`;
  }
}

const linkAbove = (root: string): string | null =>
  ['.mimir', '.mimir/agents'].find(
    (part) => lstatSync(join(root, part), { throwIfNoEntry: false })?.isSymbolicLink() === true,
  ) ?? null;

/** As `listAgents`, computed once per configuration, because the screen asks for it in every frame. */
export const agentsOf = memoize((_: ProjectPlace, config: Loaded) => [config], listAgents);
