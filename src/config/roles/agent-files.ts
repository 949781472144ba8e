/** Custom agents as files: validates and serialises a new one, and lists the files of the person's and the project's folders. Commands write the
 * files; role-file.ts and roles.ts turn them into roles. */
import path from 'node:path';
import type { AgentText } from '../../domain/agents/form.ts';
import type { Role } from '../../domain/agents/role.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { type ConfigFault, faultText, type Places, shownPath } from '../files/read-text.ts';
import { readRole } from './role-file.ts';
import { lookOf, readOne, roleFiles, type RoleFolder, roleText } from './roles.ts';

export type AgentOwner = 'project' | 'user';

/** Shown as `.mimir/agents` or `~/.config/mimir/agents`. */
export interface AgentFolder extends RoleFolder {
  readonly owner: AgentOwner;
}

/** The two folders in which agents are created and deleted. */
export const agentFolder = (owner: AgentOwner, root: string, { config, home }: Places): AgentFolder =>
  owner === 'project'
    ? { owner, directory: path.join(root, PROJECT_FOLDER), shown: PROJECT_FOLDER }
    : { owner, directory: path.join(config, 'agents'), shown: shownPath(path.join(config, 'agents'), home) };

const PROJECT_FOLDER = '.mimir/agents';
export type Others = readonly { readonly name: string; readonly source: string }[];

/** The text of an agent's file and the role it describes, or why it cannot be used here. */
export function newAgent(
  wish: AgentText,
  folder: Pick<AgentFolder, 'owner' | 'shown'>,
  others: Others,
): Result<{ readonly file: string; readonly text: string; readonly role: Role }, string> {
  const name = wish.name.trim();
  const agent = { name, description: oneLine(wish.description), tools: wish.tools, prompt: wish.prompt.trim() };
  const lacking = lacks(agent, others);
  if (lacking !== null) return fail(lacking);
  const text = `${JSON.stringify(agent, null, 2)}\n`;
  const file = `${name}.json`;
  const read = readRole(roleText(folder, file, text));
  if (!read.ok) return fail(read.fault.map(withoutPlace).join('; '));
  const [note] = read.value.notes;
  return note === undefined ? ok({ file, text, role: read.value.role }) : fail(note);
}

/** The fault without its place, since there is no file yet. */
const withoutPlace = ({ problem, remedy }: ConfigFault): string => `${problem}: ${remedy}`;

const oneLine = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();

/** What the agent lacks, worded for a form and not for a file. */
function lacks({ name, description, tools, prompt }: AgentText, others: Others): string | null {
  const named = agentNameProblem(name, others);
  if (named !== null) return named;
  if (description === '') return 'it needs a description that says when to use it';
  if (tools.length === 0) return 'it needs at least one tool, such as read_file';
  return prompt === '' ? 'it needs a prompt with its instructions' : null;
}

/** Why an agent cannot have this name: it is invalid, in use, or looks like another name. */
export function agentNameProblem(name: string, others: Others): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(name))
    return `"${name}" is not a valid name: use up to 40 letters, digits, "_" or "-", starting with a letter`;
  const same = others.find((other) => lookOf(other.name) === lookOf(name));
  if (same === undefined) return null;
  return same.name === name
    ? `the agent "${name}" already exists (${same.source}): choose another name`
    : `"${name}" looks like "${same.name}" (${same.source}): choose another name`;
}

export interface AgentFile {
  readonly owner: AgentOwner;
  /** The file's name without its folder. */
  readonly file: string;
  readonly path: string;
  readonly shown: string;
  /** The agent's name, or the file's name if it cannot be read. */
  readonly name: string;
  /** Its faults with lines and remedies; null if it is valid. */
  readonly fault: string | null;
}

/** Every agent's file in these folders, valid or not, in trusted and untrusted projects. */
export const agentFiles = (folders: readonly AgentFolder[]): readonly AgentFile[] =>
  folders.flatMap((folder) => roleFiles(folder.directory).map((file) => agentFile(folder, file)));

function agentFile(folder: AgentFolder, file: string): AgentFile {
  const { owner, directory, shown } = folder;
  const place = { owner, file, path: path.join(directory, file), shown: `${shown}/${file}` };
  const role = readOne(folder, file);
  if (role.ok) return { ...place, name: role.value.role.name, fault: null };
  return { ...place, name: path.parse(file).name, fault: role.fault.map(faultText).join('; ') };
}
