/**
 * Makes and deletes custom agents: one JSON file each, in the project's `.mimir/agents` or the person's own
 * folder, never over another; a project that was trusted stays so. What may stand in a file is config/roles/agent-files.ts's.
 */
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentFile, type Others, agentFiles, newAgent } from '../../config/roles/agent-files.ts';
import type { Loaded } from '../../config/settings/load.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import type { AgentWish } from '../../ports/project-service.ts';
import { agentFolders, whyKept } from './list.ts';
import { fileWords } from '../process/file-errors.ts';
import { keepingTrust } from '../project/keeping-trust.ts';
import { writeNew } from '../process/new-file.ts';
import type { ProjectPlace } from '../project/project-trust.ts';

type Config = Pick<Loaded, 'roles' | 'preferences' | 'standing'>;

export interface Kept extends Receipt {
  /** As people would name it. */
  readonly file: string;
}

/** Writes the agent's file, 0644, whole or not at all. Refused, in words, for a name that is another's or looks like it. */
export function createAgent(project: ProjectPlace, config: Config, wish: AgentWish): Result<Kept, Refusal> {
  const folder = agentFolders(project).find(({ owner }) => owner === wish.for);
  if (folder === undefined) return refused(OWN_CHECKOUT);
  const made = newAgent(wish, folder, namesHere(project, config));
  if (!made.ok) return refused(made.fault);
  const { file, text, role } = made.value;
  const shown = `${folder.shown}/${file}`;
  const base = wish.for === 'project' ? project.root : project.places.config;
  const problem = wish.for === 'project' ? null : makeFolder(base);
  if (problem !== null) return refused(problem);
  const trusted = wish.for === 'project' ? keepingTrust(project, listed(config), shown) : () => true;
  const folders = wish.for === 'project' ? ['.mimir', 'agents'] : ['agents'];
  const written = writeNew({ base, folders, name: file, shown, text });
  if (!written.ok) return refused(written.fault);
  const counts = trusted() ? 'the next run has it' : 'it counts when the project is trusted as it is now: mimir trust';
  const may = role.capabilities.join(', ');
  return ok({ file: shown, text: `Created ${shown}: ${role.name} may ${may}; ${counts}.` });
}

const OWN_CHECKOUT = "this is Mimir's own checkout, whose agents are the built-in ones: --user";

/** Why none can be made, whatever it is, or null: known before anybody drafts one. */
export function whyNoneHere(project: ProjectPlace, owner: AgentWish['for'], name: string | null): string | null {
  if (name !== null) return `Not created: ${name}`;
  return agentFolders(project).some((one) => one.owner === owner) ? null : `Not created: ${OWN_CHECKOUT}`;
}

/** Takes the file of a custom agent away, sound or not. Refused for any other agent, with the reason. */
export function deleteAgent(project: ProjectPlace, config: Config | null, name: string): Result<Kept, Refusal> {
  const found = agentFileOf(project, config, name);
  if (!found.ok) return fail({ text: `Not deleted: ${found.fault}` });
  const file = found.value;
  const link = file.owner === 'project' ? linkAbove(project.root) : null;
  if (link !== null) return fail({ text: `Not deleted: ${link} is a link: delete what it leads to by hand` });
  const trusted = file.owner === 'project' ? keepingTrust(project, listed(config), file.shown) : () => true;
  try {
    rmSync(file.path);
  } catch (error) {
    return fail({ text: `Not deleted: ${file.shown}: ${fileWords(error)}` });
  }
  trusted();
  return ok({ file: file.shown, text: `Deleted ${file.shown}.` });
}

/** The file of a custom agent by its name, or why it can't be deleted here. */
export function agentFileOf(
  project: ProjectPlace,
  config: Pick<Config, 'roles'> | null,
  name: string,
): Result<AgentFile, string> {
  const files = agentFiles(agentFolders(project));
  const [one, ...others] = files.filter((file) => file.name === name);
  if (one !== undefined && others.length === 0) return ok(one);
  if (one !== undefined) {
    return fail(`there are several: ${[one, ...others].map(({ shown }) => shown).join(', ')}; delete one by hand`);
  }
  const role = config?.roles.find((each) => each.name === name);
  if (role !== undefined) return fail(`${name}: ${whyKept(name, role.source)}`);
  const known = files.map((file) => file.name);
  return fail(
    `there is no custom agent "${name}"; ${known.length === 0 ? 'there are none here' : suggestion(name, known)}`,
  );
}

const refused = (text: string): Result<never, Refusal> => fail({ text: `Not created: ${text}` });
const listed = (config: Config | null): readonly string[] => config?.preferences.trust ?? [];

/** Roles that count here, and those of files that wait for trust. */
export const namesHere = (project: ProjectPlace, { roles, standing }: Pick<Config, 'roles' | 'standing'>): Others => [
  ...roles,
  ...agentFiles(agentFolders(project)).map(({ name, shown }) => ({ name, source: shown })),
  ...standing.known.roles.map((name) => ({ name, source: 'a file that waits for trust' })),
];

function makeFolder(folder: string): string | null {
  try {
    mkdirSync(folder, { recursive: true });
    return null;
  } catch (error) {
    return `${folder} can't be made: ${fileWords(error)}`;
  }
}

function linkAbove(root: string): string | null {
  return (
    ['.mimir', '.mimir/agents'].find(
      (part) => lstatSync(join(root, part), { throwIfNoEntry: false })?.isSymbolicLink() === true,
    ) ?? null
  );
}
