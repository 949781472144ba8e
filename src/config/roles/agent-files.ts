/**
 * Custom agents as files: the JSON of one, whether it can be made here, and which files of the person's
 * and the project's own folders there are. Writing them is for verbs; reading them into roles is role-file.ts's and roles.ts's.
 */
import path from 'node:path';
import type { AgentText } from '../../domain/agents/draft.ts';
import type { Role } from '../../domain/agents/role.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { lookOf } from '../files/confusables.ts';
import { type ConfigFault, faultText } from '../files/fault.ts';
import { type Places, shownPath } from '../files/paths.ts';
import { projectRoleText } from './project-roles.ts';
import { readText } from '../files/read-text.ts';
import { readRole } from './role-file.ts';
import { type ReadRole } from '../files/parse-cache.ts';
import { roleFiles, roleText } from './roles.ts';

export type AgentOwner = 'project' | 'user';

export interface AgentFolder {
  readonly owner: AgentOwner;
  readonly directory: string;
  /** As people would name it: `.mimir/agents`, `~/.config/mimir/agents`. */
  readonly shown: string;
}

/** The two places in which agents are made and deleted. */
export const agentFolder = (owner: AgentOwner, root: string, { config, home }: Places): AgentFolder =>
  owner === 'project'
    ? { owner, directory: path.join(root, PROJECT_FOLDER), shown: PROJECT_FOLDER }
    : { owner, directory: path.join(config, 'agents'), shown: shownPath(path.join(config, 'agents'), home) };

const PROJECT_FOLDER = '.mimir/agents';

/** Names that are taken, and by what. */
export type Others = readonly { readonly name: string; readonly source: string }[];

/** The text of an agent's file, and the role that it would be read as. Fails, in words, for what could not be used here. */
export function newAgent(
  wish: AgentText,
  { owner, shown }: AgentFolder,
  others: Others,
): Result<{ readonly file: string; readonly text: string; readonly role: Role }, string> {
  const name = wish.name.trim();
  const agent = { name, description: oneLine(wish.description), tools: wish.tools, prompt: wish.prompt.trim() };
  const lacking = lacks(agent, others);
  if (lacking !== null) return fail(lacking);
  const text = `${JSON.stringify(agent, null, 2)}\n`;
  const file = `${name}.json`;
  const read = readRole(owner === 'project' ? projectRoleText(`${shown}/${file}`, text) : personal(shown, file, text));
  if (!read.ok) return fail(read.fault.map(withoutPlace).join('; '));
  const [note] = read.value.notes;
  return note === undefined ? ok({ file, text, role: read.value.role }) : fail(note);
}

const personal = (shown: string, file: string, text: string): ReturnType<typeof roleText> =>
  roleText({ shown, owner: 'user' }, file, text);

/** There is no file yet that a line could be of. */
const withoutPlace = ({ problem, remedy }: ConfigFault): string => `${problem}: ${remedy}`;

const oneLine = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();

/** What every agent needs, told before a file's reader would tell it in words of files. */
function lacks({ name, description, tools, prompt }: AgentText, others: Others): string | null {
  const named = agentNameProblem(name, others);
  if (named !== null) return named;
  if (description === '') return 'it needs a description: a sentence that says when it is of use';
  if (tools.length === 0) return 'it needs at least one tool, such as read_file';
  return prompt === '' ? 'it needs a prompt: what it is told to do' : null;
}

/** Why an agent can't have this name: no name at all, another's, or one that looks like another's. */
export function agentNameProblem(name: string, others: Others): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(name)) {
    return `"${name}" can't be its name: use up to 40 letters, digits, "_" or "-", a letter first`;
  }
  const same = others.find((other) => lookOf(other.name) === lookOf(name));
  if (same === undefined) return null;
  return same.name === name
    ? `there is an agent "${name}" already (${same.source}): choose another name`
    : `"${name}" looks like "${same.name}" (${same.source}): choose another name`;
}

export interface AgentFile {
  readonly owner: AgentOwner;
  /** Its own name, not its path. */
  readonly file: string;
  readonly path: string;
  readonly shown: string;
  /** What it describes: its name, or that of the file where it can't be read. */
  readonly name: string;
  /** What is wrong with it, with line and remedy; null for a sound one. */
  readonly fault: string | null;
}

/** Every agent's file in these folders, sound or not, whether its project is trusted or not. */
export const agentFiles = (folders: readonly AgentFolder[]): readonly AgentFile[] =>
  folders.flatMap((folder) => roleFiles(folder.directory).map((file) => agentFile(folder, file)));

function agentFile({ owner, directory, shown }: AgentFolder, file: string): AgentFile {
  const place = { owner, file, path: path.join(directory, file), shown: `${shown}/${file}` };
  const role = roleIn(owner, shown, place);
  const stem = path.parse(file).name;
  if (role.ok) return { ...place, name: role.value.role.name, fault: null };
  return { ...place, name: stem, fault: role.fault.map(faultText).join('; ') };
}

function roleIn(
  owner: AgentOwner,
  folder: string,
  { file, path: place, shown }: Pick<AgentFile, 'file' | 'path' | 'shown'>,
): Result<ReadRole, readonly ConfigFault[]> {
  const text = readText({ path: place, shown, links: 'refuse', owner: 'any' });
  if (!text.ok) return fail([text.fault]);
  const read = text.value ?? '';
  return readRole(owner === 'project' ? projectRoleText(shown, read) : personal(folder, file, read));
}
